"""What the pages say, as frozen data: the same for the HTML and for `?format=json`.

Written by pages.py, read by views.py. Amounts are in people's units (GPUs, cores, bytes), times in seconds since 1970,
ages in seconds. None stands for "no bound". Nothing here looks at a cluster or knows HTML."""

from __future__ import annotations

from typing import Generic, TypeVar

import msgspec

from gangline.rules.trees import Branch


class PageData(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The base of everything a page says."""


T = TypeVar("T")


class Table(PageData, Generic[T], frozen=True):
    """One page of rows. `total` of them match the search; `start` come before the first one shown."""

    rows: tuple[T, ...] = ()
    total: int = 0
    start: int = 0
    size: int = 25

    @property
    def hidden(self) -> int:
        return self.total - len(self.rows)


class Source(PageData, frozen=True):
    """Where the data comes from, and how fresh it is."""

    server: str = ""
    now: float = 0.0
    heard: float | None = None
    """When the cluster last answered; None: never yet."""
    problem: str = ""
    """Why it does not answer now."""
    reading: tuple[str, ...] = ()
    """Kinds that are being read for the first time."""
    absent: tuple[str, ...] = ()
    """Kinds that this cluster does not serve."""
    troubles: tuple[str, ...] = ()
    """Kinds that cannot be read, each with the reason."""


class RemedyText(PageData, frozen=True):
    text: str


class Why(PageData, frozen=True):
    """Why a gang waits: one sentence, its proof line by line, and what would start it."""

    headline: str
    proof: tuple[str, ...] = ()
    remedies: tuple[RemedyText, ...] = ()
    position: int = 0
    waiting: int = 0
    judged: bool = False
    """A scheduler of ours said it; else it is what the gang's conditions say."""


class Evicted(PageData, frozen=True):
    """A gang that lost its place."""

    at: float
    action: str
    """reclaim, preempt, consolidation, stalegangeviction; empty: not known any more."""
    by: str
    """In words."""
    back: str
    """Whether it comes back, in words."""
    other: str = ""
    """The gang that got the place."""


class GangLine(PageData, frozen=True):
    """One gang in a table. `name` is how it is addressed, `title` what its users call it."""

    namespace: str
    name: str
    title: str
    kind: str
    state: str
    set: str = ""
    queue: str = ""
    priority: str = ""
    user: str = ""
    pods: int = 0
    minimum: int = 0
    placed: int = 0
    running: int = 0
    pending: int = 0
    gpus_held: float = 0.0
    gpus_asked: float = 0.0
    nodes: int = 0
    since: float | None = None
    why: Why | None = None
    evicted: Evicted | None = None
    """How it lost its place, if it has not started again since."""
    failure: str = ""
    """Why it failed for good."""


class Amounts(PageData, frozen=True):
    """One resource of a queue."""

    quota: float | None = None
    limit: float | None = None
    allocated: float = 0.0
    requested: float = 0.0


class QueueLine(PageData, frozen=True):
    name: str
    title: str
    parent: str = ""
    depth: int = 0
    leaf: bool = True
    gpu: Amounts = Amounts()
    cpu: Amounts = Amounts()
    memory: Amounts = Amounts()
    priority: int | None = None
    weight: float = 0.0
    borrows: float = 0.0
    """GPUs held above the quota."""
    unused: float = 0.0
    """GPUs of the quota that nobody below it holds."""
    waiting: int = 0
    running: int = 0
    problem: str = ""


class Loan(PageData, frozen=True):
    """A queue that borrows, and the siblings whose quota is not all in use."""

    queue: str
    gpus: float
    held: float
    quota: float
    lenders: tuple[tuple[str, float], ...] = ()


class GpuCell(PageData, frozen=True):
    """One GPU: `used` of it is taken, by these pods."""

    state: str
    """free, used or shared."""
    used: float = 0.0
    pods: tuple[str, ...] = ()


class NodeLine(PageData, frozen=True):
    name: str
    devices: tuple[GpuCell, ...] = ()
    total: int = 0
    free: int = 0
    spare: float = 0.0
    """Parts of shared GPUs that nobody holds, together."""
    closed: str = ""
    """Why it takes no pods now; empty: it does."""
    pods: int = 0
    cpu_free: float = 0.0
    cpu: float = 0.0
    memory_free: float = 0.0
    memory: float = 0.0
    slices: tuple[tuple[str, float, float], ...] = ()
    """MIG slices: name, free, total."""


class Piece(PageData, frozen=True):
    """Nodes with the same number of free GPUs."""

    gpus: int
    nodes: int


class FreeDomain(PageData, frozen=True):
    """The domain of a topology level in which most GPUs are free."""

    level: str
    name: str
    free: int
    domains: int


class FreeRoom(PageData, frozen=True):
    """Free room on nodes that take pods."""

    free: int = 0
    spare: float = 0.0
    pieces: tuple[Piece, ...] = ()
    largest: int = 0
    largest_node: str = ""
    whole_nodes: int = 0
    gpu_nodes: int = 0
    closed: int = 0
    """GPUs that are free on nodes that take no pods."""
    domains: tuple[FreeDomain, ...] = ()


class GangCounts(PageData, frozen=True):
    waiting: int = 0
    starting: int = 0
    running: int = 0
    ended: int = 0
    evicted: int = 0
    """Of those that wait: they had a place."""
    failed: int = 0
    pods: int = 0
    pods_running: int = 0
    pods_pending: int = 0
    nodes: int = 0
    nodes_closed: int = 0
    gpus: int = 0
    gpus_used: int = 0
    gpus_shared: int = 0
    gpus_outside: float = 0.0
    """GPUs that pods of no gang hold."""


class Overview(PageData, frozen=True, tag_field="page", tag="overview"):
    source: Source
    counts: GangCounts
    room: FreeRoom
    waiting: Table[GangLine]
    running: Table[GangLine]
    queues: Table[QueueLine]
    nodes: Table[NodeLine]
    failed: Table[GangLine] = Table()
    loans: tuple[Loan, ...] = ()
    search: str = ""


class MapGang(PageData, frozen=True):
    """A gang that holds GPUs, as cells of the map refer to it by its place in the list."""

    namespace: str
    name: str
    title: str
    queue: str = ""
    state: str = ""
    priority: str = ""
    user: str = ""


class MapHolding(PageData, frozen=True, array_like=True):
    """Whole GPUs of one gang on one node."""

    gang: int
    """Its place in the list of gangs; -1: of no gang."""
    gpus: int


class MapShare(PageData, frozen=True, array_like=True):
    """A GPU that is shared."""

    used: float
    gangs: tuple[int, ...]


class MapIdle(PageData, frozen=True, array_like=True):
    """GPUs of a node that nobody uses, and why."""

    cause: str
    gpus: float
    gang: str = ""
    until: float | None = None


class MapNode(PageData, frozen=True, omit_defaults=True):
    """What is not held or shared of `gpus` is free."""

    name: str
    gpus: int
    held: tuple[MapHolding, ...] = ()
    shared: tuple[MapShare, ...] = ()
    idle: tuple[MapIdle, ...] = ()
    closed: str = ""

    @property
    def free(self) -> int:
        return max(self.gpus - sum(holding.gpus for holding in self.held) - len(self.shared), 0)


class MapDomain(PageData, frozen=True):
    """Nodes that stand together: `path` names the block, the rack …, one name for each level."""

    path: tuple[str, ...]
    nodes: tuple[MapNode, ...]


class MapRow(PageData, frozen=True):
    """A node of the map in words."""

    node: str
    path: tuple[str, ...]
    gpus: int
    used: int
    shared: int
    free: int
    closed: str
    gangs: tuple[tuple[str, str, str, float], ...]
    """Namespace, name, title and GPUs of each gang on it."""
    idle: tuple[MapIdle, ...] = ()


class MapCounts(PageData, frozen=True):
    nodes: int = 0
    gpus: int = 0
    used: int = 0
    shared: int = 0
    free: int = 0
    closed: int = 0
    """Of the free ones: on nodes that take no pods."""


class MapPage(PageData, frozen=True, tag_field="page", tag="map"):
    """Every GPU, by where it stands."""

    source: Source
    levels: tuple[str, ...]
    topology: str
    topologies: tuple[str, ...]
    colour: str
    gangs: tuple[MapGang, ...]
    domains: tuple[MapDomain, ...]
    rows: Table[MapRow]
    counts: MapCounts


class EventLine(PageData, frozen=True):
    at: float | None
    about: str
    reason: str
    message: str
    count: int = 1
    warning: bool = False


class PodLine(PageData, frozen=True):
    namespace: str
    name: str
    state: str
    node: str = ""
    gpus: float = 0.0
    gang: str = ""
    """How its gang is addressed, if it has one."""
    title: str = ""
    note: str = ""


class GangPage(PageData, frozen=True, tag_field="page", tag="gang"):
    source: Source
    gang: GangLine
    tree: Branch
    conditions: tuple[tuple[str, str, str], ...] = ()
    """Type, status and message."""
    events: tuple[EventLine, ...] = ()


class QueuePage(PageData, frozen=True, tag_field="page", tag="queue"):
    source: Source
    queue: QueueLine
    path: tuple[str, ...]
    below: tuple[QueueLine, ...]
    waiting: Table[GangLine]
    running: Table[GangLine]
    loans: tuple[Loan, ...] = ()


class NodePage(PageData, frozen=True, tag_field="page", tag="node"):
    source: Source
    node: NodeLine
    pods: Table[PodLine]
    taints: tuple[str, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()


class MissingPage(PageData, frozen=True, tag_field="page", tag="missing"):
    """There is no such page."""

    source: Source
    text: str
    hint: str
    near: tuple[tuple[str, str], ...] = ()
    """Address and name of what may have been meant."""


Page = Overview | MapPage | GangPage | QueuePage | NodePage | MissingPage
