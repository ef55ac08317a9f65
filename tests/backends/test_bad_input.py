"""What stands in a gang's way from outside: told as a condition and an event that name cause and remedy, and healed by
itself."""

from __future__ import annotations

from typing import Any

import pytest

from backends.crds import install, stand_in
from backends.test_journeys import cluster, llm, noticed, said
from embedded import until
from gangline.api.kinds import (
    COMPOSITE_POD_GROUP,
    CRD,
    EVENT,
    KOORDINATOR_POD_GROUP,
    KOORDINATOR_QUOTA,
    KUBE_POD_GROUP,
    KUBE_POD_GROUP_V1ALPHA2,
    KUEUE_QUEUE,
    KUEUE_WORKLOAD,
    POD,
    POD_CLIQUE_SET,
    PRIORITY_CLASS,
    QUEUE,
    TOPOLOGY_BINDING,
    VOLCANO_POD_GROUP,
    VOLCANO_QUEUE,
    WORKLOAD_V1BETA1,
    Kind,
)
from gangline.api.meta import Raw
from gangline.runtime import ManualClock
from operator_world import NAMESPACE, OperatorWorld, clique


async def events(here: OperatorWorld, reason: str) -> list[str]:
    return [event.message for event in (await here.client.list(EVENT, NAMESPACE)).items if event.reason == reason]


async def later(here: OperatorWorld, seconds: float) -> None:
    assert isinstance(here.clock, ManualClock)
    here.clock.advance(seconds)
    await here.settles()


async def _told(here: OperatorWorld, why: str) -> bool:
    await later(here, 1)
    return (await said(here, "Scheduled"))[2] == why


async def _event(here: OperatorWorld, reason: str, message: str) -> bool:
    return message in await events(here, reason)


async def _reason(here: OperatorWorld, reason: str) -> bool:
    return (await said(here, "Scheduled"))[1] == reason


@pytest.mark.parametrize(
    ("backend", "kinds", "queue", "missing", "told"),
    [
        (
            "kai",
            (),
            "team-a",
            QUEUE,
            "queue team-a does not exist: create that Queue of scheduling.run.ai, or name another one in spec.queue of",
        ),
        (
            "volcano",
            (VOLCANO_POD_GROUP, VOLCANO_QUEUE),
            "team-a",
            VOLCANO_QUEUE,
            "queue team-a does not exist: create a Queue of scheduling.volcano.sh, or name another one with annotation "
            "scheduling.grove.io/volcano-queue",
        ),
        (
            "kueue",
            (KUEUE_WORKLOAD, KUEUE_QUEUE),
            "team-a",
            KUEUE_QUEUE,
            "LocalQueue team-a does not exist in namespace default: create it, or label the PodCliqueSet with another "
            "kueue.x-k8s.io/queue-name",
        ),
    ],
)
async def test_a_queue_that_does_not_exist_is_named_and_the_gang_goes_on_once_it_does(
    backend: str, kinds: tuple[Kind[Any], ...], queue: str, missing: Kind[Any], told: str
) -> None:
    async with cluster(*kinds, clock=ManualClock()) as here:
        asked = llm(backend, labels={"kai.scheduler/queue": queue, "kueue.x-k8s.io/queue-name": queue})
        asked["metadata"]["annotations"]["scheduling.grove.io/volcano-queue"] = queue
        await here.apply(asked)
        status, reason, why = await said(here, "Scheduled")
        assert (status, reason) == ("False", "QueueDoesNotExist") and why.startswith(told)
        assert [message.startswith(told) for message in await events(here, "QueueDoesNotExist")] == [True]
        assert len(await here.pods()) == 7
        where = {"namespace": NAMESPACE} if missing.namespaced else {}
        spec = {"clusterQueue": "all"} if missing is KUEUE_QUEUE else {}
        await here.client.create(missing, {"metadata": {"name": queue} | where, "spec": spec})
        await here.settles()
        await later(here, 11)
        await until(lambda: _reason(here, "MinimumNotScheduled"), "the gang to see its queue")


async def test_a_quota_that_koordinator_would_overlook_is_named_and_the_gang_goes_on_once_it_is_there() -> None:
    async with cluster(KOORDINATOR_POD_GROUP, KOORDINATOR_QUOTA, clock=ManualClock()) as here:
        await here.apply(llm("koordinator", labels={"quota.scheduling.koordinator.sh/name": "team-a"}))
        told = (
            "quota team-a does not exist, and Koordinator would count the pods into its default one: create an "
            "ElasticQuota team-a of "
            "scheduling.sigs.k8s.io, or name another one with label quota.scheduling.koordinator.sh/name"
        )
        assert await said(here, "Initialized") == ("False", "PodGangPodsCreationPending", told)
        assert await events(here, "KOORDINATORBackendMappingFailed") == [told]
        assert len(await here.pods()) == 7 and all(pod.spec.scheduling_gates for pod in await here.pods())
        quota = {"metadata": {"name": "team-a", "namespace": "kube-system"}, "spec": {"max": {"cpu": 9}}}
        await here.client.create(KOORDINATOR_QUOTA, quota)
        await here.settles()
        await later(here, 11)
        assert (await said(here, "Initialized"))[0] == "True" and len(await here.every(KOORDINATOR_POD_GROUP)) == 2
        assert sum(bool(pod.spec.scheduling_gates) for pod in await here.pods()) == 1


async def test_a_gang_that_yunikorn_rejected_says_so_and_is_tried_again_after_a_minute() -> None:
    async with cluster(clock=ManualClock()) as here:
        await here.apply(llm("yunikorn", labels={"yunikorn.apache.org/queue": "root.x"}))
        first = await here.pods()
        rejected = {"status": {"phase": "Failed", "reason": "ApplicationRejected", "message": " no queue root.x"}}
        for pod in first:
            await here.client.patch(POD, pod.name, NAMESPACE, rejected, subresource="status")
        await here.settles()
        status, reason, why = await said(here, "Scheduled")
        assert (status, reason) == ("False", "ApplicationRejected") and why.startswith(
            "YuniKorn rejected the gang: no queue root.x; "
        )
        assert await events(here, "ApplicationRejected") == [why]
        await later(here, 50)
        assert {pod.uid for pod in await here.pods()} == {pod.uid for pod in first}
        await later(here, 11)
        second = await here.pods()
        assert len(second) == 7 and not {pod.uid for pod in first} & {pod.uid for pod in second}
        ids = [{pod.labels["yunikorn.apache.org/app-id"] for pod in pods} for pods in (first, second)]
        assert [len(item) for item in ids] == [1, 1] and ids[0] != ids[1]
        assert (await said(here, "Scheduled"))[1] == "MinimumNotScheduled"


async def test_a_scheduler_that_says_nothing_for_two_minutes_is_asked_for_by_name() -> None:
    async with cluster(clock=ManualClock()) as here:
        await here.apply(llm("kai"))
        await later(here, 119)
        assert (await said(here, "Scheduled"))[1] == "MinimumNotScheduled"
        await later(here, 2)
        told = "no scheduler has looked at this gang for 2 min: is kai-scheduler running?"
        assert await said(here, "Scheduled") == ("False", "SchedulerSilent", told)
        assert await events(here, "SchedulerSilent") == [told]
        [summary] = (await here.the_set("llm")).status.pod_gang_statuses
        assert told in [condition["message"] for condition in summary["conditions"]]
        pod = (await here.pods())[0]
        found = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/2 nodes"}
        await here.client.patch(POD, pod.name, NAMESPACE, {"status": {"conditions": [found]}}, subresource="status")
        await here.settles()
        assert (await said(here, "Scheduled"))[1] == "MinimumNotScheduled"


async def test_a_gang_whose_pods_are_still_held_back_is_no_reason_to_ask_for_the_scheduler() -> None:
    async with cluster(clock=ManualClock()) as here:
        await here.apply(llm("coscheduling"))
        await later(here, 300)
        assert (await said(here, "Scheduled"))[1] != "SchedulerSilent"


async def test_an_api_generation_that_vanishes_on_upgrade_is_told_and_the_next_one_taken() -> None:
    async with cluster(KUBE_POD_GROUP_V1ALPHA2, clock=ManualClock(), workloads=()) as here:
        await here.apply(llm())
        before = {pod.uid for pod in await here.pods()}
        await here.client.delete(CRD, KUBE_POD_GROUP_V1ALPHA2.resource)
        await later(here, 11)
        told = (
            "this cluster does not serve workloads.scheduling.k8s.io, so pods are placed one by one: enable that API, "
            "or choose a "
            "scheduler with gang scheduling"
        )
        await until(lambda: _told(here, told), "the operator to notice that a kind is gone")
        await until(lambda: _event(here, "GangSchedulingUnavailable", told), "the event")
        await install(here.client, KUBE_POD_GROUP)
        await noticed(here, KUBE_POD_GROUP)
        await later(here, 11)
        [made] = await here.every(KUBE_POD_GROUP)
        assert made.spec["schedulingPolicy"] == {"gang": {"minCount": 6}}
        assert {pod.uid for pod in await here.pods()} == before


async def test_kinds_that_are_taken_away_from_a_gang_are_named_and_it_heals_once_they_are_back() -> None:
    async with cluster(VOLCANO_POD_GROUP, clock=ManualClock()) as here:
        await here.apply(llm("volcano"))
        before = {pod.uid for pod in await here.pods()}
        await here.client.delete(CRD, VOLCANO_POD_GROUP.resource)
        told = (
            "this cluster does not serve podgroups.scheduling.volcano.sh v1beta1: install the definitions of "
            "volcano's scheduler, "
            "or choose another backend"
        )

        async def says_so() -> bool:
            await later(here, 11)
            return (await said(here, "Initialized"))[2] == told

        await until(says_so, "the gang to say that its kind is gone")
        await until(lambda: _event(here, "BackendBlocked", told), "the event")
        await install(here.client, VOLCANO_POD_GROUP)
        await noticed(here, VOLCANO_POD_GROUP)
        await later(here, 11)
        [made] = await here.every(VOLCANO_POD_GROUP)
        assert made.spec["minMember"] == 6 and (await said(here, "Initialized"))[0] == "True"
        assert {pod.uid for pod in await here.pods()} == before


def without(kind: Kind[Any], *kept: str) -> Raw:
    """The definition of a kind on a server that drops every field of spec but these."""
    anything = {"x-kubernetes-preserve-unknown-fields": True}
    definition = stand_in(kind)
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["properties"]["spec"] = {"type": "object", "properties": dict.fromkeys(kept, anything)}
    return definition


async def test_a_required_domain_stands_in_the_way_where_the_server_drops_it_and_no_pod_starts() -> None:
    async with cluster(workloads=("v1alpha2",)) as here:
        await here.client.create(
            TOPOLOGY_BINDING,
            {"metadata": {"name": "t"}, "spec": {"levels": [{"domain": "rack", "key": "example.com/rack"}]}},
        )
        await here.apply(llm(topologyConstraint={"topologyName": "t", "pack": {"required": "rack"}}))
        told = (
            "default on Kubernetes 1.36 without feature gate TopologyAwareWorkloadScheduling cannot keep gang llm-0 "
            "inside one "
            "example.com/rack; remove that constraint, or choose a backend that can: "
        )
        assert (await said(here, "Initialized"))[2].startswith(told)
        assert [text.startswith(told) for text in await events(here, "DEFAULTBackendMappingFailed")] == [True]
        assert await here.every(KUBE_POD_GROUP_V1ALPHA2) == []
        assert all(pod.spec.scheduling_gates for pod in await here.pods())


async def test_wishes_that_the_server_drops_are_left_out_and_told() -> None:
    async with cluster(workloads=("v1alpha2",)) as here:
        await here.client.create(PRIORITY_CLASS, {"metadata": {"name": "high"}, "value": 100})
        await here.apply(llm(priorityClassName="high"))
        [made] = await here.every(KUBE_POD_GROUP_V1ALPHA2)
        assert made.spec == {
            "schedulingPolicy": {"gang": {"minCount": 6}},
            "podGroupTemplateRef": None,
            "disruptionMode": "Pod",
        }
        assert await said(here, "WishesDropped") == (
            "True",
            "BackendCannotExpress",
            (
                "the gang would rather be preempted whole, but the API server drops that: switch on feature gate "
                "WorkloadAwarePreemption; "
                "the group would rather have priority class high, but the API server drops that: switch on feature "
                "gate "
                "WorkloadAwarePreemption"
            ),
        )


async def test_where_the_server_drops_the_link_to_a_composite_the_gang_is_one_flat_group_until_the_gate_is_on() -> None:
    async with cluster(COMPOSITE_POD_GROUP, WORKLOAD_V1BETA1, workloads=(), clock=ManualClock()) as here:
        await here.client.create(
            CRD,
            without(
                KUBE_POD_GROUP,
                "schedulingPolicy",
                "priorityClassName",
                "disruptionMode",
                "schedulingConstraints",
                "workloadRef",
            ),
        )
        await noticed(here, KUBE_POD_GROUP)
        await here.apply(llm())
        assert [item.name for item in await here.every(KUBE_POD_GROUP)] == ["llm-0"]
        assert await here.every(COMPOSITE_POD_GROUP) == []
        assert "switch on feature gate CompositePodGroup" in (await said(here, "WishesDropped"))[2]


async def test_a_group_that_must_be_made_anew_waits_until_the_old_one_is_gone_and_says_so() -> None:
    async with cluster(KUBE_POD_GROUP_V1ALPHA2, clock=ManualClock(), workloads=()) as here:
        await here.apply(llm())
        protected = {"metadata": {"finalizers": ["scheduling.k8s.io/podgroup-protection"]}}
        await here.client.patch(KUBE_POD_GROUP_V1ALPHA2, "llm-0", NAMESPACE, protected)
        cliques = [clique("prefill", 3, 1, scheduler=""), clique("decode", 4, scheduler="")]
        await here.client.patch(POD_CLIQUE_SET, "llm", NAMESPACE, {"spec": {"template": {"cliques": cliques}}})
        await here.settles()
        told = "PodGroup llm-0 is made anew once the old one is gone; it stays while pods belong to it"
        await until(lambda: _event(here, "BackendBlocked", told), "the event")
        assert (await said(here, "Initialized"))[2] == told
        await here.client.patch(KUBE_POD_GROUP_V1ALPHA2, "llm-0", NAMESPACE, {"metadata": {"finalizers": None}})
        await here.settles()
        await later(here, 11)
        [made] = await here.every(KUBE_POD_GROUP_V1ALPHA2)
        assert made.spec["schedulingPolicy"] == {"gang": {"minCount": 5}}
