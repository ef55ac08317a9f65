"""Claims of access mode ReadWriteOncePod: one pod at a time uses them, another waits until it has left.

Asked by claims.py, after what is missing altogether. Reads an open session whose scheduler honours the mode.
"""

from __future__ import annotations

from collections.abc import Sequence

from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.plugins.fit.volumerestrictions import VolumeRestrictionsPlugin, taken_claim
from gangline.scheduler.session import Session
from gangline.scheduler.why.verdict import counted
from gangline.why.cause import Cause
from gangline.why.fixes.gang import lower_minimum
from gangline.why.fixes.others import paused
from gangline.why.objects import ClusterObjects
from gangline.why.workloads import Subject

MODE = "(spec.accessModes: [ReadWriteOncePod])"


def single_use_cause(
    session: Session, objects: ClusterObjects, subject: Subject, gang: GangInfo, tasks: Sequence[TaskInfo]
) -> Cause | None:
    """A claim that somebody uses already, or that several pods of the gang itself name."""
    if not any(isinstance(plugin, VolumeRestrictionsPlugin) for plugin in session.hooks.plugins):
        return None
    for task in tasks:
        taken = taken_claim(session.cluster, task)
        if taken is not None:
            name, user = taken
            fixes = paused(objects, user.gang) if user.gang is not None and user.gang is not gang else []
            why = f"PersistentVolumeClaim {name} serves one pod at a time {MODE}, and pod {user.name} uses it"
            return Cause("volume", why, (f"pod {task.name} names it, too",), tuple(fixes))
    return _shared(session, subject, gang, tasks)


def _shared(session: Session, subject: Subject, gang: GangInfo, tasks: Sequence[TaskInfo]) -> Cause | None:
    """No two pods of a gang can use it at once."""
    naming: dict[str, list[TaskInfo]] = {}
    for task in tasks:
        for name in task.record.volumes:
            claim = session.cluster.volume_claims.get((task.namespace, name))
            if claim is not None and claim.single:
                naming.setdefault(name, []).append(task)
    shared = next(((name, mine) for name, mine in naming.items() if len(mine) > 1), None)
    if shared is None:
        return None
    name, mine = shared
    lower = lower_minimum(session, subject, gang, (), len(tasks) - len(mine) + 1)
    return Cause(
        "volume",
        f"PersistentVolumeClaim {name} serves one pod at a time {MODE}, and {counted(len(mine), 'pod')} of the gang "
        "name it",
        fixes=(lower,) if lower else (),
    )
