"""Why nobody makes room: who holds it, and why each keeps it: priority, share, protection, no preemption; who is ahead.

Asks shares.py, protected.py and spared.py about each gang that holds the room. Reads an open session.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gangline.api import kinds, names
from gangline.rules.values.times import spoken
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.resources import GPU, at
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.session import Session
from gangline.scheduler.why.verdict import amount, counted
from gangline.why.objects import ClusterObjects
from gangline.why.queues.bounds import firmness
from gangline.why.queues.protected import protected_text
from gangline.why.queues.shares import not_given_back, standing, why_no_reclaim
from gangline.why.queues.spared import spared_text
from gangline.why.words.amounts import listed

SHOWN_HOLDERS = 4


def holders(session: Session, gang: GangInfo, titles: dict[str, str], resources: Sequence[int] = (GPU,)) -> list[str]:
    """Who holds what it needs, those with most of the first resource first, and why each keeps it."""
    by_size = []
    for other in session.active_gangs():
        if other is gang or other.queue not in session.queues:
            continue
        held = [sum(at(task.given, place) for task in other.allocated_tasks) for place in resources]
        if any(share > 0 for share in held):
            by_size.append((held, other))
    by_size.sort(key=lambda item: ([-share for share in item[0]], item[1].uid))
    known = session.cluster.names.names
    named = []
    for held, other in by_size[:SHOWN_HOLDERS]:
        shares = [amount(share, known[place]) for place, share in zip(resources, held, strict=True) if share > 0]
        named.append(
            f"{titles.get(other.uid, other.name)} (queue {other.queue}, {', '.join(shares)}) "
            f"{keeps(session, gang, other)}"
        )
    rest = len(by_size) - SHOWN_HOLDERS
    return [*named, *([f"and {counted(rest, 'more gang')}"] if rest > 0 else [])]


def keeps(session: Session, gang: GangInfo, other: GangInfo) -> str:
    """Why another gang keeps its place."""
    if not other.preemptible:
        return f"cannot be preempted ({firmness(other)})"
    if other.queue == gang.queue:
        return _keeps_in_queue(session, gang, other)
    protected = protected_text(session, gang, other)
    owed = not_given_back(session, gang, other)
    if owed:
        return f"{owed}; it also {protected}" if protected and not other.elastic else owed
    if protected:
        return protected
    if why_no_reclaim(session, gang, ()):
        return f"stays: queue {gang.queue} may not take it from queue {other.queue}"
    return spared_text(session, gang, other) or "may have to leave, but its room is not enough"


def _keeps_in_queue(session: Session, gang: GangInfo, other: GangInfo) -> str:
    if other.priority >= gang.priority:
        same = "the same" if other.priority == gang.priority else "a higher"
        return f"has {same} priority ({other.priority}, against {gang.priority}) in the same queue"
    protected = protected_text(session, gang, other)
    if protected:
        return protected
    if gang.record.preemption_delay and session.now < gang.created + gang.record.preemption_delay:
        return f"has a lower priority ({other.priority}, against {gang.priority}) and leaves once the delay has passed"
    costly = spared_text(session, gang, other)
    return f"has a lower priority ({other.priority}, against {gang.priority}), but {costly or 'its room is not enough'}"


def outsiders(session: Session, objects: ClusterObjects, resource: int) -> Iterator[str]:
    """Pods of other schedulers that hold what it needs: nobody here may move them."""
    by_scheduler: dict[str, list[tuple[float, str]]] = {}
    for node in session.cluster.nodes.values():
        for placed in node.placed.values():
            task = placed.task
            held = at(task.given, resource)
            if task.record.gang or task.record.utility or not held:
                continue
            pod = objects.get(kinds.POD, task.name, task.namespace)
            scheduler = (pod.spec.scheduler_name if pod is not None else "") or names.DEFAULT_SCHEDULER
            by_scheduler.setdefault(scheduler, []).append((held, task.name))
    name = session.cluster.names.names[resource]
    for scheduler, pods in sorted(by_scheduler.items()):
        largest = [pod for _, pod in sorted(pods, key=lambda item: (-item[0], item[1]))]
        yield (
            f"{counted(len(pods), 'pod')} of another scheduler, {scheduler}, {'holds' if len(pods) == 1 else 'hold'} "
            f"{amount(sum(held for held, _ in pods), name)} ({listed(largest)}) and cannot be evicted for it"
        )


def ahead(session: Session, gang: GangInfo) -> list[GangInfo]:
    """Gangs of its queue that wait as well, and get room before it."""
    mine = session.gang_key(gang)
    others = [
        other for other in session.waiting_gangs() if other.queue == gang.queue and session.gang_key(other) < mine
    ]
    return sorted(others, key=session.gang_key)


def ahead_text(session: Session, gang: GangInfo, titles: dict[str, str]) -> str:
    """Who gets room first, with the priority where that is why; "" where nobody does."""
    before = [
        f"{titles.get(other.uid, other.name)} (priority {other.priority}, against {gang.priority})"
        for other in ahead(session, gang)
    ]
    wait, get = ("waits", "gets") if len(before) == 1 else ("wait", "get")
    return f"{listed(before)} {wait} before it in queue {gang.queue}, and {get} room first" if before else ""


def why_nobody(
    session: Session,
    objects: ClusterObjects,
    gang: GangInfo,
    tasks: Sequence[TaskInfo],
    titles: dict[str, str],
    resources: Sequence[int],
) -> Iterator[str]:
    """Why those who hold the room keep it."""
    yield from standing(session, gang, tasks)
    why = why_no_reclaim(session, gang, tasks)
    if why:
        yield why
    delay = gang.record.preemption_delay
    if delay and session.now < gang.created + delay:
        yield (
            f"it makes nobody leave before {spoken(gang.created + delay - session.now)} have passed "
            f"(preemptionDelay {spoken(delay)})"
        )
    yield from holders(session, gang, titles, resources)
    yield from outsiders(session, objects, resources[0])
