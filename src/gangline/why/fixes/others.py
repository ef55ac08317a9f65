"""Workloads of others that could be paused: a Job suspended, a set or a Deployment with fewer replicas.

Asked by no_room.py and over_bounds.py, after every change that harms nobody. consequences.py says which pods go then.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from gangline.api import kinds, names
from gangline.api.kinds import Kind
from gangline.api.meta import Raw
from gangline.scheduler.fairness.accounts import line
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.resources import CPU, GPU
from gangline.scheduler.session import Session
from gangline.why.changes import ObjectChange
from gangline.why.objects import ClusterObjects, dig
from gangline.why.queues.bounds import books
from gangline.why.workloads import top_owner

TRIED_OTHERS = 3
SCALED: tuple[Kind[Any], ...] = (kinds.DEPLOYMENT, kinds.STATEFUL_SET, kinds.REPLICA_SET)
"""Kinds that end their pods when they are to have none."""


@dataclass(frozen=True, slots=True)
class PausedWorkload:
    """A change that ends a workload, or a part of it; `replica`: from which one on, of a set."""

    kind: Kind[Any]
    name: str
    namespace: str
    replica: int = 0

    def change(self) -> ObjectChange:
        spec: Raw = {"suspend": True} if self.kind is kinds.JOB else {"replicas": self.replica}
        return ObjectChange(self.kind, self.name, {"spec": spec}, self.namespace)


def paused_others(
    session: Session, objects: ClusterObjects, gang: GangInfo, below: str
) -> list[tuple[ObjectChange, ...]]:
    """Workloads that could be paused, the smallest first; `below`: only those under this queue."""
    held: dict[PausedWorkload, float] = {}
    own = {(item.kind, item.name, item.namespace) for item in _pauses(objects, gang)}
    for other in session.active_gangs():
        if other is gang or not _under(session, other, below):
            continue
        for item in _pauses(objects, other):
            if (item.kind, item.name, item.namespace) not in own:
                held[item] = held.get(item, 0.0) + _holds(other)
    ordered = sorted(held, key=lambda item: (held[item], item.namespace, item.name, -item.replica))
    changes = [item.change() for item in ordered]
    return [*((change,) for change in changes[:TRIED_OTHERS]), *_pairs(changes[-TRIED_OTHERS:])]


def paused(objects: ClusterObjects, gang: GangInfo) -> list[tuple[ObjectChange, ...]]:
    """What ends this one gang, if anything is known to."""
    return [(item.change(),) for item in _pauses(objects, gang)]


def _pairs(changes: list[ObjectChange]) -> Iterator[tuple[ObjectChange, ...]]:
    """Two workloads at once; never one twice."""
    return (pair for pair in combinations(changes, 2) if pair[0].title != pair[1].title)


def _under(session: Session, other: GangInfo, below: str) -> bool:
    proportion = books(session)
    if proportion is None or not below:
        return True
    return below in {account.uid for account in line(proportion.accounts, other.queue)}


def _holds(gang: GangInfo) -> float:
    gpus = sum(task.given[GPU] for task in gang.allocated_tasks)
    return gpus or sum(task.given[CPU] for task in gang.allocated_tasks) / 1000


def _pauses(objects: ClusterObjects, gang: GangInfo) -> Iterator[PausedWorkload]:
    """What ends this gang: of a set, its replica and those after it, or all of them."""
    pod = next(
        (pod for task in gang.tasks.values() if (pod := objects.get(kinds.POD, task.name, task.namespace))), None
    )
    if pod is None:
        return
    named = pod.labels.get(names.PART_OF, "")
    replica = pod.labels.get(names.SET_REPLICA, "")
    if replica.isdigit() and objects.raw(kinds.POD_CLIQUE_SET, named, pod.namespace) is not None:
        for first in sorted({0, int(replica)}):
            yield PausedWorkload(kinds.POD_CLIQUE_SET, named, pod.namespace, first)
        return
    top = top_owner(objects, pod)
    for kind in (kinds.JOB, *SCALED):
        if top is not None and top.get("kind") == kind.kind and dig(top, "apiVersion") == kind.api_version:
            yield PausedWorkload(kind, top["metadata"]["name"], pod.namespace)
