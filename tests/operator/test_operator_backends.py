"""One gang, several schedulers: what each backend makes of it, and which backend a set gets."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gangline.api.grove import GangPack, PodCliqueSet
from gangline.api.kai import PodGroup
from gangline.api.kinds import POD_GROUP, WORKLOAD
from gangline.api.meta import Metadata
from gangline.config import manner
from gangline.operator.backends import NoBackend, Registry
from gangline.operator.backends.contract import CannotTranslate, Facts, GangObject, GroupInfo, ParentInfo, PodGangInfo
from gangline.operator.backends.default import DefaultBackend
from gangline.operator.backends.kai import KaiBackend
from gangline.operator.backends.passthrough import PassthroughBackend
from gangline.operator.backends.volcano import VolcanoBackend
from gangline.rules.sets import OperatorSettings, Profile
from operator_world import clique, pod_clique_set

GROVE = manner(["grove"])


def a_set(**more: Any) -> PodCliqueSet:
    return msgspec.convert(pod_clique_set("llm", clique("prefill", 3, 2), clique("decode", 4), **more), PodCliqueSet)


PLAIN = Facts()
STANDARD = OperatorSettings()


def a_gang(facts: Facts = PLAIN, **more: object) -> PodGangInfo:
    groups = (GroupInfo("prefill", 2), GroupInfo("decode", 4))
    return PodGangInfo(
        **(
            {"name": "llm-0", "namespace": "serve", "uid": "u1", "groups": groups, "pcs": a_set(), "facts": facts}  # type: ignore[arg-type]
            | more
        )
    )


def the_object(backend: KaiBackend | DefaultBackend | VolcanoBackend, gang: PodGangInfo) -> GangObject:
    [found] = backend.gang_objects(gang, gang.facts)
    return found


# --- kai --------------------------------------------------------------------------------------------------------------


def test_kai_gets_one_sub_group_per_group_with_its_own_minimum_and_the_sum_above() -> None:
    made = the_object(KaiBackend(), a_gang())
    assert made.kind is POD_GROUP
    assert made.obj["metadata"]["name"] == "pg-llm-0-u1"
    assert made.obj["spec"] == {
        "minMember": 6,
        "topologyConstraint": {},
        "stalenessGracePeriod": "4h",
        "subGroups": [{"name": "prefill", "minMember": 2}, {"name": "decode", "minMember": 4}],
    }


def test_a_set_without_a_queue_goes_to_the_default_queue_and_only_at_creation() -> None:
    made = the_object(KaiBackend(), a_gang())
    assert made.once == {"spec": {"queue": "default-queue"}} and "queue" not in made.obj["spec"]


def test_a_named_queue_is_used_wherever_it_is_named() -> None:
    for more in ({"labels": {"kai.scheduler/queue": "team"}}, {"annotations": {"kai.scheduler/queue": "team"}}):
        assert the_object(KaiBackend(), a_gang(pcs=a_set(**more))).once == {"spec": {"queue": "team"}}


def moved(queue: str, asked: str, facts: Facts = PLAIN) -> GangObject:
    """The PodGroup of a set that asks for `queue`, where a PodGroup is there that was asked into another one."""
    notes = {"gangline.io/asked-queue": asked} if asked else {}
    live = PodGroup(metadata=Metadata(name="pg-llm-0-u1", namespace="serve", annotations=notes))
    pcs = a_set(labels={"kai.scheduler/queue": queue})
    return the_object(KaiBackend(), a_gang(facts, pcs=pcs, live=((POD_GROUP, live),)))


def test_a_set_that_asks_for_another_queue_moves_its_pod_group_and_nobody_elses_move_is_undone() -> None:
    assert moved("new", asked="old").again
    assert not moved("same", asked="same").again
    assert not moved("new", asked="").again
    assert not moved("new", asked="old", facts=Facts(manner=GROVE)).again


def test_under_compat_the_group_has_the_gangs_name_and_a_queue_must_be_named() -> None:
    gang = a_gang(Facts(manner=GROVE), pcs=a_set(labels={"kai.scheduler/queue": "team"}))
    assert the_object(KaiBackend(), gang).obj["metadata"]["name"] == "llm-0"
    with pytest.raises(CannotTranslate, match="names no queue; label the PodCliqueSet with kai"):
        the_object(KaiBackend(), a_gang(Facts(manner=GROVE)))
    [problem] = KaiBackend().check(a_set(), Facts(manner=GROVE))
    assert str(problem) == "spec: names no queue (label the PodCliqueSet with kai.scheduler/queue)"


def test_topology_reaches_kai_at_all_three_levels() -> None:
    groups = (
        GroupInfo("prefill", 2, constraint=GangPack(required="host"), parent="pd-0"),
        GroupInfo("decode", 4, parent="pd-0"),
    )
    gang = a_gang(
        groups=groups,
        topology="cluster",
        constraint=GangPack(required="block", preferred="rack"),
        parents=(ParentInfo("pd-0", ("prefill", "decode"), GangPack(preferred="rack")),),
    )
    assert the_object(KaiBackend(), gang).obj["spec"] == {
        "minMember": 6,
        "stalenessGracePeriod": "4h",
        "topologyConstraint": {
            "topology": "cluster",
            "requiredTopologyLevel": "block",
            "preferredTopologyLevel": "rack",
        },
        "subGroups": [
            {
                "name": "pd-0",
                "minSubGroup": 2,
                "topologyConstraint": {"topology": "cluster", "preferredTopologyLevel": "rack"},
            },
            {
                "name": "prefill",
                "minMember": 2,
                "parent": "pd-0",
                "topologyConstraint": {"topology": "cluster", "requiredTopologyLevel": "host"},
            },
            {"name": "decode", "minMember": 4, "parent": "pd-0"},
        ],
    }


def test_a_constraint_without_a_topology_cannot_be_translated() -> None:
    with pytest.raises(CannotTranslate, match="names no topology; set topologyName"):
        the_object(KaiBackend(), a_gang(constraint=GangPack(required="rack")))


def test_kais_pods_name_their_group_their_sub_group_and_keep_the_grouper_away() -> None:
    pod = {"metadata": {"labels": {"grove.io/podclique": "prefill"}, "annotations": {"own": "note"}}, "spec": {}}
    assert KaiBackend().prepare_pod(pod, a_gang())["metadata"] == {
        "labels": {"grove.io/podclique": "prefill", "kai.scheduler/subgroup-name": "prefill"},
        "annotations": {"own": "note", "kai.scheduler/skip-podgrouper": "true", "pod-group-name": "pg-llm-0-u1"},
    }


# --- default ----------------------------------------------------------------------------------------------------------


SERVED = Facts(served=frozenset([WORKLOAD]))


def test_the_default_backend_writes_one_flat_minimum_and_its_pods_refer_to_it() -> None:
    gang = a_gang(SERVED)
    made = the_object(DefaultBackend(), gang)
    assert made.obj["metadata"] == {"name": "llm-0", "namespace": "serve"}
    assert made.obj["spec"]["podGroups"] == [{"name": "gang", "policy": {"gang": {"minCount": 6}}}]
    assert DefaultBackend().prepare_pod({"spec": {}}, gang) == {
        "spec": {"workloadRef": {"name": "llm-0", "podGroup": "gang"}}
    }


def test_where_workloads_are_not_served_pods_pass_through_and_the_gang_says_so() -> None:
    gang = a_gang()
    assert list(DefaultBackend().gang_objects(gang, gang.facts)) == []
    assert DefaultBackend().prepare_pod({"spec": {}}, gang) == {"spec": {}}
    assert "does not serve workloads.scheduling.k8s.io" in DefaultBackend().gang_status(gang, None).why  # type: ignore[arg-type]


# --- volcano and pass-through -----------------------------------------------------------------------------------------


def test_volcano_gets_a_policy_per_group_that_really_matches() -> None:
    spec = the_object(VolcanoBackend(), a_gang()).obj["spec"]
    assert (spec["minMember"], spec["queue"]) == (6, "default")
    assert spec["subGroupPolicy"][0] == {
        "name": "prefill",
        "labelSelector": {"matchLabels": {"grove.io/podclique": "prefill"}},
        "matchLabelKeys": ["grove.io/podclique"],
        "subGroupSize": 2,
        "minSubGroups": 1,
    }


def test_under_compat_backends_without_topology_refuse_a_set_that_has_a_constraint() -> None:
    pcs = a_set(topologyConstraint={"topologyName": "t", "pack": {"required": "rack"}})
    for backend in (VolcanoBackend(), PassthroughBackend()):
        [problem] = [item for item in backend.check(pcs, Facts(manner=GROVE)) if item.kind == "FieldValueForbidden"]
        assert problem.path == "spec" and "backend that knows topology" in problem.hint


# --- selection --------------------------------------------------------------------------------------------------------


def selected(settings: OperatorSettings = STANDARD, scheduler: str = "", **more: Any) -> tuple[str, str, str]:
    pcs = msgspec.convert(pod_clique_set("p", clique("a", scheduler=scheduler), **more), PodCliqueSet)
    found = Registry(settings).for_set(pcs)
    return found.backend.name, found.scheduler_name, found.source


def test_no_name_means_the_default_profile() -> None:
    assert selected() == ("default", "default-scheduler", "default")
    assert selected(OperatorSettings(default_profile="kai-scheduler")) == ("kai", "kai-scheduler", "default")


def test_profiles_come_before_guesses_by_name() -> None:
    assert selected(scheduler="kai-scheduler") == ("kai", "kai-scheduler", "profile")
    assert selected(scheduler="grove-scheduler") == ("kai", "grove-scheduler", "name")
    lpx = OperatorSettings(profiles=(Profile("lpx-scheduler", "passthrough"), Profile("default-scheduler", "default")))
    assert selected(lpx, "lpx-scheduler") == ("passthrough", "lpx-scheduler", "profile")


def test_the_annotation_overrides_and_old_names_work() -> None:
    assert selected(annotations={"grove.io/scheduler-backend": "podgang"}) == ("kai", "kai-scheduler", "annotation")
    assert selected(annotations={"grove.io/scheduler-backend": "workload"}) == (
        "default",
        "default-scheduler",
        "annotation",
    )


def test_a_backend_that_does_not_exist_is_answered_with_those_that_do() -> None:
    with pytest.raises(
        NoBackend,
        match="no backend is called 'slurm'; there are: default, kai, koordinator, volcano, yunikorn, "
        "kueue, coscheduling, passthrough",
    ):
        selected(annotations={"grove.io/scheduler-backend": "slurm"})


def test_an_annotation_that_contradicts_a_clique_is_refused() -> None:
    with pytest.raises(NoBackend, match="asks for kai, but a clique names scheduler 'volcano'; remove one of the two"):
        selected(scheduler="volcano", annotations={"grove.io/scheduler-backend": "kai"})


def test_cliques_that_disagree_are_named() -> None:
    pcs = msgspec.convert(pod_clique_set("p", clique("a"), clique("b", scheduler="volcano")), PodCliqueSet)
    with pytest.raises(NoBackend, match="name different schedulers: kai-scheduler, volcano; a gang has one"):
        Registry(OperatorSettings()).for_set(pcs)
