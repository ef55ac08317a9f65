"""A gang that lost its pods to others: when, to whom, and whether it comes back."""

from __future__ import annotations

from gangline.api import kinds
from gangline.rules.gangs.evictions import failure_of, last_eviction, prospects
from gangline.scheduler.why.verdict import counted
from gangline.why.cause import Cause
from gangline.why.objects import ClusterObjects
from gangline.why.states.members import living
from gangline.why.workloads import Subject


def evicted(subject: Subject) -> Cause | None:
    """A gang that lost its pods to others, and that nobody makes anew."""
    eviction = last_eviction(subject.group) if subject.group is not None else None
    if eviction is None or living(subject) or (subject.top is not None and subject.top_kind != "Pod"):
        return None
    by = f" by {eviction.by.partition('/')[2] or eviction.by}" if eviction.by else ""
    return Cause(
        "evicted",
        f"at {eviction.at}{by} ({eviction.action}): {eviction.pods} of {counted(eviction.of, 'pod')}; no "
        "controller makes them "
        "anew, so it does not come back by itself",
        state="was evicted",
    )


def eviction_line(objects: ClusterObjects, subject: Subject, titles: dict[str, str]) -> str:
    """When, by whom and why pods of it were evicted last, and whether they come back; "" where none were."""
    eviction = last_eviction(subject.group) if subject.group is not None else None
    if eviction is None:
        return ""
    reason = {
        "reclaim": "reclaim: its queue gave back what it had borrowed",
        "preempt": "preempt: higher priority in the same queue",
        "consolidation": "consolidation: to move closer together",
        "stalegangeviction": "stalegangeviction: it was below its minimum for too long",
    }.get(eviction.action, eviction.action)
    by = f" by {titles.get(eviction.by, eviction.by)}" if eviction.by else ""
    of = counted(eviction.of, "pod")
    return f"last evicted {eviction.at}{by} ({reason}): {eviction.pods} of {of}; {_comes_back(objects, subject)}"


def _comes_back(objects: ClusterObjects, subject: Subject) -> str:
    if subject.top is None or subject.top_kind == "Pod":
        return "no controller makes them anew"
    name = subject.top["metadata"]["name"]
    job = objects.get(kinds.JOB, name, subject.namespace) if subject.top_kind == kinds.JOB.kind else None
    if failure_of(job) is not None:
        return prospects(job, kinds.JOB.kind, waits=False)
    return f"{subject.top_kind}/{name} makes them anew"
