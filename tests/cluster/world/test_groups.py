"""PodGroups of kube-scheduler on a server of each generation: gangs start whole, trees with enough of their parts, one
domain is kept, conditions tell how it went, and a deleted group stays as long as its pods."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from cluster.world.simulated_world import SimulatedWorld, namespace, pod_spec, world
from embedded import ADMIN, admin, embedded, until
from gangline.api import names
from gangline.api.kinds import (
    COMPOSITE_POD_GROUP,
    KUBE_POD_GROUP,
    KUBE_POD_GROUP_V1ALPHA2,
    NAMESPACE,
    NODE,
    POD,
    WORKLOAD,
    Kind,
)
from gangline.api.meta import Raw, condition
from gangline.client import Client, Request, Response, Transport
from gangline.cluster.server.server import ServerSettings
from gangline.cluster.world.component import PARTS, control_plane
from gangline.cluster.world.nodes.nodes import NodePool
from gangline.cluster.world.settings import WorldSettings
from gangline.runtime import Manager
from real.releases import RELEASES, Release

GROUPS: dict[str, Kind[Any]] = {"1.36": KUBE_POD_GROUP_V1ALPHA2, "1.37": KUBE_POD_GROUP}
CONDITIONS = {"1.36": "PodGroupScheduled", "1.37": "PodGroupInitiallyScheduled"}
NEW = RELEASES["1.37"]
ONE = NodePool(name="n", count=1, gpus=8)
RACK = "example.com/rack"
TEMPLATE = {"workloadRef": {"workloadName": "w", "templateName": "t"}}
newer = pytest.mark.parametrize("release", [RELEASES[name] for name in GROUPS], ids=lambda release: release.name)


def gang(least: int, **more: Any) -> Raw:
    return {"spec": {"schedulingPolicy": {"gang": {"minCount": least}}, **more}}


def leaf(least: int, parent: str, **more: Any) -> Raw:
    return gang(least, parentCompositePodGroupName=parent, **TEMPLATE, **more)


def composite(least: int, **more: Any) -> Raw:
    return {"spec": {"schedulingPolicy": {"gang": {"minGroupCount": least}}, **TEMPLATE, **more}}


def rack(key: str = RACK) -> Raw:
    return {"schedulingConstraints": {"topology": [{"key": key}]}}


async def pods(lived: SimulatedWorld, group: str, count: int, gpus: int = 4, first: int = 0) -> list[str]:
    """Pods that name a group; gives their names."""
    made = [f"{group}-{number}" for number in range(first, first + count)]
    for name in made:
        await lived.make(POD, name, pod_spec(gpus=gpus, schedulingGroup={"podGroupName": group}))
    return made


async def node(lived: SimulatedWorld, name: str, gpus: int, **labels: str) -> None:
    await lived.make(
        NODE,
        name,
        {"status": {"allocatable": {"cpu": "8", "memory": "8Gi", "pods": "10", "nvidia.com/gpu": str(gpus)}}},
        labels={"gangline.io/simulated": "true"} | {key.replace("_", "/", 1): value for key, value in labels.items()},
    )


async def running(lived: SimulatedWorld) -> list[str]:
    return [name for name, phase in (await lived.phases()).items() if phase == "Running"]


async def told(lived: SimulatedWorld, name: str, release: Release = NEW) -> list[tuple[str, str, str, str]]:
    """The conditions of a group: type, status, reason, message."""
    group = await lived.client.get(GROUPS[release.name], name, "default")
    return [
        (item["type"], item["status"], item["reason"], item["message"])
        for item in (group.status or {}).get("conditions") or ()
    ]


async def said(lived: SimulatedWorld, pod: str) -> str:
    found = condition((await lived.client.get(POD, pod, "default")).status.conditions, "PodScheduled")
    return found.message if found is not None and found.status == "False" else ""


# --- starting whole ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", RELEASES.values(), ids=lambda release: release.name)
async def test_a_gang_waits_whole_and_starts_when_its_last_node_arrives(release: Release) -> None:
    async with world(ONE, release=release) as lived:
        if release.name in GROUPS:
            await lived.make(GROUPS[release.name], "g", gang(3))
            await pods(lived, "g", 3)
        else:
            await lived.make(
                WORKLOAD, "w", {"spec": {"podGroups": [{"name": "g", "policy": {"gang": {"minCount": 3}}}]}}
            )
            for number in range(3):
                await lived.make(POD, f"g-{number}", pod_spec(gpus=4, workloadRef={"name": "w", "podGroup": "g"}))
        await lived.settles()
        assert await running(lived) == []
        assert "needs 3 more pods and only 2 fit; for the next: 0/1 nodes are available: 1 Insufficient" in await said(
            lived, "g-0"
        )
        await node(lived, "late", gpus=4)
        await lived.settles()
        assert await running(lived) == ["g-0", "g-1", "g-2"]


@newer
async def test_pods_above_the_minimum_are_tried_too_and_wait(release: Release) -> None:
    async with world(ONE, release=release) as lived:
        await lived.make(GROUPS[release.name], "g", gang(2))
        await pods(lived, "g", 3)
        await lived.settles()
        assert await running(lived) == ["g-0", "g-1"]
        assert await said(lived, "g-2") == "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."


@newer
async def test_a_group_without_a_minimum_starts_pod_by_pod(release: Release) -> None:
    async with world(ONE, release=release) as lived:
        await lived.make(GROUPS[release.name], "g", {"spec": {"schedulingPolicy": {"basic": {}}}})
        await pods(lived, "g", 3)
        await lived.settles()
        assert await running(lived) == ["g-0", "g-1"]


@newer
async def test_a_pod_waits_for_its_group_and_says_so(release: Release) -> None:
    async with world(ONE, release=release) as lived:
        await pods(lived, "g", 1)
        await lived.settles()
        assert (await running(lived), await said(lived, "g-0")) == ([], "waiting for PodGroup g")
        await lived.make(GROUPS[release.name], "g", gang(1))
        await lived.settles()
        assert await running(lived) == ["g-0"]


async def test_a_gang_whose_minimum_is_lowered_starts() -> None:
    async with world(ONE, release=NEW) as lived:
        await lived.make(KUBE_POD_GROUP, "g", gang(3))
        await pods(lived, "g", 3)
        await lived.settles()
        assert await running(lived) == []
        await lived.client.patch(KUBE_POD_GROUP, "g", "default", gang(2))
        await lived.settles()
        assert await running(lived) == ["g-0", "g-1"]


# --- trees ------------------------------------------------------------------------------------------------------------


async def test_a_tree_starts_when_enough_of_its_groups_fit_and_not_before() -> None:
    async with world(ONE, release=NEW) as lived:
        await lived.make(COMPOSITE_POD_GROUP, "top", composite(2))
        for name in ("a", "b", "c"):
            await lived.make(KUBE_POD_GROUP, name, leaf(2, "top"))
            await pods(lived, name, 2)
        await lived.settles()
        assert await running(lived) == []
        assert await said(lived, "a-0") == (
            "its gang default/top needs 2 groups and only 1 fit; for the next: its group default/b needs 2 more pods "
            "and only 0 fit; "
            "for the next: 0/1 nodes are available: 1 Insufficient nvidia.com/gpu."
        )
        await node(lived, "late", gpus=8)
        await lived.settles()
        assert await running(lived) == ["a-0", "a-1", "b-0", "b-1"]
        assert (await said(lived, "c-1")).startswith("its group default/c needs 2 more pods and only 0 fit")
        assert [(await told(lived, name))[0][1] for name in ("a", "b", "c")] == ["True", "True", "False"]


async def test_a_tree_in_a_tree_starts_with_it_and_a_missing_composite_is_waited_for() -> None:
    async with world(NodePool(name="n", count=2, gpus=8), release=NEW) as lived:
        for name, parent in (("a", "top"), ("b", "low"), ("c", "low")):
            await lived.make(KUBE_POD_GROUP, name, leaf(1, parent))
            await pods(lived, name, 1)
        await lived.make(COMPOSITE_POD_GROUP, "low", composite(2, parentCompositePodGroupName="top"))
        await lived.settles()
        assert await running(lived) == []
        assert await said(lived, "b-0") == "waiting for CompositePodGroup top"
        await lived.make(COMPOSITE_POD_GROUP, "top", composite(2))
        await lived.settles()
        assert await running(lived) == ["a-0", "b-0", "c-0"]


# --- one domain -------------------------------------------------------------------------------------------------------


@newer
async def test_a_gang_goes_to_the_one_rack_where_it_fits_and_stays_there(release: Release) -> None:
    async with world(release=release) as lived:
        for name, gpus, where in (("a0", 8, "a"), ("b0", 8, "b"), ("b1", 4, "b"), ("c0", 8, "")):
            await node(lived, name, gpus, **({"example.com_rack": where} if where else {}))
        await lived.make(GROUPS[release.name], "g", gang(3, **rack()))
        await pods(lived, "g", 3)
        await lived.settles()
        assert {pod.spec.node_name for pod in await lived.pods()} == {"b0", "b1"}
        await pods(lived, "g", 1, first=3)
        await lived.settles()
        assert (
            await said(lived, "g-3") == "0/2 nodes are available in example.com/rack=b: 2 Insufficient nvidia.com/gpu."
        )


async def test_a_tree_is_kept_in_one_block_and_each_group_in_one_rack_of_it() -> None:
    async with world(release=NEW) as lived:
        for name, block, where in (("x", "1", "x"), ("y", "2", "y"), ("z", "2", "z")):
            await node(lived, name, 8, **{"example.com_block": block, "example.com_rack": where})
        await lived.make(COMPOSITE_POD_GROUP, "top", composite(2, **rack("example.com/block")))
        for name in ("a", "b"):
            await lived.make(KUBE_POD_GROUP, name, leaf(2, "top", **rack()))
            await pods(lived, name, 2)
        await lived.settles()
        assert {pod.name: pod.spec.node_name for pod in await lived.pods()} == {
            "a-0": "y",
            "a-1": "y",
            "b-0": "z",
            "b-1": "z",
        }


# --- what groups are told ---------------------------------------------------------------------------------------------


@newer
async def test_a_group_is_told_once_why_it_waits_and_once_that_it_could_start(release: Release) -> None:
    async with world(ONE, release=release) as lived:
        kind, type = GROUPS[release.name], CONDITIONS[release.name]
        await lived.make(kind, "g", gang(3))
        await pods(lived, "g", 2)
        await lived.settles()
        assert await told(lived, "g", release) == [], "as long as pods are missing nothing was tried"
        await pods(lived, "g", 1, first=2)
        await lived.settles()
        assert await told(lived, "g", release) == [(type, "False", "Unschedulable", await said(lived, "g-0"))]
        waiting = await lived.client.get(kind, "g", "default")
        await node(lived, "full", gpus=0)
        await lived.settles()
        await node(lived, "late", gpus=4)
        await lived.settles()
        assert await told(lived, "g", release) == [(type, "True", "Scheduled", "")]
        started = await lived.client.get(kind, "g", "default")
        assert waiting.metadata.resource_version != started.metadata.resource_version
        await lived.client.delete(POD, "g-0", "default")
        await lived.settles()
        await lived.client.delete(NODE, "late")
        await pods(lived, "g", 2, first=3, gpus=8)
        await lived.settles()
        after = await lived.client.get(kind, "g", "default")
        assert after.metadata.resource_version == started.metadata.resource_version, (
            "once it could start it is told nothing else"
        )


async def test_a_group_that_comes_after_its_pods_got_nodes_is_told_too() -> None:
    async with world(ONE, release=NEW) as lived:
        await lived.make(POD, "g-0", pod_spec(schedulingGroup={"podGroupName": "g"}, nodeName="n-0"))
        await lived.settles()
        await lived.make(KUBE_POD_GROUP, "g", gang(1))
        await lived.settles()
        assert await told(lived, "g") == [("PodGroupInitiallyScheduled", "True", "Scheduled", "")]


# --- protection -------------------------------------------------------------------------------------------------------


@newer
async def test_a_deleted_group_goes_with_its_last_pod_and_not_before(release: Release) -> None:
    async with world(ONE, release=release) as lived:
        kind = GROUPS[release.name]
        await lived.make(kind, "g", gang(2))
        await pods(lived, "g", 2)
        await lived.settles()
        await lived.client.delete(kind, "g", "default")
        await lived.settles()
        assert not await lived.is_gone(kind, "g"), "two pods name it"
        await lived.client.delete(POD, "g-0", "default")
        await lived.settles()
        assert not await lived.is_gone(kind, "g"), "one pod names it"
        await lived.client.delete(POD, "g-1", "default")
        await lived.until(lambda: lived.is_gone(kind, "g"))


async def test_a_pod_that_is_done_keeps_no_group_and_a_group_without_pods_goes_at_once() -> None:
    async with world(ONE, release=NEW) as lived:
        for name in ("empty", "g"):
            await lived.make(KUBE_POD_GROUP, name, gang(1))
        await lived.make(
            POD,
            "p",
            pod_spec(schedulingGroup={"podGroupName": "g"}, restartPolicy="Never"),
            annotations={names.RUN_SECONDS: "5"},
        )
        await lived.settles()
        for name in ("empty", "g"):
            await lived.client.delete(KUBE_POD_GROUP, name, "default")
        await lived.settles()
        assert (await lived.is_gone(KUBE_POD_GROUP, "empty"), await lived.is_gone(KUBE_POD_GROUP, "g")) == (True, False)
        await lived.until(lambda: lived.is_gone(KUBE_POD_GROUP, "g"))
        assert await lived.phases() == {"p": "Succeeded"}


async def test_a_namespace_goes_with_its_groups() -> None:
    async with world(ONE, release=NEW) as lived:
        await namespace(lived, "team")
        await lived.make(KUBE_POD_GROUP, "g", gang(1), "team")
        await lived.make(POD, "p", pod_spec(schedulingGroup={"podGroupName": "g"}), "team")
        await lived.settles()
        await lived.client.delete(NAMESPACE, "team")
        await lived.until(lambda: lived.is_gone(NAMESPACE, "team", ""))


class Blind:
    """A transport whose watches of pods bring no news."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner

    async def send(self, request: Request) -> Response:
        if request.path.endswith("/pods") and ("watch", "true") in request.query:
            return Response(200, stream=self._nothing())
        return await self._inner.send(request)

    async def _nothing(self) -> AsyncGenerator[bytes, None]:
        await asyncio.Event().wait()
        yield b""

    async def close(self) -> None:
        await self._inner.close()


async def test_a_group_stays_for_a_pod_that_was_not_seen_yet() -> None:
    only = WorldSettings(off=frozenset(PARTS) - {"groups"})
    async with embedded(settings=ServerSettings(workload_versions=NEW.serves)) as server:
        client = admin(server)
        manager = Manager(control_plane(only), Client(Blind(server.transport(ADMIN)), "blind"))
        await manager.start()
        try:
            await until(lambda: manager.idle, "the kinds to be followed")
            for name in ("used", "free"):
                await client.create(KUBE_POD_GROUP, {"metadata": {"name": name, "namespace": "default"}, **gang(1)})
            await client.create(
                POD,
                {
                    "metadata": {"name": "p", "namespace": "default"},
                    **pod_spec(schedulingGroup={"podGroupName": "used"}),
                },
            )
            for name in ("used", "free"):
                await client.delete(KUBE_POD_GROUP, name, "default")

            async def left() -> bool:
                return [item.name for item in (await client.list(KUBE_POD_GROUP, "default")).items] == ["used"]

            await until(left, "the group that no pod names to go")
            assert manager.cache.list(POD) == []
        finally:
            await manager.stop()


class Counted:
    """A transport that remembers what was asked for."""

    def __init__(self, inner: Transport, asked: list[str]) -> None:
        self._inner, self._asked = inner, asked

    async def send(self, request: Request) -> Response:
        self._asked.append(request.path)
        return await self._inner.send(request)

    async def close(self) -> None:
        await self._inner.close()


async def test_where_no_groups_are_served_none_are_followed() -> None:
    asked: list[str] = []
    async with world(ONE, through=lambda transport: Counted(transport, asked)) as lived:
        await lived.make(POD, "p", pod_spec())
        await lived.settles()
        assert [path for path in asked if path.endswith("podgroups") and "/scheduling.k8s.io/" in path] == []
        assert await running(lived) == ["p"]
