"""The cause of a gang whose queue, or a queue above it, may not hold it."""

from __future__ import annotations

from collections.abc import Sequence

from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.session import Session
from gangline.scheduler.why.bounds import QUOTA
from gangline.why.cause import Cause
from gangline.why.fixes.gang import lower_minimum, preemptible
from gangline.why.fixes.others import paused_others
from gangline.why.objects import ClusterObjects
from gangline.why.queues.bounds import excess_text, excesses, figures, firmness, raised
from gangline.why.workloads import Subject


def over_bounds(
    session: Session, objects: ClusterObjects, subject: Subject, gang: GangInfo, tasks: Sequence[TaskInfo]
) -> Cause | None:
    over = excesses(session, gang, tasks)
    if not over:
        refusal = session.over_capacity(gang, list(tasks))
        if refusal is None:
            return None
        return Cause("refused", f"plugin {refusal.plugin} refuses: {'; '.join(refusal.messages) or refusal.reason}")
    first = over[0]
    code = "limit" if first.bound == "limit" else "quota"
    firm = "" if first.bound == "limit" else f"; it cannot be preempted ({firmness(gang)})"
    lower = lower_minimum(session, subject, gang, over)
    fixes = [
        raised(objects, over),
        *([preemptible(objects, subject)] if all(item.bound == QUOTA for item in over) else []),
        *([lower] if lower else []),
        *paused_others(session, objects, gang, first.account.uid),
    ]
    return Cause(
        code,
        f"{excess_text(first)}{firm}",
        tuple(excess_text(item) for item in over[1:]),
        tuple(fix for fix in fixes if fix),
        proof={"queues": [figures(item) for item in over]},
    )
