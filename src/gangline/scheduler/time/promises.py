"""Promised starts: what waiting gangs were told, and what of a new reservation is worth telling.

A reservation is worked out anew in every cycle; a promise stands. It is the first latest start that could be told, and
it is revised only when it can no longer be kept, with the reason. The expected start follows the reservations, but only
by steps that a person would notice. Pure but for what it keeps in mind; loop/starts.py writes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from gangline.rules.gangs.starts import StartTimes
from gangline.scheduler.decisions import Decisions, StartReservation
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.time.learned import LearnedRuntimes
from gangline.scheduler.time.profile import holds_of

MINUTE = 60.0
SLACK = MINUTE
"""Between a reserved start and what is told: pods need a moment to leave."""
NOTICED, NOTICED_UNSURE = 0.1, 0.5
"""An expected start is told anew when it moves by this part of the time until then; more where runtimes are not
known."""
MISSING = 60.0
"""So long may a gang be without a reservation before its promise is taken back."""
MADE, KEPT, BROKEN = "made", "kept", "broken"
OVERRUN, NODE, ORDER, LATE = "overrun", "node", "order", "late"
BREAKS = (OVERRUN, NODE, ORDER, LATE)
"""Why promises are broken: work ran longer than expected, a node was lost, others came first, or it just started
later."""


@dataclass(frozen=True, slots=True)
class PromiseNews:
    """What becomes of a gang's promise. `times` None: nothing is promised any more. `event`: made, kept, broken or "",
    `cause` says why it was broken, `told` is for people."""

    gang: str
    times: StartTimes | None
    event: str = ""
    cause: str = ""
    told: str = ""


@dataclass(slots=True)
class _Promised:
    times: StartTimes
    since: float
    nodes: tuple[str, ...] = ()
    seen: float = 0.0
    """When a reservation stood behind it last."""
    reserved: float = 0.0
    """The start that was reserved when it was promised."""


@dataclass(slots=True)
class StartPromises:
    """`stored`: what stands on the gang's PodGroup, for a scheduler that was started anew. `memory`: how
    much later than reserved gangs start here."""

    stored: Callable[[str], StartTimes | None] = lambda gang: None
    memory: LearnedRuntimes = field(default_factory=LearnedRuntimes)
    _promised: dict[str, _Promised] = field(default_factory=dict)

    def after_cycle(self, cluster: ClusterModel, decisions: Decisions, now: float) -> list[PromiseNews]:
        """What changed for people; the model has what was decided."""
        reserved = {made.gang: made for made in decisions.reservations if made.gang in cluster.waiting}
        news = [self._reserved(cluster, made, now) for made in reserved.values()]
        gone = [gang for gang in self._promised if gang not in reserved]
        news += [self._without(cluster, gang, now) for gang in gone]
        return [item for item in news if item is not None]

    def of(self, gang: str) -> StartTimes | None:
        promised = self._promised.get(gang)
        return None if promised is None else promised.times

    def forget(self, gang: str) -> None:
        self._promised.pop(gang, None)

    # ── a gang with a reservation ──

    def _reserved(self, cluster: ClusterModel, made: StartReservation, now: float) -> PromiseNews | None:
        known = self._promised.get(made.gang) or self._restored(made, now)
        fresh = told_times(made, now, self.memory)
        if known is None:
            self._promised[made.gang] = _Promised(fresh, now, _nodes(made), now, made.start)
            return PromiseNews(made.gang, fresh, MADE if made.sure else "")
        times, known.seen = known.times, now
        news: PromiseNews | None = None
        if times.latest is not None and made.start > times.latest:
            cause, reason = why_broken(cluster, known.nodes, known.since, now)
            news = PromiseNews(made.gang, replace(fresh, reason=reason), BROKEN, cause, reason)
            known.since, known.reserved = now, made.start
        elif times.latest is None and made.sure:
            news = PromiseNews(made.gang, replace(fresh, reason=times.reason), MADE)
            known.since, known.reserved = now, made.start
        elif _noticed(times, fresh, made.sure, now) or _over(cluster, times.waits_for):
            news = PromiseNews(made.gang, replace(fresh, latest=times.latest, reason=times.reason))
        known.nodes = _nodes(made)
        if news is None or news.times is None or news.times == times:
            return None
        known.times = news.times
        return news

    def _restored(self, made: StartReservation, now: float) -> _Promised | None:
        times = self.stored(made.gang)
        if times is None:
            return None
        promised = self._promised[made.gang] = _Promised(times, now, _nodes(made), now, made.start)
        return promised

    # ── a gang without one ──

    def _without(self, cluster: ClusterModel, gang: str, now: float) -> PromiseNews | None:
        promised = self._promised[gang]
        latest = promised.times.latest
        if gang not in cluster.gangs:
            del self._promised[gang]
            return None
        if gang not in cluster.waiting or cluster.gangs[gang].active_used:
            del self._promised[gang]
            if latest is None:
                return PromiseNews(gang, None)
            self.memory.delays.note(promised.since, promised.reserved, now)
            return PromiseNews(gang, None, *((KEPT,) if now <= latest + SLACK else (BROKEN, LATE)))
        if now - promised.seen < MISSING:
            return None
        del self._promised[gang]
        if latest is None:
            return PromiseNews(gang, None)
        cause, reason = why_broken(cluster, promised.nodes, promised.since, now)
        return PromiseNews(gang, None, BROKEN, cause, f"no start is promised any more: {reason}")


def told_times(made: StartReservation, now: float, memory: LearnedRuntimes) -> StartTimes:
    """A reservation as it is told: in whole minutes, and with some slack where it is a promise. `memory`: how late
    gangs start here; how late they end, where too few of them have started."""
    latest: float | None = None
    if made.sure:
        latest = _whole_minute(memory.delays.latest(now, made.start, memory.overruns.factor()) + SLACK)
    return StartTimes(_whole_minute(made.start), latest, made.waits_for)


def why_broken(cluster: ClusterModel, nodes: tuple[str, ...], since: float, now: float) -> tuple[str, str]:
    """The cause of a promise that cannot be kept, and in words: what happened since then on the nodes that it counted
    on."""
    for name in nodes:
        node = cluster.nodes.get(name)
        if node is None or not node.ready:
            return NODE, f"node {name} is {'gone' if node is None else 'not ready'}"
    late = [(hold.end, hold.gang) for name in nodes for hold in holds_of(cluster.nodes[name], now) if hold.end <= now]
    if late:
        return OVERRUN, f"{min(late)[1]} runs longer than expected"
    first = sorted({gang for name in nodes for gang in _newcomers(cluster, name, since)})
    return ORDER, f"{first[0]} came first" if first else "others come first now"


def _newcomers(cluster: ClusterModel, node: str, since: float) -> Iterator[str]:
    for placed in cluster.nodes[node].placed.values():
        gang = placed.task.gang
        if gang is not None and gang.last_start is not None and gang.last_start >= since:
            yield gang.uid


def _noticed(old: StartTimes, new: StartTimes, sure: bool, now: float) -> bool:
    moved, left = abs(new.expected - old.expected), max(old.expected, new.expected) - now
    return moved >= max(MINUTE, (NOTICED if sure else NOTICED_UNSURE) * left)


def _over(cluster: ClusterModel, waits_for: str) -> bool:
    """Whether the gang that was waited for holds nothing any more."""
    return bool(waits_for) and waits_for not in cluster.gangs


def _nodes(made: StartReservation) -> tuple[str, ...]:
    return tuple(name for name, _ in made.nodes)


def _whole_minute(moment: float) -> float:
    return math.ceil(moment / MINUTE) * MINUTE
