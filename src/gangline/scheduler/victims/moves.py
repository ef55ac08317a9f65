"""Moves that start the new place first: who asks for that, whether a what-if allows it, and which are under way.

A pod of a PodClique can ask that consolidation moves it only after its replacement runs. Then nothing is evicted: the
scheduler asks the operator for the replacement (`MoveRequest`), and the waiting gang gets the room when the old pod is
gone. Whether a move is worth it is `plugins/evict/disruption.py`'s to say. Pure but for the memory of what was asked
for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gangline.scheduler.decisions import MoveRequest
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.resources import Vector, fits, plus
from gangline.scheduler.model.status import Status
from gangline.scheduler.model.task import TaskInfo

if TYPE_CHECKING:
    from gangline.scheduler.model.cluster import ClusterModel
    from gangline.scheduler.session import Session
    from gangline.scheduler.statement import Statement

PATIENCE = 600.0
"""Seconds after which a move that was asked for no longer counts as under way; the operator has given it up by then."""


def starts_first(task: TaskInfo) -> bool:
    """Whether it may be moved only by starting its replacement first."""
    return _wish(task) == "start-first"


def may_be_moved(gang: GangInfo) -> bool:
    """Nobody of it says never, and whoever asks for its replacement first has an owner that can start one."""
    return not any(
        (wish := _wish(task)) == "never" or (wish == "start-first" and (task.shared or not task.record.replaceable))
        for task in gang.tasks.values()
    )


def _wish(task: TaskInfo) -> str:
    return task.record.move or (task.gang.record.move if task.gang is not None else "")


def room_now(session: Session, tasks: Iterable[TaskInfo]) -> bool:
    """Of a finished what-if: whether those of these tasks that start first in another place have the room for it before
    anybody leaves."""
    asked: dict[str, Vector] = {}
    for task in tasks:
        if task.status == Status.PIPELINED and starts_first(task):
            asked[task.node] = plus(asked[task.node], task.request) if task.node in asked else task.request
    return all(fits(request, session.cluster.nodes[name].idle) for name, request in asked.items())


def first_moves(statement: Statement, preemptor: GangInfo, now: float) -> list[MoveRequest]:
    """What must start first before anything of this what-if may happen."""
    return [
        MoveRequest(operation.task.uid, operation.node.name, preemptor.uid, now)
        for operation in statement.operations
        if operation.valid
        and operation.kind == "pipeline"
        and operation.task.gang is not None
        and operation.task.gang.original is not preemptor.original
        and starts_first(operation.task)
    ]


# ── under way ──


@dataclass(frozen=True, slots=True)
class MoveUnderWay:
    """`gang`: which is moved."""

    move: MoveRequest
    gang: str


class MovesUnderWay:
    """By task. Over when the task is gone, or after a while."""

    def __init__(self) -> None:
        self._asked: dict[str, MoveUnderWay] = {}

    def note(self, under_way: MoveUnderWay) -> None:
        self._asked[under_way.move.task] = under_way

    def entries(self) -> list[MoveUnderWay]:
        return list(self._asked.values())

    def concerned(self, cluster: ClusterModel, now: float) -> set[str]:
        """Gangs that are moved, or for which others are."""
        for uid, asked in list(self._asked.items()):
            if uid not in cluster.tasks or now >= asked.move.asked + PATIENCE:
                del self._asked[uid]
        return {gang for asked in self._asked.values() for gang in (asked.gang, asked.move.preemptor)}


def moves_of(cluster: ClusterModel) -> MovesUnderWay:
    """Those of a cluster, as this scheduler asked for them."""
    moves: MovesUnderWay = cluster.memo.setdefault("moves", MovesUnderWay())
    return moves
