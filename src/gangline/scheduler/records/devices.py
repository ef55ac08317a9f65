"""Devices of dynamic resource allocation: classes, slices and claims, as plain records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from gangline.scheduler.records.terms import NodeTerm, TaintRecord, TolerationRecord


@dataclass(frozen=True, slots=True)
class DeviceClassRecord:
    """`resource`: the extended resource that this class backs, if any. `driver`: the only driver whose devices it
    selects ("": any). `selectors`: CEL expressions that must all hold for a device. `config` goes to the driver as it
    is."""

    name: str
    resource: str = ""
    driver: str = ""
    selectors: tuple[str, ...] = ()
    config: tuple[Mapping[str, object], ...] = ()
    created: float = 0


Counters: TypeAlias = Mapping[str, Mapping[str, float]]
"""Counter set → counter → amount."""


@dataclass(frozen=True, slots=True)
class DeviceRecord:
    """`attributes` and `capacity` by `domain/name`; an attribute is {type: value} as its driver wrote it. `counters`:
    what the device takes of its pool's shared counters. `node`, `nodes`, `everywhere` count only in slices that leave
    it to devices."""

    name: str
    device_class: str = ""
    attributes: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    capacity: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[TaintRecord, ...] = ()
    counters: Counters = field(default_factory=dict)
    node: str = ""
    nodes: tuple[NodeTerm, ...] | None = None
    everywhere: bool = False


@dataclass(frozen=True, slots=True)
class SliceRecord:
    """Devices of one driver on one node, on the nodes that match `nodes`, or `everywhere`; slices of the same pool are
    one pool, of which only the newest generation counts and is complete with so many `slices`. `by_device`: each device
    says where it is."""

    name: str
    node: str
    driver: str
    pool: str
    devices: tuple[DeviceRecord, ...] = ()
    nodes: tuple[NodeTerm, ...] | None = None
    everywhere: bool = False
    by_device: bool = False
    generation: int = 0
    slices: int = 0
    counters: Counters = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DeviceId:
    driver: str
    pool: str
    device: str
    request: str = ""
    admin: bool = False


@dataclass(frozen=True, slots=True)
class DeviceRequest:
    """`count` None: every matching device of the node. `admin`: looks at devices without taking them. `choices`: the
    first of these that can be met stands for the request."""

    name: str
    device_class: str
    count: int | None = 1
    selectors: tuple[str, ...] = ()
    tolerations: tuple[TolerationRecord, ...] = ()
    admin: bool = False
    choices: tuple[DeviceRequest, ...] = ()


@dataclass(frozen=True, slots=True)
class DeviceConstraint:
    """The devices of these requests (none named: of all) have the same value of one attribute, or all different
    ones."""

    requests: tuple[str, ...] = ()
    same: str = ""
    different: str = ""


@dataclass(frozen=True, slots=True)
class ClaimRecord:
    """A ResourceClaim. `allocated` None: not allocated yet. `nodes`: where the allocation is usable (None:
    everywhere). `pod`: uid of the pod for whose extended resources the binder made the claim."""

    name: str
    namespace: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    requests: tuple[DeviceRequest, ...] = ()
    allocated: tuple[DeviceId, ...] | None = None
    nodes: tuple[NodeTerm, ...] | None = None
    reserved_for: tuple[str, ...] = ()
    template: bool = False
    constraints: tuple[DeviceConstraint, ...] = ()
    config: tuple[Mapping[str, object], ...] = ()
    pod: str = ""
