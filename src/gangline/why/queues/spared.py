"""Gangs that could make room and are spared, because their eviction costs too much (plugin disruption): which limit, by
how much, and the budgets that could be raised.

Asked by rivals.py about each gang that holds the room, and by no_room.py for changes. Reads an open session.
"""

from __future__ import annotations

import math
from collections import Counter

from gangline.api import kinds, names
from gangline.rules.values.times import spoken
from gangline.scheduler.fairness.capacity import decimals
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.resources import GPU
from gangline.scheduler.plugins.evict.disruption import DisruptionPlugin, SparedVictim
from gangline.scheduler.session import Session
from gangline.scheduler.victims.budgets import budgets_of, kept_by
from gangline.scheduler.why.verdict import counted
from gangline.why.changes import ObjectChange

BUDGETS = {"evictions": names.EVICTIONS_PER_DAY, "lost": names.LOST_PER_HOUR}


def spared(session: Session, gang: GangInfo, other: GangInfo) -> SparedVictim | None:
    """Why reclaim or preempt does not take the other gang's place; None: the price is not why."""
    plugin = next((item for item in session.hooks.plugins if isinstance(item, DisruptionPlugin)), None)
    if plugin is None:
        return None
    before, session.action = session.action, "preempt" if other.queue == gang.queue else "reclaim"
    try:
        return plugin.spared(gang, other)
    finally:
        session.action = before


def spared_text(session: Session, gang: GangInfo, other: GangInfo) -> str:
    """Completes "old (queue a, 8 GPUs) …"; empty where neither the price nor a budget of its pods is why."""
    reason = spared(session, gang, other)
    if reason is None:
        return _kept_text(session, other)
    held, allowed = decimals(reason.held), decimals(reason.allowed)
    asked = session.asked(gang)[GPU]
    reasons = {
        "placed": "was placed a moment ago",
        "ratio": f"holds {counted(reason.held, 'GPU')}, and for {counted(asked, 'GPU')} asked at most {allowed} are "
        f"evicted ({decimals(reason.allowed / max(math.ceil(asked), 1))} times as many: argument ratio of plugin "
        "disruption)",
        "evictions": f"was evicted {held} times today, and its queue allows {allowed} (Queue/{other.queue} annotation "
        f"{names.EVICTIONS_PER_DAY})",
        "grace": f"was evicted {spoken(reason.held)} ago and is left alone for {spoken(reason.allowed)} (argument "
        "grace of plugin disruption)",
        "lost": f"would lose {counted(reason.held, 'GPU-hour')} of work, above what its queue may lose in an hour "
        f"({allowed}: Queue/{other.queue} annotation {names.LOST_PER_HOUR})",
        "price": f"would lose {counted(reason.held, 'GPU-hour')} of work, restart included, and starting this gang now "
        f"is worth {allowed} so far; that grows while it waits",
    }
    return f"stays, because its eviction is too costly (EvictionTooCostly): it {reasons[reason.limit]}"


def _kept_text(session: Session, other: GangInfo) -> str:
    """The PodDisruptionBudgets that do not let its pods go."""
    honoured = any(isinstance(item, DisruptionPlugin) for item in session.hooks.plugins)
    if not honoured or other.elastic or kept_by(session.cluster, other.allocated_tasks):
        return ""
    counts = Counter(
        (budget.name, budget.allowed) for task in other.allocated_tasks for budget in budgets_of(session.cluster, task)
    )
    reasons = [
        f"PodDisruptionBudget {name} lets {allowed} of its {counted(pods, 'pod')} go (status.disruptionsAllowed)"
        for (name, allowed), pods in sorted(counts.items())
    ]
    return f"stays: {' and '.join(reasons)}"


def raised_budgets(session: Session, gang: GangInfo) -> tuple[ObjectChange, ...]:
    """Queues whose budget of evictions protects somebody who could make room."""
    needed: dict[str, dict[str, str]] = {}
    for other in session.active_gangs():
        if other is gang or not other.preemptible or other.queue not in session.queues:
            continue
        reason = spared(session, gang, other)
        if reason is not None and reason.limit in BUDGETS:
            notes = needed.setdefault(other.queue, {})
            key = BUDGETS[reason.limit]
            notes[key] = str(max(int(notes.get(key, 0)), math.ceil(reason.held + 1)))
    return tuple(
        ObjectChange(kinds.QUEUE, queue, {"metadata": {"annotations": dict(notes)}}) for queue, notes in needed.items()
    )
