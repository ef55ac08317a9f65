"""What a scheduler backend is: a pure translation of one PodGang for one scheduler.

The six abilities of the documents' SchedulerBackend are here by these names: Name → `name`, Matches → `matches`, Sync
→ `gang_objects` (the shell applies what is returned, and removes what is not: Delete), CheckGangReady →
`gang_status`, GetSchedulingGateName → `gate`. A backend never talks to a cluster: what must be asked is gathered by
the shell and handed in as `Facts`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from gangline.api.core import Pod
from gangline.api.grove import GangPack, PodCliqueSet, PodReference
from gangline.api.kinds import Kind
from gangline.api.meta import Object, Raw
from gangline.config import NATIVE, Manner
from gangline.errors import GanglineError, Problem

if TYPE_CHECKING:
    from gangline.runtime import Reader

Kinds = tuple[Kind[Any], ...]

OWN_MINIMA = "own minima"
SURPLUS_GATED = "surplus gated"
NO_GANG = "none"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a scheduler can express."""

    gang: bool = True
    groups: str = OWN_MINIMA
    """How each group's own minimum is kept: by the scheduler, by gating the surplus until the rest is placed, or not at all."""
    topology: bool = False
    queue: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """What the shell knows about the cluster and the manner."""

    served: frozenset[Kind[Any]] = frozenset()
    manner: Manner = NATIVE
    config: Mapping[str, Any] = field(default_factory=dict)
    """The `config` of the profile that chose the backend."""
    read: Reader | None = None
    """What is in the cluster, where a check needs it."""

    def serves(self, *kinds: Kind[Any]) -> bool:
        return all(kind in self.served for kind in kinds)


@dataclass(frozen=True, slots=True)
class GroupInfo:
    """One group of equal pods in a gang."""

    name: str
    minimum: int
    pods: tuple[Pod, ...] = ()
    constraint: GangPack | None = None
    parent: str = ""
    """The group of groups it belongs to, if any."""


@dataclass(frozen=True, slots=True)
class ParentInfo:
    """A topology constraint over some groups of a gang."""

    name: str
    groups: tuple[str, ...]
    constraint: GangPack | None = None


@dataclass(frozen=True, slots=True)
class PodGangInfo:
    """A gang as every backend sees it."""

    name: str
    namespace: str
    uid: str
    groups: tuple[GroupInfo, ...] = ()
    parents: tuple[ParentInfo, ...] = ()
    constraint: GangPack | None = None
    topology: str = ""
    """The ClusterTopologyBinding that its constraints are from."""
    priority_class: str = ""
    reuse: PodReference | None = None
    scheduler_name: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    live: tuple[tuple[Kind[Any], Object], ...] = ()
    """What the backend has written for it before."""
    pcs: PodCliqueSet | None = None
    facts: Facts = Facts()

    @property
    def minimum(self) -> int:
        return sum(group.minimum for group in self.groups)

    @property
    def constrained(self) -> bool:
        below = any(group.constraint is not None for group in self.groups) or any(each.constraint is not None for each in self.parents)
        return self.constraint is not None or below


@dataclass(frozen=True, slots=True)
class GangObject:
    """One object of the scheduler's own, as it should be."""

    kind: Kind[Any]
    obj: Raw
    once: Raw = field(default_factory=dict)
    """Parts that are set at creation and then belong to users or the scheduler."""
    owns: tuple[str, ...] = ()
    """Fields of spec that are removed when the translation no longer has them."""


@dataclass(frozen=True, slots=True)
class GangState:
    """What the scheduler says about a gang, beyond what its pods show."""

    why: str = ""
    """Why it is not scheduled, in the scheduler's words."""
    reason: str = ""


class CannotTranslate(GanglineError):
    """A gang that this backend cannot express now; the text says why and what to do."""


class Backend(Protocol):
    name: str
    gate: str
    reads: Kinds
    writes: Kinds
    capabilities: Capabilities

    def matches(self, scheduler_name: str) -> bool: ...

    def check(self, pcs: PodCliqueSet, facts: Facts) -> Iterable[Problem]: ...

    def gang_objects(self, gang: PodGangInfo, facts: Facts) -> Iterable[GangObject]: ...

    def prepare_pod(self, pod: Raw, gang: PodGangInfo) -> Raw: ...

    def gang_status(self, gang: PodGangInfo, read: Reader) -> GangState: ...
