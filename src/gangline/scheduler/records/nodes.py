"""Nodes with their NUMA zones, and topologies over them, as plain records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gangline.scheduler.records.terms import Amounts, TaintRecord


@dataclass(frozen=True, slots=True)
class ZoneRecord:
    """One NUMA zone; a resource that is missing is 0. `available` already excludes running pods."""

    id: int
    allocatable: Amounts
    available: Amounts


@dataclass(frozen=True, slots=True)
class NumaRecord:
    """`policy`: none, best-effort, restricted, single-numa-node. `scope`: container or pod. `resources`: the aligned
    names."""

    policy: str
    scope: str
    resources: tuple[str, ...]
    zones: tuple[ZoneRecord, ...]


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """`ready` is the verdict on the node's conditions and `unschedulable`; `ready_reason` says why not.

    `gpu_memory` is per device, already floored to a multiple of 100; `mig_enabled` None means the label is absent.
    `gpu_resources`: the GPUs of `allocatable` by the resource names under which device plugins offer them; empty: not
    known."""

    name: str
    allocatable: Amounts
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[TaintRecord, ...] = ()
    ready: bool = True
    ready_reason: str = ""
    gpu_memory: int = 100
    gpu_memory_synced: bool = False
    gpu_count: int | None = None
    mig_enabled: bool | None = None
    mig_strategy: str = ""
    numa: NumaRecord | None = None
    gpu_resources: Amounts = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TopologyRecord:
    """Levels are node label keys from coarse to fine."""

    name: str
    levels: tuple[str, ...]
