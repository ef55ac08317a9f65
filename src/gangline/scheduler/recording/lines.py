"""A recording line by line: what each kind of line holds, and how it is written and read.

A segment begins with a `segment` line and the records the model held then (`changes` lines); every cycle follows as
`changes`, `commits` and `refused` lines, as many as it needs, and a `cycle` line that ends it. No line grows with the
cluster. Pure: bytes in, bytes out; `recorder.py` and `files.py` know the disk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import msgspec

from gangline.errors import BadInput
from gangline.scheduler.decisions import (
    Bind,
    Commit,
    Evict,
    GangUpdate,
    MoveRequest,
    Nominate,
    Refuse,
    StartReservation,
)
from gangline.scheduler.recording.memory import ModelMemory
from gangline.scheduler.records import (
    BudgetRecord,
    ClaimRecord,
    ConfigMapRecord,
    DeviceClassRecord,
    GangRecord,
    NodeRecord,
    QueueRecord,
    Record,
    SliceRecord,
    StorageCapacityRecord,
    TaskRecord,
    TopologyRecord,
    VolumeClaimRecord,
)
from gangline.scheduler.settings import SchedulerSettings
from gangline.scheduler.thought.changes import GoneRecord, TakenChange

FORMAT = "gangline-recording"
VERSION = 1
PER_LINE = 200
"""Records, commits or refusals in one line, at most."""


class RecordedChange(msgspec.Struct, frozen=True, omit_defaults=True):
    """One record that came or changed, or the name of one that is gone."""

    node: NodeRecord | None = None
    queue: QueueRecord | None = None
    gang: GangRecord | None = None
    task: TaskRecord | None = None
    topology: TopologyRecord | None = None
    device_class: DeviceClassRecord | None = None
    slice: SliceRecord | None = None
    claim: ClaimRecord | None = None
    volume_claim: VolumeClaimRecord | None = None
    storage_capacity: StorageCapacityRecord | None = None
    config_map: ConfigMapRecord | None = None
    budget: BudgetRecord | None = None
    gone: tuple[str, str, str | None] | None = None
    """Which kind, its name and, where its key has one, its namespace."""


class RecordedCommit(msgspec.Struct, frozen=True, omit_defaults=True):
    bind: Bind | None = None
    evict: Evict | None = None
    nominate: Nominate | None = None


class SegmentLine(msgspec.Struct, frozen=True, tag="segment", tag_field="line"):
    """`began`: when the first cycle of the segment ran. `memory`: what the model remembered beside its records."""

    format: str
    version: int
    pool: str
    began: float
    settings: SchedulerSettings
    memory: ModelMemory


class ChangesLine(msgspec.Struct, frozen=True, tag="changes", tag_field="line"):
    changes: tuple[RecordedChange, ...]


class CommitsLine(msgspec.Struct, frozen=True, tag="commits", tag_field="line"):
    commits: tuple[RecordedCommit, ...]


class RefusedLine(msgspec.Struct, frozen=True, tag="refused", tag_field="line"):
    """Refusals that are new or other than in the cycle before."""

    refused: tuple[Refuse, ...]


class CycleLine(msgspec.Struct, frozen=True, tag="cycle", tag_field="line", omit_defaults=True):
    """`heard`: gangs that are no longer refused. `fresh`: the names that were given to shared GPUs."""

    now: float
    heard: tuple[str, ...] = ()
    updates: tuple[GangUpdate, ...] = ()
    steps: Mapping[str, int] = {}
    reservations: tuple[StartReservation, ...] = ()
    fresh: tuple[str, ...] = ()
    moves: tuple[MoveRequest, ...] = ()


class PictureLine(msgspec.Struct, frozen=True, tag="picture", tag_field="line"):
    """The records that the model held when the segment began end here."""

    records: int


Line: TypeAlias = SegmentLine | ChangesLine | CommitsLine | RefusedLine | CycleLine | PictureLine

KINDS: Mapping[type[Record], str] = {
    NodeRecord: "node",
    QueueRecord: "queue",
    GangRecord: "gang",
    TaskRecord: "task",
    TopologyRecord: "topology",
    DeviceClassRecord: "device_class",
    SliceRecord: "slice",
    ClaimRecord: "claim",
    VolumeClaimRecord: "volume_claim",
    StorageCapacityRecord: "storage_capacity",
    ConfigMapRecord: "config_map",
    BudgetRecord: "budget",
}
_BY_WORD = {word: kind for kind, word in KINDS.items()}
_ENCODER = msgspec.json.Encoder()
"""Maps keep their order: a model built from them again is the same to the last bit."""
_DECODER: msgspec.json.Decoder[Line] = msgspec.json.Decoder(Line)


def write(line: Line) -> bytes:
    return _ENCODER.encode(line) + b"\n"


def read(text: bytes) -> Line:
    """Raises BadInput where this is no line of a recording."""
    try:
        return _DECODER.decode(text)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise BadInput(f"this is no line of a recording: {error}") from None


def as_change(taken: TakenChange) -> RecordedChange:
    if isinstance(taken, GoneRecord):
        name, namespace = (taken.key[1], taken.key[0]) if isinstance(taken.key, tuple) else (taken.key, None)
        return RecordedChange(gone=(KINDS[taken.type], name, namespace))
    record: dict[str, Any] = {KINDS[type(taken)]: taken}
    return RecordedChange(**record)


def as_taken(change: RecordedChange) -> TakenChange:
    """What a change says; raises BadInput where it says nothing."""
    if change.gone is not None:
        kind, name, namespace = change.gone
        if kind not in _BY_WORD:
            raise BadInput(f"this recording is damaged: there is no kind of record {kind!r}")
        return GoneRecord(_BY_WORD[kind], name if namespace is None else (namespace, name))
    records: tuple[Record | None, ...] = (
        change.task,
        change.gang,
        change.node,
        change.queue,
        change.topology,
        change.device_class,
        change.slice,
        change.claim,
        change.volume_claim,
        change.storage_capacity,
        change.config_map,
        change.budget,
    )
    record = next((item for item in records if item is not None), None)
    if record is None:
        raise BadInput("this recording is damaged: a change holds no record")
    return record


def as_recorded_commit(commit: Commit) -> RecordedCommit:
    if isinstance(commit, Bind):
        return RecordedCommit(bind=commit)
    return RecordedCommit(evict=commit) if isinstance(commit, Evict) else RecordedCommit(nominate=commit)


def as_commit(recorded: RecordedCommit) -> Commit:
    commit = recorded.bind or recorded.evict or recorded.nominate
    if commit is None:
        raise BadInput("this recording is damaged: a commit holds nothing")
    return commit


def in_lines(items: Iterable[Any]) -> Iterable[tuple[Any, ...]]:
    """As many at a time as one line holds."""
    listed = list(items)
    return (tuple(listed[start : start + PER_LINE]) for start in range(0, len(listed), PER_LINE))
