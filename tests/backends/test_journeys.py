"""A set on an embedded server with another scheduler's kinds: what is written, who owns it, and that it goes again."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from click.testing import CliRunner

from backends.crds import install
from embedded import until
from gangline.api import names
from gangline.api.kinds import (
    COMPOSITE_POD_GROUP,
    COSCHEDULING_POD_GROUP,
    EVENT,
    KOORDINATOR_POD_GROUP,
    KUBE_POD_GROUP,
    KUBE_POD_GROUP_V1ALPHA2,
    KUEUE_WORKLOAD,
    NODE,
    POD,
    POD_CLIQUE_SET,
    POD_GANG,
    POD_GROUP,
    PRIORITY_CLASS,
    TOPOLOGY_BINDING,
    VOLCANO_POD_GROUP,
    WORKLOAD,
    WORKLOAD_V1BETA1,
    Kind,
)
from gangline.api.meta import Raw, condition
from gangline.cli.deploy.run import command
from gangline.client import Client
from gangline.components import build
from gangline.components.options import ComponentOptions
from gangline.operator.backends import NoBackend
from gangline.rules.sets import OperatorSettings
from gangline.runtime import Manager, ManualClock
from operator_world import NAMESPACE, OPERATOR, OperatorWorld, clique, operator_world, pod_clique_set

BACKEND = "grove.io/scheduler-backend"


def llm(backend: str = "", **more: Any) -> Raw:
    notes = {BACKEND: backend} if backend else {}
    return pod_clique_set(
        "llm", clique("prefill", 3, 2, scheduler=""), clique("decode", 4, scheduler=""), annotations=notes, **more
    )


@asynccontextmanager
async def cluster(
    *kinds: Kind[Any],
    settings: OperatorSettings | None = None,
    clock: ManualClock | None = None,
    workloads: tuple[str, ...] = ("v1alpha1",),
    features: tuple[str, ...] = (),
) -> AsyncIterator[OperatorWorld]:
    """The operator on a server that serves these kinds too."""
    async with operator_world(settings, clock, workloads, features) as here:
        await install(here.client, *kinds)
        await noticed(here, *kinds)
        yield here


async def noticed(here: OperatorWorld, *kinds: Kind[Any]) -> None:
    def all_seen() -> bool:
        if isinstance(here.clock, ManualClock):
            here.clock.advance(1)
        return all(here.manager.cache.revision(kind) > 0 for kind in kinds)

    await until(all_seen, "the operator to notice new kinds")


async def said(here: OperatorWorld, type: str) -> tuple[str, str, str]:
    found = condition((await here.gang("llm-0")).status.conditions, type)
    assert found is not None, type
    return found.status, found.reason, found.message


@pytest.mark.parametrize(
    ("backend", "kinds", "wanted", "link"),
    [
        (
            "koordinator",
            (KOORDINATOR_POD_GROUP,),
            {"llm-0-prefill": 2, "llm-0-decode": 4},
            "pod-group.scheduling.sigs.k8s.io",
        ),
        ("volcano", (VOLCANO_POD_GROUP,), {"llm-0": 6}, "scheduling.k8s.io/group-name"),
        ("coscheduling", (COSCHEDULING_POD_GROUP,), {"llm-0": 6}, "scheduling.x-k8s.io/pod-group"),
    ],
)
async def test_a_set_is_translated_owned_by_its_gang_and_pruned_with_it(
    backend: str, kinds: tuple[Kind[Any], ...], wanted: dict[str, int], link: str
) -> None:
    async with cluster(*kinds) as here:
        await here.apply(llm(backend))
        made = await here.every(kinds[0])
        gang = await here.gang("llm-0")
        assert gang.labels[BACKEND] == backend
        assert {item.name: item.spec["minMember"] for item in made} == wanted
        assert [item.metadata.controller.uid for item in made] == [gang.uid] * len(made)
        pods = await here.pods()
        members = [pod for pod in pods if link in pod.labels | pod.annotations]
        assert len(pods) == 7 and len(members) == (6 if backend == "koordinator" else 7)
        assert all((pod.labels | pod.annotations)[link] in wanted for pod in members)
        await here.client.delete(POD_CLIQUE_SET, "llm", NAMESPACE)
        await here.settles()
        assert [await here.every(kind) for kind in (*kinds, POD_GANG, POD)] == [[], [], []]


async def test_kube_1_35_gets_a_workload_that_is_made_anew_when_its_minimum_changes() -> None:
    async with operator_world() as here:
        await here.apply(llm())
        [before] = await here.every(WORKLOAD)
        assert before.spec.pod_groups == ({"name": "gang", "policy": {"gang": {"minCount": 6}}},)
        await here.client.patch(
            POD_CLIQUE_SET,
            "llm",
            NAMESPACE,
            {
                "spec": {
                    "template": {"cliques": [clique("prefill", 3, 3, scheduler=""), clique("decode", 4, scheduler="")]}
                }
            },
        )
        await here.settles()
        [after] = await here.every(WORKLOAD)
        assert (
            after.spec.pod_groups == ({"name": "gang", "policy": {"gang": {"minCount": 7}}},)
            and after.uid != before.uid
        )


async def test_kube_1_36_gets_a_pod_group_and_says_when_the_server_drops_the_pods_links() -> None:
    async with cluster(KUBE_POD_GROUP_V1ALPHA2) as here:
        await here.apply(llm())
        [made] = await here.every(KUBE_POD_GROUP_V1ALPHA2)
        assert made.name == "llm-0" and made.spec["schedulingPolicy"] == {"gang": {"minCount": 6}}
        assert await here.every(WORKLOAD) == []
        linked = {pod.spec.scheduling_group is not None for pod in await here.pods()}
        _, reason, why = await said(here, "Scheduled")
        assert linked == {False} and reason == "GangSchedulingUnavailable" and "feature gate GenericWorkload" in why


RACKS = {
    "metadata": {"name": "t"},
    "spec": {
        "levels": [{"domain": "block", "key": "example.com/block"}, {"domain": "rack", "key": "example.com/rack"}]
    },
}


def constrained(domain: str) -> Raw:
    return {"topologyConstraint": {"topologyName": "t", "pack": {"required": domain}}}


async def test_kube_1_36_keeps_a_gang_in_one_domain_where_the_feature_is_on() -> None:
    async with operator_world(
        workloads=("v1alpha2",), features=("TopologyAwareWorkloadScheduling", "WorkloadAwarePreemption")
    ) as here:
        await here.client.create(TOPOLOGY_BINDING, RACKS)
        await here.apply(llm(**constrained("rack")))
        [made] = await here.every(KUBE_POD_GROUP_V1ALPHA2)
        assert made.spec == {
            "schedulingPolicy": {"gang": {"minCount": 6}},
            "disruptionMode": "PodGroup",
            "schedulingConstraints": {"topology": [{"key": "example.com/rack"}]},
            "podGroupTemplateRef": None,
            "priority": 0,
        }
        assert {(pod.spec.scheduling_group or {}).get("podGroupName") for pod in await here.pods()} == {"llm-0"}
        assert [
            pod.labels["grove.io/podclique-pod-index"] for pod in await here.pods() if pod.spec.scheduling_gates
        ] == ["2"]


async def test_kube_1_37_gets_a_tree_where_composite_groups_are_served() -> None:
    features = ("TopologyAwareWorkloadScheduling", "CompositePodGroup")
    async with operator_world(workloads=("v1beta1", "v1alpha3"), features=features) as here:
        await here.client.create(TOPOLOGY_BINDING, RACKS)
        asked = llm(**constrained("block"))
        asked["spec"]["template"]["cliques"][1] |= constrained("rack")
        await here.apply(asked)
        gang = await here.gang("llm-0")
        made = [
            item for kind in (WORKLOAD_V1BETA1, COMPOSITE_POD_GROUP, KUBE_POD_GROUP) for item in await here.every(kind)
        ]
        assert [item.name for item in made] == ["llm-0", "llm-0", "llm-0-decode", "llm-0-prefill"]
        assert {item.metadata.controller.uid for item in made} == {gang.uid}
        keys = [
            ((item.spec.get("schedulingConstraints") or {}).get("topology") or [{}])[0].get("key") for item in made[1:]
        ]
        assert keys == ["example.com/block", "example.com/rack", None]
        members = [pod for pod in await here.pods() if pod.spec.scheduling_group is not None]
        links = {
            (pod.labels["grove.io/podclique"], (pod.spec.scheduling_group or {}).get("podGroupName")) for pod in members
        }
        assert links == {("llm-0-prefill", "llm-0-prefill"), ("llm-0-decode", "llm-0-decode")}
        assert [pod.spec.scheduling_group for pod in await here.pods() if pod.spec.scheduling_gates] == [None], (
            "surplus is no member"
        )
        later = [
            item for kind in (WORKLOAD_V1BETA1, COMPOSITE_POD_GROUP, KUBE_POD_GROUP) for item in await here.every(kind)
        ]
        assert [item.uid for item in later] == [item.uid for item in made], (
            "what the server writes besides is no reason to make it anew"
        )


@pytest.mark.parametrize(
    ("features", "groups"),
    [
        (("TopologyAwareWorkloadScheduling", "CompositePodGroup"), {"llm-0-prefill": 2, "llm-0-decode": 4}),
        ((), {"llm-0": 6}),
    ],
    ids=["tree", "flat"],
)
async def test_surplus_on_kube_1_37_belongs_to_no_group_and_waits(
    features: tuple[str, ...], groups: dict[str, int]
) -> None:
    async with operator_world(workloads=("v1beta1", "v1alpha3"), features=features) as here:
        await here.apply(llm())
        pods = await here.pods()
        linked = Counter((pod.spec.scheduling_group or {}).get("podGroupName") for pod in pods)
        assert linked.pop(None) == 1 and linked == groups
        held = [
            (pod.labels["grove.io/podclique-pod-index"], pod.spec.scheduling_group)
            for pod in pods
            if pod.spec.scheduling_gates
        ]
        assert held == [("2", None)], "a gated member would keep kube-scheduler from looking at the group"
        assert (await said(here, "Scheduled"))[1] == "MinimumNotScheduled", (
            "surplus without a link is no sign of a gate that is off"
        )


async def test_surplus_on_kube_1_37_is_told_the_domain_of_its_gang_when_it_is_let_go() -> None:
    async with operator_world(
        workloads=("v1beta1", "v1alpha3"), features=("TopologyAwareWorkloadScheduling", "CompositePodGroup")
    ) as here:
        await here.client.create(TOPOLOGY_BINDING, RACKS)
        await here.client.create(
            NODE, {"metadata": {"name": "node-1", "labels": {"example.com/rack": "r7", "example.com/block": "b2"}}}
        )
        await here.apply(llm(**constrained("rack")))
        members = [pod for pod in await here.pods() if not pod.spec.scheduling_gates]
        await here.run(*members)
        await here.settles()
        [surplus] = [pod for pod in await here.pods() if pod.spec.scheduling_group is None]
        assert (surplus.spec.scheduling_gates, surplus.spec.node_selector) == ((), {"example.com/rack": "r7"})


async def test_kube_1_37_is_told_of_a_class_that_preempts_nobody() -> None:
    features = ("CompositePodGroup", "TopologyAwareWorkloadScheduling", "PodGroupPreemptionPolicy")
    async with operator_world(workloads=("v1beta1", "v1alpha3"), features=features) as here:
        await here.client.create(
            PRIORITY_CLASS, {"metadata": {"name": "patient"}, "value": 7, "preemptionPolicy": "Never"}
        )
        await here.apply(llm(priorityClassName="patient"))
        await until(lambda: _ranked(here, ("patient", 7, "Never"), 3), "groups of that class")


async def _ranked(here: OperatorWorld, rank: tuple[str, int, str], count: int) -> bool:
    made = [item.spec for kind in (COMPOSITE_POD_GROUP, KUBE_POD_GROUP) for item in await here.every(kind)]
    return [(spec["priorityClassName"], spec["priority"], spec["preemptionPolicy"]) for spec in made] == [rank] * count


async def test_kube_1_37_gets_one_pod_group_where_composite_groups_are_not_served_and_its_minimum_can_change() -> None:
    async with operator_world(workloads=("v1beta1", "v1alpha3")) as here:
        await here.apply(llm())
        [made] = await here.every(KUBE_POD_GROUP)
        assert made.spec["schedulingPolicy"] == {"gang": {"minCount": 6}}
        await here.client.patch(
            POD_CLIQUE_SET,
            "llm",
            NAMESPACE,
            {
                "spec": {
                    "template": {"cliques": [clique("prefill", 3, 3, scheduler=""), clique("decode", 4, scheduler="")]}
                }
            },
        )
        await here.settles()
        [after] = await here.every(KUBE_POD_GROUP)
        assert after.uid == made.uid and after.spec["schedulingPolicy"] == {"gang": {"minCount": 7}}


async def test_where_no_workload_api_is_served_pods_go_once_the_gang_is_complete_and_the_gang_says_so() -> None:
    async with cluster(workloads=()) as here:
        await here.apply(llm())
        assert [pod.name for pod in await here.pods() if pod.spec.scheduling_gates] == []
        assert (await said(here, "Scheduled"))[1] == "GangSchedulingUnavailable"


async def test_yunikorn_and_kueue_get_everything_on_the_pods() -> None:
    async with cluster(KUEUE_WORKLOAD) as here:
        await here.apply(llm("yunikorn"))
        pods = await here.pods()
        application = f"default-llm-0-{names.suffix((await here.gang('llm-0')).uid)}"
        assert {pod.labels["yunikorn.apache.org/app-id"] for pod in pods} == {application}
        assert {pod.annotations["yunikorn.apache.org/task-group-name"] for pod in pods} == {
            "llm-0-prefill",
            "llm-0-decode",
        }
        await here.client.delete(POD_CLIQUE_SET, "llm", NAMESPACE)
        await here.settles()
        await here.apply(llm("kueue", labels={"kueue.x-k8s.io/queue-name": "team-a"}))
        grouped = [pod for pod in await here.pods() if "kueue.x-k8s.io/pod-group-name" in pod.labels]
        assert len(grouped) == 6 and len(await here.pods()) == 7
        assert {pod.annotations["kueue.x-k8s.io/pod-group-total-count"] for pod in grouped} == {"6"}


async def test_kueues_answer_reaches_the_gang() -> None:
    async with cluster(KUEUE_WORKLOAD) as here:
        await here.apply(llm("kueue", labels={"kueue.x-k8s.io/queue-name": "team-a"}))
        waiting = {
            "type": "QuotaReserved",
            "status": "False",
            "reason": "WaitingForQuota",
            "message": "needs 8 more GPUs",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
        made = await here.client.create(
            KUEUE_WORKLOAD,
            {
                "metadata": {"name": "llm-0", "namespace": NAMESPACE},
                "spec": {
                    "podSets": [
                        {
                            "name": "main",
                            "count": 1,
                            "template": {"spec": {"containers": [{"name": "c", "image": "i"}]}},
                        }
                    ]
                },
            },
        )
        await here.client.patch(
            KUEUE_WORKLOAD, made.name, NAMESPACE, {"status": {"conditions": [waiting]}}, subresource="status"
        )
        await here.settles()
        assert await said(here, "Scheduled") == ("False", "WaitingForQuota", "Kueue: needs 8 more GPUs")


@pytest.mark.parametrize(
    ("backend", "kind"), [("coscheduling", COSCHEDULING_POD_GROUP), ("koordinator", KOORDINATOR_POD_GROUP)]
)
async def test_where_the_scheduler_does_not_order_it_the_surplus_waits_until_the_minimum_is_placed(
    backend: str, kind: Kind[Any]
) -> None:
    async with cluster(kind) as here:
        await here.apply(llm(backend))
        held = [pod for pod in await here.pods() if pod.spec.scheduling_gates]
        assert [pod.labels["grove.io/podclique-pod-index"] for pod in held] == ["2"]
        await here.run(*(pod for pod in await here.pods() if not pod.spec.scheduling_gates))
        assert [pod for pod in await here.pods() if pod.spec.scheduling_gates] == []


async def test_a_foreign_object_with_our_name_is_left_alone_told_of_and_waited_out() -> None:
    async with cluster(COSCHEDULING_POD_GROUP, clock=ManualClock()) as here:
        foreign = {"metadata": {"name": "llm-0", "namespace": NAMESPACE}, "spec": {"minMember": 99}}
        await here.client.create(COSCHEDULING_POD_GROUP, foreign)
        await here.apply(llm("coscheduling"))
        [kept] = await here.every(COSCHEDULING_POD_GROUP)
        assert kept.spec["minMember"] == 99 and not kept.metadata.owner_references
        told = "PodGroup llm-0 exists and belongs to someone else; remove or rename it"
        assert await said(here, "Initialized") == ("False", "PodGangPodsCreationPending", told)
        assert [
            event.message
            for event in (await here.client.list(EVENT, NAMESPACE)).items
            if event.reason == "BackendBlocked"
        ] == [told]
        assert all(pod.spec.scheduling_gates for pod in await here.pods())
        await here.client.delete(COSCHEDULING_POD_GROUP, "llm-0", NAMESPACE)
        await here.settles()
        assert isinstance(here.clock, ManualClock)
        here.clock.advance(11)
        await until(lambda: _minimum(here, COSCHEDULING_POD_GROUP), "the gang's own object")


async def _minimum(here: OperatorWorld, kind: Kind[Any]) -> bool:
    return [item.spec["minMember"] for item in await here.every(kind)] == [6]


async def test_a_scheduler_whose_kinds_are_not_installed_is_named_and_it_heals_once_they_are() -> None:
    async with cluster(clock=ManualClock()) as here:
        await here.apply(llm("coscheduling"))
        told = (
            "this cluster does not serve podgroups.scheduling.x-k8s.io v1alpha1: install the definitions of "
            "coscheduling's scheduler, "
            "or choose another backend"
        )
        assert (await said(here, "Initialized"))[2] == told
        assert [
            event.message
            for event in (await here.client.list(EVENT, NAMESPACE)).items
            if event.reason == "BackendBlocked"
        ] == [told]
        assert len(await here.pods()) == 7 and all(pod.spec.scheduling_gates for pod in await here.pods())
        await install(here.client, COSCHEDULING_POD_GROUP)
        await noticed(here, COSCHEDULING_POD_GROUP)
        assert isinstance(here.clock, ManualClock)
        here.clock.advance(11)
        await until(lambda: _minimum(here, COSCHEDULING_POD_GROUP), "the gang's own object")


async def test_a_lost_wish_becomes_a_condition() -> None:
    async with cluster(COSCHEDULING_POD_GROUP) as here:
        await here.client.create(
            TOPOLOGY_BINDING,
            {"metadata": {"name": "t"}, "spec": {"levels": [{"domain": "rack", "key": "example.com/rack"}]}},
        )
        await here.apply(llm("coscheduling", topologyConstraint={"topologyName": "t", "pack": {"preferred": "rack"}}))
        assert await said(here, "WishesDropped") == (
            "True",
            "BackendCannotExpress",
            "gang llm-0 would rather be in one example.com/rack",
        )
        assert len(await here.every(COSCHEDULING_POD_GROUP)) == 1


async def test_a_gang_that_changes_its_backend_leaves_no_object_of_the_old_one() -> None:
    async with cluster(COSCHEDULING_POD_GROUP) as here:
        await here.apply(llm("kai"))
        assert len(await here.every(POD_GROUP)) == 1
        await here.client.patch(
            POD_CLIQUE_SET, "llm", NAMESPACE, {"metadata": {"annotations": {BACKEND: "coscheduling"}}}
        )
        await here.settles()
        assert (await here.every(POD_GROUP), len(await here.every(COSCHEDULING_POD_GROUP))) == ([], 1)
        assert (await here.gang("llm-0")).labels[BACKEND] == "coscheduling"


async def test_a_backend_that_runs_outside_translates_its_own_gangs_in_its_own_process() -> None:
    settings = replace(OperatorSettings(), outside=("coscheduling",))
    async with cluster(COSCHEDULING_POD_GROUP, settings=settings) as here:
        await here.apply(llm("coscheduling"))
        assert await here.every(COSCHEDULING_POD_GROUP) == []
        assert len(await here.pods()) == 7 and all(pod.spec.scheduling_gates for pod in await here.pods())
        alone = Manager(
            build("backend-coscheduling", ComponentOptions()),
            Client(here.server.transport(OPERATOR), manager="backend"),
            here.clock,
        )
        await alone.start()
        try:
            await until(lambda: _minimum(here, COSCHEDULING_POD_GROUP), "the gang's own object")
            await until(lambda: _gated(here, 1), "the gates to be lifted")
        finally:
            await alone.stop()


async def _gated(here: OperatorWorld, count: int) -> bool:
    return sum(bool(pod.spec.scheduling_gates) for pod in await here.pods()) == count


def test_a_backend_alone_is_known_by_its_old_names_and_a_wrong_one_is_answered() -> None:
    assert build("backend-podgang", ComponentOptions()).name == "backend-kai"
    with pytest.raises(NoBackend, match="no backend is called 'slurm'; there are: default, kai"):
        build("backend-slurm", ComponentOptions())


def test_the_command_asks_which_backend() -> None:
    answer = CliRunner().invoke(command, ["backend"])
    assert "which backend? say for example: gangline run backend kai" in str(answer.exception)
