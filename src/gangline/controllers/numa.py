"""NUMA placement exporter: which NUMA zones a pod's devices, CPUs and memory are in, written on the pod.

One runs per node. What the kubelet assigned comes from its pod-resources list (on a simulated node: from its
NodeResourceTopology), `placement` turns it into zones, and the scheduler reads the annotation. Pods of which nothing
can be told are left alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kinds import POD
from gangline.controllers.sums import Amount, Amounts, amount, printed, total
from gangline.errors import NotFound
from gangline.runtime import Cache, Context, Key, Service, key_of

OBSERVED = "kai.scheduler/numa-placement-observed"


@dataclass(frozen=True, slots=True)
class Assigned:
    """What the kubelet gave to one pod: device counts, CPU numbers and memory bytes, with the zones they are in."""

    pod: Key
    devices: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """Resource name and NUMA nodes of each device."""
    cpus: tuple[int, ...] = ()
    """Exclusive CPUs."""
    memory: tuple[tuple[str, int, tuple[int, ...]], ...] = ()
    """Type (memory or hugepages-…), bytes and NUMA nodes of each block."""


class PodResources(Protocol):
    """Where a node's assignments come from."""

    async def list(self) -> Iterable[Assigned]: ...


def placement(assigned: Assigned, zone_of_cpu: Mapping[int, int]) -> str | None:
    """The annotation's text: what the pod has in each zone; None when nothing can be told."""
    zones: dict[int, list[Amounts]] = {}
    for resource, nodes in assigned.devices:
        if len(nodes) == 1:
            zones.setdefault(nodes[0], []).append({resource: amount(1)})
    for cpu in assigned.cpus:
        if cpu in zone_of_cpu:
            zones.setdefault(zone_of_cpu[cpu], []).append({"cpu": amount(1)})
    for kind, size, nodes in assigned.memory:
        if len(nodes) == 1 and (kind == "memory" or kind.startswith("hugepages-")):
            zones.setdefault(nodes[0], []).append({kind: Amount(size * 10**9, True)})
    if not zones:
        return None
    listed = [{"zone": f"node-{zone}", "amount": printed(total(zones[zone]))} for zone in sorted(zones, key=lambda each: f"node-{each}")]
    return json.dumps(listed, separators=(",", ":"))


def zones_of_cpus(lists: Mapping[int, str]) -> dict[int, int]:
    """CPU → NUMA node, from the kernel's lists such as `0-3,8`."""
    return {cpu: node for node, text in lists.items() for cpu in cpu_list(text)}


def cpu_list(text: str) -> list[int]:
    found: list[int] = []
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


@dataclass(frozen=True, slots=True)
class ExporterSettings:
    node: str
    poll: float = 1.0
    resync: float = 60.0
    """Seconds between two checks of what really stands on the pods; 0: never."""
    zone_of_cpu: Mapping[int, int] = field(default_factory=dict)


class Exporter:
    def __init__(self, settings: ExporterSettings, source: PodResources) -> None:
        self._settings, self._source = settings, source
        self._written: dict[Key, str] = {}
        self._checked = float("-inf")

    def prepare(self, cache: Cache) -> None:
        cache.informer(POD, "", f"spec.nodeName={self._settings.node}")

    async def run(self, ctx: Context, cache: Cache) -> None:
        while True:
            await self.once(ctx, cache.list(POD))
            await ctx.clock.sleep(self._settings.poll)

    async def once(self, ctx: Context, pods: Iterable[Pod]) -> None:
        here = {key_of(pod): pod for pod in pods if pod.spec.node_name == self._settings.node}
        now = ctx.clock.now()
        if self._settings.resync and now - self._checked >= self._settings.resync:
            self._checked = now
            self._written = {key: pod.annotations[OBSERVED] for key, pod in here.items() if OBSERVED in pod.annotations}
        for assigned in await self._source.list():
            text = placement(assigned, self._settings.zone_of_cpu)
            if text is not None and assigned.pod in here and self._written.get(assigned.pod) != text:
                await self._write(ctx, assigned.pod, text)
        self._written = {key: text for key, text in self._written.items() if key in here}

    async def _write(self, ctx: Context, pod: Key, text: str) -> None:
        try:
            await ctx.client.patch(POD, pod.name, pod.namespace, {"metadata": {"annotations": {OBSERVED: text}}})
            self._written[pod] = text
        except NotFound:
            self._written.pop(pod, None)


class Simulated:
    """What a kubelet with a topology manager would have assigned on a simulated node: what was predicted for the pod."""

    def __init__(self, pods: PodsOn) -> None:
        self._pods = pods

    async def list(self) -> Iterable[Assigned]:
        return [Assigned(key_of(pod), devices) for pod in self._pods() if (devices := predicted_devices(pod))]


class PodsOn(Protocol):
    def __call__(self) -> Iterable[Pod]: ...


def predicted_devices(pod: Pod) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """The pod's whole GPUs, in the first zone that the scheduler predicted."""
    try:
        zones = json.loads(pod.annotations.get("kai.scheduler/numa-placement-predicted") or "[]")
        zone = int(str(zones[0]["zone"]).rpartition("-")[2])
    except (ValueError, KeyError, IndexError, TypeError):
        return ()
    asked = pod.spec.containers[0].resources.requests.get(names.NVIDIA_GPU, 0) if pod.spec.containers else 0
    return tuple((names.NVIDIA_GPU, (zone,)) for _ in range(int(asked or 0)))


def service(settings: ExporterSettings, source: PodResources) -> Service:
    exporter = Exporter(settings, source)
    return Service("numa-placement-exporter", exporter.run, prepare=exporter.prepare)
