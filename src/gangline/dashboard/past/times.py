"""The pages about the past: use, waits, evictions and endings over a time, and one gang from created to ended.

Made from memory.py and, for a gang, from its objects and events or from what was recorded of it. Quotas are those of
today: what they were is not kept. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol, TypeVar

import msgspec

from gangline.dashboard.evictions import by_whom
from gangline.dashboard.gangs import CountedGang, GangTable
from gangline.dashboard.look import ClusterView, PodFact
from gangline.dashboard.model import EventLine
from gangline.dashboard.page_data import Table
from gangline.dashboard.past.data import (
    GangMoment,
    PastEnding,
    PastEviction,
    PastWait,
    QueuePast,
    SizeWaits,
    TimelinePage,
    TimePage,
    UsePoint,
)
from gangline.dashboard.past.memory import OTHERS, RANGES, PastMemory
from gangline.dashboard.queues import tree

USUAL = "1h"
MOST_QUEUES = 12
"""Queues that have a chart of their own: those that used or waited for most."""
SIZES = ((1.0, "up to 1 GPU"), (8.0, "2 to 8 GPUs"), (64.0, "9 to 64 GPUs"), (float("inf"), "more than 64 GPUs"))
Row = TypeVar("Row")
Cut = Callable[[Sequence[Row], str], Table[Row]]


class Dated(Protocol):
    @property
    def at(self) -> float: ...


class Located(Dated, Protocol):
    @property
    def namespace(self) -> str: ...


class Titled(Located, Protocol):
    @property
    def title(self) -> str: ...


D = TypeVar("D", bound=Dated)
N = TypeVar("N", bound=Located)
T = TypeVar("T", bound=Titled)


def time_page(
    look: ClusterView,
    memory: PastMemory,
    namespaces: frozenset[str] | None,
    query: Mapping[str, str],
    evictions: Cut[PastEviction],
    endings: Cut[PastEnding],
) -> TimePage:
    """`namespaces`: those whose gangs may be shown; `evictions` and `endings` cut their rows to a page of a
    table."""
    name = query.get("range", USUAL)
    name = name if name in RANGES else USUAL
    since = look.source.now - RANGES[name][0]
    points = [point for point in memory.rings[name].all() if point.end > since]
    if namespaces is not None:
        points = [unnamed(point, {queue.name for queue in look.queues}) for point in points]
    lost = newest_first(told_of(memory.evictions, namespaces), since)
    return TimePage(
        source=look.source,
        range=name,
        since=since,
        known_since=points[0].start if points else None,
        points=tuple(points),
        evicted=tuple(sum(point.start <= item.at < point.end for item in lost) for point in points),
        queues=tuple(_queues(look, points)),
        waits=tuple(waits_by_size(item for item in memory.waits if item.at > since)),
        evictions=evictions(lost, "evictions"),
        endings=endings(newest_first(told_of(memory.endings, namespaces), since), "endings"),
    )


def told_of(items: Iterable[N], namespaces: frozenset[str] | None) -> list[N]:
    return [item for item in items if namespaces is None or item.namespace in namespaces]


def unnamed(point: UsePoint, names: set[str]) -> UsePoint:
    """With the queues of these names, and all others together."""
    used: dict[str, float] = {}
    waiting: dict[str, float] = {}
    for given, into in ((point.used, used), (point.waiting, waiting)):
        for name, gpus in given.items():
            shown = name if name in names else ""
            into[shown] = into.get(shown, 0.0) + gpus
    return msgspec.structs.replace(point, used=used, waiting=waiting)


def newest_first(items: Iterable[D], since: float) -> list[D]:
    return sorted((item for item in items if item.at > since), key=lambda item: -item.at)


def _queues(look: ClusterView, points: Sequence[UsePoint]) -> Iterable[QueuePast]:
    quotas = {line.name: line.gpu.quota for line in tree(look.queues, ())}
    sums: dict[str, float] = {}
    for point in points:
        for amounts in (point.used, point.waiting):
            for name, gpus in amounts.items():
                sums[name] = sums.get(name, 0.0) + gpus
    for name in sorted(sums, key=lambda name: (-sums[name], name))[:MOST_QUEUES]:
        if name and name != OTHERS:
            yield QueuePast(
                name=name,
                quota=quotas.get(name),
                used=tuple(point.used.get(name, 0.0) for point in points),
                waiting=tuple(point.waiting.get(name, 0.0) for point in points),
            )


def waits_by_size(waits: Iterable[PastWait]) -> Iterable[SizeWaits]:
    """Of every size that there was."""
    by_size: dict[str, list[float]] = {}
    for wait in waits:
        by_size.setdefault(next(word for most, word in SIZES if wait.gpus <= most), []).append(wait.seconds)
    for _, word in SIZES:
        if seconds := sorted(by_size.get(word, ())):
            yield SizeWaits(
                size=word,
                gangs=len(seconds),
                median=seconds[len(seconds) // 2],
                tenth=seconds[min(int(len(seconds) * 0.9), len(seconds) - 1)],
                longest=seconds[-1],
            )


WITHIN_A_SECOND = {"created": 0, "placed": 2}
"""The order of what happened in one second; all else, such as events, comes between."""


def timeline(
    look: ClusterView,
    known: GangTable,
    gang: CountedGang,
    events: Sequence[EventLine],
    facts: Sequence[PodFact],
    recorded: Sequence[GangMoment],
) -> TimelinePage:
    """`recorded`: what was recorded; it is enough where there is any."""
    seen = [*_of_objects(known, gang, facts), *_of_events(events)]
    moments = list(recorded) or sorted(seen, key=lambda moment: WITHIN_A_SECOND.get(moment.what, 1))
    return TimelinePage(
        source=look.source,
        namespace=gang.namespace,
        title=gang.title,
        name=gang.name,
        moments=tuple(sorted(moments, key=lambda moment: moment.at)),
        recorded=bool(recorded),
    )


def gone_timeline(
    look: ClusterView,
    namespace: str,
    title: str,
    recorded: Sequence[GangMoment],
    memory: PastMemory,
    namespaces: frozenset[str] | None,
) -> TimelinePage | None:
    """Of a gang that is no more: what was recorded of it, else when it was seen to be evicted and to end."""
    seen = [
        *(GangMoment(at=item.at, what="evicted", text=item.by) for item in _named(memory.evictions, namespace, title)),
        *(
            GangMoment(at=item.at, what=item.state, text=item.reason)
            for item in _named(memory.endings, namespace, title)
        ),
    ]
    moments = list(recorded) or seen
    if not moments or (namespaces is not None and namespace not in namespaces):
        return None
    return TimelinePage(
        source=look.source,
        namespace=namespace,
        title=title,
        name=title,
        moments=tuple(sorted(moments, key=lambda moment: moment.at)),
        recorded=bool(recorded),
        gone=True,
    )


def _named(items: Iterable[T], namespace: str, title: str) -> list[T]:
    return [item for item in items if (item.namespace, item.title) == (namespace, title)]


def _of_objects(known: GangTable, gang: CountedGang, facts: Sequence[PodFact]) -> Iterable[GangMoment]:
    if gang.made is not None:
        queue = f", queue {gang.queue}" if gang.queue else ""
        yield GangMoment(at=gang.made, what="created", text=f"{gang.kind} {gang.title}{queue}")
    if gang.started is not None:
        nodes = sorted({fact.node for fact in facts if fact.node})
        yield GangMoment(
            at=gang.started, what="placed", text=f"on {', '.join(nodes[:5])}" if nodes else "it got its place"
        )
    if gang.eviction is not None:
        other = known.called(*gang.eviction.other)
        title = other.title if other is not None else gang.eviction.other[1]
        yield GangMoment(at=gang.eviction.at, what="evicted", text=by_whom(gang.eviction, title))


def _of_events(events: Sequence[EventLine]) -> Iterable[GangMoment]:
    for event in events:
        if event.at is not None:
            yield GangMoment(at=event.at, what=event.reason, text=f"{event.about}: {event.message}")
