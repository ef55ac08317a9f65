"""Victims taken one gang at a time: the growing list of who could make room, and the cheap conditions that screen it.

A popped gang gives one step of victims (one surplus pod, one surplus group, or everything); what is left of it goes
back into the queue. Victims already recorded by a smaller solution are passed over. A state is worth generating
scenarios from only if every screen lets it pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.node import NodeList
from gangline.scheduler.model.status import ACTIVE_ALLOCATED, Status
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.placing.gang_queue import GangQueue
from gangline.scheduler.victims.screens import freed_gpus, screens_for

if TYPE_CHECKING:
    from gangline.scheduler.session import Session


@dataclass(frozen=True, slots=True, eq=False)
class VictimBatch:
    """The tasks that one step takes from one gang; `freed` are the GPUs that each frees on its node."""

    gang: GangInfo
    tasks: tuple[TaskInfo, ...]
    freed: tuple[tuple[str, float], ...]

    @classmethod
    def of(cls, gang: GangInfo, tasks: Sequence[TaskInfo]) -> VictimBatch:
        return cls(gang.original, tuple(tasks), tuple([(task.node, freed_gpus(task)) for task in tasks if task.node]))

    def was_touched(self) -> bool:
        """Whether some task of the batch is evicted or moved in the statement at work."""
        return any(task.status in (Status.RELEASING, Status.PIPELINED) for task in self.tasks)


@dataclass(slots=True, eq=False)
class Scenario:
    """Victims to try together for a preemptor: recorded ones first, then the ones added."""

    preemptor: GangInfo
    pending: Sequence[TaskInfo]
    recorded: Sequence[VictimBatch]
    potential: Sequence[VictimBatch]

    @property
    def batches(self) -> list[VictimBatch]:
        return [*self.recorded, *self.potential]

    def tasks(self) -> list[TaskInfo]:
        """Every victim once."""
        return list({task.uid: task for batch in self.batches for task in batch.tasks}.values())

    @property
    def victims(self) -> list[tuple[GangInfo, list[TaskInfo]]]:
        """Victims by gang, for validators."""
        by_gang: dict[str, tuple[GangInfo, dict[str, TaskInfo]]] = {}
        for batch in self.batches:
            by_gang.setdefault(batch.gang.uid, (batch.gang, {}))[1].update({task.uid: task for task in batch.tasks})
        return [(gang, list(tasks.values())) for gang, tasks in by_gang.values()]

    def fingerprint(self) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
        return frozenset(task.uid for task in self.pending), _uids(self.recorded), _uids(self.potential)


def _uids(batches: Iterable[VictimBatch]) -> frozenset[str]:
    return frozenset(task.uid for batch in batches for task in batch.tasks)


class VictimScreen(Protocol):
    """A necessary condition that learns of every new victim and can tell at any time whether it holds."""

    def add(self, node: str, gpus: float) -> None: ...

    def holds(self) -> bool: ...


class VictimStream:
    """The steps of victims in victim order, computed once for all probes of a search.

    Up to the first gang that gives up only a part of itself (and so goes back into the queue) every probe sees the same
    steps; from there on each probe walks a queue of its own."""

    def __init__(self, session: Session, make: Callable[[], GangQueue]) -> None:
        self._session = session
        self._make = make
        self._queue: GangQueue | None = None
        """Made when somebody asks: many searches end before."""
        self._steps: list[VictimBatch] = []
        self._split = False

    def step(self, place: int) -> VictimBatch | None:
        """The step at this place; None when there is no further one that all probes share."""
        if place < len(self._steps):
            return self._steps[place]
        if self._queue is None:
            self._queue = self._make()
        if self._split or not self._queue:
            return None
        gang = self._queue.pop()
        taken, more = self._session.steps_of(gang)
        if more:
            self._split = True
            return None
        batch = VictimBatch.of(gang, taken)
        self._steps.append(batch)
        return batch

    def fork(self, place: int) -> GangQueue:
        """A queue of one's own from which so many steps were taken; empty when the shared one simply ended."""
        if not self._split:
            return GangQueue(self._session, victims=True)
        queue = self._make()
        for _ in range(place):
            queue.pop()
        return queue


@dataclass(slots=True, eq=False)
class Accumulation:
    """The state of one probe. `states()` yields once for each state that passes every screen, beginning with no
    potential victims.

    `freed` are the GPUs that the potential victims free per node, in the order in which the nodes appeared;
    `freed_before` those of the recorded ones."""

    session: Session
    preemptor: GangInfo
    recorded: Sequence[VictimBatch]
    stream: VictimStream
    nodes: NodeList
    potential: list[VictimBatch] = field(default_factory=list)
    pending: list[TaskInfo] = field(default_factory=list)
    freed: dict[str, float] = field(default_factory=dict)
    freed_before: dict[str, float] = field(default_factory=dict)
    _by_node: dict[str, dict[str, None]] = field(default_factory=dict)
    _by_gang: dict[str, list[VictimBatch]] = field(default_factory=dict)
    _indexed: int = 0
    _screens: list[VictimScreen] = field(default_factory=list)
    _known: set[str] = field(default_factory=set)

    def states(self) -> Iterator[None]:
        if not self._begin():
            return
        if self._passes():
            yield
        place = 0
        while (batch := self.stream.step(place)) is not None:
            place += 1
            if not self._is_known(batch.tasks):
                self._add(batch)
                if self._passes():
                    yield
        yield from self._alone(self.stream.fork(place))

    def _alone(self, queue: GangQueue) -> Iterator[None]:
        """From where a gang gives up only a part of itself."""
        while queue:
            batch = self._take(queue)
            if batch is not None:
                self._add(batch)
                if self._passes():
                    yield

    def _begin(self) -> bool:
        self.pending = list(self.session.wanted(self.preemptor, simulation=True))
        if not self.pending:
            return False
        self._screens = screens_for(self.session, self.preemptor, self.pending, self.nodes)
        for batch in self.recorded:
            self._known.update(task.uid for task in batch.tasks)
            self._by_gang.setdefault(batch.gang.uid, []).append(batch)
            self._tell(batch, self.freed_before)
        return True

    def _passes(self) -> bool:
        if all(screen.holds() for screen in self._screens):
            return True
        self.session.tally.filtered[self.session.action] += 1
        return False

    def _is_known(self, tasks: Iterable[TaskInfo]) -> bool:
        known = self._known
        return bool(known) and any(task.uid in known for task in tasks)

    def _take(self, queue: GangQueue) -> VictimBatch | None:
        """The next step of victims from this queue; None when it was only recorded ones. What is left of the gang goes
        back."""
        gang = queue.pop()
        taken, more = self.session.steps_of(gang)
        if self._is_known(taken):
            self._put_back(queue, gang, [task for task in gang.tasks.values() if task.uid not in self._known])
            return None
        if more:
            gone = {task.uid for task in taken}
            self._put_back(queue, gang, [task for task in gang.tasks.values() if task.uid not in gone])
        return VictimBatch.of(gang, taken)

    def _put_back(self, queue: GangQueue, gang: GangInfo, tasks: list[TaskInfo]) -> None:
        if any(task.status & ACTIVE_ALLOCATED for task in tasks):
            queue.push(gang.with_tasks(tasks))

    def _add(self, batch: VictimBatch) -> None:
        self.potential.append(batch)
        self._tell(batch, self.freed)

    def _tell(self, batch: VictimBatch, freed: dict[str, float]) -> None:
        for node, gpus in batch.freed:
            freed[node] = freed.get(node, 0) + gpus
            for screen in self._screens:
                screen.add(node, gpus)

    def _index(self) -> None:
        for batch in self.potential[self._indexed :]:
            uid = batch.gang.uid
            self._by_gang.setdefault(uid, []).append(batch)
            for task in batch.tasks:
                self._by_node.setdefault(task.node, {})[uid] = None
        self._indexed = len(self.potential)

    def batches_on(self, node: str) -> list[VictimBatch]:
        """All steps so far, recorded ones included, of the gangs of which a potential victim is on this node."""
        self._index()
        return [batch for uid in self._by_node.get(node, ()) for batch in self._by_gang[uid]]

    def scenario(self, potential: Sequence[VictimBatch]) -> Scenario:
        return Scenario(self.preemptor, self.pending, self.recorded, potential)
