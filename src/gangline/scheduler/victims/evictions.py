"""What the evicting actions share: who may trigger them, and the message for a victim.

The sentences are upstream's, because people and tools search for them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.queue import QueueInfo
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.records import DEFAULT_POD_SET
from gangline.scheduler.refusals import DELAYED, PODS, GangRefusals

if TYPE_CHECKING:
    from gangline.scheduler.session import Session


def may_evict(session: Session, gang: GangInfo) -> bool:
    """A gang that asked for patience may not push others out before its delay is over. For one that has room but that a
    plugin refused to bind, evicting would be in vain."""
    if gang.uid in session.bind_refused:
        return False
    delay = gang.record.preemption_delay
    if delay <= 0:
        return True
    until = max(gang.created, gang.last_eviction or 0) + delay
    if session.now >= until:
        return True
    if session.first_time(("delayed", gang.uid)):
        text = f"Preemption delay has not elapsed: the workload may push out others in {until - session.now:.0f} s"
        session.refuse(gang, GangRefusals(DELAYED, (text,), "preemption-delay"))
    return False


def victim_invariant_holds(session: Session, gang: GangInfo) -> bool:
    """Whether evictions could help at all: a task that can run nowhere is refused instead of searching victims for
    it."""
    for task in session.wanted(gang, simulation=True):
        refusal = session.hooks.victim_invariant(task, gang)
        if refusal is not None and not refusal.resolvable:
            session.refuse_task(task, refusal.reason)
            text = f"Resources were not found for pod {task.full_name} due to: {refusal.reason}"
            session.refuse(gang, GangRefusals(PODS, (text,), refusal.plugin, resolvable=False))
            return False
    return True


def preempt_message(gang: GangInfo, task: TaskInfo) -> str:
    return f"Pod {task.full_name} was preempted by higher priority workload {gang.full_name}"


def consolidate_message(task: TaskInfo) -> str:
    return f"Pod {task.full_name} was preempted and rescheduled due to bin packing (resource consolidation) procedure"


def stale_message(gang: GangInfo, task: TaskInfo) -> str:
    assert task.pod_set is not None
    leaf = task.pod_set
    where = "" if len(gang.pod_sets) == 1 and leaf.name == DEFAULT_POD_SET else f" in sub-group {leaf.name}"
    return (
        f"Workload doesn't meet the minimum required number of pods ({leaf.min_available}){where}, "
        f"evicting remaining pod: {task.full_name}"
    )


def reclaim_message(session: Session, gang: GangInfo) -> Callable[[TaskInfo], str]:
    """Names both queues with what they hold and are due, as it was before any eviction."""
    details: dict[str, str] = {}

    def message(task: TaskInfo) -> str:
        assert task.gang is not None
        queue = task.gang.queue
        if queue not in details:
            details[queue] = _both_queues(session, session.queues[queue], session.queues[gang.queue])
        return f"Pod {task.full_name} was preempted by workload {gang.full_name}.\n{details[queue]}"

    return message


def _both_queues(session: Session, loser: QueueInfo, winner: QueueInfo) -> str:
    if loser.parent != winner.parent:
        loser, winner = session.queues.get(loser.parent, loser), session.queues.get(winner.parent, winner)
    return f"{_figures(session, loser)}\n{_figures(session, winner)}"


def _figures(session: Session, queue: QueueInfo) -> str:
    hooks = session.hooks
    held, quota, share = (
        _amount(figure(queue)) for figure in (hooks.queue_allocated, hooks.queue_deserved, hooks.queue_fair_share)
    )
    return (
        f"{queue.title} uses <{held}> with a quota of <{quota}>, fair-share of <{share}> and queue priority of "
        f"<{queue.priority}>."
    )


def _amount(amounts: tuple[float, float, float] | None) -> str:
    if amounts is None:
        return "unknown"
    cpu, memory, gpus = (None if amount == -1 else amount for amount in amounts)
    return f"GPU: {_number(gpus, 1)}, CPU: {_number(cpu, 1000)} (cores), memory: {_number(memory, 1e9)} (GB)"


def _number(value: float | None, unit: float) -> str:
    return "unlimited" if value is None else f"{value / unit:.3f}".rstrip("0").rstrip(".")
