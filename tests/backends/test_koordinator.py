"""Koordinator: one PodGroup per group, tied together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.scene import DECODE, EMPTY, PREFILL, a_gang, a_pod, a_set, live, objects, released, with_pods
from gangline.api.grove import GangPack
from gangline.api.kinds import KOORDINATOR_POD_GROUP, KOORDINATOR_TOPOLOGY
from gangline.api.meta import Raw
from gangline.operator.backends.contract import CannotTranslate, Facts
from gangline.operator.backends.koordinator import KoordinatorBackend
from held_objects import held

TIED = '["serve/llm-0-decode","serve/llm-0-prefill"]'
POLICY, MEMBER = "gang.scheduling.koordinator.sh/match-policy", "pod-group.scheduling.sigs.k8s.io"
GATES: Raw = {"schedulingGates": [{"name": "scheduling.koordinator.sh/gang"}]}
BLOCK = GangPack(required="example.com/block")
LAYERS = live(
    KOORDINATOR_TOPOLOGY,
    "default",
    {
        "networkTopologySpec": [
            {"topologyLayer": "BlockLayer", "labelKey": ["example.com/block"]},
            {"topologyLayer": "NodeTopologyLayer", "parentTopologyLayer": "BlockLayer"},
        ]
    },
)


def test_each_group_has_a_pod_group_with_its_own_minimum_and_all_name_each_other() -> None:
    def group(name: str, minimum: int, total: str) -> dict[str, object]:
        return {
            "apiVersion": "scheduling.sigs.k8s.io/v1alpha1",
            "kind": "PodGroup",
            "metadata": {
                "name": name,
                "namespace": "serve",
                "labels": {},
                "annotations": {
                    "gang.scheduling.koordinator.sh/groups": TIED,
                    POLICY: "waiting-and-running",
                    "gang.scheduling.koordinator.sh/total-number": total,
                },
            },
            "spec": {"minMember": minimum, "scheduleTimeoutSeconds": 600},
        }

    assert objects(KoordinatorBackend(), a_gang()) == [group(PREFILL, 2, "2"), group(DECODE, 4, "4")]


def test_a_pod_names_its_groups_pod_group_and_its_quota() -> None:
    gang = a_gang(pcs=a_set(labels={"quota.scheduling.koordinator.sh/name": "team-a"}))
    assert KoordinatorBackend().prepare_pod(a_pod(), gang)["metadata"] == {
        "labels": a_pod()["metadata"]["labels"] | {MEMBER: PREFILL, "quota.scheduling.koordinator.sh/name": "team-a"},
        "annotations": {"own": "note"},
    }


def test_a_required_domain_of_the_gang_becomes_a_layer_on_every_member() -> None:
    made = objects(KoordinatorBackend(), a_gang(Facts(read=held(LAYERS)), constraint=BLOCK))
    said = {item["metadata"]["annotations"]["gang.scheduling.koordinator.sh/network-topology-spec"] for item in made}
    assert said == {'{"gatherStrategy":[{"layer":"BlockLayer","strategy":"MustGather"}]}'}


def test_a_label_without_a_layer_stands_in_the_way_unless_the_profile_names_one() -> None:
    with pytest.raises(
        CannotTranslate,
        match=r"no layer of ClusterNetworkTopology default has node label example.com/block; add one "
        "there, or name it under `layers`",
    ):
        objects(KoordinatorBackend(), a_gang(Facts(read=EMPTY), constraint=BLOCK))
    named = Facts(config={"layers": {"example.com/block": "Spine"}})
    assert "Spine" in str(objects(KoordinatorBackend(), a_gang(named, constraint=BLOCK)))


def test_a_required_domain_of_one_group_is_refused() -> None:
    pcs = a_set(decode={"topologyConstraint": {"topologyName": "t", "pack": {"required": "rack"}}})
    first, second = KoordinatorBackend().check(pcs, Facts())
    assert first.path == "spec.template.cliques[1].topologyConstraint"
    assert first.message == "koordinator cannot keep a group inside one rack" and "kai, volcano" in first.hint
    assert second.path == "spec.template.cliques[0].spec.minAvailable"


def test_topology_together_with_surplus_pods_is_refused() -> None:
    [problem] = KoordinatorBackend().check(
        a_set(topologyConstraint={"topologyName": "t", "pack": {"required": "block"}}), Facts()
    )
    assert str(problem) == (
        "spec.template.cliques[0].spec.minAvailable: koordinator keeps a gang inside one domain only where no group "
        "has pods above its "
        "minimum (make minAvailable equal to replicas, or remove the required domain)"
    )


def test_while_every_minimum_is_zero_the_former_minima_stand() -> None:
    kept = released(a_gang(), live(KOORDINATOR_POD_GROUP, PREFILL, {"minMember": 1}))
    assert [item["spec"]["minMember"] for item in objects(KoordinatorBackend(), kept)] == [1, 4]


def test_phases_say_which_group_waits() -> None:
    gang = a_gang(
        live=(
            live(KOORDINATOR_POD_GROUP, PREFILL, status={"phase": "Scheduled"}),
            live(KOORDINATOR_POD_GROUP, DECODE, status={"phase": "Scheduling"}),
        )
    )
    said = KoordinatorBackend().gang_status(gang, EMPTY)
    assert (said.why, said.reason) == ("koordinator: llm-0-decode is Scheduling", "Unschedulable")
    refused = {
        "metadata": {"name": "p"},
        "status": {
            "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no room"}]
        },
    }
    assert (
        KoordinatorBackend().gang_status(with_pods(gang, refused), EMPTY).why
        == "koordinator: llm-0-decode is Scheduling; pod p: no room"
    )


def test_of_what_koordinator_says_again_and_again_in_other_words_only_the_cause_is_told() -> None:
    group = live(KOORDINATOR_POD_GROUP, DECODE, status={"phase": "Scheduling"})
    cause = "0/2 nodes are available: 2 Insufficient nvidia.com/gpu"
    rejected = 'GangGroup "serve/a" gets rejected due to member Pod "serve/p" is unschedulable with reason'
    for message in (
        f"{cause}. preemption: 0/2 nodes are available: 2 No victims found on node a for preemptor pod p.",
        f'0/1 nodes are available: 1 {rejected} "{cause}.", alreadyWaitForBound: 4. preemption: not helpful',
        f'0/2 nodes are available: {rejected} "{cause}.", alreadyWaitForBound: 2.',
    ):
        pod = {
            "metadata": {"name": "p"},
            "status": {
                "conditions": [
                    {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
                ]
            },
        }
        said = KoordinatorBackend().gang_status(with_pods(a_gang(live=(group,)), pod), EMPTY)
        assert said.why == f"koordinator: llm-0-decode is Scheduling; {cause}", message


def test_a_preferred_domain_is_told_to_be_lost() -> None:
    gang = a_gang(prefill=GangPack(preferred="example.com/rack"))
    assert KoordinatorBackend().gang_status(gang, EMPTY).lost == (
        "group llm-0-prefill would rather be in one example.com/rack",
    )


def test_a_surplus_pod_is_no_member_because_koordinator_would_forget_it() -> None:
    marked = [
        MEMBER in KoordinatorBackend().prepare_pod(a_pod(PREFILL, index), a_gang())["metadata"]["labels"]
        for index in range(3)
    ]
    assert marked == [True, True, False]
    assert MEMBER in KoordinatorBackend().prepare_pod(a_pod(PREFILL, 1), released(a_gang()))["metadata"]["labels"]


def member(name: str, **spec: object) -> Raw:
    return {"metadata": {"name": name, "labels": {MEMBER: PREFILL}}, "spec": spec}


def test_until_the_last_gate_of_the_minimum_is_lifted_no_group_can_have_enough() -> None:
    made = objects(KoordinatorBackend(), with_pods(a_gang(), member("p", **GATES)))
    assert [item["spec"]["minMember"] for item in made] == [4, 5]
    assert [item["metadata"]["annotations"]["gang.scheduling.koordinator.sh/total-number"] for item in made] == [
        "4",
        "5",
    ]
    surplus = {"metadata": {"name": "s"}, "spec": GATES}
    for gang in (
        with_pods(a_gang(), member("p"), surplus),
        with_pods(a_gang(), member("p", **GATES), member("q", nodeName="n")),
    ):
        assert [item["spec"]["minMember"] for item in objects(KoordinatorBackend(), gang)] == [2, 4]


def test_pods_go_together_until_the_gang_stands_and_again_when_it_starts_again() -> None:
    def policy(*pods: Raw, said: str = "") -> set[str]:
        group = live(KOORDINATOR_POD_GROUP, PREFILL, metadata={"name": PREFILL, "annotations": {POLICY: said}})
        alone = replace(a_gang(live=(group,)), groups=a_gang().groups[:1])
        return {
            item["metadata"]["annotations"][POLICY] for item in objects(KoordinatorBackend(), with_pods(alone, *pods))
        }

    first, second = member("p", nodeName="n"), member("q", nodeName="n")
    assert policy(member("p"), member("q")) == policy(first, member("q")) == {"waiting-and-running"}
    assert policy(first, second) == {"once-satisfied"}
    assert policy(first, member("q"), said="once-satisfied") == {"once-satisfied"}
    assert (
        policy(member("p"), member("q"), said="once-satisfied")
        == policy(said="once-satisfied")
        == {"waiting-and-running"}
    )
