"""Cycles as lines of a segment, and lines as cycles again.

`SegmentPen` writes: a picture of the model first, then each cycle; a refusal that is as it was in the cycle before is
not written again. `cycles_of` reads the same back, refusals whole. Pure: who calls has the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from gangline.errors import BadInput
from gangline.scheduler.decisions import Commit, Decisions, Refuse
from gangline.scheduler.recording import lines
from gangline.scheduler.recording.lines import (
    ChangesLine,
    CommitsLine,
    CycleLine,
    Line,
    PictureLine,
    RefusedLine,
    SegmentLine,
)
from gangline.scheduler.recording.memory import ModelPicture
from gangline.scheduler.records import Record
from gangline.scheduler.settings import SchedulerSettings
from gangline.scheduler.thought.changes import GoneRecord, TakenChange


@dataclass(frozen=True, slots=True)
class SegmentStart:
    """Where a segment begins: the model before its first cycle, and how it decides."""

    pool: str
    began: float
    settings: SchedulerSettings
    picture: ModelPicture


@dataclass(frozen=True, slots=True)
class RecordedCycle:
    """One cycle: what changed before it, and what it decided."""

    now: float
    changes: tuple[TakenChange, ...] = ()
    decisions: Decisions = field(default_factory=Decisions)
    fresh: tuple[str, ...] = ()


class SegmentPen:
    """Writes one segment. Each piece of bytes is one line."""

    def __init__(self) -> None:
        self._refused: dict[str, Refuse] = {}

    def begin(self, start: SegmentStart) -> Iterator[bytes]:
        picture = start.picture
        head = SegmentLine(lines.FORMAT, lines.VERSION, start.pool, start.began, start.settings, picture.memory)
        yield lines.write(head)
        for records in lines.in_lines(picture.records):
            yield lines.write(ChangesLine(tuple(lines.as_change(record) for record in records)))
        yield lines.write(PictureLine(len(picture.records)))

    def cycle(self, cycle: RecordedCycle) -> Iterator[bytes]:
        decisions = cycle.decisions
        for changes in lines.in_lines(cycle.changes):
            yield lines.write(ChangesLine(tuple(lines.as_change(change) for change in changes)))
        for commits in lines.in_lines(decisions.commits):
            yield lines.write(CommitsLine(tuple(lines.as_recorded_commit(commit) for commit in commits)))
        refused = {refuse.gang: refuse for refuse in decisions.refusals}
        changed = [refuse for gang, refuse in refused.items() if _other(self._refused.get(gang), refuse)]
        for refusals in lines.in_lines(changed):
            yield lines.write(RefusedLine(refusals))
        heard = tuple(gang for gang in self._refused if gang not in refused)
        self._refused = refused
        yield lines.write(
            CycleLine(
                cycle.now,
                heard,
                decisions.updates,
                decisions.steps,
                decisions.reservations,
                cycle.fresh,
                decisions.moves,
            )
        )


def _other(known: Refuse | None, refuse: Refuse) -> bool:
    """The books of queues do not count when refusals are compared, but are written too."""
    return known is None or known != refuse or known.queues != refuse.queues


class SegmentReader:
    """Puts lines together again. `take` gives a segment's start or a cycle when its last line came."""

    def __init__(self) -> None:
        self._head: SegmentLine | None = None
        self._pictured = False
        self._changes: list[TakenChange] = []
        self._commits: list[Commit] = []
        self._refused: dict[str, Refuse] = {}

    def take(self, line: Line) -> SegmentStart | RecordedCycle | None:
        if isinstance(line, SegmentLine):
            self._begin(line)
        elif self._head is None:
            raise BadInput("this recording is damaged: it does not begin with the start of a segment")
        elif isinstance(line, ChangesLine):
            self._changes += [lines.as_taken(change) for change in line.changes]
        elif isinstance(line, PictureLine):
            return self._start(self._head, line)
        elif isinstance(line, CommitsLine):
            self._commits += [lines.as_commit(commit) for commit in line.commits]
        elif isinstance(line, RefusedLine):
            self._refused.update({refuse.gang: refuse for refuse in line.refused})
        else:
            return self._cycle(line)
        return None

    def _begin(self, line: SegmentLine) -> None:
        if line.format != lines.FORMAT or line.version != lines.VERSION:
            raise BadInput(
                f"this is {line.format} version {line.version}; this program reads {lines.FORMAT} {lines.VERSION}"
            )
        self._head, self._pictured, self._changes, self._commits, self._refused = line, False, [], [], {}

    def _start(self, head: SegmentLine, line: PictureLine) -> SegmentStart:
        held: list[Record] = [change for change in self._changes if not isinstance(change, GoneRecord)]
        if len(held) != line.records:
            raise BadInput(f"this recording is damaged: of {line.records} records at its start {len(held)} are there")
        self._changes, self._pictured = [], True
        return SegmentStart(head.pool, head.began, head.settings, ModelPicture(tuple(held), head.memory))

    def _cycle(self, line: CycleLine) -> RecordedCycle:
        if not self._pictured:
            raise BadInput("this recording is damaged: a cycle stands before the picture of the model is whole")
        for gang in line.heard:
            self._refused.pop(gang, None)
        refusals = tuple(self._refused[gang] for gang in sorted(self._refused))
        decisions = Decisions(tuple(self._commits), refusals, line.updates, line.steps, line.reservations, line.moves)
        cycle = RecordedCycle(line.now, tuple(self._changes), decisions, line.fresh)
        self._changes, self._commits = [], []
        return cycle


def cycles_of(texts: Iterable[bytes]) -> Iterator[SegmentStart | RecordedCycle]:
    """Starts of segments and cycles, in the order they were written; raises BadInput at a line that is none."""
    reader = SegmentReader()
    for number, text in enumerate(texts, 1):
        try:
            whole = reader.take(lines.read(text))
        except BadInput as error:
            raise BadInput(f"line {number}: {error}") from None
        if whole is not None:
            yield whole
