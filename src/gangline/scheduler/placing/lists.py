"""Sorted lists of gangs per leaf queue: those that wait, and those that hold something and may be victims.

Corrected after each committed statement; what-ifs that are undone leave them right. The list of waiting gangs is made
when a cycle first needs it; that of victims, which may be a hundred thousand, is kept from cycle to cycle and follows
the cluster's log of gangs that changed. The queues of `gang_queue.py` walk them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.placing.gang_queue import SortedGangs

if TYPE_CHECKING:
    from gangline.scheduler.session import Session


class _Entry(NamedTuple):
    """Under which key a gang stands, in which queue, and what is counted of it."""

    queue: str
    key: Any
    gpus: float
    priority: int


class _QueueLists:
    """Gangs by queue, each queue in key order."""

    def __init__(self) -> None:
        self.queues: dict[str, SortedGangs] = {}
        self._entries: dict[str, _Entry] = {}
        self._gpus: defaultdict[str, Counter[float]] = defaultdict(Counter)
        self._priorities: defaultdict[str, Counter[int]] = defaultdict(Counter)

    def fill(self, session: Session, gangs: Iterable[GangInfo]) -> None:
        """Anew, with all of these."""
        by_queue: dict[str, list[tuple[Any, GangInfo]]] = {}
        self._entries, self._gpus, self._priorities = {}, defaultdict(Counter), defaultdict(Counter)
        for gang in gangs:
            entry = self._note(session, gang)
            by_queue.setdefault(gang.queue, []).append((entry.key, gang))
        self.queues = {name: SortedGangs(by_queue[name]) for name in sorted(by_queue)}

    def change(self, session: Session, uid: str, gang: GangInfo | None) -> None:
        """`gang` None: it does not belong here, or no longer."""
        old = self._entries.pop(uid, None)
        if old is not None:
            self.queues[old.queue].remove(old.key)
            _uncount(self._gpus[old.queue], old.gpus)
            _uncount(self._priorities[old.queue], old.priority)
        if gang is not None:
            entry = self._note(session, gang)
            self.queues.setdefault(gang.queue, SortedGangs()).add(entry.key, gang)

    def _note(self, session: Session, gang: GangInfo) -> _Entry:
        entry = self._entries[gang.uid] = _Entry(gang.queue, session.gang_key(gang), _gpus(gang), gang.priority)
        self._gpus[entry.queue][entry.gpus] += 1
        self._priorities[entry.queue][entry.priority] += 1
        return entry

    def settle(self) -> None:
        """As if made anew: queues by name, none that is empty."""
        self.queues = {name: self.queues[name] for name in sorted(self.queues) if self.queues[name]}

    def largest(self) -> dict[str, float]:
        return {name: max(self._gpus[name], default=0.0) for name in self.queues}

    def lowest_priority(self, queue: str) -> int | None:
        return min(self._priorities.get(queue, ()), default=None)


def _uncount(counter: Counter[Any], value: float) -> None:
    counter[value] -= 1
    if not counter[value]:
        del counter[value]


class _VictimLists(_QueueLists):
    """Of gangs that may be victims; kept by the cluster between cycles. `changed`: gangs whose entries were corrected
    in a cycle, after which the model is put back as it was."""

    def __init__(self) -> None:
        super().__init__()
        self.changed: dict[str, None] = {}
        self._seen = 0
        self._state: object = None

    def refresh(self, session: Session) -> None:
        cluster = session.cluster
        state = (cluster.looks_epoch, cluster.generation)
        if state != self._state:
            self._state = state
            self.fill(session, (gang for gang in cluster.gangs.values() if may_lose(session, gang)))
        else:
            for uid in dict.fromkeys([*self.changed, *cluster.looks[self._seen :]]):
                gang = cluster.gangs.get(uid)
                self.change(session, uid, gang if gang is not None and may_lose(session, gang) else None)
            self.settle()
        self._seen = len(cluster.looks)
        self.changed.clear()


def may_lose(session: Session, gang: GangInfo) -> bool:
    """Preemptible, and everything it holds is on nodes that we know."""
    nodes = session.cluster.nodes
    return gang.preemptible and gang.active_allocated > 0 and all(task.node in nodes for task in gang.allocated_tasks)


class GangLists:
    def __init__(self, session: Session) -> None:
        self._session = session
        self._pending: _QueueLists | None = None
        self._victims: _VictimLists | None = None

    def pending(self) -> dict[str, SortedGangs]:
        """Gangs with pending tasks, by leaf queue."""
        if self._pending is None:
            self._pending = _QueueLists()
            self._pending.fill(self._session, self._session.pending_gangs())
        return self._pending.queues

    def victims(self) -> dict[str, SortedGangs]:
        """Preemptible gangs that hold something, by leaf queue."""
        return self._all_victims().queues

    def _all_victims(self) -> _VictimLists:
        """Taken from the cluster as long as this session is open, so that no other one changes them."""
        if self._victims is None:
            self._victims = self._session.cluster.memo.pop(self._key, None) or _VictimLists()
            self._victims.refresh(self._session)
        return self._victims

    @property
    def _key(self) -> tuple[str, object]:
        return "victims", self._session.token

    def give_back(self) -> None:
        """The session is over, and the model is as it was before."""
        if self._victims is not None:
            self._session.cluster.memo[self._key] = self._victims
            self._victims = None

    def largest_victims(self) -> dict[str, float]:
        """GPUs of the largest possible victim of each leaf queue."""
        return self._all_victims().largest()

    def lowest_priority(self, queue: str) -> int | None:
        """Of the possible victims of this queue; None: there are none."""
        return self._all_victims().lowest_priority(queue)

    def changed(self, gangs: Iterable[GangInfo]) -> None:
        """These gangs' tasks changed for good."""
        if self._pending is None and self._victims is None:
            return
        for gang in {gang.uid: gang for gang in gangs}.values():
            if self._pending is not None:
                self._pending.change(self._session, gang.uid, gang if gang.pending else None)
            if self._victims is not None:
                self._victims.changed[gang.uid] = None
                self._victims.change(self._session, gang.uid, gang if may_lose(self._session, gang) else None)


def _gpus(gang: GangInfo) -> float:
    return sum([max(task.accepted_gpus, task.quota_gpus) for task in gang.tasks.values()])
