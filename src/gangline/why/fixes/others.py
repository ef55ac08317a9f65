"""Jobs of others that could be paused."""

from __future__ import annotations

from itertools import combinations

from gangline.api import kinds
from gangline.scheduler.fairness.accounts import line
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.resources import CPU, GPU
from gangline.scheduler.session import Session
from gangline.why.changes import ObjectChange
from gangline.why.objects import ClusterObjects, dig
from gangline.why.queues.bounds import books

TRIED_OTHERS = 3


def suspended_others(
    session: Session, objects: ClusterObjects, gang: GangInfo, below: str, titles: dict[str, str]
) -> list[tuple[ObjectChange, ...]]:
    """Jobs that could be paused (spec.suspend), the smallest first; `below`: only those under this queue."""
    proportion = books(session)
    jobs: list[tuple[float, str, ObjectChange]] = []
    for other in session.active_gangs():
        under = (
            proportion is None
            or not below
            or below in {account.uid for account in line(proportion.accounts, other.queue)}
        )
        reference = next(
            (
                item
                for item in dig(
                    objects.raw(kinds.POD_GROUP, other.name, other.namespace), "metadata", "ownerReferences"
                )
                or ()
                if item.get("kind") == "Job"
            ),
            None,
        )
        if other is gang or reference is None or not under:
            continue
        held = (
            sum(task.given[GPU] for task in other.allocated_tasks)
            or sum(task.given[CPU] for task in other.allocated_tasks) / 1000
        )
        jobs.append(
            (held, other.uid, ObjectChange(kinds.JOB, reference["name"], {"spec": {"suspend": True}}, other.namespace))
        )
    jobs.sort(key=lambda job: job[:2])
    changes = [change for _, _, change in jobs]
    return [*((change,) for change in changes[:TRIED_OTHERS]), *combinations(changes[-TRIED_OTHERS:], 2)]
