"""A set on a server: cliques, gangs and gated pods, gates lifted, status back; edits, failures and time."""

from __future__ import annotations

from embedded import until
from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kinds import (
    HPA,
    POD,
    POD_CLIQUE,
    POD_CLIQUE_SET,
    POD_GANG,
    POD_GROUP,
    RESOURCE_CLAIM,
    RESOURCE_CLAIM_TEMPLATE,
    SCALING_GROUP,
    SERVICE,
    TOPOLOGY,
    TOPOLOGY_BINDING,
    WORKLOAD,
)
from gangline.config import manner
from gangline.rules.sets import OperatorSettings
from gangline.runtime import ManualClock, key_of
from operator_world import NAMESPACE, clique, group, operator_world, pod_clique_set


def gates(pods: list[Pod]) -> list[list[str]]:
    return [[gate.name for gate in pod.spec.scheduling_gates] for pod in pods]


async def test_a_set_for_kai_becomes_cliques_a_labelled_gang_a_pod_group_and_pods_that_may_go() -> None:
    async with operator_world() as here:
        await here.apply(pod_clique_set("llm", clique("a", 3, 2), clique("b", 2)))
        gang = await here.gang("llm-0")
        assert [item.name for item in await here.every(POD_CLIQUE)] == ["llm-0-a", "llm-0-b"]
        assert (gang.labels[names.SCHEDULER_BACKEND], gang.labels[names.SCHEDULER_NAME]) == ("kai", "kai-scheduler")
        assert [
            (podgroup.name, podgroup.min_replicas, len(podgroup.pod_references)) for podgroup in gang.spec.podgroups
        ] == [("llm-0-a", 2, 3), ("llm-0-b", 2, 2)]
        [pod_group] = await here.every(POD_GROUP)
        assert pod_group.name == f"pg-llm-0-{gang.uid}" and pod_group.metadata.controller.uid == gang.uid
        assert (pod_group.spec.min_member, pod_group.spec.queue) == (4, "default-queue")
        assert gates(await here.pods()) == [[]] * 5
        assert [item.name for item in await here.every(SERVICE, "llm")] == ["llm-0"]


async def test_without_a_scheduler_name_a_workload_is_written_and_the_surplus_waits_for_the_minimum() -> None:
    async with operator_world() as here:
        await here.apply(pod_clique_set("llm", clique("a", 3, 2, scheduler="")))
        [workload] = await here.every(WORKLOAD)
        assert workload.spec.pod_groups == ({"name": "gang", "policy": {"gang": {"minCount": 2}}},)
        pods = sorted(await here.pods(), key=lambda pod: pod.labels[names.POD_INDEX])
        assert gates(pods) == [[], [], ["scheduling.k8s.io/workload"]]
        assert pods[0].spec.workload_ref == {"name": "llm-0", "podGroup": "gang"}
        [live] = await here.every(POD_CLIQUE)
        held = next(condition for condition in live.status.conditions if condition.type == "SchedulingGated")
        assert held.message == "1 pods wait: the gang's minimum is not scheduled yet, and this pod is above it"
        await here.run(*pods[:2])
        assert gates(await here.pods()) == [[], [], []]


async def test_a_scaled_gang_stays_behind_its_gate_until_the_base_gang_is_scheduled() -> None:
    async with operator_world() as here:
        await here.apply(pod_clique_set("llm", clique("w", 2), groups=[group("g", ["w"], 2, 1)]))
        assert gates(await here.pods("llm-0-g-1-w")) == [[names.GATE_KAI]] * 2
        await here.run(*await here.pods("llm-0-g-0-w"))
        assert gates(await here.pods("llm-0-g-1-w")) == [[]] * 2


async def test_status_flows_back_to_the_gang_and_the_set() -> None:
    async with operator_world() as here:
        await here.apply(pod_clique_set("llm", clique("a", 2)))
        gang = await here.gang("llm-0")
        assert gang.status.phase == "Pending"
        assert (
            next(condition.message for condition in gang.status.conditions if condition.type == "Scheduled")
            == "waiting for the scheduler: llm-0-a 0/2"
        )
        await here.run(*await here.pods(), ready=False)
        assert (await here.gang("llm-0")).status.phase == "Starting"
        await here.run(*await here.pods())
        found = (await here.the_set("llm")).status
        assert (found.available_replicas, found.updated_replicas, found.observed_generation) == (1, 1, 1)
        assert [(pod_gang_status["name"], pod_gang_status["phase"]) for pod_gang_status in found.pod_gang_statuses] == [
            ("llm-0", "Running")
        ]


async def test_a_settled_set_is_written_to_by_nobody() -> None:
    async with operator_world() as here:
        await here.apply(
            pod_clique_set("llm", clique("a", 2), clique("w"), replicas=2, groups=[group("g", ["w"], 2, 1)])
        )
        before = here.server.revision
        for running in here.manager.running:
            for informer in (POD_CLIQUE_SET, POD_CLIQUE, POD_GANG, SCALING_GROUP):
                if running.controller.watches[0].kind is informer:
                    for obj in here.manager.cache.list(informer):
                        running.queue.add(key_of(obj))
        await here.settles()
        assert here.server.revision == before


async def test_a_smaller_set_loses_its_highest_replicas_and_their_gangs() -> None:
    async with operator_world() as here:
        await here.apply(pod_clique_set("llm", clique("a"), replicas=3))
        await here.client.patch(POD_CLIQUE_SET, "llm", NAMESPACE, {"spec": {"replicas": 1}})
        await here.settles()
        assert [item.name for item in await here.every(POD_CLIQUE)] == ["llm-0-a"]
        assert [item.name for item in await here.every(POD_GANG)] == ["llm-0"]
        assert [item.name for item in await here.every(SERVICE, "llm")] == ["llm-0"]


async def test_a_lost_pod_comes_back_with_the_same_hostname() -> None:
    async with operator_world() as here:
        await here.apply(pod_clique_set("llm", clique("a", 2)))
        first = (await here.pods())[0]
        await here.client.delete(POD, first.name, NAMESPACE, grace=0)
        await here.settles()
        pods = await here.pods()
        assert first.uid not in {pod.uid for pod in pods}
        assert sorted(pod.spec.hostname for pod in pods) == ["llm-0-a-0", "llm-0-a-1"]


async def test_someone_elses_gate_is_never_touched() -> None:
    async with operator_world() as here:
        template = clique("a")
        template["spec"]["podSpec"]["schedulingGates"] = [{"name": "example.com/mine"}]
        await here.apply(pod_clique_set("llm", template))
        assert gates(await here.pods()) == [["example.com/mine"]]


async def test_a_new_image_replaces_one_ready_pod_after_the_other() -> None:
    async with operator_world() as here:
        await here.apply(pod_clique_set("llm", clique("a", 2, 1)))
        await here.run(*await here.pods())
        before = {pod.uid for pod in await here.pods()}
        change = clique("a", 2, 1)
        change["spec"]["podSpec"]["containers"][0]["image"] = "registry.example/app:2"
        await here.client.patch(POD_CLIQUE_SET, "llm", NAMESPACE, {"spec": {"template": {"cliques": [change]}}})
        await here.settles()
        assert sum(pod.metadata.deleting for pod in await here.pods()) == 1

        async def kubelet_until_done() -> bool:
            for pod in await here.pods():
                if pod.metadata.deleting:
                    await here.client.delete(POD, pod.name, NAMESPACE, grace=0)
            await here.settles()
            await here.run(
                *[pod for pod in await here.pods() if not pod.spec.scheduling_gates and not pod.metadata.deleting]
            )
            return not before & {pod.uid for pod in await here.pods()}

        await until(kubelet_until_done, "every pod to be replaced")
        await here.settles()
        found = (await here.the_set("llm")).status
        assert (
            found.update_progress is not None
            and found.update_progress.get("updateEndedAt")
            and found.updated_replicas == 1
        )


async def test_a_gang_below_its_minimum_for_the_delay_starts_again_as_a_whole_and_only_once() -> None:
    clock = ManualClock()
    async with operator_world(clock=clock) as here:
        await here.apply(pod_clique_set("llm", clique("a", 2), clique("b"), terminationDelay="10m"))
        clock.advance(60)
        await here.run(*await here.pods())
        before = {pod.uid for pod in await here.pods()}
        await here.client.delete(POD, (await here.pods("llm-0-a"))[0].name, NAMESPACE, grace=0)
        await here.settles()
        clock.advance(599)
        await here.settles()
        assert len(before & {pod.uid for pod in await here.pods()}) == 2
        clock.advance(2)
        await here.settles()
        fresh = {pod.uid for pod in await here.pods() if not pod.metadata.deleting}
        assert not before & fresh and len(fresh) == 3
        clock.advance(3600)
        await here.settles()
        assert fresh == {pod.uid for pod in await here.pods() if not pod.metadata.deleting}


async def test_a_missing_claim_template_is_told_with_what_to_do_and_heals() -> None:
    async with operator_world() as here:
        template = clique("a", 2) | {"resourceSharing": [{"name": "gpu", "scope": "PerReplica"}]}
        await here.apply(pod_clique_set("llm", template))
        [live] = await here.every(POD_CLIQUE)
        [error] = live.status.last_errors
        assert error.code == "ERR_SYNC_PCLQ_RESOURCE_CLAIM"
        assert error.description.endswith("create it, or add gpu to the set's resourceClaimTemplates")
        spec = {"spec": {"spec": {"devices": {"requests": [{"name": "d", "exactly": {"deviceClassName": "c"}}]}}}}
        await here.client.create(RESOURCE_CLAIM_TEMPLATE, {"metadata": {"name": "gpu", "namespace": NAMESPACE}} | spec)
        await here.settles()
        assert [item.name for item in await here.every(RESOURCE_CLAIM)] == ["llm-0-a-0-gpu", "llm-0-a-1-gpu"]
        assert len(await here.pods()) == 2


async def test_an_autoscaler_stands_for_each_clique_that_asks_and_goes_with_the_wish() -> None:
    async with operator_world() as here:
        scaling = {"maxReplicas": 5, "minReplicas": 1}
        await here.apply(pod_clique_set("llm", clique("a", 1, autoScalingConfig=scaling)))
        [hpa] = await here.every(HPA)
        assert hpa.name == "llm-0-a" and hpa.spec["scaleTargetRef"]["kind"] == "PodClique"
        await here.client.patch(POD_CLIQUE_SET, "llm", NAMESPACE, {"spec": {"template": {"cliques": [clique("a", 1)]}}})
        await here.settles()
        assert await here.every(HPA) == []


async def test_a_topology_binding_makes_kais_topology_and_follows_its_levels() -> None:
    async with operator_world() as here:
        levels = [{"domain": "rack", "key": "example.com/rack"}, {"domain": "host", "key": "kubernetes.io/hostname"}]
        await here.client.create(TOPOLOGY_BINDING, {"metadata": {"name": "dc"}, "spec": {"levels": levels}})
        await here.settles()
        found = await here.client.get(TOPOLOGY, "dc")
        assert [level.node_label for level in found.spec.levels] == ["example.com/rack", "kubernetes.io/hostname"]
        await here.client.patch(TOPOLOGY_BINDING, "dc", "", {"spec": {"levels": levels[:1]}})
        await here.settles()
        found = await here.client.get(TOPOLOGY, "dc")
        assert [level.node_label for level in found.spec.levels] == ["example.com/rack"]


async def test_a_pod_group_of_a_stranger_with_our_name_is_left_alone_and_the_gang_says_so() -> None:
    settings = OperatorSettings(manner=manner(["grove"]))
    async with operator_world(settings) as here:
        await here.client.create(
            POD_GROUP, {"metadata": {"name": "llm-0", "namespace": NAMESPACE}, "spec": {"minMember": 1}}
        )
        await here.apply(pod_clique_set("llm", clique("a", 2), labels={"kai.scheduler/queue": "team"}))
        [stranger] = await here.every(POD_GROUP)
        assert stranger.spec.min_member == 1 and not stranger.metadata.owner_references
        why = next(
            condition.message
            for condition in (await here.gang("llm-0")).status.conditions
            if condition.type == "Scheduled"
        )
        assert why == "PodGroup llm-0 exists and belongs to someone else; remove or rename it"


async def test_a_users_queue_on_the_pod_group_survives_a_change_of_the_gang() -> None:
    async with operator_world() as here:
        await here.apply(pod_clique_set("llm", clique("a", 2)))
        [made] = await here.every(POD_GROUP)
        await here.client.patch(POD_GROUP, made.name, NAMESPACE, {"spec": {"queue": "mine"}})
        await here.client.patch(POD_CLIQUE_SET, "llm", NAMESPACE, {"spec": {"template": {"priorityClassName": "high"}}})
        await here.settles()
        [after] = await here.every(POD_GROUP)
        assert (after.spec.queue, after.spec.priority_class_name) == ("mine", "high")
