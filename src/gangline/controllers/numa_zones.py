"""Which NUMA zones the CPUs and GPUs of a pod come from, as a node says it. Pure; numa.py writes it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gangline.api import names, resources
from gangline.api.builtin import NodeResourceTopology
from gangline.api.core import Pod
from gangline.controllers.sums import Amounts, ExactAmount, amount, printed, total
from gangline.rules import requests
from gangline.runtime import Key, key_of

OBSERVED = "kai.scheduler/numa-placement-observed"
PREDICTED = "kai.scheduler/numa-placement-predicted"


@dataclass(frozen=True, slots=True)
class ZoneAssignment:
    """What a kubelet gave to one pod, with the zones it is in."""

    pod: Key
    devices: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """Resource name and NUMA zones of each device."""
    cpus: tuple[int, ...] = ()
    """Exclusive CPUs by number."""
    memory: tuple[tuple[str, int, tuple[int, ...]], ...] = ()
    """Type (memory or hugepages-…), bytes and NUMA zones of each block."""


def placement(assigned: ZoneAssignment, zone_of_cpu: Mapping[int, int]) -> str | None:
    """The annotation's text: what the pod has in each zone; None when the zones are unknown."""
    zones: dict[int, list[Amounts]] = {}
    for resource, nodes in assigned.devices:
        if len(nodes) == 1:
            zones.setdefault(nodes[0], []).append({resource: amount(1)})
    for cpu in assigned.cpus:
        if cpu in zone_of_cpu:
            zones.setdefault(zone_of_cpu[cpu], []).append({"cpu": amount(1)})
    for kind, size, nodes in assigned.memory:
        if len(nodes) == 1 and (kind == "memory" or kind.startswith("hugepages-")):
            zones.setdefault(nodes[0], []).append({kind: ExactAmount(size * resources.NANO, True)})
    if not zones:
        return None
    named = sorted((f"node-{zone}", parts) for zone, parts in zones.items())
    return json.dumps([{"zone": zone, "amount": printed(total(parts))} for zone, parts in named], separators=(",", ":"))


def zones_of_cpus(lists: Mapping[int, str]) -> dict[int, int]:
    """CPU → NUMA zone, from the kernel's lists such as `0-3,8`."""
    return {cpu: zone for zone, text in lists.items() for cpu in cpu_list(text)}


def cpu_list(text: str) -> list[int]:
    numbers: list[int] = []
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        numbers += range(int(first), int(last or first) + 1)
    return numbers


def zone_gpus(topology: NodeResourceTopology) -> dict[int, int]:
    """GPUs of each zone of a node."""
    gpus_by_zone: dict[int, int] = {}
    for zone in topology.zones:
        number = str(zone.get("name") or "").rpartition("-")[2]
        listed = [resource for resource in zone.get("resources") or () if requests.is_gpu(str(resource.get("name")))]
        gpus = sum(resources.units(item.get("allocatable", 0)) for item in listed)
        if number.isdigit() and gpus:
            gpus_by_zone[int(number)] = gpus
    return gpus_by_zone


def assign(pods: Iterable[Pod], gpus: Mapping[int, int]) -> list[ZoneAssignment]:
    """GPUs for each pod as a topology manager gives them: all of one zone if one has enough (that which was predicted,
    else the fullest that fits), else zone after zone. Pods that started earlier keep theirs."""
    free = dict(gpus)
    assigneds = []
    for pod in sorted(
        pods, key=lambda pod: (OBSERVED not in pod.annotations, pod.status.start_time or "", pod.namespace, pod.name)
    ):
        wanted = requests.request(pod).gpu
        number = wanted.count if wanted.kind == requests.REGULAR else 0
        if 0 < number <= sum(free.values()):
            zones = _choose(free, number, observed_zones(pod))
            assigneds.append(ZoneAssignment(key_of(pod), tuple((names.NVIDIA_GPU, (zone,)) for zone in zones)))
    return assigneds


def _choose(free: dict[int, int], number: int, wished: Sequence[int]) -> list[int]:
    whole = [zone for zone in wished if free.get(zone, 0) >= number]
    whole += sorted((zone for zone, left in free.items() if left >= number), key=lambda zone: (free[zone], zone))
    order = whole[:1] or sorted(free)
    zones: list[int] = []
    for zone in order:
        taken = min(number - len(zones), free[zone])
        free[zone] -= taken
        zones += [zone] * taken
    return zones


def observed_zones(pod: Pod) -> list[int]:
    """The zones it was seen in, else those predicted for it."""
    text = pod.annotations.get(OBSERVED) or pod.annotations.get(PREDICTED)
    try:
        return [int(str(load["zone"]).rpartition("-")[2]) for load in json.loads(text or "[]")]
    except (ValueError, KeyError, TypeError):
        return []
