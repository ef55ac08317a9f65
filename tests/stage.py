"""A stage for the scheduler half: an embedded server, any set of its components, and short words for the objects on it.

Used by the tests of binder, controllers and scheduler service. Components are started and stopped one by one, so that a
test can kill one in the middle and start it again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from embedded import PATIENCE, admin, embedded
from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kai import BindRequest, PodGroup
from gangline.api.kinds import BIND_REQUEST, EVENT, NAMESPACE, NODE, POD, POD_GROUP, QUEUE
from gangline.api.meta import Raw
from gangline.client import Client, Transport, User
from gangline.cluster.server.server import Server, ServerSettings
from gangline.controllers.defaults import default_objects
from gangline.runtime import Clock, Component, Manager, SystemClock

SPACE = "work"


class Stage:
    def __init__(self, server: Server, clock: Clock) -> None:
        self.server, self.clock = server, clock
        self.client = admin(server)
        self.managers: dict[str, Manager] = {}

    # --- components --------------------------------------------------------------------------------------------------

    async def start(self, component: Component, transport: Transport | None = None) -> Manager:
        user = User(f"system:serviceaccount:gangline-system:{component.name}", ("system:masters",))
        client = Client(transport or self.server.transport(user), manager=f"gangline-{component.name}")
        manager = self.managers[component.name] = Manager(component, client, self.clock)
        await manager.start()
        return manager

    async def kill(self, name: str) -> None:
        await self.managers.pop(name).stop()

    async def settles(self, seconds: float = PATIENCE) -> None:
        """Until no component has work left: every informer is current, every queue empty, several times in a row."""
        quiet, deadline = 0, time.monotonic() + seconds
        while quiet < 3:
            quiet = quiet + 1 if self._quiet() else 0
            assert time.monotonic() < deadline, (
                f"not settled: {[name for name, manager in self.managers.items() if not manager.idle]}"
            )
            await asyncio.sleep(0.002)

    def _quiet(self) -> bool:
        revisions = {
            f"{shelf.key[1]}.{shelf.key[0]}" if shelf.key[0] else shelf.key[1]: shelf.changes[-1].revision
            for shelf in self.server.store.shelves()
            if shelf.changes
        }
        return all(manager.idle and not manager.behind(revisions) for manager in self.managers.values())

    # --- objects ------------------------------------------------------------------------------------------------------

    async def node(self, name: str = "n", gpus: int = 8, **labels: str) -> None:
        labels = {key.replace("__", "/").replace("_", "."): value for key, value in labels.items()}
        has = {"cpu": "64", "memory": "256Gi", "pods": "110", names.NVIDIA_GPU: str(gpus)}
        await self.client.create(NODE, {"metadata": {"name": name, "labels": labels}})
        status = {"capacity": has, "allocatable": has, "conditions": [{"type": "Ready", "status": "True"}]}
        await self.client.patch(NODE, name, "", {"status": status}, subresource="status")
        await self.client.patch(NODE, name, "", {"spec": {"taints": None}})

    async def queue(self, name: str, parent: str = "", **gpu: float) -> None:
        everything = {"quota": 0, "limit": -1, "overQuotaWeight": 1}
        spec: Raw = {
            "resources": {
                "cpu": dict(everything, quota=-1),
                "memory": dict(everything, quota=-1),
                "gpu": everything | gpu,
            }
        }
        await self.client.create(
            QUEUE, {"metadata": {"name": name}, "spec": spec | ({"parentQueue": parent} if parent else {})}
        )

    async def group(self, name: str, minimum: int = 1, queue: str = names.DEFAULT_QUEUE, **spec: Any) -> None:
        await self.client.create(
            POD_GROUP,
            {"metadata": {"name": name, "namespace": SPACE}, "spec": {"queue": queue, "minMember": minimum, **spec}},
        )

    async def pod(
        self,
        name: str,
        group: str = "",
        gpus: int = 0,
        *,
        annotations: dict[str, str] | None = None,
        node: str = "",
        labels: dict[str, str] | None = None,
        scheduler: str = names.KAI_SCHEDULER,
        **spec: Any,
    ) -> Pod:
        noted = ({names.POD_GROUP_NAME: group} if group else {}) | (annotations or {})
        asked = {names.NVIDIA_GPU: str(gpus)} if gpus else {}
        container = {"name": "main", "image": "img", "resources": {"requests": {"cpu": "1", **asked}, "limits": asked}}
        body: Raw = {"schedulerName": scheduler, "containers": [container], **spec} | (
            {"nodeName": node} if node else {}
        )
        return await self.client.create(
            POD,
            {
                "metadata": {"name": name, "namespace": SPACE, "annotations": noted, "labels": labels or {}},
                "spec": body,
            },
        )

    async def gang(
        self,
        name: str,
        size: int,
        gpus: int = 1,
        *,
        queue: str = names.DEFAULT_QUEUE,
        minimum: int | None = None,
        **spec: Any,
    ) -> None:
        await self.group(name, size if minimum is None else minimum, queue, **spec)
        for number in range(size):
            await self.pod(f"{name}-{number}", name, gpus)

    async def request(self, pod: Pod, node: str, **spec: Any) -> None:
        owner = {"apiVersion": "v1", "kind": "Pod", "name": pod.name, "uid": pod.uid}
        await self.client.create(
            BIND_REQUEST,
            {
                "metadata": {"name": pod.name, "namespace": SPACE, "ownerReferences": [owner]},
                "spec": {"podName": pod.name, "selectedNode": node, "receivedResourceType": "Regular", **spec},
            },
        )

    async def run(self, pod: str, phase: str = "Running", **status: Any) -> None:
        await self.client.patch(POD, pod, SPACE, {"status": {"phase": phase, **status}}, subresource="status")

    # --- what is there ------------------------------------------------------------------------------------------------

    async def get_pod(self, name: str) -> Pod:
        return await self.client.get(POD, name, SPACE)

    async def get_request(self, name: str) -> BindRequest:
        return await self.client.get(BIND_REQUEST, name, SPACE)

    async def get_group(self, name: str) -> PodGroup:
        return await self.client.get(POD_GROUP, name, SPACE)

    async def placed(self) -> dict[str, str]:
        """Pod → node, of the pods that have one."""
        return {
            pod.name: pod.spec.node_name for pod in (await self.client.list(POD, SPACE)).items if pod.spec.node_name
        }

    async def events(self, reason: str) -> list[str]:
        return [event.message for event in (await self.client.list(EVENT)).items if event.reason == reason]


@asynccontextmanager
async def stage(*components: Component, clock: Clock | None = None, defaults: bool = True) -> AsyncIterator[Stage]:
    timed = clock or SystemClock()
    async with embedded(kinds=True, settings=ServerSettings(clock=timed.now)) as server:
        here = Stage(server, timed)
        for name in (SPACE, names.RESERVATION_NAMESPACE, names.SCALE_NAMESPACE, names.KAI_NAMESPACE):
            await here.client.create(NAMESPACE, {"metadata": {"name": name}})
        for kind, obj in default_objects() if defaults else ():
            await here.client.create(kind, obj)
        for component in components:
            await here.start(component)
        try:
            yield here
        finally:
            for name in list(here.managers):
                await here.kill(name)
