"""Volcano: one PodGroup with a policy per group, and tiers of HyperNodes for topology."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.scene import DECODE, EMPTY, PREFILL, a_gang, a_pod, a_set, live, objects, released
from gangline.api.grove import GangPack
from gangline.api.kinds import HYPER_NODE, VOLCANO_POD_GROUP
from gangline.operator.backends.contract import CannotTranslate, Facts
from gangline.operator.backends.volcano import VolcanoBackend
from held_objects import held

TIERS = Facts(
    frozenset([HYPER_NODE]),
    known=True,
    read=held(
        live(HYPER_NODE, "b0", {"tier": 2, "tierName": "example.com/block"}),
        live(HYPER_NODE, "r0", {"tier": 1, "tierName": "example.com/rack"}),
    ),
)


def policy(name: str, minimum: int) -> dict[str, object]:
    return {
        "name": name,
        "labelSelector": {"matchLabels": {"grove.io/podclique": name}},
        "matchLabelKeys": ["grove.io/podclique"],
        "subGroupSize": minimum,
        "minSubGroups": 1,
    }


def test_each_group_has_a_policy_that_really_matches_and_counts() -> None:
    gang = a_gang(annotations={"scheduling.grove.io/volcano-queue": "team-a"}, priority_class="high")
    assert objects(VolcanoBackend(), gang) == [
        {
            "apiVersion": "scheduling.volcano.sh/v1beta1",
            "kind": "PodGroup",
            "metadata": {"name": "llm-0", "namespace": "serve", "labels": {}},
            "spec": {
                "minMember": 6,
                "queue": "team-a",
                "priorityClassName": "high",
                "subGroupPolicy": [policy(PREFILL, 2), policy(DECODE, 4)],
            },
        }
    ]


def test_a_pod_names_its_group_under_both_keys() -> None:
    assert VolcanoBackend().prepare_pod(a_pod(), a_gang())["metadata"]["annotations"] == {
        "own": "note",
        "scheduling.k8s.io/group-name": "llm-0",
        "scheduling.volcano.sh/group-name": "llm-0",
    }


def test_bounds_are_tiers_by_name_and_wishes_are_soft() -> None:
    gang = a_gang(
        TIERS,
        constraint=GangPack(required="example.com/block"),
        prefill=GangPack(preferred="example.com/rack"),
        decode=GangPack(required="example.com/rack", preferred="kubernetes.io/hostname"),
    )
    [made] = objects(VolcanoBackend(), gang)
    assert made["spec"]["networkTopology"] == {"mode": "hard", "highestTierName": "example.com/block"}
    assert made["spec"]["subGroupPolicy"] == [
        policy(PREFILL, 2) | {"networkTopology": {"mode": "soft"}},
        policy(DECODE, 4) | {"networkTopology": {"mode": "hard", "highestTierName": "example.com/rack"}},
    ]
    assert VolcanoBackend().gang_status(gang, EMPTY).lost == ()


def test_a_tier_that_no_hypernode_has_stands_in_the_way_because_volcano_would_ignore_it() -> None:
    gang = a_gang(replace(TIERS, read=EMPTY), constraint=GangPack(required="example.com/block"))
    with pytest.raises(
        CannotTranslate, match=r"no HyperNode has tierName example.com/block, so Volcano would bind nothing"
    ):
        objects(VolcanoBackend(), gang)


def test_a_required_domain_of_a_group_of_groups_is_refused() -> None:
    pcs = a_set(
        groups=[
            {
                "name": "pd",
                "cliqueNames": ["prefill", "decode"],
                "replicas": 1,
                "minAvailable": 1,
                "topologyConstraint": {"topologyName": "t", "pack": {"required": "rack"}},
            }
        ]
    )
    problem = next(iter(VolcanoBackend().check(pcs, Facts())))
    assert str(problem) == (
        "spec.template.podCliqueScalingGroups[0].topologyConstraint: volcano cannot keep a group of groups inside one "
        "rack (remove the "
        "required domain, or choose a backend that can: default on Kubernetes 1.37 with CompositePodGroup, kai)"
    )


def test_while_every_minimum_is_zero_the_former_minima_stand() -> None:
    before = {"minMember": 5, "subGroupPolicy": [policy(PREFILL, 1), policy(DECODE, 4)], "queue": "default"}
    [made] = objects(VolcanoBackend(), released(a_gang(), live(VOLCANO_POD_GROUP, "llm-0", before)))
    assert made["spec"] == before


def test_the_schedulers_condition_explains_why_a_gang_waits() -> None:
    status = {
        "conditions": [
            {"type": "Unschedulable", "status": "True", "reason": "NotEnoughResources", "message": "4/6 tasks fit"}
        ]
    }
    said = VolcanoBackend().gang_status(a_gang(live=(live(VOLCANO_POD_GROUP, "llm-0", status=status),)), EMPTY)
    assert (said.reason, said.why) == ("NotEnoughResources", "4/6 tasks fit")
