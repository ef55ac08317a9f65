"""Sorted lists of gangs per leaf queue that a whole cycle shares: those that wait, and those that hold something and
may be victims.

Made when first needed and corrected after each committed statement; what-ifs that are undone leave them right. The
queues of `order.py` walk them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.placing.gang_queue import SortedGangs

if TYPE_CHECKING:
    from gangline.scheduler.session import Session


class _List:
    """By queue; `keys` remembers under which key a gang stands."""

    def __init__(self, session: Session, gangs: Iterable[GangInfo]) -> None:
        self._session = session
        self.keys: dict[str, tuple[str, Any]] = {}
        entries: dict[str, list[tuple[Any, GangInfo]]] = {}
        for gang in gangs:
            key = session.gang_key(gang)
            self.keys[gang.uid] = (gang.queue, key)
            entries.setdefault(gang.queue, []).append((key, gang))
        self.queues = {name: SortedGangs(entries[name]) for name in sorted(entries)}
        self.largest = {name: max(_gpus(gang) for _, gang in entries[name]) for name in sorted(entries)}

    def change(self, gang: GangInfo, belongs: bool) -> None:
        old = self.keys.pop(gang.uid, None)
        if old is not None:
            self.queues[old[0]].remove(old[1])
        if belongs:
            key = self._session.gang_key(gang)
            self.keys[gang.uid] = (gang.queue, key)
            self.queues.setdefault(gang.queue, SortedGangs()).add(key, gang)
            self.largest[gang.queue] = max(self.largest.get(gang.queue, 0), _gpus(gang))


class GangLists:
    def __init__(self, session: Session) -> None:
        self._session = session
        self._pending: _List | None = None
        self._victims: _List | None = None

    def pending(self) -> dict[str, SortedGangs]:
        """Gangs with pending tasks, by leaf queue."""
        if self._pending is None:
            self._pending = _List(self._session, self._session.pending_gangs())
        return self._pending.queues

    def victims(self) -> dict[str, SortedGangs]:
        """Preemptible gangs that hold something, by leaf queue."""
        if self._victims is None:
            gangs = self._session.cluster.gangs.values()
            self._victims = _List(self._session, (gang for gang in gangs if self._may_lose(gang)))
        return self._victims.queues

    def _may_lose(self, gang: GangInfo) -> bool:
        """Preemptible, and everything it holds is on nodes that we know."""
        nodes = self._session.cluster.nodes
        return (
            gang.preemptible and gang.active_allocated > 0 and all(task.node in nodes for task in gang.allocated_tasks)
        )

    def largest_victims(self) -> dict[str, float]:
        """Per leaf queue, at least as many GPUs as its largest possible victim has."""
        self.victims()
        assert self._victims is not None
        return self._victims.largest

    def changed(self, gangs: Iterable[GangInfo]) -> None:
        """These gangs' tasks changed for good."""
        if self._pending is None and self._victims is None:
            return
        for gang in {gang.uid: gang for gang in gangs}.values():
            if self._pending is not None:
                self._pending.change(gang, gang.pending > 0)
            if self._victims is not None:
                self._victims.change(gang, self._may_lose(gang))


def _gpus(gang: GangInfo) -> float:
    return sum(max(task.accepted_gpus, task.quota_gpus) for task in gang.tasks.values())
