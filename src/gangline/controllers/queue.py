"""Queue status and metrics: the queues below each queue, and what is asked for and held in all of them.

Stands last on the way back: it reads what the PodGroup controller wrote. Totals go up the tree in one step here,
instead of one write per level. A status is written only when it differs. It never decides anything about a queue."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gangline.api.kai import PodGroup, Queue
from gangline.api.kinds import POD_GROUP, QUEUE
from gangline.api.meta import Raw
from gangline.controllers.queue_metrics import QueueMetrics
from gangline.controllers.queue_tree import FIELDS, QueueTree, parts_of
from gangline.controllers.sums import resource_list_patch
from gangline.rules.objects.lean import lean_group
from gangline.runtime import Again, Context, Controller, Key, Reader, Watch, key_of

AT_ONCE, STEADY = 8.0, 0.5
"""Writes of a queue's status in a row, and per second after that."""


def status_patch(queue: Queue, children: list[str], totals: dict[str, dict[str, str]]) -> Raw | None:
    """The merge patch that brings the status up to date; None when it is."""
    stored = queue.status
    current: dict[str, dict[str, Any]] = {
        "requested": stored.requested,
        "allocated": stored.allocated,
        "allocatedNonPreemptible": stored.allocated_non_preemptible,
    }
    changes: Raw = {
        name: resource_list_patch(current[name], totals[name]) for name in FIELDS if current[name] != totals[name]
    }
    if list(stored.child_queues) != children:
        changes["childQueues"] = children or None
    return {"status": changes} if changes else None


class StatusPace:
    """Lets a queue's status be written often for a moment, then at a steady pace: its sums move with every pod of a
    crowd."""

    def __init__(self) -> None:
        self._spent: dict[str, tuple[float, float]] = {}

    def wait(self, queue: str, now: float) -> float:
        """Seconds until the queue may be written; 0: now, and it counts."""
        spent, since = self._spent.get(queue, (0.0, now))
        spent = max(spent - (now - since) * STEADY, 0.0)
        if spent >= AT_ONCE:
            self._spent[queue] = (spent, now)
            return 1.0 / STEADY
        self._spent[queue] = (spent + 1.0, now)
        return 0.0

    def forget(self, queue: str) -> None:
        self._spent.pop(queue, None)


class Tree:
    """The tree as the watches feed it, and the queues that each change concerns."""

    def __init__(self) -> None:
        self.tree = QueueTree()
        self._concerned: list[str] = []

    def queue_changed(self, before: Queue | None, after: Queue | None) -> bool:
        if after is not None:
            self._concerned = self.tree.set_queue(after.name, after.spec.parent_queue)
        elif before is not None:
            self._concerned = self.tree.drop_queue(before.name)
        return bool(self._concerned)

    def group_changed(self, before: PodGroup | None, after: PodGroup | None) -> bool:
        if after is not None:
            self._concerned = self.tree.set_group(key_of(after), after.spec.queue, parts_of(after))
        elif before is not None:
            self._concerned = self.tree.drop_group(key_of(before))
        return bool(self._concerned)

    def concerned(self, obj: Any, read: Reader) -> Iterable[Key]:
        return [Key("", queue) for queue in self._concerned]


def controller(metrics: QueueMetrics | None = None, workers: int = 4) -> Controller:
    seen = Tree()
    shown = metrics or QueueMetrics()
    pace = StatusPace()

    async def reconcile(ctx: Context, key: Key) -> Again | None:
        queue = ctx.read.get(QUEUE, key.name)
        if queue is None:
            shown.drop(key.name)
            pace.forget(key.name)
            return None
        totals = seen.tree.totals(queue.name)
        patch = status_patch(queue, seen.tree.children(queue.name), totals)
        if patch is not None:
            ctx.writer.take_turn()
            wait = pace.wait(queue.name, ctx.clock.now())
            if wait:
                return Again(wait)
            if not await ctx.writer.report(QUEUE, queue.name, "", patch):
                return None
        shown.show(queue, totals["allocated"])
        return None

    return Controller(
        "queue",
        reconcile,
        workers=workers,
        watches=(
            Watch(QUEUE, seen.concerned, seen.queue_changed),
            Watch(POD_GROUP, seen.concerned, seen.group_changed),
        ),
        trims={POD_GROUP: lean_group},
    )
