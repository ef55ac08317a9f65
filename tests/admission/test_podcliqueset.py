"""PodCliqueSets on their way in: defaults, every refusal with its words, and what may not change."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from itertools import pairwise
from typing import Any

import msgspec
import pytest

from gangline.admission.sets import defaults, podcliqueset, start_order
from gangline.api.grove import ClusterTopologyBinding
from gangline.api.meta import Raw
from gangline.operator.checks import backend_check
from gangline.rules.hooks import Denied, HookReview
from gangline.rules.objects.typed import go_duration
from gangline.rules.sets import OperatorSettings
from operator_world import clique, group, pod_clique_set

Change = Callable[[Raw], Any]


def given(*cliques: Raw, **more: Any) -> Raw:
    return filled(
        pod_clique_set(
            "p", *(cliques or (clique("a", 2),)), **({"cliqueStartupType": "CliqueStartupTypeAnyOrder"} | more)
        )
    )


def filled(raw: Raw) -> Raw:
    found = defaults.defaulted(HookReview("CREATE", raw))
    assert not isinstance(found, Denied), found
    return found


def refusals(
    raw: Raw, old: Raw | None = None, settings: OperatorSettings | None = None, read: Any = None
) -> dict[str, str]:
    wanted = settings or OperatorSettings()
    found = podcliqueset.validated(
        HookReview("UPDATE" if old else "CREATE", raw, old), wanted, read, backend_check(wanted)
    )
    return {problem.path: problem.message for problem in found.problems} if found is not None else {}


def changed(raw: Raw, change: Change) -> Raw:
    copy = deepcopy(raw)
    change(copy)
    return copy


def spec_of(raw: Raw, index: int = 0) -> Raw:
    found: Raw = raw["spec"]["template"]["cliques"][index]["spec"]
    return found


# --- defaults ---------------------------------------------------------------------------------------------------------


def test_what_a_set_leaves_open_is_filled_in() -> None:
    raw = {
        "metadata": {"name": "p"},
        "spec": {
            "template": {
                "cliques": [
                    {
                        "name": "a",
                        "spec": {
                            "replicas": 3,
                            "autoScalingConfig": {"maxReplicas": 9},
                            "podSpec": {"containers": [{"name": "m", "image": "i"}]},
                        },
                    }
                ]
            }
        },
    }
    template = filled(raw)["spec"]["template"]
    assert template["terminationDelay"] == "4h0m0s"
    assert template["headlessServiceConfig"] == {"publishNotReadyAddresses": True}
    assert template["cliques"][0]["spec"] == {
        "roleName": "",
        "replicas": 3,
        "minAvailable": 3,
        "autoScalingConfig": {"maxReplicas": 9, "minReplicas": 3},
        "podSpec": {
            "containers": [{"name": "m", "image": "i", "resources": {}}],
            "restartPolicy": "Always",
            "terminationGracePeriodSeconds": 30,
        },
    }


def test_an_explicit_minimum_of_a_clique_without_replicas_is_kept() -> None:
    raw = pod_clique_set("p", clique("a", 0, 1))
    assert (spec_of(filled(raw))["replicas"], spec_of(filled(raw))["minAvailable"]) == (1, 1)


def test_what_is_given_but_empty_stays_as_the_user_wrote_it() -> None:
    pod = {"containers": [{"name": "m", "image": "i", "args": [], "env": [{"name": "A", "value": ""}]}], "nodeName": ""}
    raw = pod_clique_set("p", clique("a", podSpec=pod, startsAfter=[]) | {"labels": {}}, priorityClassName="")
    template = filled(raw)["spec"]["template"]
    assert template["priorityClassName"] == "" and template["cliques"][0]["labels"] == {}
    assert (
        template["cliques"][0]["spec"]["startsAfter"] == []
        and template["cliques"][0]["spec"]["podSpec"]["nodeName"] == ""
    )
    assert template["cliques"][0]["spec"]["podSpec"]["containers"] == [
        {"name": "m", "image": "i", "args": [], "env": [{"name": "A", "value": ""}], "resources": {}}
    ]


def test_what_nobody_gave_is_written_where_its_type_has_no_nothing() -> None:
    asked = {"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}}
    pod = {
        "containers": [{"name": "m", "image": "i", "command": ["run", None], "env": [asked]}],
        "nodeSelector": {"disk": None},
    }
    found = spec_of(filled(pod_clique_set("p", clique("a", podSpec=pod))))["podSpec"]
    assert found["containers"][0]["env"][0]["valueFrom"]["resourceFieldRef"] == {
        "resource": "limits.cpu",
        "divisor": "0",
    }
    assert found["containers"][0]["command"] == ["run", ""] and found["nodeSelector"] == {}


def test_a_set_that_leaves_nothing_open_stays_as_it_was_written() -> None:
    whole = filled(pod_clique_set("p", clique("a", 2), groups=[group("g", ["a"])]))
    edited = changed(whole, lambda raw: raw["spec"]["template"].update(terminationDelay="90m"))
    spec_of(edited)["podSpec"]["containers"][0].pop("resources")
    assert filled(edited) == edited
    open_end = changed(edited, lambda raw: raw["spec"]["template"].pop("headlessServiceConfig"))
    assert filled(open_end)["spec"]["template"]["terminationDelay"] == "1h30m0s"
    assert spec_of(filled(open_end))["podSpec"]["containers"][0]["resources"] == {}


def test_an_empty_value_is_no_change_against_none() -> None:
    old = given(clique("a", 2), resourceSharing=[])
    new = given(clique("a", 2, startsAfter=[]))
    assert refusals(new, old) == refusals(old, new) == {}


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("4h", "4h0m0s"),
        ("90s", "1m30s"),
        ("500ms", "500ms"),
        ("1h30m", "1h30m0s"),
        ("-5m", "-5m0s"),
        ("soon", None),
        ("2d", None),
        ("", None),
        ("2562047h", "2562047h0m0s"),
        ("2562048h", None),
    ],
)
def test_durations_are_written_as_go_does(text: str, canonical: str | None) -> None:
    assert go_duration(text) == canonical


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (lambda raw: raw["spec"].update(replicas="two"), "spec.replicas"),
        (lambda raw: raw["spec"].update(replicas=3_000_000_000), "spec.replicas"),
        (lambda raw: raw["spec"]["template"].update(terminationDelay="soon"), "spec.template.terminationDelay"),
        (lambda raw: raw["spec"]["template"]["cliques"][0].update(labels={"a": 1}), "spec.template.cliques[0].labels"),
    ],
)
def test_a_value_of_the_wrong_type_is_refused_with_its_path(change: Change, path: str) -> None:
    found = defaults.defaulted(HookReview("CREATE", changed(pod_clique_set("p", clique("a")), change)))
    assert isinstance(found, Denied) and found.code == 400
    assert [problem.path for problem in found.problems] == [path]


# --- refusals ---------------------------------------------------------------------------------------------------------


def test_a_plain_set_is_fine() -> None:
    assert refusals(given(clique("a", 2), clique("b"), groups=[group("g", ["b"], 2, 1)])) == {}


CLIQUE, GROUP = "spec.template.cliques[0]", "spec.template.podCliqueScalingGroups[0]"


@pytest.mark.parametrize(
    ("change", "path", "message"),
    [
        (lambda raw: spec_of(raw).update(minAvailable=-1), f"{CLIQUE}.spec.minAvailable", "must not be less than 0"),
        (
            lambda raw: spec_of(raw).update(minAvailable=9),
            f"{CLIQUE}.spec.minAvailable",
            "must not be greater than replicas (2)",
        ),
        (lambda raw: spec_of(raw).update(replicas=-1), f"{CLIQUE}.spec.replicas", "must be greater than 0"),
        (
            lambda raw: raw["spec"]["template"]["cliques"][0].update(name="Bad"),
            f"{CLIQUE}.name",
            "must consist of lower case letters, digits, '-' and '.', and start and end with a letter or digit",
        ),
        (lambda raw: raw["spec"]["template"]["cliques"][0].update(name=""), f"{CLIQUE}.name", "must be given"),
        (
            lambda raw: raw["spec"]["template"]["cliques"][0].update(name="c" * 45),
            f"{CLIQUE}.name",
            f"p and {'c' * 45} have 46 characters together, 45 are allowed",
        ),
        (
            lambda raw: spec_of(raw, 1).update(roleName="a"),
            "spec.template.cliques.roleName",
            "given more than once: 'a'",
        ),
        (
            lambda raw: spec_of(raw)["podSpec"].update(nodeName="n"),
            f"{CLIQUE}.spec.podSpec.spec.nodeName",
            "must not be set: a gang is placed as a whole",
        ),
        (
            lambda raw: spec_of(raw)["podSpec"].update(schedulerName="slurm"),
            "spec.template.cliques.spec.podSpec.schedulerName",
            "cliques of a set share one scheduler, not slurm, kai-scheduler",
        ),
        (
            lambda raw: spec_of(raw).update(autoScalingConfig={"minReplicas": 1, "maxReplicas": 1}),
            f"{CLIQUE}.spec.autoScalingConfig.maxReplicas",
            "must not be less than replicas (2)",
        ),
        (
            lambda raw: raw["spec"]["template"].update(terminationDelay="-5m0s"),
            "spec.template.terminationDelay",
            "must be greater than 0",
        ),
        (
            lambda raw: raw["spec"]["template"].update(podCliqueScalingGroups=[group("g", ["zz"])]),
            f"{GROUP}.cliqueNames",
            "no clique is called 'zz'",
        ),
        (
            lambda raw: raw["spec"]["template"].update(podCliqueScalingGroups=[group("g", ["b"], 1, 2)]),
            f"{GROUP}.minAvailable",
            "must not be greater than replicas (1)",
        ),
        (
            lambda raw: raw["spec"]["template"].update(podCliqueScalingGroups=[group("g", ["b"]), group("h", ["b"])]),
            "spec.template.podCliqueScalingGroups.cliqueNames",
            "given more than once: 'b'",
        ),
        (
            lambda raw: raw["spec"]["template"].update(resourceSharing=[{"name": "t", "scope": "Some"}]),
            "spec.template.resourceSharing[0].scope",
            "must be AllReplicas or PerReplica",
        ),
        (
            lambda raw: raw["metadata"]["annotations"].update({"grove.io/mnnvl-group": "Not_Valid"}),
            "metadata.annotations.grove.io/mnnvl-group",
            "'Not_Valid': must consist of lower case letters, digits and '-', and start and end with a letter or digit",
        ),
        (
            lambda raw: raw["metadata"]["annotations"].update({"grove.io/mnnvl-group": "ring"}),
            "metadata.annotations.grove.io/mnnvl-group",
            "MNNVL is not enabled in the operator's configuration",
        ),
    ],
)
def test_each_fault_is_named_with_its_place_and_reason(change: Change, path: str, message: str) -> None:
    assert refusals(changed(given(clique("a", 2), clique("b")), change))[path] == message


def test_every_problem_is_told_at_once() -> None:
    faults: Change = lambda raw: (spec_of(raw).update(minAvailable=9), spec_of(raw, 1).update(replicas=-1))  # noqa: E731
    raw = changed(given(clique("a", 2), clique("b")), faults)
    assert {f"{CLIQUE}.spec.minAvailable", "spec.template.cliques[1].spec.replicas"} <= refusals(raw).keys()


def test_a_set_without_cliques_gets_a_proper_answer() -> None:
    specs: list[Raw] = [{}, {"template": {}}, {"template": {"cliques": []}}]
    for spec in specs:
        assert refusals({"metadata": {"name": "p"}, "spec": spec}) == {
            "spec.template.cliques": "at least one clique must be given"
        }


@pytest.mark.parametrize(
    ("after", "path", "message"),
    [
        ({"a": ["a"]}, "spec.template.cliques[0].spec.startsAfter", "a cannot wait for itself"),
        ({"a": ["zz"]}, "spec.template.cliques.startsAfter", "no clique is called 'zz'"),
        ({"a": ["b"], "b": ["a"]}, "spec.template.cliques", "cliques wait for each other in a circle: a → b"),
        ({"a": [" "]}, "spec.template.cliques[0].spec.startsAfter", "an entry is empty"),
    ],
)
def test_a_start_order_must_be_possible(after: dict[str, list[str]], path: str, message: str) -> None:
    cliques = [clique(name, startsAfter=after.get(name, [])) for name in ("a", "b")]
    assert refusals(given(*cliques, cliqueStartupType="CliqueStartupTypeExplicit"))[path] == message


def test_circles_of_a_start_order_are_told_each_by_itself_and_the_longest_order_is_judged() -> None:
    after = {"a": ["c"], "b": ["d", "a"], "c": ["a"], "d": ["e"], "e": ["b"], "f": ["e"]}
    told = [str(problem) for problem in start_order.problems([clique(name, startsAfter=after[name]) for name in after])]
    assert told[0].endswith("cliques wait for each other in a circle: a → c; b → d → e")
    names = [f"c{place}" for place in range(50_000)]
    long = [clique(name, startsAfter=[before]) for before, name in pairwise(names)]
    assert list(start_order.problems([clique("c0"), *long])) == []


# --- topology ---------------------------------------------------------------------------------------------------------


class Bindings:
    """A reader that knows one binding: zone, rack, host."""

    def get(self, kind: object, name: str, namespace: str = "") -> ClusterTopologyBinding | None:
        levels = [{"domain": domain, "key": f"example.com/{domain}"} for domain in ("zone", "rack", "host")]
        return (
            msgspec.convert({"metadata": {"name": "dc"}, "spec": {"levels": levels}}, ClusterTopologyBinding)
            if name == "dc"
            else None
        )


def packed(required: str, name: str = "dc") -> Raw:
    return {"topologyName": name, "pack": {"required": required}}


def test_a_constraint_needs_a_binding_that_exists_and_a_domain_it_has() -> None:
    assert refusals(given(topologyConstraint=packed("rack")), read=Bindings()) == {}
    assert refusals(given(topologyConstraint=packed("rack", "none")), read=Bindings()) == {
        "spec.template.topologyConstraint.topologyName": "ClusterTopologyBinding 'none' does not exist"
    }
    assert refusals(given(topologyConstraint=packed("row")), read=Bindings()) == {
        "spec.template.topologyConstraint.pack.required": "dc has no domain 'row'"
    }


def test_a_set_is_not_packed_more_tightly_than_its_cliques() -> None:
    raw = given(clique("a") | {"topologyConstraint": packed("zone")}, topologyConstraint=packed("host"))
    assert refusals(raw, read=Bindings()) == {
        "spec.template.topologyConstraint": "PodCliqueSet p is packed into one host, which is narrower than the zone "
        "of PodClique a"
    }


def test_without_topology_aware_scheduling_a_constraint_is_refused() -> None:
    found = refusals(given(topologyConstraint=packed("rack")), settings=OperatorSettings(topology_aware=False))
    assert found == {
        "spec.template.topologyConstraint": "topology constraints need topology-aware scheduling, which is switched off"
    }


# --- what may not change ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (lambda raw: spec_of(raw).update(minAvailable=1), "spec.template.cliques.spec.minAvailable"),
        (lambda raw: spec_of(raw).update(roleName="other"), "spec.template.cliques.spec.roleName"),
        (lambda raw: raw["spec"]["template"]["cliques"].append(clique("z")), "spec.template.cliques"),
        (
            lambda raw: raw["spec"]["template"].update(cliqueStartupType="CliqueStartupTypeInOrder"),
            "spec.template.cliqueStartupType",
        ),
        (
            lambda raw: raw["spec"]["template"]["podCliqueScalingGroups"][0].update(minAvailable=2),
            "spec.template.podCliqueScalingGroups.minAvailable",
        ),
        (
            lambda raw: raw["spec"]["template"].update(topologyConstraint=packed("rack")),
            "spec.template.topologyConstraint",
        ),
        (
            lambda raw: raw["metadata"]["annotations"].update({"grove.io/mnnvl-group": "none"}),
            "metadata.annotations.grove.io/mnnvl-group",
        ),
    ],
)
def test_what_decides_the_gangs_cannot_change(change: Change, path: str) -> None:
    old = given(clique("a", 2), clique("b"), groups=[group("g", ["b"], 2, 1)])
    assert path in refusals(changed(old, change), old)


@pytest.mark.parametrize(
    "change",
    [
        lambda raw: raw["spec"].update(replicas=7),
        lambda raw: spec_of(raw)["podSpec"]["containers"][0].update(image="new"),
        lambda raw: raw["spec"]["template"].update(terminationDelay="1h0m0s", priorityClassName="high"),
        lambda raw: raw["spec"]["template"]["podCliqueScalingGroups"][0].update(replicas=5),
        lambda raw: raw["spec"]["template"]["cliques"].reverse(),
    ],
)
def test_everything_else_may_change(change: Change) -> None:
    old = given(clique("a", 2), clique("b"), groups=[group("g", ["b"], 2, 1)])
    assert refusals(changed(old, change), old) == {}


def test_the_order_of_cliques_is_fixed_where_it_decides_their_start() -> None:
    old = given(clique("a"), clique("b"), cliqueStartupType="CliqueStartupTypeInOrder")
    found = refusals(changed(old, lambda raw: raw["spec"]["template"]["cliques"].reverse()), old)
    assert found == {"spec.template.cliques": "the order of cliques decides their start and cannot be changed: b, a"}
