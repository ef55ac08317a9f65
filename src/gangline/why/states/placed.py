"""A workload that has its nodes: running, or starting with the pod that is late; and surplus pods that wait."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gangline.api import kinds
from gangline.api.core import Pod
from gangline.rules.values import times
from gangline.rules.values.times import spoken
from gangline.scheduler.why.verdict import counted
from gangline.why.cause import Cause
from gangline.why.changes import ObjectChange
from gangline.why.nodes.condition import not_ready
from gangline.why.objects import ClusterObjects
from gangline.why.schedulers.components import pool_of
from gangline.why.states.lacking import lacking
from gangline.why.states.members import holds_minimum, is_ready, leaves_of, living
from gangline.why.states.spread import uneven
from gangline.why.states.starting import starting
from gangline.why.workloads import Subject


def placed(objects: ClusterObjects, subject: Subject) -> Cause | None:
    if not holds_minimum(subject):
        return None
    bound = [pod for pod in living(subject) if pod.spec.node_name]
    late = [pod for pod in bound if not is_ready(pod)]
    if late:
        fixes = _what_they_lack(objects, late)
        return Cause(
            "starting",
            f"{len(bound) - len(late)} of {len(bound)} pods {'is' if len(bound) - len(late) == 1 else 'are'} ready; "
            f"{starting(objects, late[0])}",
            facts=(
                f"on {_where(bound)}{_queue(subject)}",
                *(starting(objects, pod) for pod in late[1:4]),
                *_lost_nodes(objects, bound),
            ),
            fixes=fixes,
            state="is starting",
            pods_change=bool(fixes),
            transient=not fixes,
        )
    why = f"{counted(len(bound), 'pod')} on {_where(bound)}{_since(objects, bound)}{_queue(subject)}"
    waiting = len(living(subject)) - len(bound)
    if not waiting:
        facts = (*_lost_nodes(objects, bound), *_unevenly(objects, subject, bound))
        return Cause("running", why, facts, state="runs")
    return Cause(
        "surplus",
        f"{why}; {counted(waiting, 'more pod')}{_above(subject)} {'waits' if waiting == 1 else 'wait'}",
        state="runs",
    )


def _above(subject: Subject) -> str:
    """Where somebody says a minimum."""
    known = subject.group is not None or subject.gang is not None
    return f" above its minimum of {sum(leaves_of(subject).values())}" if known else ""


def _lost_nodes(objects: ClusterObjects, bound: Sequence[Pod]) -> tuple[str, ...]:
    """Nodes of its pods that are not ready, or gone: what runs there nobody knows."""
    nodes = Counter(pod.spec.node_name for pod in bound)
    told = []
    for name, count in sorted(nodes.items()) if kinds.NODE.resource not in objects.unread else ():
        on_it = f"node {name}, which has {counted(count, 'pod')} of it,"
        node = objects.raw(kinds.NODE, name)
        if node is None:
            told.append(f"{on_it} is gone")
        told += [f"{on_it} {text}" for text in not_ready(objects, node or {})]
    return tuple(told)


def _unevenly(objects: ClusterObjects, subject: Subject, bound: Sequence[Pod]) -> tuple[str, ...]:
    return tuple(uneven(objects, bound, pool_of(subject))) if subject.group is not None else ()


def _what_they_lack(objects: ClusterObjects, late: Sequence[Pod]) -> tuple[tuple[ObjectChange, ...], ...]:
    """One change that makes every object that these pods wait for, if they wait for any."""
    fixes = [fix for pod in late if (lacks := lacking(objects, pod)) is not None for fix in lacks.fixes]
    made = tuple({(fix.kind.kind, fix.name, str(fix.body)): fix for fix in fixes}.values())
    return (made,) if made else ()


def _where(bound: Sequence[Pod]) -> str:
    """`n1 (4), n2`: nodes with how many of the pods."""
    nodes = Counter(pod.spec.node_name for pod in bound)
    return ", ".join(f"{node} ({count})" if count > 1 else node for node, count in sorted(nodes.items())[:6])


def _queue(subject: Subject) -> str:
    return f", queue {subject.group.spec.queue}" if subject.group is not None and subject.group.spec.queue else ""


def _since(objects: ClusterObjects, bound: Sequence[Pod]) -> str:
    began = min((pod.status.start_time or pod.metadata.creation_timestamp or "" for pod in bound), default="")
    ago = max(objects.now - (times.seconds(began) or objects.now), 0)
    return f" since {began} ({spoken(ago)})" if began else ""
