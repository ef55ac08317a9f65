"""The world of the scheduler half: an embedded server, any set of its components, and the words of the journeys.

Used by the tests of grouper, binder, controllers and scheduler service. Components are started and stopped one by one,
so that a test can kill one in the middle and start it again.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from embedded import EmbeddedWorld, world
from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kai import BindOrder, BindRequest
from gangline.api.kinds import BIND_REQUEST, NAMESPACE, NODE, POD
from gangline.controllers.defaults import default_objects
from gangline.rules.gangs.bind_requests import orders
from gangline.runtime import Clock, Component
from journeys.words import Words

SPACE = "work"


class SchedulerWorld(Words, EmbeddedWorld):
    """A server and components of the scheduler half. Nobody plays a kubelet: pods run when a test says so."""

    space = SPACE

    async def node(self, name: str = "n", gpus: int = 8, **labels: str) -> None:
        labels = {key.replace("__", "/").replace("_", "."): value for key, value in labels.items()}
        has = {"cpu": "64", "memory": "256Gi", "pods": "110", names.NVIDIA_GPU: str(gpus)}
        await self.client.create(NODE, {"metadata": {"name": name, "labels": labels}})
        status = {"capacity": has, "allocatable": has, "conditions": [{"type": "Ready", "status": "True"}]}
        await self.client.patch(NODE, name, "", {"status": status}, subresource="status")
        await self.client.patch(NODE, name, "", {"spec": {"taints": None}})

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

    async def get_request(self, name: str) -> BindRequest:
        return await self.client.get(BIND_REQUEST, name, SPACE)

    async def ordered(self) -> dict[str, BindOrder]:
        """Pod → what a BindRequest orders for it."""
        made = (await self.client.list(BIND_REQUEST, SPACE)).items
        return {order.pod_name: order for request in made for order in orders(request)}

    async def placed(self) -> dict[str, str]:
        """Pod → node, of the pods that have one."""
        return {
            pod.name: pod.spec.node_name for pod in (await self.client.list(POD, SPACE)).items if pod.spec.node_name
        }


@asynccontextmanager
async def scheduler_world(
    *components: Component, clock: Clock | None = None, defaults: bool = True
) -> AsyncIterator[SchedulerWorld]:
    async with world(SchedulerWorld, clock=clock) as here:
        for name in (SPACE, names.RESERVATION_NAMESPACE, names.SCALE_NAMESPACE, names.KAI_NAMESPACE):
            await here.client.create(NAMESPACE, {"metadata": {"name": name}})
        for kind, obj in default_objects() if defaults else ():
            await here.client.create(kind, obj)
        for component in components:
            await here.start(component)
        yield here
