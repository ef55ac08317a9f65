"""Words for tests of the operator: an embedded server with the operator alone, and sets that state only what
matters."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import msgspec

from embedded import EmbeddedWorld, world
from gangline.api.core import Pod
from gangline.api.grove import PodCliqueSet, PodGang
from gangline.api.kinds import POD, POD_CLIQUE_SET, POD_GANG, QUEUE, Kind
from gangline.api.meta import Object, Raw
from gangline.client import Client, Transport, User
from gangline.cluster.server.server import ServerSettings
from gangline.cluster.world.component import PARTS, control_plane
from gangline.cluster.world.settings import WorldSettings
from gangline.operator.component import component
from gangline.rules.sets import OperatorSettings
from gangline.runtime import Manager, ManualClock, SystemClock

OPERATOR = User("system:serviceaccount:gangline-system:gangline-operator", ("system:masters", "system:authenticated"))
NAMESPACE = "default"
WORLD_PARTS = {"garbage", "namespaces", "accounts", "tokens", "groups"}


def clique(
    name: str, replicas: int = 1, minimum: int | None = None, *, scheduler: str = "kai-scheduler", **spec: Any
) -> Raw:
    pod: Raw = {"containers": [{"name": "main", "image": "registry.example/app:1"}]} | (
        {"schedulerName": scheduler} if scheduler else {}
    )
    return {
        "name": name,
        "spec": {
            "roleName": name,
            "replicas": replicas,
            "podSpec": pod,
            "minAvailable": replicas if minimum is None else minimum,
        }
        | spec,
    }


def group(name: str, cliques: Sequence[str], replicas: int = 1, minimum: int = 1, **more: Any) -> Raw:
    return {"name": name, "cliqueNames": list(cliques), "replicas": replicas, "minAvailable": minimum} | more


def pod_clique_set(
    name: str,
    *cliques: Raw,
    replicas: int = 1,
    groups: Sequence[Raw] = (),
    labels: Raw | None = None,
    annotations: Raw | None = None,
    strategy: str = "",
    **template: Any,
) -> Raw:
    body: Raw = {
        "cliques": list(cliques),
        "terminationDelay": "4h",
        "headlessServiceConfig": {"publishNotReadyAddresses": True},
    } | template
    if groups:
        body["podCliqueScalingGroups"] = list(groups)
    spec: Raw = {"replicas": replicas, "template": body} | ({"updateStrategy": {"type": strategy}} if strategy else {})
    return {
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels or {}, "annotations": annotations or {}},
        "spec": spec,
    }


class OperatorWorld(EmbeddedWorld):
    """A server and an operator at work."""

    def connect(self, name: str, line: Transport | None = None) -> Client:
        return Client(line or self.server.transport(OPERATOR), "gangline" if name == "operator" else "world")

    @property
    def manager(self) -> Manager:
        return self.managers["operator"]

    async def apply(self, pcs: Raw) -> PodCliqueSet:
        made = await self.client.create(POD_CLIQUE_SET, pcs)
        await self.settles()
        return made

    async def every(self, kind: Kind[Any], prefix: str = "") -> list[Any]:
        found: list[Object] = (await self.client.list(kind, NAMESPACE)).items
        return sorted((obj for obj in found if obj.name.startswith(prefix)), key=lambda obj: obj.name)

    async def pods(self, clique: str = "") -> list[Pod]:
        return [pod for pod in await self.every(POD) if not clique or pod.labels.get("grove.io/podclique") == clique]

    async def gang(self, name: str) -> PodGang:
        return await self.client.get(POD_GANG, name, NAMESPACE)

    async def the_set(self, name: str) -> PodCliqueSet:
        return await self.client.get(POD_CLIQUE_SET, name, NAMESPACE)

    async def run(self, *pods: Pod, ready: bool = True) -> None:
        """Play scheduler and kubelet for these pods."""
        for pod in pods:
            if not pod.spec.node_name:
                await self.client.bind(pod.name, pod.namespace, "node-1", uid=pod.uid)
            await self.client.patch(POD, pod.name, pod.namespace, {"status": running(ready)}, subresource="status")
        await self.settles()


def pod(
    index: int,
    *,
    name: str = "",
    node: str = "",
    ready: bool = False,
    hash: str = "new",
    created: str = "",
    leaving: bool = False,
    **status: Any,
) -> Pod:
    meta: Raw = {
        "name": name or f"c-{index}",
        "uid": f"uid-{name or index}",
        "labels": {"grove.io/pod-template-hash": hash},
    }
    meta |= {"creationTimestamp": created} if created else {}
    meta |= {"deletionTimestamp": "2026-01-01T00:00:00Z"} if leaving else {}
    found = running(ready) if node else {"phase": "Pending"}
    return msgspec.convert(
        {"metadata": meta, "spec": {"hostname": f"c-{index}", "nodeName": node}, "status": found | status}, Pod
    )


def running(ready: bool = True) -> Raw:
    state = "True" if ready else "False"
    conditions = [
        {"type": "PodScheduled", "status": "True"},
        {"type": "Initialized", "status": "True"},
        {"type": "ContainersReady", "status": state},
        {"type": "Ready", "status": state},
    ]
    return {
        "phase": "Running",
        "conditions": conditions,
        "containerStatuses": [
            {
                "name": "main",
                "image": "registry.example/app:1",
                "imageID": "",
                "ready": ready,
                "started": True,
                "restartCount": 0,
                "state": {"running": {}},
            }
        ],
    }


@asynccontextmanager
async def operator_world(
    settings: OperatorSettings | None = None,
    clock: ManualClock | None = None,
    workloads: tuple[str, ...] = ("v1alpha1",),
    features: tuple[str, ...] = (),
) -> AsyncIterator[OperatorWorld]:
    """`workloads`: which versions of kube-scheduler's Workload API the server has; `features`: gates that are on
    besides the usual ones."""
    time_source = clock or SystemClock()
    usual = ServerSettings(clock=time_source.now, workload_versions=workloads)
    ours = WorldSettings(off=frozenset(PARTS) - WORLD_PARTS, root_ca="authority")
    on = replace(usual, features=usual.features | set(features))
    async with world(OperatorWorld, clock=time_source, settings=on) as here:
        await here.client.create(QUEUE, {"metadata": {"name": "default-queue"}, "spec": {}})
        await here.start(control_plane(ours))
        await here.start(component(settings or OperatorSettings()))
        yield here
