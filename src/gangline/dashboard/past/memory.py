"""What was seen of a cluster over time, in a bounded number of samples: fine for an hour, coarser for a day and a week.

Fed by keeper.py with a look every few seconds, and once at the start with what was kept over a restart (kept_file.py)
and what a scheduler recorded (recorded.py). Of what began and ended between two looks only the end is known, and only
while its objects are there. Holds no file and knows no clock."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping

from gangline.dashboard import evictions
from gangline.dashboard.evictions import EvictionStory
from gangline.dashboard.gangs import ENDED, EVICTED, FAILED, RUNNING, STARTING, WAITING, CountedGang, GangTable, Place
from gangline.dashboard.look import ClusterView
from gangline.dashboard.past.data import KeptPast, PastEnding, PastEviction, PastWait, RecordedPast, SeenGang, UsePoint

HOUR, DAY, WEEK = 3600.0, 86400.0, 604800.0
RANGES: dict[str, tuple[float, float]] = {"1h": (HOUR, 15.0), "24h": (DAY, 300.0), "7d": (WEEK, 1800.0)}
"""Seconds of a range, and of a point in it."""
MOST = 5000
"""Starts, evictions and endings that are remembered, each."""
MOST_QUEUES = 200
"""Queues that a point tells apart; the others are counted together."""
OTHERS = "other queues"


class SampleRing:
    """Points of one length, the oldest of which are forgotten."""

    def __init__(self, seconds: float, step: float) -> None:
        self._step = step
        self.points: deque[UsePoint] = deque(maxlen=int(seconds / step))
        self._open: list[UsePoint] = []

    def add(self, point: UsePoint) -> None:
        if self._open and int(self._open[0].start / self._step) != int(point.start / self._step):
            self.points.append(averaged(self._open))
            self._open = []
        self._open.append(point)

    def all(self) -> list[UsePoint]:
        return [*self.points, *([averaged(self._open)] if self._open else [])]


def averaged(points: list[UsePoint]) -> UsePoint:
    """One point for several, each counted by its length."""
    total = sum(point.end - point.start for point in points) or 1.0

    def mean(values: Iterable[float]) -> float:
        weighed = sum(value * (point.end - point.start) for value, point in zip(values, points, strict=True))
        return round(weighed / total, 3)

    def by_queue(named: list[dict[str, float]]) -> dict[str, float]:
        names = {name for amounts in named for name in amounts}
        return {name: mean(amounts.get(name, 0.0) for amounts in named) for name in sorted(names)}

    return UsePoint(
        start=points[0].start,
        end=points[-1].end,
        capacity=mean(point.capacity for point in points),
        used=by_queue([point.used for point in points]),
        waiting=by_queue([point.waiting for point in points]),
    )


class PastMemory:
    """Rings of use, and the last starts, evictions and endings of gangs."""

    def __init__(self) -> None:
        self.rings = {name: SampleRing(seconds, step) for name, (seconds, step) in RANGES.items()}
        self.waits: deque[PastWait] = deque(maxlen=MOST)
        self.evictions: deque[PastEviction] = deque(maxlen=MOST)
        self.endings: deque[PastEnding] = deque(maxlen=MOST)
        self._seen: dict[Place, SeenGang] = {}
        """Each gang at the last look."""
        self._noted: dict[Place, float] = {}
        """The last eviction of each PodGroup that was noted."""
        self._last = 0.0
        self._recalled = 0.0
        """Until then starts and evictions are known from what was kept or recorded."""

    def take(self, points: Iterable[UsePoint]) -> None:
        """Points of the past, in their order."""
        for point in points:
            for ring in self.rings.values():
                ring.add(point)

    def recall(self, past: RecordedPast) -> None:
        """What was recorded before the first look, as far as it is not known yet."""
        known = self._recalled
        points = [point for point in past.points if point.start >= known]
        self.take(points)
        self.waits.extend(item for item in past.waits if item.at > known)
        self.evictions.extend(item for item in past.evictions if item.at > known)
        self.endings.extend(item for item in past.endings if item.at > known)
        self._recalled = points[-1].end if points else known

    def kept(self) -> KeptPast:
        """All of it, to be restored after a restart."""
        return KeptPast(
            last=self._last,
            rings={name: ring.all() for name, ring in self.rings.items()},
            waits=list(self.waits),
            evictions=list(self.evictions),
            endings=list(self.endings),
            seen=list(self._seen.values()),
        )

    def restore(self, past: KeptPast) -> None:
        """Before the first look. The time in between stays empty: nobody looked."""
        for name, ring in self.rings.items():
            ring.points.extend(past.rings.get(name, ()))
        self.waits.extend(past.waits)
        self.evictions.extend(past.evictions)
        self.endings.extend(past.endings)
        self._seen = {(gang.namespace, gang.name): gang for gang in past.seen}
        self._recalled = past.last

    def observe(self, look: ClusterView) -> None:
        now, known = look.source.now, GangTable(look)
        if now <= self._last:
            return
        if self._last:
            start = max(self._last, now - RANGES["1h"][1] * 2)
            self.take([point_of(look, known.values(), start, now)])
        self._note_evictions(look, known)
        self._note_gangs(known, now)
        self._last = now

    def _note_evictions(self, look: ClusterView, known: GangTable) -> None:
        stories: Mapping[Place, EvictionStory] = evictions.from_events(look.events)
        for place, story in sorted(stories.items(), key=lambda item: item[1].at):
            if story.at <= max(self._noted.get(place, 0.0), self._recalled):
                continue
            gang, other = known.called(*place), known.called(*story.other)
            title = f"{other.namespace}/{other.title}" if other is not None else "/".join(story.other).strip("/")
            self.evictions.append(
                PastEviction(
                    at=story.at,
                    namespace=place[0],
                    title=gang.title if gang is not None else place[1],
                    by=evictions.by_whom(story, title),
                )
            )
        self._noted = {place: story.at for place, story in stories.items()}

    def _note_gangs(self, known: GangTable, now: float) -> None:
        before, self._seen = self._seen, {}
        for place, gang in known.items():
            state, gpus = gang.state, max(gang.asked, gang.held)
            last = before.get(place)
            was, had = (last.state, last.gpus) if last is not None else ("", 0.0)
            self._seen[place] = SeenGang(*place, state, max(gpus, had), gang.title, gang.queue)
            if state in (STARTING, RUNNING) and was in ("", WAITING, EVICTED):
                self._note_start(gang, was, gpus, now)
            elif state in (ENDED, FAILED) and was != state and (was or self._came_since(gang)):
                self.endings.append(_ending(gang, state, max(gpus, had) or gang.over, now))
        for place in before.keys() - self._seen.keys():
            gone = before[place]
            if gone.state not in (ENDED, FAILED):
                self.endings.append(_deleted(gone, now))

    def _came_since(self, gang: CountedGang) -> bool:
        """Whether it was made after the last look."""
        return gang.made is not None and 0.0 < self._last < gang.made + 1  # times of objects are whole seconds

    def _note_start(self, gang: CountedGang, was: str, gpus: float, now: float) -> None:
        """Whoever ran already at the first look says itself when it started; who came since has just started."""
        made = gang.made
        started = gang.started or (now if was or self._came_since(gang) else None)
        if made is not None and started is not None and max(now - WEEK, self._recalled) < started:
            self.waits.append(PastWait(at=started, gpus=round(gpus, 2), seconds=max(started - made, 0.0)))


def _deleted(gang: SeenGang, now: float) -> PastEnding:
    return PastEnding(
        at=now,
        namespace=gang.namespace,
        title=gang.title or gang.name,
        queue=gang.queue,
        gpus=round(gang.gpus, 2),
        state="deleted",
    )


def _ending(gang: CountedGang, state: str, gpus: float, now: float) -> PastEnding:
    return PastEnding(
        at=now,
        namespace=gang.namespace,
        title=gang.title,
        queue=gang.queue,
        gpus=round(gpus, 2),
        state=state,
        reason=gang.failure,
    )


def point_of(look: ClusterView, gangs: Iterable[CountedGang], start: float, end: float) -> UsePoint:
    used: dict[str, float] = {}
    waiting: dict[str, float] = {}
    for gang in gangs:
        name = gang.queue if gang.queue in used or len(used) < MOST_QUEUES else OTHERS
        used[name] = used.get(name, 0.0) + gang.held
        waiting[name] = waiting.get(name, 0.0) + max(gang.asked - gang.held, 0.0)
    held = sum(fact.gpus for fact in look.pods if fact.holds and not fact.reserves)
    outside = held - sum(used.values())
    if outside > 0.001:
        used[""] = used.get("", 0.0) + outside
    capacity = float(sum(fact.gpus for fact in look.nodes if not fact.closed))
    return UsePoint(
        start=start,
        end=end,
        capacity=max(capacity, held),
        used={name: round(value, 2) for name, value in used.items() if value},
        waiting={name: round(value, 2) for name, value in waiting.items() if value},
    )
