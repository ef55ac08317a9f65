"""A stage for the scheduler half: an embedded server, any set of its components, and short words for the objects on it.

Used by the tests of binder, controllers and scheduler service. Components are started and stopped one by one, so that a
test can kill one in the middle and start it again.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from embedded import EmbeddedWorld, world
from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kai import BindOrder, BindRequest, PodGroup
from gangline.api.kinds import BIND_REQUEST, EVENT, NAMESPACE, NODE, POD, POD_GROUP, QUEUE
from gangline.api.meta import Raw
from gangline.controllers.defaults import default_objects
from gangline.rules.gangs.bind_requests import orders
from gangline.runtime import Clock, Component

SPACE = "work"


class Stage(EmbeddedWorld):
    # --- objects
    # -------------------------------------------------------------------------------------------------------

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

    async def request_all(self, name: str, places: dict[str, str], limit: int = 3, **order: Any) -> None:
        """One request for several pods: pod → node."""
        pods = [
            {
                "podName": pod,
                "podUID": (await self.get_pod(pod)).uid,
                "selectedNode": node,
                "receivedResourceType": "Regular",
                **order,
            }
            for pod, node in places.items()
        ]
        await self.client.create(
            BIND_REQUEST,
            {
                "metadata": {"name": name, "namespace": SPACE},
                "spec": {"gang": name, "pods": pods, "backoffLimit": limit},
            },
        )

    async def run(self, pod: str, phase: str = "Running", **status: Any) -> None:
        await self.client.patch(POD, pod, SPACE, {"status": {"phase": phase, **status}}, subresource="status")

    # --- what is there
    # -----------------------------------------------------------------------------------------------------

    async def get_pod(self, name: str) -> Pod:
        return await self.client.get(POD, name, SPACE)

    async def get_request(self, name: str) -> BindRequest:
        return await self.client.get(BIND_REQUEST, name, SPACE)

    async def ordered(self) -> dict[str, BindOrder]:
        """Pod → what a BindRequest orders for it."""
        made = (await self.client.list(BIND_REQUEST, SPACE)).items
        return {order.pod_name: order for request in made for order in orders(request)}

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
    async with world(Stage, clock=clock) as here:
        for name in (SPACE, names.RESERVATION_NAMESPACE, names.SCALE_NAMESPACE, names.KAI_NAMESPACE):
            await here.client.create(NAMESPACE, {"metadata": {"name": name}})
        for kind, obj in default_objects() if defaults else ():
            await here.client.create(kind, obj)
        for component in components:
            await here.start(component)
        yield here
