"""topologySpreadConstraints: a filter and a wish of the native scheduler, counted as kube-scheduler counts."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from gangline.scheduler.model.status import Status
from gangline.scheduler.objects.affinity import spread_terms
from gangline.scheduler.records import NodeTerm, Requirement, SpreadTerm, TaintRecord, TaskRecord
from gangline.scheduler.settings import native_settings, shard_settings
from scheduler.scene import Outcome, Scene

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
APP = (Requirement("app", "In", ("x",)),)


def term(key: str = ZONE, skew: int = 1, **more: Any) -> SpreadTerm:
    return SpreadTerm(key, skew, **{"selector": APP, **more})


def task(*terms: SpreadTerm, app: str = "x", **more: Any) -> dict[str, Any]:
    return {"spread": terms, "labels": {"app": app}, **more}


def scene(**zones: int) -> Scene:
    """One node of 8 GPUs per zone, unless so many are named: `scene(a=8, b=2)`."""
    made = Scene(settings=native_settings()).queue("q", quota=100)
    for name, gpus in zones.items():
        made.node(name, gpus, labels={ZONE: name})
    return made


def per_node(outcome: Outcome) -> dict[str, int]:
    return dict(Counter(outcome.bound.values()))


def test_pods_of_a_gang_stand_evenly_over_zones() -> None:
    assert per_node(scene(a=8, b=8, c=8).gang("q/g", 6, task=task(term())).decide()) == {"a": 2, "b": 2, "c": 2}


def test_without_the_constraint_they_stand_together() -> None:
    assert per_node(scene(a=8, b=8, c=8).gang("q/g", 6).decide()) == {"a": 6}


def test_upstreams_manner_does_not_look_at_constraints() -> None:
    here = scene(a=8, b=8).gang("q/g", 4, task=task(term()))
    here.settings = shard_settings()
    assert per_node(here.decide()) == {"a": 4}


def test_a_gang_waits_whole_where_a_zone_has_no_room() -> None:
    outcome = scene(a=8, b=1).gang("q/g", 5, task=task(term())).decide()
    assert outcome.bound == {}
    assert (
        "1 node(s) didn't match pod topology spread constraints (topology.kubernetes.io/zone=a has 2, the skew would "
        "be 2, maxSkew is 1)"
    ) in outcome.why("g")


def test_the_verdict_names_the_domain_the_number_and_the_skew() -> None:
    assert scene(a=8, b=1).gang("q/g", 5, task=task(term())).explain("g").headline == (
        "g waits: 2 of 5 pods find no node that suits them beside the others: 1 node(s) didn't match pod topology "
        "spread constraints (topology.kubernetes.io/zone=a has 2, the skew would be 2, maxSkew is 1)"
    )


def test_a_larger_skew_lets_it_in() -> None:
    assert per_node(scene(a=8, b=1).gang("q/g", 5, task=task(term(skew=3))).decide()) == {"a": 4, "b": 1}


def test_pods_that_run_are_counted() -> None:
    here = scene(a=8, b=8).gang("q/old", 2, on="a", task=task(app="x")).gang("q/g", 2, task=task(term()))
    assert per_node(here.decide()) == {"b": 2}


def test_pods_of_another_namespace_or_with_other_labels_are_not_counted() -> None:
    here = scene(a=8, b=8).gang("q/old", 2, on="a", task=task(app="y")).gang("q/g", 1, task=task(term()))
    here.records.append(TaskRecord("far", namespace="elsewhere", status=Status.RUNNING, node="a", labels={"app": "x"}))
    assert per_node(here.decide()) == {"a": 1}


def test_leaving_pods_are_not_counted() -> None:
    here = scene(a=8, b=8).gang("q/old", 2, on="a", status=Status.RELEASING, task=task(app="x"))
    assert per_node(here.gang("q/g", 1, task=task(term())).decide()) == {"a": 1}


def test_a_pod_that_its_own_selector_leaves_out_goes_where_there_are_few() -> None:
    here = scene(a=8, b=8).gang("q/old", 2, on="a", task=task(app="x")).gang("q/g", 3, task=task(term(), app="y"))
    assert per_node(here.decide()) == {"b": 3}


@pytest.mark.parametrize("selector", [None, ()])
def test_without_a_selector_nobody_is_counted(selector: Any) -> None:
    assert per_node(scene(a=8, b=8).gang("q/g", 4, task=task(term(selector=selector))).decide()) == {"a": 4}


def test_a_node_without_the_label_is_not_used_and_counts_in_no_domain() -> None:
    outcome = scene(a=8).node("bare").gang("q/g", 9, task=task(term())).decide()
    assert (
        "1 node(s) didn't match pod topology spread constraints (missing required label topology.kubernetes.io/zone)"
        in (outcome.why("g"))
    )
    assert per_node(scene(a=8).node("bare").gang("q/g", 8, task=task(term())).decide()) == {"a": 8}


def test_fewer_domains_than_asked_for_hold_no_more_than_the_skew() -> None:
    assert scene(a=8, b=8).gang("q/g", 3, task=task(term(min_domains=3))).decide().bound == {}
    assert per_node(scene(a=8, b=8).gang("q/g", 2, task=task(term(min_domains=3))).decide()) == {"a": 1, "b": 1}


def test_zones_that_the_node_selector_excludes_do_not_count_unless_asked() -> None:
    here = scene(a=8, b=8)
    zone_a = (NodeTerm((Requirement(ZONE, "In", ("a",)),)),)
    assert per_node(here.gang("q/g", 3, task=task(term(), node_affinity=zone_a)).decide()) == {"a": 3}
    other = scene(a=8, b=8).gang("q/g", 3, task=task(term(honours_affinity=False), node_affinity=zone_a))
    assert other.decide().bound == {}


def test_tainted_zones_count_unless_taints_are_honoured() -> None:
    def tainted(honoured: bool) -> Scene:
        here = scene(a=8).node("b", labels={ZONE: "b"}, taints=(TaintRecord("own", "NoSchedule"),))
        return here.gang("q/g", 2, task=task(term(honours_taints=honoured)))

    assert tainted(False).decide().bound == {}
    assert per_node(tainted(True).decide()) == {"a": 2}


def test_two_constraints_hold_together() -> None:
    here = Scene(settings=native_settings()).queue("q", quota=100)
    for name, zone in (("a0", "a"), ("a1", "a"), ("b0", "b")):
        here.node(name, labels={ZONE: zone})
    assert per_node(here.gang("q/g", 4, task=task(term(), term(HOST))).decide()) == {"a0": 1, "a1": 1, "b0": 2}


def test_schedule_anyway_is_a_wish() -> None:
    wish = term(hard=False)
    assert per_node(scene(a=8, b=8, c=8).gang("q/g", 6, task=task(wish)).decide()) == {"a": 2, "b": 2, "c": 2}
    assert per_node(scene(a=8, b=1).gang("q/g", 6, task=task(wish)).decide()) == {"a": 5, "b": 1}


def test_a_wish_avoids_nodes_without_the_label() -> None:
    assert per_node(
        Scene(settings=native_settings())
        .queue("q", quota=9)
        .node("a")
        .node("b", labels={ZONE: "b"})
        .gang("q/g", 2, task=task(term(hard=False)))
        .decide()
    ) == {"b": 2}


def test_reclaiming_keeps_the_spread() -> None:
    here = scene(a=4, b=4).queue("r").gang("r/old", 4, on="a").gang("r/older", 4, on="b")
    outcome = here.gang("q/g", 4, task=task(term())).decide()
    mine = Counter(node for pod, node in outcome.waiting.items() if pod.startswith("g-"))
    assert mine == {"a": 2, "b": 2}


def test_equal_gangs_are_tried_one_by_one() -> None:
    """Another gang in between changes what the second is told."""
    here = scene(a=8, b=8).gang("q/one", 2, gpus=4, on="a", task=task(app="x"))
    here.gang("q/two", 1, gpus=8, task=task(term())).gang("q/three", 1, gpus=8, task=task(term()))
    outcome = here.decide()
    assert outcome.bound == {"two-0": "b"}
    assert "maxSkew is 1" in outcome.why("three") or "enough resources" in outcome.why("three")


def test_constraints_are_read_from_a_pod() -> None:
    given = [
        {"topologyKey": ZONE, "maxSkew": 2, "whenUnsatisfiable": "DoNotSchedule", "minDomains": 3,
         "labelSelector": {"matchLabels": {"app": "x"}}, "matchLabelKeys": ["hash", "absent"],
         "nodeAffinityPolicy": "Ignore", "nodeTaintsPolicy": "Honor"},
        {"topologyKey": HOST, "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"},
    ]  # fmt: skip
    assert spread_terms(given, {"app": "x", "hash": "1"}) == (
        SpreadTerm(ZONE, 2, (*APP, Requirement("hash", "In", ("1",))), True, 3, False, True),
        SpreadTerm(HOST, 1, None, False),
    )
