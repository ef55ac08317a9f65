"""Victims taken one gang at a time: the growing list of who could make room, and the cheap conditions that screen it.

A popped gang gives one step of victims (one surplus pod, one surplus group, or everything); what is left of it goes back into the queue.
Victims already recorded by a smaller solution are passed over. A state is worth generating scenarios from only if every screen lets it pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from .model.gang import Gang
from .model.node import NodeList
from .model.status import ACTIVE_ALLOCATED, Status
from .model.task import Task
from .order import GangQueue, tasks_to_evict
from .screens import screens_for

if TYPE_CHECKING:
    from .session import Session


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """The tasks that one step takes from one gang."""

    gang: Gang
    tasks: tuple[Task, ...]

    def was_touched(self) -> bool:
        """Whether some task of the batch is evicted or moved in the statement at work."""
        return any(task.status in (Status.RELEASING, Status.PIPELINED) for task in self.tasks)


@dataclass(slots=True, eq=False)
class Scenario:
    """Victims to try together for a preemptor: recorded ones first, then the ones added."""

    preemptor: Gang
    pending: Sequence[Task]
    recorded: Sequence[Batch]
    potential: Sequence[Batch]

    @property
    def batches(self) -> list[Batch]:
        return [*self.recorded, *self.potential]

    def tasks(self) -> list[Task]:
        """Every victim once."""
        return list({task.uid: task for batch in self.batches for task in batch.tasks}.values())

    @property
    def victims(self) -> list[tuple[Gang, list[Task]]]:
        """Victims by gang, for validators."""
        found: dict[str, tuple[Gang, dict[str, Task]]] = {}
        for batch in self.batches:
            found.setdefault(batch.gang.uid, (batch.gang, {}))[1].update({task.uid: task for task in batch.tasks})
        return [(gang, list(tasks.values())) for gang, tasks in found.values()]

    def fingerprint(self) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
        return frozenset(task.uid for task in self.pending), _uids(self.recorded), _uids(self.potential)


def _uids(batches: Iterable[Batch]) -> frozenset[str]:
    return frozenset(task.uid for batch in batches for task in batch.tasks)


class Screen(Protocol):
    """A necessary condition that learns of every new victim and can tell at any time whether it holds."""

    def add(self, task: Task) -> None: ...

    def holds(self) -> bool: ...


@dataclass(slots=True, eq=False)
class Accumulation:
    """The state of one probe. `states()` yields once for each state that passes every screen, beginning with no potential victims."""

    session: Session
    preemptor: Gang
    recorded: Sequence[Batch]
    queue: GangQueue
    nodes: NodeList
    potential: list[Batch] = field(default_factory=list)
    pending: list[Task] = field(default_factory=list)
    by_node: dict[str, dict[str, None]] = field(default_factory=dict)
    by_gang: dict[str, list[Batch]] = field(default_factory=dict)
    _screens: list[Screen] = field(default_factory=list)
    _known: set[str] = field(default_factory=set)

    def states(self) -> Iterator[None]:
        if not self._begin():
            return
        if self._passes():
            yield
        while self.queue:
            if self._grow() and self._passes():
                yield

    def _begin(self) -> bool:
        self.pending = list(self.session.wanted(self.preemptor, simulation=True))
        if not self.pending:
            return False
        self._screens = screens_for(self.session, self.preemptor, self.pending, self.nodes)
        for batch in self.recorded:
            self._known.update(task.uid for task in batch.tasks)
            self.by_gang.setdefault(batch.gang.uid, []).append(batch)
            self._tell(batch.tasks)
        return True

    def _passes(self) -> bool:
        return all(screen.holds() for screen in self._screens)

    def _grow(self) -> bool:
        """Take one more step of victims; False when it was only recorded ones."""
        session = self.session
        gang = self.queue.pop()
        taken, more = tasks_to_evict(gang, session.member_key, session.task_key)
        if any(task.uid in self._known for task in taken):
            self._put_back(gang, [task for task in gang.tasks.values() if task.uid not in self._known])
            return False
        if more:
            gone = {task.uid for task in taken}
            self._put_back(gang, [task for task in gang.tasks.values() if task.uid not in gone])
        self._add(Batch(gang.original, tuple(taken)))
        return True

    def _put_back(self, gang: Gang, tasks: list[Task]) -> None:
        if any(task.status & ACTIVE_ALLOCATED for task in tasks):
            self.queue.push(gang.with_tasks(tasks))

    def _add(self, batch: Batch) -> None:
        self.potential.append(batch)
        self.by_gang.setdefault(batch.gang.uid, []).append(batch)
        for task in batch.tasks:
            self.by_node.setdefault(task.node, {})[batch.gang.uid] = None
        self._tell(batch.tasks)

    def _tell(self, tasks: Iterable[Task]) -> None:
        for task in tasks:
            if task.node:
                for screen in self._screens:
                    screen.add(task)

    def scenario(self, potential: Sequence[Batch]) -> Scenario:
        return Scenario(self.preemptor, self.pending, self.recorded, potential)
