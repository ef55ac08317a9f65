"""The world on a server that loses one write in six, half of them after it did what was asked: everything still comes
out right."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from cluster.world.simulated_world import SimulatedWorld, pod_spec, world
from gangline.api.kinds import CONFIG_MAP, DEPLOYMENT, JOB, KUBE_POD_GROUP, NAMESPACE, POD, REPLICA_SET, STATEFUL_SET
from gangline.client import Request, Response, Transport
from gangline.cluster.world.nodes.nodes import NodePool
from gangline.errors import Unavailable
from real.releases import RELEASES

TWO = NodePool(name="n", count=2, gpus=8)


class Flaky:
    """A transport that loses some writes, before or after they reached the server."""

    def __init__(self, inner: Transport, chance: random.Random) -> None:
        self._inner, self._chance = inner, chance

    async def send(self, request: Request) -> Response:
        luck = self._chance.random() if request.method != "GET" else 1.0
        if luck < 1 / 12:
            raise Unavailable({"message": "lost on the way"})
        answer = await self._inner.send(request)
        if luck < 2 / 12:
            raise Unavailable({"message": "lost on the way back"})
        return answer

    async def close(self) -> None:
        await self._inner.close()


def flaky(seed: int) -> Callable[[Transport], Transport]:
    chance = random.Random(seed)
    return lambda transport: Flaky(transport, chance)


async def complete(lived: SimulatedWorld, name: str) -> bool:
    job = await lived.client.get(JOB, name, "default")
    return any(condition["type"] == "Complete" for condition in job.status.conditions)


@pytest.mark.parametrize("seed", range(4))
async def test_a_job_counts_every_pod_once(seed: int) -> None:
    async with world(TWO, through=flaky(seed)) as lived:
        await lived.make(
            JOB, "j", {"spec": {"parallelism": 3, "completions": 8, "template": pod_spec(restartPolicy="Never")}}
        )
        await lived.until(lambda: complete(lived, "j"), seconds=600)
        assert (await lived.client.get(JOB, "j", "default")).status.succeeded == 8
        assert len(await lived.pods()) == 8


@pytest.mark.parametrize("seed", range(4))
async def test_a_deployment_ends_with_exactly_its_pods_and_goes_whole(seed: int) -> None:
    async with world(TWO, through=flaky(seed)) as lived:
        spec = {
            "replicas": 5,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, **pod_spec()},
        }
        await lived.make(DEPLOYMENT, "web", {"spec": spec})

        async def running() -> bool:
            return list((await lived.phases()).values()) == ["Running"] * 5

        await lived.until(running)
        await lived.client.delete(DEPLOYMENT, "web", "default")

        async def gone() -> bool:
            return await lived.pods() == [] and (await lived.client.list(REPLICA_SET, "default")).items == []

        await lived.until(gone)


@pytest.mark.parametrize("seed", range(3))
async def test_a_stateful_set_has_its_pods_in_order(seed: int) -> None:
    async with world(TWO, through=flaky(seed)) as lived:
        await lived.make(
            STATEFUL_SET,
            "db",
            {
                "spec": {
                    "replicas": 3,
                    "serviceName": "db",
                    "selector": {"matchLabels": {"app": "db"}},
                    "template": {"metadata": {"labels": {"app": "db"}}, **pod_spec()},
                }
            },
        )

        async def running() -> bool:
            return await lived.phases() == {f"db-{number}": "Running" for number in range(3)}

        await lived.until(running)


@pytest.mark.parametrize("seed", range(3))
async def test_owners_and_namespaces_take_everything_with_them(seed: int) -> None:
    async with world(TWO, through=flaky(seed)) as lived:
        await lived.client.create(NAMESPACE, {"metadata": {"name": "team"}})
        owner = await lived.make(CONFIG_MAP, "o", namespace="team")
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": owner.uid, "blockOwnerDeletion": True}
        for number in range(4):
            await lived.make(POD, f"p{number}", pod_spec(), "team", ownerReferences=[reference])
        await lived.rests()
        await lived.client.delete(CONFIG_MAP, "o", "team", propagation="Foreground")
        await lived.until(lambda: lived.is_gone(CONFIG_MAP, "o", "team"))
        assert await lived.pods("team") == []
        await lived.client.delete(NAMESPACE, "team")
        await lived.until(lambda: lived.is_gone(NAMESPACE, "team", ""))


@pytest.mark.parametrize("seed", range(3))
async def test_a_group_starts_whole_is_told_and_goes_with_its_pods(seed: int) -> None:
    async with world(TWO, through=flaky(seed), release=RELEASES["1.37"]) as lived:
        await lived.make(KUBE_POD_GROUP, "g", {"spec": {"schedulingPolicy": {"gang": {"minCount": 4}}}})
        for number in range(4):
            await lived.make(POD, f"p{number}", pod_spec(gpus=4, schedulingGroup={"podGroupName": "g"}))

        async def started() -> bool:
            group = await lived.client.get(KUBE_POD_GROUP, "g", "default")
            conditions = (group.status or {}).get("conditions") or ()
            return [condition["status"] for condition in conditions] == ["True"] and list(
                (await lived.phases()).values()
            ) == ["Running"] * 4

        await lived.until(started)
        await lived.client.delete(KUBE_POD_GROUP, "g", "default")
        for number in range(4):
            await lived.client.delete(POD, f"p{number}", "default")
        await lived.until(lambda: lived.is_gone(KUBE_POD_GROUP, "g"))
