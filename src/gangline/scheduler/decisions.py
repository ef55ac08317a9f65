"""What a cycle decided, as plain values in the order in which they were decided.

`decide` returns a Decisions; the service writes them: Bind → BindRequest, Evict → eviction, Nominate → event (never
persisted), Refuse → condition and event, GangUpdate → annotations. Tests compare these with `==`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from gangline.errors import Refusal
from gangline.scheduler.records import DeviceId, DeviceRequest
from gangline.scheduler.refusals import QueueFigures


@dataclass(frozen=True, slots=True)
class ContainerUse:
    """The container gets what was allocated for this device request as that resource."""

    container: str
    resource: str
    request: str


@dataclass(frozen=True, slots=True)
class ExtendedBind:
    """The claim to make for a pod's extended resources: what it asks for, what it got, and which container uses
    what."""

    requests: tuple[DeviceRequest, ...]
    devices: tuple[DeviceId, ...]
    uses: tuple[ContainerUse, ...]
    configs: tuple[Mapping[str, object], ...] = ()


@dataclass(frozen=True, slots=True)
class Bind:
    """Bind this task to this node. `received`: Regular, Fraction or MigInstance; `gpu_count` and `gpu_portion` are
    what it was given.

    A group named `new-…` is a device to open for sharing; the shell gives it its final name. `claims`: devices per
    claim name, `configs` the configuration of their drivers.
    `extended`: devices for extended resources that the node has only as devices."""

    task: str
    node: str
    gpu_groups: tuple[str, ...] = ()
    received: str = "Regular"
    gpu_count: int = 0
    gpu_portion: float = 0
    gpu_memory: int = 0
    claims: Mapping[str, tuple[DeviceId, ...]] = field(default_factory=dict)
    configs: Mapping[str, tuple[Mapping[str, object], ...]] = field(default_factory=dict)
    extended: ExtendedBind | None = None
    numa_zones: tuple[int, ...] | None = None
    numa_amounts: tuple[Mapping[str, float], ...] = ()
    annotations: Mapping[str, str] = field(default_factory=dict)
    action: str = ""


@dataclass(frozen=True, slots=True)
class Evict:
    """Remove this task from its node. `preemptor`: uid of the gang it makes room for ("" for a stale gang). `lost`:
    the GPU-seconds of work that go with it."""

    task: str
    node: str
    message: str = ""
    action: str = ""
    preemptor: str = ""
    gang_size: int = 0
    lost: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True)
class Nominate:
    """This task will get room on this node once others are gone (upstream: pipelined). Told, never persisted."""

    task: str
    node: str
    gpu_groups: tuple[str, ...] = ()
    action: str = ""


@dataclass(frozen=True, slots=True)
class Refuse:
    """Why a gang (and, by task uid, each of its tasks) was not placed. `text` is the complete sentence for the
    condition."""

    gang: str
    refusals: tuple[Refusal, ...]
    text: str = ""
    tasks: Mapping[str, str] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()
    """Upstream's word for each of `refusals`: OverLimit, PodSchedulingErrors…"""
    queues: tuple[QueueFigures | None, ...] = field(default=(), compare=False)
    """For each of `refusals`, the usage and limits of the queue that refused, if it was one."""


@dataclass(frozen=True, slots=True)
class GangUpdate:
    """Time stamps of a gang that changed in this cycle; None clears or leaves absent, compare with the gang's
    record."""

    gang: str
    last_start: float | None = None
    last_eviction: float | None = None
    stale_since: float | None = None
    stale: bool = False


@dataclass(frozen=True, slots=True)
class StartReservation:
    """A gang that did not fit may count on these GPUs by node from this moment on. `name` is for people. `waits_for`:
    the gang whose end makes the last room. `sure`: the time of every end that it counts on was declared."""

    gang: str
    name: str
    start: float
    nodes: tuple[tuple[str, float], ...]
    waits_for: str = field(default="", compare=False)
    sure: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class MoveRequest:
    """The owner of this task should start its replacement on this node, and end the task when that is ready.
    `preemptor`: uid of the gang that gets the room. `asked`: when this was decided."""

    task: str
    node: str
    preemptor: str
    asked: float = 0.0


Commit: TypeAlias = Bind | Evict | Nominate


@dataclass(frozen=True, slots=True)
class Decisions:
    """`commits` in the order decided; `steps` is how many what-if simulations were tried, per action."""

    commits: tuple[Commit, ...] = ()
    refusals: tuple[Refuse, ...] = ()
    updates: tuple[GangUpdate, ...] = ()
    steps: Mapping[str, int] = field(default_factory=dict)
    reservations: tuple[StartReservation, ...] = ()
    moves: tuple[MoveRequest, ...] = ()

    @property
    def binds(self) -> list[Bind]:
        return [commit for commit in self.commits if isinstance(commit, Bind)]

    @property
    def evictions(self) -> list[Evict]:
        return [commit for commit in self.commits if isinstance(commit, Evict)]

    @property
    def nominations(self) -> list[Nominate]:
        return [commit for commit in self.commits if isinstance(commit, Nominate)]
