"""Skipping gangs that cannot do better than one that already failed: same constraints, and nothing smaller about them.

Gangs are compared by a signature of everything but their size (`signature`); per signature the smallest failed gang is
kept. Used by the evicting actions when signatures are switched on and every plugin is a built-in one: one of another
package may refuse a gang for what no signature has. Where evictions have a price a larger gang, or one that has waited
for longer, may evict more than a smaller one: then only gangs of the same size that came later are skipped."""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING

from gangline.scheduler.model.gang import GangInfo, Group, PodSet
from gangline.scheduler.model.resources import Vector, fits
from gangline.scheduler.model.status import ACTIVE_ALLOCATED, Status
from gangline.scheduler.model.task import TaskInfo

if TYPE_CHECKING:
    from gangline.scheduler.session import Session


class FailedGangs:
    """The smallest failed gang per signature."""

    def __init__(self, session: Session) -> None:
        self._on = session.settings.signatures and session.built_in_only
        self._spreads = session.cluster.spreading if session.settings.spreads else {}
        """Pods that fare as the labels of others let them, which no signature has."""
        self._priced = session.hooks.somebody_prices
        self._smallest: dict[str, list[Vector]] = {}
        self._earliest: dict[tuple[str, tuple[Vector, ...]], float] = {}
        """Where evictions have a price: since when the gang waits that failed, per signature and size."""

    def hopeless(self, gang: GangInfo) -> bool:
        """Whether a gang that is no harder has failed already."""
        if not self._on or (self._spreads and any(uid in self._spreads for uid in gang.tasks)):
            return False
        if self._priced:
            earliest = self._earliest.get((gang_signature(gang), tuple(sizes(gang))))
            return earliest is not None and waits_since(gang) >= earliest
        failed = self._smallest.get(gang_signature(gang))
        return failed is not None and not easier(sizes(gang), failed)

    def add(self, gang: GangInfo) -> None:
        if not self._on:
            return
        signature, mine = gang_signature(gang), sizes(gang)
        if self._priced:
            key = (signature, tuple(mine))
            self._earliest[key] = min(waits_since(gang), self._earliest.get(key, math.inf))
            return
        known = self._smallest.get(signature)
        if known is None or (len(mine) <= len(known) and all(fits(a, b) for a, b in zip(mine, known, strict=False))):
            self._smallest[signature] = mine


def waits_since(gang: GangInfo) -> float:
    """When the gang came, or was evicted last."""
    return gang.created if gang.last_eviction is None else max(gang.created, gang.last_eviction)


def sizes(gang: GangInfo) -> list[Vector]:
    return sorted(task.request for task in gang.tasks.values() if task.status == Status.PENDING)


def easier(mine: list[Vector], failed: list[Vector]) -> bool:
    """Fewer tasks, or the first that differs is smaller."""
    if not mine or not failed:
        return False
    if len(failed) > len(mine):
        return True
    for place, size in enumerate(mine):
        if place >= len(failed):
            return False
        if fits(size, failed[place]) and size != failed[place]:
            return True
    return False


def gang_signature(gang: GangInfo) -> str:
    cached = gang.signature_key
    if cached is None or cached[0] != gang.original.version:
        leaves = sorted(_leaf_signature(leaf) for leaf in gang.pod_sets.values())
        cached = gang.signature_key = (gang.original.version, _digest(leaves))
    return cached[1]


def _leaf_signature(leaf: PodSet) -> str:
    waiting = sorted(task_signature(task) for task in leaf.tasks.values() if not task.status & ACTIVE_ALLOCATED)
    if not waiting:
        return ""
    rules: list[str] = []
    member: PodSet | Group | None = leaf
    while member is not None:
        rule = member.topology
        rules.append(f"{rule.topology}:{rule.required}:{rule.preferred}" if rule else "")
        member = member.parent
    return _digest(["|".join(rules), *waiting])


def task_signature(task: TaskInfo) -> str:
    """Everything that decides where a task may run, except how much it asks for and its namespace."""
    record = task.record
    return record.signature or _digest(
        [
            repr(record.volumes),
            repr(sorted(record.node_selector.items())),
            repr(record.node_affinity),
            repr(record.pod_affinity),
            repr(record.pod_anti_affinity),
            repr(record.preferred_affinity),
            repr(record.preferred_anti_affinity),
            repr(record.tolerations),
            record.priority_class,
            str(record.priority),
            repr(record.host_ports),
        ]
    )


def _digest(parts: list[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
