"""kube-scheduler: three generations of the Workload API, and none."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from backends.scene import (
    DECODE,
    EMPTY,
    GROVE,
    PREFILL,
    a_gang,
    a_pod,
    a_set,
    live,
    objects,
    one_group,
    released,
    with_pods,
)
from gangline.api.grove import GangPack
from gangline.api.kinds import COMPOSITE_POD_GROUP, KUBE_POD_GROUP, KUBE_POD_GROUP_V1ALPHA2, WORKLOAD, WORKLOAD_V1BETA1
from gangline.operator.backends.contract import MINIMA_FIRST, SURPLUS_GATED, CannotTranslate, Facts, GroupInfo
from gangline.operator.backends.default import DefaultBackend
from gangline.operator.memory.probes import Probes
from gangline.runtime import ManualClock
from operator_world import operator_world

K135 = Facts(frozenset([WORKLOAD]), known=True)
K136 = Facts(frozenset([KUBE_POD_GROUP_V1ALPHA2]), known=True)
K137_FLAT = Facts(frozenset([KUBE_POD_GROUP, WORKLOAD_V1BETA1]), known=True)
K137 = Facts(frozenset([KUBE_POD_GROUP, WORKLOAD_V1BETA1, COMPOSITE_POD_GROUP]), known=True)
NONE = Facts(known=True)
BLOCK, RACK = GangPack(required="example.com/block"), GangPack(required="example.com/rack")


def topology(key: str) -> dict[str, object]:
    return {"topology": [{"key": f"example.com/{key}"}]}


def test_on_1_35_a_gang_is_one_workload_with_the_sum_of_the_minima() -> None:
    assert objects(DefaultBackend(), a_gang(K135)) == [
        {
            "apiVersion": "scheduling.k8s.io/v1alpha1",
            "kind": "Workload",
            "metadata": {"name": "llm-0", "namespace": "serve"},
            "spec": {
                "controllerRef": {"apiGroup": "scheduler.grove.io", "kind": "PodGang", "name": "llm-0"},
                "podGroups": [{"name": "gang", "policy": {"gang": {"minCount": 6}}}],
            },
        }
    ]
    assert DefaultBackend().prepare_pod(a_pod(), a_gang(K135))["spec"] == {
        "workloadRef": {"name": "llm-0", "podGroup": "gang"}
    }


def test_on_1_36_a_gang_is_one_pod_group_that_may_be_kept_in_one_domain() -> None:
    gang = a_gang(K136, pcs=a_set(priorityClassName="high"), priority_class="high", constraint=BLOCK)
    assert objects(DefaultBackend(), gang) == [
        {
            "apiVersion": "scheduling.k8s.io/v1alpha2",
            "kind": "PodGroup",
            "metadata": {"name": "llm-0", "namespace": "serve"},
            "spec": {
                "schedulingPolicy": {"gang": {"minCount": 6}},
                "schedulingConstraints": topology("block"),
                "priorityClassName": "high",
                "disruptionMode": "PodGroup",
            },
        }
    ]
    assert DefaultBackend().prepare_pod(a_pod(), gang)["spec"] == {"schedulingGroup": {"podGroupName": "llm-0"}}


def test_on_1_37_without_composite_groups_a_gang_is_one_pod_group_of_the_new_version() -> None:
    [made] = objects(DefaultBackend(), a_gang(K137_FLAT))
    assert (made["apiVersion"], made["kind"]) == ("scheduling.k8s.io/v1beta1", "PodGroup")
    assert made["spec"] == {"schedulingPolicy": {"gang": {"minCount": 6}}, "disruptionMode": {"all": {}}}


def test_on_1_37_a_gang_is_a_tree_in_which_each_group_has_its_own_minimum() -> None:
    gang = a_gang(K137, pcs=a_set(priorityClassName="high"), priority_class="high", constraint=BLOCK, decode=RACK)
    workload, root, prefill, decode = objects(DefaultBackend(), gang)
    assert workload["spec"] == {
        "compositePodGroupTemplates": [
            {
                "name": "gang",
                "schedulingPolicy": {"gang": {"minGroupCount": 2}},
                "schedulingConstraints": topology("block"),
                "priorityClassName": "high",
                "podGroupTemplates": [
                    {"name": PREFILL, "schedulingPolicy": {"gang": {"minCount": 2}}, "priorityClassName": "high"},
                    {
                        "name": DECODE,
                        "schedulingPolicy": {"gang": {"minCount": 4}},
                        "schedulingConstraints": topology("rack"),
                        "priorityClassName": "high",
                    },
                ],
            }
        ]
    }
    assert root == {
        "apiVersion": "scheduling.k8s.io/v1alpha3",
        "kind": "CompositePodGroup",
        "metadata": {"name": "llm-0", "namespace": "serve"},
        "spec": {
            "workloadRef": {"workloadName": "llm-0", "templateName": "gang"},
            "schedulingPolicy": {"gang": {"minGroupCount": 2}},
            "schedulingConstraints": topology("block"),
            "disruptionMode": {"all": {}},
            "priorityClassName": "high",
        },
    }
    assert prefill["spec"] == {
        "parentCompositePodGroupName": "llm-0",
        "workloadRef": {"workloadName": "llm-0", "templateName": PREFILL},
        "schedulingPolicy": {"gang": {"minCount": 2}},
        "priorityClassName": "high",
    }
    assert decode == {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": DECODE, "namespace": "serve"},
        "spec": {
            "parentCompositePodGroupName": "llm-0",
            "workloadRef": {"workloadName": "llm-0", "templateName": DECODE},
            "schedulingPolicy": {"gang": {"minCount": 4}},
            "schedulingConstraints": topology("rack"),
            "priorityClassName": "high",
        },
    }
    assert DefaultBackend().prepare_pod(a_pod(DECODE), gang)["spec"] == {"schedulingGroup": {"podGroupName": DECODE}}


def test_on_1_37_a_group_of_groups_is_a_composite_below_the_root() -> None:
    workload, root, middle, *leaves = objects(DefaultBackend(), a_gang(K137, parent=RACK))
    assert root["spec"]["schedulingPolicy"] == {"gang": {"minGroupCount": 1}}
    assert middle["metadata"]["name"] == "llm-0-pd-0"
    assert middle["spec"] == {
        "workloadRef": {"workloadName": "llm-0", "templateName": "llm-0-pd-0"},
        "parentCompositePodGroupName": "llm-0",
        "schedulingPolicy": {"gang": {"minGroupCount": 2}},
        "schedulingConstraints": topology("rack"),
        "disruptionMode": {"all": {}},
    }
    assert [leaf["spec"]["parentCompositePodGroupName"] for leaf in leaves] == ["llm-0-pd-0", "llm-0-pd-0"]
    [template] = workload["spec"]["compositePodGroupTemplates"]
    assert [
        pod_group_template["name"]
        for pod_group_template in template["compositePodGroupTemplates"][0]["podGroupTemplates"]
    ] == [PREFILL, DECODE]


def test_groups_of_equal_shape_share_a_template_because_a_workload_holds_eight() -> None:
    alike = replace(a_gang(K137), groups=tuple(GroupInfo(f"g{number}", 2) for number in range(20)))
    workload, _, *leaves = objects(DefaultBackend(), alike)
    assert [
        pod_group_template["name"]
        for pod_group_template in workload["spec"]["compositePodGroupTemplates"][0]["podGroupTemplates"]
    ] == ["g0"]
    assert {leaf["spec"]["workloadRef"]["templateName"] for leaf in leaves} == {"g0"} and len(leaves) == 20
    unlike = replace(a_gang(K137), groups=tuple(GroupInfo(f"g{number}", number + 1) for number in range(9)))
    with pytest.raises(
        CannotTranslate, match=r"more than 8 kinds of groups in one place.*make groups alike, or choose backend kai"
    ):
        objects(DefaultBackend(), unlike)


def test_the_newest_generation_that_is_served_whole_is_used() -> None:
    both = Facts(K135.served | K136.served, known=True)
    assert [item["kind"] for item in objects(DefaultBackend(), a_gang(both))] == ["PodGroup"]
    assert (
        DefaultBackend().capabilities_for(K135).groups
        == DefaultBackend().capabilities_for(K136).groups
        == SURPLUS_GATED
    )
    assert DefaultBackend().capabilities_for(K137).groups == MINIMA_FIRST
    assert not DefaultBackend().capabilities_for(NONE).gang


def test_where_nothing_is_served_pods_pass_through_and_the_gang_says_so() -> None:
    gang = a_gang(NONE)
    assert objects(DefaultBackend(), gang) == []
    assert DefaultBackend().prepare_pod(a_pod(), gang) == a_pod()
    said = DefaultBackend().gang_status(gang, EMPTY)
    assert said.reason == "GangSchedulingUnavailable"
    assert said.why == (
        "this cluster does not serve workloads.scheduling.k8s.io, so pods are placed one by one: enable that API, "
        "or choose a scheduler with gang scheduling"
    )


def test_while_every_minimum_is_zero_the_former_minimum_stands() -> None:
    kept = released(
        a_gang(K135), live(WORKLOAD, "llm-0", {"podGroups": [{"name": "gang", "policy": {"gang": {"minCount": 5}}}]})
    )
    assert objects(DefaultBackend(), kept)[0]["spec"]["podGroups"] == [
        {"name": "gang", "policy": {"gang": {"minCount": 5}}}
    ]
    kept = released(
        a_gang(K136), live(KUBE_POD_GROUP_V1ALPHA2, "llm-0", {"schedulingPolicy": {"gang": {"minCount": 5}}})
    )
    assert objects(DefaultBackend(), kept)[0]["spec"]["schedulingPolicy"] == {"gang": {"minCount": 5}}
    fresh = objects(DefaultBackend(), released(a_gang(K137)))
    assert [item["spec"]["schedulingPolicy"] for item in fresh[2:]] == [
        {"gang": {"minCount": 2}},
        {"gang": {"minCount": 4}},
    ]


def test_a_required_domain_that_a_generation_cannot_keep_is_refused_and_those_that_can_are_named() -> None:
    pcs = a_set(decode={"topologyConstraint": {"topologyName": "t", "pack": {"required": "rack"}}})
    [problem] = DefaultBackend().check(pcs, K136)
    assert str(problem) == (
        "spec.template.cliques[1].topologyConstraint: default on Kubernetes 1.36 cannot keep a group inside one rack "
        "(remove the required "
        "domain, or choose a backend that can: default on Kubernetes 1.37 with CompositePodGroup, kai, volcano, kueue)"
    )
    assert list(DefaultBackend().check(pcs, K137)) == []
    assert list(DefaultBackend().check(pcs, Facts())) == [], "what a cluster serves is not known: translation will tell"
    with pytest.raises(
        CannotTranslate, match=r"default on Kubernetes 1.35 cannot keep gang llm-0 inside one example.com/block"
    ):
        objects(DefaultBackend(), a_gang(K135, constraint=BLOCK))


def test_under_compat_topology_is_ignored_as_grove_does() -> None:
    facts = replace(K135, manner=GROVE)
    assert (
        list(
            DefaultBackend().check(a_set(topologyConstraint={"topologyName": "t", "pack": {"required": "rack"}}), facts)
        )
        == []
    )
    assert len(objects(DefaultBackend(), a_gang(facts, constraint=BLOCK))) == 1


def test_a_gang_of_one_group_may_ask_at_either_level() -> None:
    [made] = objects(DefaultBackend(), one_group(K136, group=RACK, gang=BLOCK))
    assert made["spec"]["schedulingConstraints"] == topology("rack")


@pytest.mark.parametrize(
    ("facts", "refused"),
    [
        (K137, True),
        (K137_FLAT, True),
        (K136, True),
        (K135, False),
        (replace(K136, dropped=frozenset([(KUBE_POD_GROUP_V1ALPHA2, "disruptionMode")])), False),
    ],
)
def test_a_class_of_the_system_is_refused_where_groups_have_a_priority(facts: Facts, refused: bool) -> None:
    told = [
        "spec.template: has priority class system-node-critical, which is above what a group of pods may have (choose "
        "a priority class "
        "of your own: kube-scheduler's PodGroup takes at most 1000000000)"
    ]
    assert [str(item) for item in DefaultBackend().check(a_set(priorityClassName="system-node-critical"), facts)] == (
        told if refused else []
    )


def test_cliques_of_different_priority_are_refused_where_the_scheduler_would_fail_for_ever() -> None:
    pcs = msgspec.structs.replace(a_set(priorityClassName="high"))
    pcs.spec.template.cliques[0].spec.pod_spec["priorityClassName"] = "low"
    [problem] = DefaultBackend().check(pcs, K137)
    assert str(problem) == (
        "spec.template.cliques: have different priority classes (low, high) (kube-scheduler places only gangs that "
        "have one: set spec.template.priorityClassName alone)"
    )
    with pytest.raises(CannotTranslate, match=r"would have different priority classes \(low, high\)"):
        objects(DefaultBackend(), a_gang(K137, pcs=pcs))


def test_a_preferred_domain_is_a_wish_that_is_told_to_be_lost() -> None:
    gang = a_gang(K137, constraint=GangPack(required="example.com/block", preferred="example.com/rack"))
    assert DefaultBackend().gang_status(gang, EMPTY).lost == ("gang llm-0 would rather be in one example.com/rack",)


def test_a_constraint_that_the_server_dropped_stands_in_the_way() -> None:
    dropped = live(KUBE_POD_GROUP_V1ALPHA2, "llm-0", {"schedulingPolicy": {"gang": {"minCount": 6}}})
    with pytest.raises(
        CannotTranslate, match="dropped the topology of PodGroup llm-0: switch on feature gate TopologyAwareWorkload"
    ):
        objects(DefaultBackend(), a_gang(K136, constraint=BLOCK, live=(dropped,)))


def test_a_link_that_the_server_dropped_from_a_pod_is_told() -> None:
    said = DefaultBackend().gang_status(with_pods(a_gang(K136), {"metadata": {"name": "p"}, "spec": {}}), EMPTY)
    assert said.reason == "GangSchedulingUnavailable" and "switch on feature gate GenericWorkload" in said.why


def test_the_schedulers_condition_explains_why_a_gang_waits() -> None:
    status = {
        "conditions": [
            {"type": "PodGroupScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes fit"}
        ]
    }
    said = DefaultBackend().gang_status(
        a_gang(K136, live=(live(KUBE_POD_GROUP_V1ALPHA2, "llm-0", status=status),)), EMPTY
    )
    assert (said.reason, said.why) == ("Unschedulable", "0/3 nodes fit")


def test_what_the_group_lacks_is_told_with_what_the_nodes_lack() -> None:
    status = {
        "conditions": [
            {
                "type": "PodGroupInitiallyScheduled",
                "status": "False",
                "reason": "Unschedulable",
                "message": "minCount (2) cannot be satisfied",
            }
        ]
    }
    refused = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "0/2 nodes are available: 2 Insufficient cpu.",
    }
    pod = {
        "metadata": {"name": "p"},
        "spec": {"schedulingGroup": {"podGroupName": PREFILL}},
        "status": {"conditions": [refused]},
    }
    said = DefaultBackend().gang_status(
        with_pods(a_gang(K137, live=(live(KUBE_POD_GROUP, PREFILL, status=status),)), pod), EMPTY
    )
    assert (
        said.why == "minCount (2) cannot be satisfied; it says of pod p: 0/2 nodes are available: 2 Insufficient cpu."
    )


def test_a_gang_linked_to_one_flat_group_before_an_upgrade_stays_flat_until_its_pods_are_made_anew() -> None:
    linked = {"metadata": {"name": "p"}, "spec": {"schedulingGroup": {"podGroupName": "llm-0"}}}
    assert [item["metadata"]["name"] for item in objects(DefaultBackend(), with_pods(a_gang(K137), linked))] == [
        "llm-0"
    ]
    fresh = {"metadata": {"name": "p"}, "spec": {"schedulingGroup": {"podGroupName": PREFILL}}}
    assert len(objects(DefaultBackend(), with_pods(a_gang(K137), fresh))) == 4


def test_what_the_server_drops_takes_abilities_away() -> None:
    dropped = replace(K136, dropped=frozenset([(KUBE_POD_GROUP_V1ALPHA2, "schedulingConstraints")]))
    assert (DefaultBackend().capabilities_for(K136).required, DefaultBackend().capabilities_for(dropped).required) == (
        ("gang",),
        (),
    )
    flat = replace(K137, dropped=frozenset([(KUBE_POD_GROUP, "parentCompositePodGroupName")]))
    assert DefaultBackend().capabilities_for(flat).groups == SURPLUS_GATED


async def test_what_a_server_drops_is_asked_once_and_again_every_minute_while_something_is_dropped() -> None:
    async with operator_world(workloads=("v1alpha2",)) as here:
        clock, probes = ManualClock(), Probes()
        assert probes.due(K136, clock.now())
        await probes.ask(here.client, clock, DefaultBackend(), K136, "default")
        fields = ("schedulingConstraints", "disruptionMode")
        assert probes.dropped == {(KUBE_POD_GROUP_V1ALPHA2, field) for field in fields}
        assert await here.every(KUBE_POD_GROUP_V1ALPHA2) == [], "a dry run keeps nothing"
        clock.advance(59)
        assert not probes.due(K136, clock.now()) and probes.due(K137, clock.now()), "other kinds are another question"
        clock.advance(1)
        assert probes.due(K136, clock.now())
    async with operator_world(
        workloads=("v1alpha2",), features=("TopologyAwareWorkloadScheduling", "WorkloadAwarePreemption")
    ) as here:
        await probes.ask(here.client, clock, DefaultBackend(), K136, "default")
        assert probes.dropped == frozenset()
        clock.advance(3600)
        assert not probes.due(K136, clock.now())
