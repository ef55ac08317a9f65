"""What the pages about the past say, as frozen data: the same for the charts, the tables and `?format=json`.

Written by times.py, read by view.py. Moments are seconds since 1970. Nothing here looks at a cluster or knows HTML."""

from __future__ import annotations

import msgspec

from gangline.dashboard.page_data import PageData, PageSource, Table


class UsePoint(PageData, frozen=True):
    """GPUs on average between two moments: what there was, who used it and who waited for it, by queue."""

    start: float
    end: float
    capacity: float = 0.0
    used: dict[str, float] = msgspec.field(default_factory=dict)
    waiting: dict[str, float] = msgspec.field(default_factory=dict)


class PastWait(PageData, frozen=True):
    """A gang that started: when, with how many GPUs, and after how many seconds."""

    at: float
    gpus: float
    seconds: float


class PastEviction(PageData, frozen=True):
    at: float
    namespace: str
    title: str
    by: str
    """In words."""


class PastEnding(PageData, frozen=True):
    """A gang that is over: ended, failed or deleted."""

    at: float
    namespace: str
    title: str
    queue: str
    gpus: float
    state: str
    reason: str = ""


class RecordedPast(msgspec.Struct):
    """What was read of a recording."""

    points: list[UsePoint] = []
    waits: list[PastWait] = []
    evictions: list[PastEviction] = []
    endings: list[PastEnding] = []


class SeenGang(msgspec.Struct, frozen=True, array_like=True):
    """A gang at one look; what is told of it should it be gone at the next."""

    namespace: str
    name: str
    state: str
    gpus: float
    title: str = ""
    queue: str = ""


class KeptPast(msgspec.Struct, frozen=True):
    """A memory as it is kept over a restart."""

    last: float
    """The last moment it knows of."""
    rings: dict[str, list[UsePoint]] = {}
    """Points of each range."""
    waits: list[PastWait] = []
    evictions: list[PastEviction] = []
    endings: list[PastEnding] = []
    seen: list[SeenGang] = []
    """Each gang at the last look."""


class SizeWaits(PageData, frozen=True):
    """How long gangs of one size waited, in seconds."""

    size: str
    gangs: int
    median: float
    tenth: float
    """So long or longer waited one in ten."""
    longest: float


class QueuePast(PageData, frozen=True):
    """A queue's use over time beside its quota of today."""

    name: str
    quota: float | None
    used: tuple[float, ...]
    waiting: tuple[float, ...]


class TimePage(PageData, frozen=True, tag_field="page", tag="time"):
    source: PageSource
    range: str
    since: float
    known_since: float | None
    """The first moment anything is known of."""
    points: tuple[UsePoint, ...]
    evicted: tuple[int, ...]
    """Gangs that were evicted in each point's time."""
    queues: tuple[QueuePast, ...]
    waits: tuple[SizeWaits, ...]
    evictions: Table[PastEviction]
    endings: Table[PastEnding]


class GangMoment(PageData, frozen=True):
    at: float
    what: str
    text: str


class TimelinePage(PageData, frozen=True, tag_field="page", tag="timeline"):
    """What became of a gang, from created to ended."""

    source: PageSource
    namespace: str
    title: str
    name: str
    moments: tuple[GangMoment, ...]
    recorded: bool
    """A recording of the scheduler was read; else it is what objects and events still say."""
    gone: bool = False
    """The cluster has no such gang any more."""
