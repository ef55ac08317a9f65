"""The thin line through the world: nodes register, pods run, jobs complete, gangs start whole, everything goes when it
should."""

from __future__ import annotations

from cluster.world.simulated_world import namespace, pod_spec, world
from gangline.api.builtin import Job
from gangline.api.kinds import CONFIG_MAP, JOB, NAMESPACE, NODE, POD, SERVICE_ACCOUNT, WORKLOAD
from gangline.api.meta import condition
from gangline.cluster.world.nodes.nodes import NodePool

TWO = NodePool(name="n", count=2, gpus=8)


async def test_nodes_register_with_what_they_offer() -> None:
    async with world(TWO) as lived:
        nodes = (await lived.client.list(NODE)).items
        assert [node.name for node in nodes] == ["n-0", "n-1"]
        assert nodes[0].status.allocatable["nvidia.com/gpu"] == "8"
        ready = condition(nodes[0].status.conditions, "Ready")
        assert ready is not None and ready.status == "True"


async def test_a_bystander_pod_runs_and_becomes_ready() -> None:
    async with world(TWO) as lived:
        await lived.make(POD, "p", pod_spec())
        await lived.settles()
        pod = await lived.client.get(POD, "p", "default")
        assert (pod.status.phase, pod.spec.node_name, pod.status.pod_ip) == ("Running", "n-0", "10.0.0.1")
        assert {item.type: item.status for item in pod.status.conditions} == {
            "PodScheduled": "True",
            "PodReadyToStartContainers": "True",
            "Initialized": "True",
            "ContainersReady": "True",
            "Ready": "True",
        }


async def test_a_job_runs_its_pods_and_completes() -> None:
    async with world(TWO) as lived:
        await lived.make(
            JOB,
            "j",
            {
                "spec": {
                    "parallelism": 4,
                    "completions": 4,
                    "template": {"spec": pod_spec(restartPolicy="Never")["spec"]},
                }
            },
        )
        await lived.settles()
        assert list((await lived.phases()).values()) == ["Running"] * 4
        await lived.after(2)
        job: Job = await lived.client.get(JOB, "j", "default")
        assert job.status.succeeded == 4
        assert [item["type"] for item in job.status.conditions] == ["SuccessCriteriaMet", "Complete"]
        assert all(not pod.metadata.finalizers for pod in await lived.pods())


async def test_a_workload_gang_waits_whole_and_starts_when_a_node_comes() -> None:
    async with world(NodePool(name="n", count=1, gpus=8)) as lived:
        await lived.make(WORKLOAD, "w", {"spec": {"podGroups": [{"name": "g", "policy": {"gang": {"minCount": 3}}}]}})
        for number in range(3):
            await lived.make(POD, f"p{number}", pod_spec(gpus=4, workloadRef={"name": "w", "podGroup": "g"}))
        await lived.settles()
        assert "Running" not in (await lived.phases()).values()
        said = condition((await lived.pods())[0].status.conditions, "PodScheduled")
        assert said is not None and said.message == (
            "its gang default/w/g/ needs 3 more pods and only 2 fit; for the next: "
            "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."
        )
        await lived.make(
            NODE,
            "late",
            {"status": {"allocatable": {"cpu": "8", "memory": "8Gi", "pods": "10", "nvidia.com/gpu": "4"}}},
            labels={"gangline.io/simulated": "true"},
        )
        await lived.settles()
        assert set((await lived.phases()).values()) == {"Running"}


async def test_deleting_an_owner_deletes_its_pods() -> None:
    async with world(TWO) as lived:
        owner = await lived.make(CONFIG_MAP, "o")
        await lived.make(
            POD,
            "p",
            pod_spec(),
            ownerReferences=[{"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": owner.uid}],
        )
        await lived.settles()
        await lived.client.delete(CONFIG_MAP, "o", "default")
        await lived.settles()
        assert await lived.is_gone(POD, "p")


async def test_a_deleted_namespace_goes_with_everything_in_it() -> None:
    async with world(TWO) as lived:
        await namespace(lived, "team")
        await lived.settles()
        assert (await lived.client.get(SERVICE_ACCOUNT, "default", "team")).name == "default"
        await lived.make(POD, "p", pod_spec(), "team")
        await lived.settles()
        await lived.client.delete(NAMESPACE, "team")
        await lived.until(lambda: lived.is_gone(NAMESPACE, "team", ""))
