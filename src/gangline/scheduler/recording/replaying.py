"""A recorded cycle decided again on the real core, and compared with what was decided then, bit for bit.

A segment is played from its start: the model is built from the picture, each cycle's changes are put in, and what was
decided is booked as the scheduler booked it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import msgspec

from gangline.errors import BadInput
from gangline.scheduler.cycle import decide
from gangline.scheduler.decisions import Bind, Decisions, Evict
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.recording import lines
from gangline.scheduler.recording.lines import CommitsLine, CycleLine, RefusedLine
from gangline.scheduler.recording.memory import model_of
from gangline.scheduler.recording.segments import RecordedCycle, SegmentStart
from gangline.scheduler.settings import SchedulerSettings
from gangline.scheduler.thought.booking import book, name_groups
from gangline.scheduler.thought.changes import take


@dataclass(frozen=True, slots=True)
class ReplayedCycle:
    """`number` counts from 1 over all that was played; `differences` is empty where both decisions are the same."""

    number: int
    recorded: RecordedCycle
    decided: Decisions
    differences: tuple[str, ...] = ()
    pods: Mapping[str, str] = field(default_factory=dict)
    """Names of the pods that were decided about, by uid."""

    @property
    def same(self) -> bool:
        return not self.differences


class CyclePlayer:
    """Follows a recording. `model` is what the scheduler knew before its next cycle. With `own` what is decided now is
    carried on instead of what was decided then."""

    def __init__(self, own: bool = False) -> None:
        self._own = own
        self.model = ClusterModel()
        self._settings = SchedulerSettings()
        self._number = 0
        self._begun = False

    def begin(self, start: SegmentStart) -> None:
        self.model = model_of(start.picture.records, start.picture.memory)
        self._settings, self._begun = start.settings, True

    def play(self, cycle: RecordedCycle) -> ReplayedCycle:
        """Decide it again. None may be left out: a cycle also changes what the model remembers."""
        if not self._begun:
            raise BadInput("this recording is damaged: a cycle stands before the start of a segment")
        self._number += 1
        names = iter(cycle.fresh)
        try:
            for change in cycle.changes:
                take(self.model, change)
            decided = name_groups(decide(self.model, self._settings, cycle.now), lambda: next(names, "unnamed"))
            book(self.model, decided if self._own else cycle.decisions)
        except (LookupError, ValueError, TypeError, AttributeError, AssertionError, ArithmeticError) as error:
            raise BadInput(
                f"cycle {self._number} of this recording is damaged: {type(error).__name__} {error}"
            ) from None
        pods = {uid: self._name(uid) for uid in {commit.task for commit in decided.commits}}
        return ReplayedCycle(self._number, cycle, decided, differences(cycle.decisions, decided), pods)

    def _name(self, uid: str) -> str:
        task = self.model.tasks.get(uid)
        return uid if task is None or not task.record.name else f"{task.record.namespace}/{task.record.name}"


def replayed(whole: Iterable[SegmentStart | RecordedCycle]) -> Iterator[ReplayedCycle]:
    """Every cycle of a recording, decided again."""
    player = CyclePlayer()
    for piece in whole:
        if isinstance(piece, SegmentStart):
            player.begin(piece)
        else:
            yield player.play(piece)


def differences(recorded: Decisions, decided: Decisions) -> tuple[str, ...]:
    """What is not the same, in words; the bytes that would be written are compared."""
    if _written(recorded) == _written(decided):
        return ()
    lines: list[str] = []
    for before, after in zip(recorded.commits, decided.commits, strict=False):
        if before != after:
            lines.append(f"{_commit(before)} then, {_commit(after)} now")
            break
    if len(recorded.commits) != len(decided.commits):
        lines.append(f"{len(recorded.commits)} commits then, {len(decided.commits)} now")
    then, now = ({refuse.gang: refuse for refuse in made.refusals} for made in (recorded, decided))
    for gang in sorted({*then, *now}):
        if then.get(gang) != now.get(gang):
            lines.append(f"{gang}: {_refusal(then.get(gang))} then, {_refusal(now.get(gang))} now")
            break
    if recorded.updates != decided.updates:
        lines.append("time stamps of gangs are others")
    if recorded.reservations != decided.reservations:
        lines.append("reservations are others")
    if recorded.moves != decided.moves:
        lines.append("moves that were asked for are others")
    return tuple(lines) or ("counts or figures are others",)


def _commit(commit: object) -> str:
    if isinstance(commit, Bind):
        return f"bound {commit.task} to {commit.node}"
    return f"evicted {commit.task}" if isinstance(commit, Evict) else f"nominated {commit}"


def _refusal(refuse: object) -> str:
    return "not refused" if refuse is None else "refused"


def _written(decisions: Decisions) -> bytes:
    """As it stands on disk, read and written again: whole numbers are then written alike."""
    commits = tuple(lines.as_recorded_commit(commit) for commit in decisions.commits)
    parts = (
        lines.write(CommitsLine(commits)),
        lines.write(RefusedLine(decisions.refusals)),
        lines.write(
            CycleLine(0.0, (), decisions.updates, decisions.steps, decisions.reservations, moves=decisions.moves)
        ),
    )
    return b"".join(lines.write(lines.read(part)) for part in parts)


def as_data(decisions: Decisions) -> object:
    """For `-o json`."""
    return msgspec.to_builtins(decisions)
