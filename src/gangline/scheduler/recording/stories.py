"""What became of a gang: queued, refused and why, overtaken, placed, run, evicted by whom, ended, each with its time.

Feed `Storyteller` the pieces of a recording in their order; it keeps the stories of the gangs that were asked for, and
the names of all. Names are those that users know. Pure: knows no file and no clock."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from gangline.rules.gangs.evictions import REASONS
from gangline.rules.values.times import spoken, timestamp
from gangline.scheduler.decisions import Bind, Evict, Refuse
from gangline.scheduler.model.status import ALLOCATED, Status
from gangline.scheduler.recording.following import FollowedCycle, KnownRecords, PoolFollower, TaskTurn, shown
from gangline.scheduler.recording.segments import RecordedCycle, SegmentStart
from gangline.scheduler.records import GangRecord, TaskRecord
from gangline.scheduler.refusals import one_stop

MOST_NAMED = 5
"""Names that a list of others has, at most."""
_NUMBERS = re.compile(r"\d[\d.,]*")
OVER = Status.SUCCEEDED | Status.FAILED


@dataclass(frozen=True, slots=True)
class GangEvent:
    """`what`: queued, refused, overtaken, nominated, placed, running, evicted, ended, failed, stopped or
    deleted. `facts`: the same as data."""

    moment: float
    what: str
    text: str
    facts: dict[str, Any] = field(default_factory=dict)

    def as_data(self) -> dict[str, Any]:
        return {
            "time": timestamp(self.moment),
            "moment": self.moment,
            "what": self.what,
            "text": self.text,
        } | self.facts


@dataclass(slots=True)
class GangStory:
    """`gang` and `namespace` as users know them; `group` is the PodGroup."""

    gang: str
    namespace: str
    group: str
    queue: str
    pool: str = ""
    events: list[GangEvent] = field(default_factory=list)

    def as_data(self) -> dict[str, Any]:
        return {
            "gang": self.gang,
            "namespace": self.namespace,
            "podGroup": self.group,
            "queue": self.queue,
            "nodePool": self.pool,
            "events": [event.as_data() for event in self.events],
        }


Wanted = Callable[[str, GangRecord], bool]
"""Whether the story of this gang is wanted; the first argument is the name that users know."""


@dataclass(slots=True)
class _Now:
    """The state of a gang: its last event."""

    story: GangStory
    since: float
    """It waits since then, or has its place since then."""
    refused: str = ""
    overtaken: dict[str, float] = field(default_factory=dict)
    first_overtaken: float = 0.0
    state: str = "queued"
    nominated: bool = False
    evictor: str = ""
    """The gang that took its place last, which has its event already."""


class PoolStories:
    """Of one node pool."""

    def __init__(self, pool: str, wanted: Wanted) -> None:
        self.follower = PoolFollower()
        self._pool, self._wanted = pool, wanted
        self.lives: dict[str, list[_Now]] = {}
        """By uid of the gang: every life it had."""
        self.names: dict[tuple[str, str], None] = {}

    @property
    def _known(self) -> KnownRecords:
        return self.follower.known

    def take(self, cycle: RecordedCycle) -> None:
        followed = self.follower.take(cycle)
        for turn in followed.gangs:
            if turn.after is not None:
                self._meet(turn.after, cycle.now)
            elif turn.before is not None and (mine := self._mine(turn.before.uid)) is not None:
                lasted = f"after {spoken(cycle.now - mine.since)} "
                when = lasted if mine.state in ("queued", "placed", "running") else ""
                self._end(mine, cycle.now, "deleted", f"{when}its PodGroup was deleted")
        touched = self._touched(followed)
        for gang in touched:
            self._look(gang, cycle.now, touched[gang])
        self._decided(cycle)

    def finish(self) -> None:
        """Tell what was kept for later."""
        for lives in self.lives.values():
            for mine in lives:
                self._tell_overtaken(mine)

    # ── what came from the cluster ──

    def _meet(self, record: GangRecord, now: float) -> None:
        title = self._known.title(record.uid)
        self.names[record.namespace, title] = None
        if not self._wanted(title, record) or self._mine(record.uid) is not None:
            return
        moment = min(record.created or now, now)
        story = GangStory(title, record.namespace, record.name, record.queue, self._pool)
        self.lives.setdefault(record.uid, []).append(_Now(story, moment))
        story.events.append(self._queued(record, moment))

    def _queued(self, record: GangRecord, moment: float) -> GangEvent:
        tasks = self._known.members(record.uid)
        gpus = sum(self._known.gpus(task) for task in tasks)
        pods = f"{_pods(len(tasks))}, {_gpus(gpus)}, " if tasks else ""
        facts = {"queue": record.queue, "priority": record.priority, "pods": len(tasks), "gpus": gpus}
        return GangEvent(moment, "queued", f"{pods}queue {record.queue}, priority {record.priority}", facts)

    def _mine(self, uid: str) -> _Now | None:
        """The life that is not over."""
        lives = self.lives.get(uid)
        return lives[-1] if lives and lives[-1].state != "deleted" else None

    def _touched(self, followed: FollowedCycle) -> dict[str, list[TaskTurn]]:
        """Gangs with a story whose pods changed."""
        turns: dict[str, list[TaskTurn]] = {}
        for turn in followed.seen:
            task = turn.after or turn.before
            if task is not None and self._mine(task.gang) is not None:
                turns.setdefault(task.gang, []).append(turn)
        return turns

    def _look(self, gang: str, now: float, turns: list[TaskTurn]) -> None:
        mine = self._mine(gang)
        if mine is None:
            return
        tasks = self._known.members(gang)
        self._count(mine, gang)
        held = [task for task in tasks if task.status & ALLOCATED]
        if mine.state == "placed" and held and all(task.status is Status.RUNNING for task in held):
            nodes = sorted({task.node for task in held})
            run = "runs" if len(held) == 1 else "run"
            self._tell(mine, now, "running", f"{_pods(len(held))} {run} on {_names(nodes)}", {"nodes": nodes})
        elif mine.state in ("placed", "running") and not held:
            self._lost(mine, now, tasks, turns)

    def _count(self, mine: _Now, gang: str) -> None:
        """Pods may come after their PodGroup: until something is decided they belong to its beginning."""
        record, first = self._known.gangs.get(gang), mine.story.events[0]
        if record is not None and len(mine.story.events) == 1:
            mine.story.events[0] = self._queued(record, first.moment)

    def _lost(self, mine: _Now, now: float, tasks: list[TaskRecord], turns: list[TaskTurn]) -> None:
        """It has no place any more: it ended, failed, or somebody deleted its pods."""
        ran = f"after {spoken(now - mine.since)}"
        over = [turn.after for turn in turns if turn.after is not None and turn.after.status & OVER]
        over += [task for task in tasks if task.status & OVER and task not in over]
        failed = [task for task in over if task.status is Status.FAILED]
        if failed:
            self._tell(mine, now, "failed", f"{ran}: {_pods(len(failed))} of {len(tasks)} failed")
        elif over:
            self._tell(mine, now, "ended", ran)
        else:
            self._tell(mine, now, "stopped", f"{ran} its pods were deleted")
            mine.state, mine.since = "queued", now

    def _end(self, mine: _Now, now: float, what: str, text: str) -> None:
        self._tell(mine, now, what, text)
        mine.state = what

    # ── what was decided ──

    def _decided(self, cycle: RecordedCycle) -> None:
        decisions = cycle.decisions
        binds: dict[str, list[Bind]] = {}
        evictions: dict[str, list[Evict]] = {}
        for commit in decisions.commits:
            gang = self._gang_of(commit.task)
            if isinstance(commit, Bind):
                binds.setdefault(gang, []).append(commit)
            elif isinstance(commit, Evict):
                evictions.setdefault(gang, []).append(commit)
            elif (mine := self._mine(gang)) is not None and not mine.nominated:
                mine.nominated = True
                self._tell(mine, cycle.now, "nominated", f"waits for room that is made on {commit.node}", state=False)
        for gang, placed in binds.items():
            self._placed(gang, placed, cycle.now)
        for gang, lost in evictions.items():
            self._evicted(gang, lost, cycle.now)
        for refuse in decisions.refusals:
            mine = self._mine(refuse.gang)
            if mine is not None:
                self._refused(mine, refuse, cycle.now)
                self._note_overtaking(mine, refuse.gang, binds, cycle.now)

    def _gang_of(self, task: str) -> str:
        record = self._known.tasks.get(task)
        return record.gang if record is not None else ""

    def _placed(self, gang: str, binds: list[Bind], now: float) -> None:
        mine = self._mine(gang)
        if mine is None:
            return
        self._tell_overtaken(mine)
        nodes = sorted({bind.node for bind in binds})
        how = "" if binds[0].action == "allocate" else f" by {binds[0].action}"
        waited = f", after {spoken(now - mine.since)}" if mine.state == "queued" else ""
        facts = {"nodes": nodes, "pods": len(binds), "action": binds[0].action}
        self._tell(mine, now, "placed", f"{_pods(len(binds))} on {_names(nodes)}{how}{waited}", facts)
        mine.since, mine.refused, mine.nominated = now, "", False

    def _evicted(self, gang: str, evictions: list[Evict], now: float) -> None:
        mine = self._mine(gang)
        if mine is None:
            return
        first, hours = evictions[0], sum(evict.lost for evict in evictions) / 3600
        by = self._known.title(first.preemptor) if first.preemptor else ""
        pods = sorted(self._pod(evict.task) for evict in evictions)
        why = REASONS.get(first.action, shown(first.message))
        text = f"{_pods(len(evictions))} by {first.action}{f' for {by}' if by else ''}: {why}"
        text += f"; {hours:.1f} GPU-hours of work were lost" if hours >= 0.05 else ""
        facts = {"action": first.action, "by": by, "pods": pods, "message": shown(first.message), "lostGpuHours": hours}
        if (mine.story.events[-1].what, mine.story.events[-1].moment) == ("stopped", now):
            mine.story.events.pop()  # seen in the cycle that decided it: this is why its pods were deleted
        self._tell(mine, now, "evicted", text, facts, state=False)
        mine.evictor = first.preemptor
        if not any(task.status & ALLOCATED for task in self._known.members(gang)):
            mine.state, mine.since = "queued", now

    def _refused(self, mine: _Now, refuse: Refuse, now: float) -> None:
        """Told when the reason is another one; figures that change do not count."""
        text = one_stop(shown(refuse.text or "; ".join(item.reason for item in refuse.refusals)))
        kind = _NUMBERS.sub("#", text)
        if kind != mine.refused:
            mine.refused = kind
            self._tell(mine, now, "refused", text, {"reasons": list(refuse.reasons)}, state=False)

    def _note_overtaking(self, mine: _Now, gang: str, binds: dict[str, list[Bind]], now: float) -> None:
        """Who came later, is of no higher priority and was placed while this one waits."""
        record = self._known.gangs.get(gang)
        for other, placed in binds.items():
            rival = self._known.gangs.get(other)
            if record is None or rival is None or other in (gang, mine.evictor):
                continue
            if rival.created > record.created and rival.priority <= record.priority:
                mine.first_overtaken = mine.first_overtaken or now
                title = self._known.title(other)
                gpus = sum(self._known.gpus(self._known.tasks[bind.task]) for bind in placed)
                mine.overtaken[title] = mine.overtaken.get(title, 0.0) + gpus

    def _tell_overtaken(self, mine: _Now) -> None:
        if mine.overtaken:
            gangs = [f"{title} ({_gpus(gpus)})" for title, gpus in mine.overtaken.items()]
            text = f"by {_names(gangs)}: came later, were placed first"
            facts = {"by": list(mine.overtaken), "gpus": sum(mine.overtaken.values())}
            event = GangEvent(mine.first_overtaken, "overtaken", text, facts)
            place = next((n for n, old in enumerate(mine.story.events) if old.moment > event.moment), None)
            mine.story.events.insert(len(mine.story.events) if place is None else place, event)
            mine.overtaken, mine.first_overtaken = {}, 0.0

    def _pod(self, uid: str) -> str:
        record = self._known.tasks.get(uid)
        return (record.name if record is not None else "") or uid

    def _tell(
        self, mine: _Now, now: float, what: str, text: str, facts: dict[str, Any] | None = None, *, state: bool = True
    ) -> None:
        mine.story.events.append(GangEvent(now, what, text, facts or {}))
        if state:
            mine.state = what


class Storyteller:
    """All node pools of a recording. `names`: namespace and name of every gang that was met."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._pools: dict[str, PoolStories] = {}
        self._pool = PoolStories("", wanted)

    def take(self, piece: SegmentStart | RecordedCycle) -> None:
        if isinstance(piece, SegmentStart):
            self._pool = self._pools.setdefault(piece.pool, PoolStories(piece.pool, self._wanted))
            self._pool.follower.begin(piece)
        else:
            self._pool.take(piece)

    @property
    def names(self) -> set[tuple[str, str]]:
        return {name for pool in self._pools.values() for name in pool.names}

    def stories(self) -> list[GangStory]:
        """In the order in which their gangs came."""
        for pool in self._pools.values():
            pool.finish()
        gangs = [mine.story for pool in self._pools.values() for lives in pool.lives.values() for mine in lives]
        return sorted(gangs, key=lambda story: (story.events[0].moment, story.namespace, story.gang))


def stories(pieces: Iterable[SegmentStart | RecordedCycle], wanted: Wanted) -> list[GangStory]:
    teller = Storyteller(wanted)
    for piece in pieces:
        teller.take(piece)
    return teller.stories()


def _pods(number: int) -> str:
    return "1 pod" if number == 1 else f"{number} pods"


def _gpus(number: float) -> str:
    return "1 GPU" if number == 1 else f"{number:g} GPUs"


def _names(names: list[str]) -> str:
    rest = len(names) - MOST_NAMED
    return ", ".join(names) if rest <= 0 else f"{', '.join(names[:MOST_NAMED])} and {rest} more"
