"""Services' endpoints: which pods a Service's selector finds, ready or not, as EndpointSlices (and Endpoints for old
readers).

endpoint_slices.py works out the slices; this controller compares them with those that are there. Services without a
selector are left alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from gangline.api.core import Pod, Service
from gangline.api.kinds import ENDPOINT_SLICE, ENDPOINTS, POD, SERVICE
from gangline.cluster.world.pods.pod_step import FINAL
from gangline.cluster.world.upkeep.endpoint_slices import (
    MANAGED_BY,
    MANAGER,
    MOST,
    NAMES,
    OURS,
    chosen,
    old_style,
    same,
    slices,
)
from gangline.cluster.world.workloads.replicas import BY_LABEL, by_label, is_ready
from gangline.runtime import Again, Context, Controller, Key, Reader, Watch, itself, key_of, owner

BY_SELECTOR = "selector"
PAUSE = 0.002
"""Seconds a Service with many pods waits between writes, for each of them."""


# --- thinking ---------------------------------------------------------------------------------------------------------


# --- doing ------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Slicer:
    """Writes a Service's endpoints; the more pods it has, the longer it gathers changes before it writes again."""

    written: dict[Key, float] = field(default_factory=dict)

    async def reconcile(self, ctx: Context, key: Key) -> Again | None:
        service = ctx.read.get(SERVICE, key.name, key.namespace)
        if service is None or service.metadata.deleting or not service.spec.selector:
            self.written.pop(key, None)
            if service is None:
                await forget(ctx, key)
            return None
        pods, now = chosen(service, ctx.read), ctx.clock.now()
        pause = self.written.get(key, 0.0) + PAUSE * len(pods) - now
        if pause > 0 and len(pods) > MOST:
            return Again(pause)
        self.written[key] = now
        await write(ctx, key, service, pods)
        return None


async def forget(ctx: Context, key: Key) -> None:
    """A Service is gone: its slices go with their owner, its Endpoints, which has none, goes here."""
    left = ctx.read.get(NAMES, key.name, key.namespace)
    if left is not None and not left.metadata.deleting:
        await ctx.writer.delete_unless_gone(ENDPOINTS, left)


async def write(ctx: Context, key: Key, service: Service, pods: Sequence[Pod]) -> None:
    there = {
        endpoint_slice.name: endpoint_slice
        for endpoint_slice in ctx.read.owned(ENDPOINT_SLICE, service.uid)
        if endpoint_slice.labels.get(MANAGED_BY) == MANAGER
    }
    wanted = {slice_["metadata"]["name"]: slice_ for slice_ in slices(service, pods)}
    changed = False
    for name, item in wanted.items():
        if name not in there:
            changed |= await ctx.writer.create_unless_there(ENDPOINT_SLICE, item)
        elif not same(item, there[name]):
            await ctx.client.patch(
                ENDPOINT_SLICE, name, key.namespace, {"endpoints": item["endpoints"], "ports": item["ports"]}
            )
            changed = True
    for name in [name for name in there if name not in wanted]:
        changed |= await ctx.writer.delete_unless_gone(ENDPOINT_SLICE, there[name])
    if changed:
        await ctx.client.apply(ENDPOINTS, old_style(service, pods), manager="endpoint-controller")


def _services_of(pod: Pod, read: Reader) -> list[Key]:
    return [
        key_of(service)
        for label in pod.labels.items()
        for service in read.by(SERVICE, BY_SELECTOR, _selects(pod.namespace, label))
        if service.spec.selector.items() <= pod.labels.items()
    ]


def by_selector(service: Service) -> list[str]:
    """One label of the selector finds the service; the last by name, which most often tells it from others."""
    return [_selects(service.namespace, max(service.spec.selector.items()))] if service.spec.selector else []


def _selects(namespace: str, label: tuple[str, str]) -> str:
    return f"{namespace}/{label[0]}={label[1]}"


def _endpoint_moved(before: Pod | None, after: Pod | None) -> bool:
    return _serves(before) != _serves(after)


def _serves(pod: Pod | None) -> object:
    return (
        None
        if pod is None
        else (pod.status.pod_ip, is_ready(pod), pod.metadata.deleting, pod.status.phase in FINAL, pod.labels)
    )


def endpoints() -> Controller:
    return Controller(
        "endpoints",
        Slicer().reconcile,
        watches=(
            Watch(SERVICE, itself),
            Watch(POD, _services_of, when=_endpoint_moved),
            Watch(ENDPOINT_SLICE, owner(SERVICE)),
            Watch(NAMES, itself, when=lambda before, after: before is None and OURS.items() <= after.labels.items()),
        ),
        indexes=((POD, BY_LABEL, by_label), (SERVICE, BY_SELECTOR, by_selector)),
        workers=4,
    )
