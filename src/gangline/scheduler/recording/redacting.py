"""A recording without names: it still decides the same, under codes.

What every cycle was given is renamed as a snapshot is (`snapshots/redact.py`), and decided again: so no sentence of the
old recording is taken over. A cycle that then places or evicts other pods than before is counted. Pure: the pieces are
gone through twice, first for the names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from gangline.errors import BadInput
from gangline.scheduler.decisions import Commit, MoveRequest
from gangline.scheduler.recording.memory import ModelMemory, ModelPicture, SeenShape
from gangline.scheduler.recording.replaying import CyclePlayer
from gangline.scheduler.recording.segments import RecordedCycle, SegmentPen, SegmentStart
from gangline.scheduler.settings import SchedulerSettings
from gangline.scheduler.snapshots.redact import NameCodes, renamed, well_known
from gangline.scheduler.thought.changes import GoneRecord, TakenChange
from gangline.scheduler.victims.moves import MoveUnderWay

Rename = Callable[[str], str]
Piece = SegmentStart | RecordedCycle


class RecordingRedactor:
    """First `note` every piece, then `lines` of every piece. `others`: cycles that decided otherwise under codes."""

    def __init__(self) -> None:
        self._names = NameCodes()
        self._player = CyclePlayer(own=True)
        self._pen: SegmentPen | None = None
        self.cycles = 0
        self.others = 0

    def note(self, piece: Piece) -> None:
        _renamed_piece(piece, self._names.note)

    def lines(self, piece: Piece) -> Iterator[bytes]:
        coded = _renamed_piece(piece, self._names.code)
        if isinstance(coded, SegmentStart):
            self._player.begin(coded)
            self._pen = SegmentPen()
            yield from self._pen.begin(coded)
            return
        if self._pen is None or not isinstance(piece, RecordedCycle):
            raise BadInput("this recording is damaged: a cycle stands before the start of a segment")
        played = self._player.play(coded)
        self.cycles += 1
        before = [_step(commit, self._names.code) for commit in piece.decisions.commits]
        self.others += before != [_step(commit, str) for commit in played.decided.commits]
        yield from self._pen.cycle(replace(coded, decisions=played.decided))


def redacted(pieces: Callable[[], Iterable[Piece]]) -> Iterator[bytes]:
    """The lines of a whole recording under codes."""
    redactor = RecordingRedactor()
    for piece in pieces():
        redactor.note(piece)
    for piece in pieces():
        yield from redactor.lines(piece)


def _step(commit: Commit, rename: Rename) -> tuple[str, str, str]:
    return type(commit).__name__, rename(commit.task), rename(commit.node)


def _renamed_piece(piece: Piece, rename: Rename) -> Piece:
    if isinstance(piece, SegmentStart):
        records = tuple(renamed(record, rename) for record in piece.picture.records)
        picture = ModelPicture(records, _memory(piece.picture.memory, rename))
        return replace(piece, pool=rename(piece.pool), settings=_settings(piece.settings, rename), picture=picture)
    changes = tuple(_change(change, rename) for change in piece.changes)
    for commit in piece.decisions.commits:
        rename(commit.task), rename(commit.node)
    return replace(piece, changes=changes, fresh=tuple(rename(name) for name in piece.fresh))


def _settings(settings: SchedulerSettings, rename: Rename) -> SchedulerSettings:
    label = settings.queue_label
    return replace(
        settings, node_pool=rename(settings.node_pool), queue_label=label if well_known(label) else rename(label)
    )


def _change(change: TakenChange, rename: Rename) -> TakenChange:
    if not isinstance(change, GoneRecord):
        record: TakenChange = renamed(change, rename)
        return record
    parts = change.key if isinstance(change.key, tuple) else (change.key,)
    coded = tuple(rename(part) for part in parts)
    return GoneRecord(change.type, coded if isinstance(change.key, tuple) else coded[0])


def _memory(memory: ModelMemory, rename: Rename) -> ModelMemory:
    return ModelMemory(
        tuple(replace(entry, gang=rename(entry.gang), queue=rename(entry.queue)) for entry in memory.evictions),
        {rename(uid): mark for uid, mark in memory.marks.items()},
        {rename(uid): tuple(rename(node) for node in nodes) for uid, nodes in memory.kept.items()},
        tuple(SeenShape(renamed(shape.sample, rename), shape.seen) for shape in memory.shapes),
        memory.pods_seen,
        memory.gpus_started,
        tuple(_under_way(item, rename) for item in memory.moves),
    )


def _under_way(item: MoveUnderWay, rename: Rename) -> MoveUnderWay:
    move = item.move
    coded = MoveRequest(rename(move.task), rename(move.node), rename(move.preemptor), move.asked)
    return MoveUnderWay(coded, rename(item.gang))
