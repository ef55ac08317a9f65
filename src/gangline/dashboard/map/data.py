"""What the map says, as frozen data: the same for the drawing, the table and `?format=json`.

Written by cells.py, read by view.py and by assets/map.js. What occurs thousands of times is short: cells refer to gangs
by their place in a list, and what is usual is left out. Nothing here looks at a cluster or knows HTML."""

from __future__ import annotations

from gangline.dashboard.page_data import PageData, PageSource, Table


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
    parts: tuple[float, ...] = ()
    """What each of these gangs holds of it."""


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
    """Idle on nodes that take no pods."""


class MapPage(PageData, frozen=True, tag_field="page", tag="map"):
    """Every GPU, by where it stands."""

    source: PageSource
    levels: tuple[str, ...]
    topology: str
    topologies: tuple[str, ...]
    colour: str
    gangs: tuple[MapGang, ...]
    domains: tuple[MapDomain, ...]
    rows: Table[MapRow]
    counts: MapCounts
    idle_at: float | None = None
    """When it was worked out why GPUs are idle; None: it was not."""
    idle_problem: str = ""
    """Why not."""
