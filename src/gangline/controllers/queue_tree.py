"""The queue tree's running totals: what the PodGroups of each queue, and of the queues below it, ask for and hold.

Kept by the Queue controller. A change of one group costs one step per level; moving a queue counts the tree anew, once.
Queues that stand in a ring are counted once each and never loop. No input or output.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gangline.api.kai import PodGroup
from gangline.controllers.sums import Amounts, MemberSum, amounts, printed

FIELDS = ("requested", "allocated", "allocatedNonPreemptible")


class QueueTotals:
    """The three sums of one queue."""

    def __init__(self) -> None:
        self._sums = {name: MemberSum() for name in FIELDS}

    def set(self, member: Any, parts: Mapping[str, Amounts]) -> bool:
        changed = [item.set(member, parts.get(name, {})) for name, item in self._sums.items()]
        return any(changed)

    def printed(self) -> dict[str, dict[str, str]]:
        return {name: printed(item.amounts) for name, item in self._sums.items()}


def parts_of(group: PodGroup) -> dict[str, Amounts]:
    held = group.status.resources_status
    return {
        "requested": amounts(held.requested),
        "allocated": amounts(held.allocated),
        "allocatedNonPreemptible": amounts(held.allocated_non_preemptible),
    }


class QueueTree:
    def __init__(self) -> None:
        self._parent: dict[str, str] = {}
        self._children: dict[str, dict[str, None]] = {}
        self._groups: dict[Any, tuple[str, dict[str, Amounts]]] = {}
        self._totals: dict[str, QueueTotals] = {}
        self._moved = False

    def set_queue(self, queue: str, parent: str) -> list[str]:
        """A queue and its parent; returns the queues whose status this concerns."""
        before = self._parent.get(queue)
        if before == parent:
            return [queue]
        return self._move(queue, before, parent)

    def drop_queue(self, queue: str) -> list[str]:
        return self._move(queue, self._parent.get(queue), None)

    def set_group(self, group: Any, queue: str, parts: dict[str, Amounts]) -> list[str]:
        """A group's queue and what it asks for and holds; returns the queues whose totals changed."""
        touched = self.drop_group(group) if self._groups.get(group, (queue, {}))[0] != queue else []
        self._groups[group] = (queue, parts)
        return touched + self._add(group, queue, parts)

    def drop_group(self, group: Any) -> list[str]:
        queue, _ = self._groups.pop(group, ("", {}))
        return self._add(group, queue, {}) if queue else []

    def children(self, queue: str) -> list[str]:
        return sorted(self._children.get(queue, ()))

    def totals(self, queue: str) -> dict[str, dict[str, str]]:
        if self._moved:
            self._count()
        return self._totals[queue].printed() if queue in self._totals else {name: {} for name in FIELDS}

    def upwards(self, queue: str) -> Iterable[str]:
        """The queue and those above it, each once."""
        seen: dict[str, None] = {}
        while queue and queue not in seen:
            seen[queue] = None
            queue = self._parent.get(queue, "")
        return seen

    def _move(self, queue: str, before: str | None, after: str | None) -> list[str]:
        touched = list(self.upwards(queue))
        if before:
            self._children[before].pop(queue)
        if after is None:
            self._parent.pop(queue, None)
        else:
            self._parent[queue] = after
            if after:
                self._children.setdefault(after, {})[queue] = None
        self._moved = True
        return list(dict.fromkeys([*touched, *self.upwards(queue)]))

    def _add(self, group: Any, queue: str, parts: dict[str, Amounts]) -> list[str]:
        return [
            upward for upward in self.upwards(queue) if self._totals.setdefault(upward, QueueTotals()).set(group, parts)
        ]

    def _count(self) -> None:
        self._moved = False
        self._totals = {}
        for group, (queue, parts) in self._groups.items():
            self._add(group, queue, parts)
