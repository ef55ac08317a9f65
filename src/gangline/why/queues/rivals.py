"""Why nobody makes room: fair share, priority, protection by minimum run time, who cannot be preempted.

Reads the books that the proportion plugin keeps in an open session."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gangline.api import kinds, names
from gangline.rules.values.times import spoken
from gangline.scheduler.fairness import QueueAccount
from gangline.scheduler.fairness.accounts import DUST, EACH, RESOURCES, UNLIMITED, line
from gangline.scheduler.fairness.reclaim import can_reclaim, filter_victim
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.resources import GPU, at
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.plugins.evict.minruntime import (
    LOWEST_COMMON_ANCESTOR,
    preempt_min_runtime,
    reclaim_min_runtime,
    up,
)
from gangline.scheduler.session import Session
from gangline.scheduler.why.verdict import amount, counted, plain
from gangline.why.changes import ObjectChange
from gangline.why.objects import ClusterObjects
from gangline.why.queues.bounds import GPU_PLACE, books, firmness
from gangline.why.queues.spared import spared_text
from gangline.why.words.amounts import listed

SHOWN_HOLDERS = 4


def standing(session: Session, gang: GangInfo, tasks: Sequence[TaskInfo]) -> Iterator[str]:
    """How the gang's queue stands: what it holds, what it may hold, and what would be too much."""
    proportion = books(session)
    if proportion is None or gang.queue not in proportion.accounts:
        return
    asked = proportion.quota_of(tasks)
    for account in line(proportion.accounts, gang.queue):
        for place in reversed(EACH):
            if not asked[place] or (place != GPU_PLACE and asked[GPU_PLACE]):
                continue
            yield (
                f"queue {account.name} holds "
                f"{share_text(account.allocated[place], account.fair_share[place], place)}{bounds_text(account, place)}"
                f"{_lenders(proportion.accounts, account, place)}"
            )
            break


def _lenders(accounts: Mapping[str, QueueAccount], account: QueueAccount, place: int) -> str:
    """Whose quota is borrowed: queues beside it that use less than theirs."""
    if account.deserved[place] == UNLIMITED or account.allocated[place] <= account.deserved[place] + DUST:
        return ""
    resource = RESOURCES[place]
    lenders = [
        f"{other.name} (uses {plain(other.allocated[place], resource)} of its quota of "
        f"{plain(other.deserved[place], resource)})"
        for other in accounts.values()
        if other.parent == account.parent and other is not account and other.deserved[place] > other.allocated[place]
    ]
    return f", of queue {listed(lenders)}" if lenders else ""


def share_text(held: float, share: float, place: int) -> str:
    resource = RESOURCES[place]
    return (
        f"{plain(held, resource)} of its fair share of "
        f"{amount(share, resource) if share != UNLIMITED else 'everything'}"
    )


def bounds_text(account: QueueAccount, place: int) -> str:
    resource = RESOURCES[place]
    quota = account.deserved[place]
    text = f" (quota {plain(quota, resource) if quota != UNLIMITED else 'unlimited'}"
    if account.limit[place] != UNLIMITED:
        text += f", limit {plain(account.limit[place], resource)}"
    borrowed = account.allocated[place] - quota
    return text + (f", borrowing {plain(borrowed, resource)})" if quota != UNLIMITED and borrowed > DUST else ")")


def why_no_reclaim(session: Session, gang: GangInfo, tasks: Sequence[TaskInfo]) -> str:
    """Why the queue may not take from others; "" where it may."""
    proportion = books(session)
    if proportion is None or gang.queue not in proportion.accounts:
        return ""
    account = proportion.accounts[gang.queue]
    taker = proportion._taker(gang)
    if can_reclaim(proportion.accounts, taker):
        return ""
    asked = taker.request.amounts
    for place in reversed(EACH):
        resource, share = RESOURCES[place], account.fair_share[place]
        if share != UNLIMITED and account.allocated[place] + asked[place] > share + DUST:
            return (
                f"queue {account.name} may not take from others: with {plain(asked[place], resource)} more it "
                "would hold "
                f"{amount(account.allocated[place] + asked[place], resource)}, above its fair share of "
                f"{plain(share, resource)}"
            )
    return f"queue {account.name} may not take from others: work that cannot be preempted would be above its quota"


def holders(session: Session, gang: GangInfo, titles: dict[str, str], resource: int = GPU) -> list[str]:
    """Who holds what it needs, the largest first, and why each keeps it."""
    by_size = []
    for other in session.active_gangs():
        if other is gang or other.queue not in session.queues:
            continue
        held = sum(task.given[resource] for task in other.allocated_tasks if resource < len(task.given))
        if held > 0:
            by_size.append((held, other))
    resources = session.cluster.names.names
    by_size.sort(key=lambda item: (-item[0], item[1].uid))
    told = [
        f"{titles.get(other.uid, other.name)} (queue {other.queue}, {amount(held, resources[resource])}) "
        f"{keeps(session, gang, other)}"
        for held, other in by_size[:SHOWN_HOLDERS]
    ]
    rest = len(by_size) - SHOWN_HOLDERS
    return [*told, *([f"and {counted(rest, 'more gang')}"] if rest > 0 else [])]


def keeps(session: Session, gang: GangInfo, other: GangInfo) -> str:
    """Why another gang keeps its place."""
    if not other.preemptible:
        return f"cannot be preempted ({firmness(other)})"
    if other.queue == gang.queue:
        return _keeps_in_queue(session, gang, other)
    proportion = books(session)
    minimum = reclaim_min_runtime(
        {name: queue.record for name, queue in session.queues.items()},
        gang.queue,
        other.queue,
        LOWEST_COMMON_ANCESTOR,
        0.0,
    )
    protected = _protected(session, other, minimum, "reclaimMinRuntime", other.queue)
    if protected:
        return protected
    if proportion is not None and not filter_victim(proportion.accounts, proportion._taker(gang), other.queue):
        account = proportion.accounts[other.queue]
        place = GPU_PLACE if account.allocated[GPU_PLACE] else 0
        return (
            "stays: its queue holds "
            f"{share_text(account.allocated[place], account.fair_share[place], place)}{bounds_text(account, place)}"
        )
    why = why_no_reclaim(session, gang, ())
    if why:
        return "keeps its place"
    return spared_text(session, gang, other) or "may have to leave, but its room is not enough"


def _keeps_in_queue(session: Session, gang: GangInfo, other: GangInfo) -> str:
    if other.priority >= gang.priority:
        same = "the same" if other.priority == gang.priority else "a higher"
        return f"has {same} priority ({other.priority}, against {gang.priority}) in the same queue"
    minimum = preempt_min_runtime({name: queue.record for name, queue in session.queues.items()}, other.queue, 0.0)
    protected = _protected(session, other, minimum, "preemptMinRuntime", other.queue)
    if protected:
        return protected
    if gang.record.preemption_delay and session.now < gang.created + gang.record.preemption_delay:
        return f"has a lower priority ({other.priority}, against {gang.priority}) and leaves once the delay has passed"
    costly = spared_text(session, gang, other)
    return f"has a lower priority ({other.priority}, against {gang.priority}), but {costly or 'its room is not enough'}"


def _protected(session: Session, other: GangInfo, minimum: float, field: str, queue: str) -> str:
    if not minimum or other.last_start is None or session.now >= other.last_start + minimum or other.elastic:
        return ""
    left = other.last_start + minimum - session.now
    where = runtime_queue(session, queue, field)
    return (
        f"is protected for {spoken(left)} more by its minimum run time of {spoken(minimum)} (Queue/{where} "
        f"spec.{field})"
    )


def runtime_queue(session: Session, queue: str, field: str) -> str:
    """The nearest queue upwards that says the minimum run time."""
    records = {name: item.record for name, item in session.queues.items()}
    for record in up(records, queue):
        given = record.preempt_min_runtime if field == "preemptMinRuntime" else record.reclaim_min_runtime
        if given is not None:
            return next(name for name, item in records.items() if item is record)
    return queue


def unprotected(session: Session, gang: GangInfo) -> tuple[ObjectChange, ...]:
    """Queues whose minimum run time protects somebody who could make room."""
    protecting: dict[tuple[str, str], None] = {}
    for other in session.active_gangs():
        if other is gang or not other.preemptible or other.queue not in session.queues:
            continue
        text = keeps(session, gang, other)
        for field in ("preemptMinRuntime", "reclaimMinRuntime"):
            if f"spec.{field})" in text:
                protecting[runtime_queue(session, other.queue, field), field] = None
    return tuple(ObjectChange(kinds.QUEUE, queue, {"spec": {field: "0s"}}) for queue, field in protecting)


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


def why_nobody(
    session: Session,
    objects: ClusterObjects,
    gang: GangInfo,
    tasks: Sequence[TaskInfo],
    titles: dict[str, str],
    resource: int,
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
    yield from holders(session, gang, titles, resource)
    yield from outsiders(session, objects, resource)
