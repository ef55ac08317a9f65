"""What the pages say, as frozen data: the same for the HTML and for `?format=json`.

Written by pages.py, read by views.py. Amounts are in people's units (GPUs, cores, bytes), times in seconds since 1970,
ages in seconds. None stands for "no bound". Nothing here looks at a cluster or knows HTML."""

from __future__ import annotations

from gangline.dashboard.map.data import MapPage
from gangline.dashboard.page_data import PageData, PageSource, Table
from gangline.dashboard.past.data import TimelinePage, TimePage
from gangline.rules.trees import Branch


class RemedyText(PageData, frozen=True):
    text: str


class WaitingReason(PageData, frozen=True):
    """Why a gang waits: one sentence, its proof line by line, and what would start it."""

    headline: str
    proof: tuple[str, ...] = ()
    remedies: tuple[RemedyText, ...] = ()
    position: int = 0
    waiting: int = 0
    starts: str = ""
    """When it starts, as far as that is promised."""
    judged: bool = False
    """It comes from a scheduler of ours; else from the gang's conditions."""


class EvictedGang(PageData, frozen=True):
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
    why: WaitingReason | None = None
    evicted: EvictedGang | None = None
    """How it lost its place, if it has not started again since."""
    failure: str = ""
    """Why it failed for good."""


class QueueAmounts(PageData, frozen=True):
    """One resource of a queue."""

    quota: float | None = None
    limit: float | None = None
    allocated: float = 0.0
    requested: float = 0.0
    fair: float | None = None
    """The fair share; None: not worked out."""


class QueueLine(PageData, frozen=True):
    name: str
    title: str
    parent: str = ""
    depth: int = 0
    leaf: bool = True
    gpu: QueueAmounts = QueueAmounts()
    cpu: QueueAmounts = QueueAmounts()
    memory: QueueAmounts = QueueAmounts()
    priority: int | None = None
    weight: float = 0.0
    borrows: float = 0.0
    """GPUs held above the quota."""
    unused: float = 0.0
    """GPUs of the quota that nobody below it holds."""
    waiting: int = 0
    running: int = 0
    problem: str = ""


class QueueLoan(PageData, frozen=True):
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


class FreePiece(PageData, frozen=True):
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
    pieces: tuple[FreePiece, ...] = ()
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
    gpus_wanted: float = 0.0
    """GPUs that waiting gangs ask for and do not hold."""


class Overview(PageData, frozen=True, tag_field="page", tag="overview"):
    source: PageSource
    counts: GangCounts
    room: FreeRoom
    waiting: Table[GangLine]
    running: Table[GangLine]
    queues: Table[QueueLine]
    nodes: Table[NodeLine]
    failed: Table[GangLine] = Table()
    loans: tuple[QueueLoan, ...] = ()
    search: str = ""


class GangChoice(PageData, frozen=True):
    """Which gangs are shown, and in which order; an empty word chooses nothing."""

    q: str = ""
    state: str = ""
    queue: str = ""
    namespace: str = ""
    set: str = ""
    """A PodCliqueSet."""
    user: str = ""
    priority: str = ""
    sort: str = ""


class GangOptions(PageData, frozen=True):
    """What there is to choose from."""

    queues: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    priorities: tuple[str, ...] = ()
    states: tuple[str, ...] = ()


class GangsPage(PageData, frozen=True, tag_field="page", tag="gangs"):
    """Gangs of every state, as chosen."""

    source: PageSource
    choice: GangChoice
    options: GangOptions
    gangs: Table[GangLine]


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
    source: PageSource
    gang: GangLine
    tree: Branch
    conditions: tuple[tuple[str, str, str], ...] = ()
    """Type, status and message."""
    events: tuple[EventLine, ...] = ()


class QueuesPage(PageData, frozen=True, tag_field="page", tag="queues"):
    """All queues as a tree."""

    source: PageSource
    queues: Table[QueueLine]
    loans: tuple[QueueLoan, ...] = ()
    shares_at: float | None = None
    """When the fair shares were worked out; None: they were not."""
    shares_problem: str = ""
    """Why not."""


class QueuePage(PageData, frozen=True, tag_field="page", tag="queue"):
    source: PageSource
    queue: QueueLine
    path: tuple[str, ...]
    below: tuple[QueueLine, ...]
    waiting: Table[GangLine]
    running: Table[GangLine]
    loans: tuple[QueueLoan, ...] = ()


class NodePage(PageData, frozen=True, tag_field="page", tag="node"):
    source: PageSource
    node: NodeLine
    pods: Table[PodLine]
    taints: tuple[str, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()


class MissingPage(PageData, frozen=True, tag_field="page", tag="missing"):
    """There is no such page."""

    source: PageSource
    text: str
    hint: str
    near: tuple[tuple[str, str], ...] = ()
    """Address and name of what may have been meant."""


Page = (
    Overview
    | MapPage
    | GangsPage
    | QueuesPage
    | TimePage
    | TimelinePage
    | GangPage
    | QueuePage
    | NodePage
    | MissingPage
)
