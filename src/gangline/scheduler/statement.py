"""A statement: a what-if on the model. Leaving it without `commit()` undoes everything.

    with session.statement() as statement:
        statement.evict(victim, message)
        statement.pipeline(task, node)
        if good:
            statement.commit()

Every change goes through the cluster's journal; the list of operations only says what to tell the world at commit, in
order. Nothing here chooses a node or a victim.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Literal

from gangline.scheduler.decisions import Bind, ExtendedBind, Nominate
from gangline.scheduler.model.gang import set_status
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.status import Status
from gangline.scheduler.model.task import TaskInfo, ZoneShare
from gangline.scheduler.placing.devices import configs
from gangline.scheduler.placing.extended import extended_claim
from gangline.scheduler.refusals import PODS, GangRefusals

if TYPE_CHECKING:
    from gangline.scheduler.session import Session


@dataclass(slots=True)
class Operation:
    """`was` is what an eviction changed, so that it can be taken back in the middle of the log."""

    kind: Literal["evict", "pipeline", "allocate"]
    task: TaskInfo
    node: NodeInfo
    message: str = ""
    preemptor: str = ""
    was: tuple[Status, tuple[str, ...], bool, tuple[ZoneShare, ...] | None] | None = None
    valid: bool = True


class Statement:
    """Operations: `evict`, `allocate`, `pipeline`; `checkpoint`/`rollback` for a part, `discard` for all."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._journal = session.journal
        self._start = self._journal.mark()
        self.operations: list[Operation] = []
        self._open = True

    def __enter__(self) -> Statement:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._open:
            self.discard()

    # ── operations ──

    def evict(self, task: TaskInfo, message: str = "", preemptor: str = "") -> None:
        """The task will leave its node: Releasing from now on."""
        node = self._session.cluster.nodes[task.node]
        was = (task.status, task.gpu_groups, task.virtual, task.numa)
        self._restatus(task, node, Status.RELEASING)
        self._session.hooks.deallocated(task)
        self._log(Operation("evict", task, node, message, preemptor, was))

    def allocate(self, task: TaskInfo, node: NodeInfo) -> None:
        """The task gets idle room on the node now."""
        set_status(task, Status.ALLOCATED, self._journal)
        self._journal.set_attr(task, "node", node.name)
        self._seat(task, node)
        self._log(Operation("allocate", task, node))

    def pipeline(self, task: TaskInfo, node: NodeInfo, update: bool = False, same_place: bool = True) -> None:
        """The task gets room on the node once others are gone.

        A task that this statement evicted from the same node and that would keep its GPUs (`same_place`) is simply
        not evicted any more, unless `update` asks for a waiting place all the same."""
        placed = node.placed.get(task.uid)
        moved = placed is not None and task.shared and placed.groups != task.gpu_groups
        if placed is not None and not update and not moved and same_place and self._unevict(task):
            return
        set_status(task, Status.PIPELINED, self._journal)
        self._journal.set_attr(task, "node", node.name)
        if placed is not None and not moved:
            node.remove(task)
        self._seat(task, node)
        self._log(Operation("pipeline", task, node))

    def _seat(self, task: TaskInfo, node: NodeInfo) -> None:
        """Plugins hear of it first, so that the node counts the devices that claims were just given."""
        node.accept(task)
        self._session.hooks.allocated(task)
        node.add(task)

    def _unevict(self, task: TaskInfo) -> bool:
        """Take back the earliest eviction of this task that still holds."""
        for operation in self.operations:
            if operation.kind == "evict" and operation.task is task and operation.valid:
                break
        else:
            return False
        assert operation.was is not None
        status, groups, virtual, numa = operation.was
        self._journal.set_attr(operation, "valid", False)
        self._journal.set_attr(task, "gpu_groups", groups)
        self._journal.set_attr(task, "numa", numa)
        self._session.hooks.allocated(task)
        self._restatus(task, operation.node, status, virtual)
        return True

    def _restatus(self, task: TaskInfo, node: NodeInfo, status: Status, virtual: bool = True) -> None:
        set_status(task, status, self._journal, virtual)
        node.remove(task)
        node.add(task)

    def _log(self, operation: Operation) -> None:
        self.operations.append(operation)

    def wait_together(self, gang: str) -> None:
        """Turn every allocation of this gang into a waiting place on the same node."""
        mine = [
            op
            for op in self.operations
            if op.kind == "allocate" and op.task.gang is not None and op.task.gang.uid == gang
        ]
        for operation in mine:
            task, node = operation.task, operation.node
            self._session.hooks.deallocated(task)
            node.remove(task)
            self.operations.remove(operation)
            self.pipeline(task, node, update=True)

    # ── undoing, keeping ──

    def checkpoint(self) -> tuple[int, int]:
        return self._journal.mark(), len(self.operations)

    def rollback(self, checkpoint: tuple[int, int]) -> None:
        mark, length = checkpoint
        self._journal.rollback(mark)
        del self.operations[length:]

    def discard(self) -> None:
        self.rollback((self._start, 0))
        self._open = False

    def commit(self) -> bool:
        """Make the changes decisions, in order. False when a bind was refused: then there are none, and all is
        undone."""
        standing = [operation for operation in self.operations if operation.valid]
        if any(self._refused(operation) for operation in standing):
            self.discard()
            return False
        for operation in standing:
            self._commit(operation)
        self.keep()
        return True

    def _refused(self, operation: Operation) -> bool:
        """Whether a plugin refuses to bind at the last moment; the gang is refused with its reason."""
        if operation.kind != "allocate":
            return False
        session, task = self._session, operation.task
        refusal = session.hooks.before_bind(task, operation.node)
        if refusal is None:
            return False
        assert task.gang is not None
        text = f"Pod {task.full_name} may not be bound to node {operation.node.name}: {refusal.reason}"
        session.bind_refused.add(task.gang.uid)
        session.refuse_task(task, text)
        session.refuse(task.gang.original, GangRefusals(PODS, (text,), refusal.plugin, refusal.resolvable))
        return True

    def keep(self) -> None:
        """End the statement and let its changes stand until the cycle ends."""
        self._open = False
        self._session.changed([operation.task.gang for operation in self.operations if operation.task.gang is not None])

    def _commit(self, operation: Operation) -> None:
        session, task = self._session, operation.task
        if operation.kind == "evict":
            session.record_eviction(task, operation.node, operation.message, operation.preemptor)
            self._journal.set_attr(task, "virtual", False)
        elif operation.kind == "pipeline":
            session.record(Nominate(task.uid, operation.node.name, task.gpu_groups, session.action))
        else:
            session.record(bind_decision(session, task, operation.node))
            set_status(task, Status.BINDING, self._journal, virtual=task.virtual)


def bind_decision(session: Session, task: TaskInfo, node: NodeInfo) -> Bind:
    received = "Fraction" if task.shared else "Regular"
    if task.gpu.kind == "MigInstance":
        received = "MigInstance"
    claims = {
        name: state.allocated
        for name in task.record.claims
        if (state := session.cluster.devices.claims.get((task.namespace, name))) is not None
        and state.allocated is not None
    }
    zones = (
        None if task.numa is None or node.numa is None else tuple(node.numa.zones[place].id for place, _ in task.numa)
    )
    return Bind(
        task.uid,
        node.name,
        task.gpu_groups if task.shared else (),
        received,
        task.gpu.count,
        task.accepted_portion,
        task.accepted_memory,
        claims,
        claim_configs(session, task),
        extended_bind(session, task, node),
        zones,
        tuple(dict(amounts) for _, amounts in task.numa or ()),
        session.hooks.bind_annotations(task, node),
        session.action,
    )


def claim_configs(session: Session, task: TaskInfo) -> dict[str, tuple[Mapping[str, object], ...]]:
    """For the claims that this task is the first to use."""
    devices, by_claim = session.cluster.devices, {}
    for name in task.record.claims:
        record = devices.records.get((task.namespace, name))
        if record is not None and record.allocated is None and (of_claim := configs(devices, record)):
            by_claim[name] = of_claim
    return by_claim


def extended_bind(session: Session, task: TaskInfo, node: NodeInfo) -> ExtendedBind | None:
    """The devices that the task was just given for extended resources which the node does not have itself."""
    devices = session.cluster.devices.extended.get(task.uid)
    extended = extended_claim(session.cluster.devices, task.record, node) if devices else None
    if not devices or extended is None:
        return None
    return ExtendedBind(
        extended.claim.requests, devices, extended.uses, configs(session.cluster.devices, extended.claim)
    )
