"""Node and NodeResourceTopology → NodeRecord.

First to be read of a cluster: everything else refers to nodes by name. A node that is not ready is still read; it
only takes no new pods.
"""

from __future__ import annotations

import re

from gangline.api import names
from gangline.api.core import Node
from gangline.api.meta import Raw
from gangline.rules import requests
from gangline.rules.capacity.node_facts import gpu_memory, integer, not_ready_because
from gangline.scheduler.objects import affinity
from gangline.scheduler.objects.reading import DEFAULTS, ObjectReading, not_negative
from gangline.scheduler.records import NodeRecord, NumaRecord, ZoneRecord

MIG_STRATEGY = "nvidia.com/mig.strategy"
_POLICIES = ("single-numa-node", "restricted", "best-effort", "none")
_LEGACY_POLICIES = {
    "SingleNUMANodePodLevel": ("single-numa-node", "pod"),
    "SingleNUMANodeContainerLevel": ("single-numa-node", "container"),
    "RestrictedPodLevel": ("restricted", "pod"),
    "Restricted": ("restricted", "container"),
    "RestrictedContainerLevel": ("restricted", "container"),
    "BestEffortPodLevel": ("best-effort", "pod"),
    "BestEffort": ("best-effort", "container"),
    "BestEffortContainerLevel": ("best-effort", "container"),
}


def node_record(node: Node, topology: Raw | None = None, reading: ObjectReading = DEFAULTS) -> NodeRecord:
    """`topology` is the node's NodeResourceTopology, if it has one."""
    allocatable = requests.by_name(node.status.allocatable)
    not_negative("status.allocatable", allocatable)
    labels = node.labels
    memory, synced = gpu_memory(labels.get(names.GPU_MEMORY_LABEL))
    why_not = not_ready_because(node)
    return NodeRecord(
        name=node.name,
        allocatable={name: value for name, value in allocatable.items() if value},
        labels=labels,
        taints=affinity.taints(node.spec.taints),
        ready=not why_not,
        ready_reason=", ".join(why_not),
        gpu_memory=memory,
        gpu_memory_synced=synced,
        gpu_count=integer(labels.get(names.GPU_COUNT_LABEL)),
        mig_enabled=_boolean(labels.get(reading.mig_label)),
        mig_strategy=labels.get(MIG_STRATEGY, ""),
        numa=numa_record(topology) if topology is not None else None,
        gpu_resources={
            name: value
            for name, value in requests.amounts_of(node.status.allocatable).items()
            if value and requests.is_gpu(name)
        },
    )


def _boolean(text: str | None) -> bool | None:
    """None when there is no label; a label that is no truth value counts as false."""
    return None if text is None else text in ("1", "t", "T", "TRUE", "true", "True")


def numa_record(topology: Raw) -> NumaRecord | None:
    """The NUMA zones of a node, lowest number first; None when it describes none."""
    listed = [zone for zone in topology.get("zones") or () if zone.get("type") == "Node"]
    zones = sorted((_zone(zone, place) for place, zone in enumerate(listed)), key=lambda zone: zone.id)
    if not zones:
        return None
    policy, scope = numa_policy(topology)
    aligned = sorted({name for zone in zones for name in (*zone.allocatable, *zone.available)})
    return NumaRecord(policy, scope, tuple(aligned), tuple(zones))


def _zone(zone: Raw, place: int) -> ZoneRecord:
    listed = zone.get("resources") or ()
    allocatable = requests.by_name({str(r["name"]): r.get("allocatable", 0) for r in listed})
    available = requests.by_name({str(r["name"]): r.get("available", 0) for r in listed})
    return ZoneRecord(zone_number(str(zone.get("name") or ""), place), allocatable, available)


def zone_number(name: str, otherwise: int = 0) -> int:
    """The number at the end of a zone's name: `node-3` is 3."""
    match = re.search(r"(\d+)$", name)
    return int(match.group(1)) if match else otherwise


def numa_policy(topology: Raw) -> tuple[str, str]:
    """The kubelet's alignment policy and scope, from attributes or, failing that, from the older combined names."""
    given = {str(a.get("name")): str(a.get("value")) for a in topology.get("attributes") or ()}
    policy = given.get("topologyManagerPolicy", "")
    if policy:
        return (policy if policy in _POLICIES else "none"), (
            "pod" if given.get("topologyManagerScope") == "pod" else "container"
        )
    old = topology.get("topologyPolicies") or ("",)
    return _LEGACY_POLICIES.get(str(old[0]), ("none", "container"))
