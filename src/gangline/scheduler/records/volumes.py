"""What pods mount: volume claims, room for volumes, config maps, as plain records."""

from __future__ import annotations

from dataclasses import dataclass

from gangline.scheduler.records.terms import NodeTerm


@dataclass(frozen=True, slots=True)
class VolumeClaimRecord:
    """A PersistentVolumeClaim. `nodes`: the node affinity of its bound volume. `waits`: its class binds on first
    use. `single`: it serves one pod at a time (ReadWriteOncePod)."""

    name: str
    namespace: str = ""
    bound: bool = False
    waits: bool = True
    nodes: tuple[NodeTerm, ...] | None = None
    storage_class: str = ""
    size: float = 0
    deleted: bool = False
    owner: str = ""
    single: bool = False


@dataclass(frozen=True, slots=True)
class StorageCapacityRecord:
    """What is left of a storage class on the nodes that match."""

    name: str
    storage_class: str
    free: float
    nodes: tuple[NodeTerm, ...] | None = None


@dataclass(frozen=True, slots=True)
class ConfigMapRecord:
    name: str
    namespace: str = ""
