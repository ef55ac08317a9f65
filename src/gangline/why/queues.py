"""What queues refuse, at every level up to the top, and why nobody makes room: fair share, priority, protection, who
cannot be preempted.

Reads the books that the proportion plugin keeps in an open session. The rules are those of scheduler/fairness; here
they are put in words with the field they stand in, and in changes of Queue objects, in the field's own unit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gangline.api import kinds
from gangline.api.meta import Raw
from gangline.scheduler.fairness import Amounts, QueueAccount
from gangline.scheduler.fairness.accounts import DUST, EACH, RESOURCES, UNLIMITED, line, plus
from gangline.scheduler.fairness.reclaim import can_reclaim, filter_victim
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.resources import GPU
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.plugins.capacity.proportion import ProportionPlugin
from gangline.scheduler.plugins.evict.minruntime import (
    LOWEST_COMMON_ANCESTOR,
    preempt_min_runtime,
    reclaim_min_runtime,
    up,
)
from gangline.scheduler.session import Session
from gangline.scheduler.why import bounds
from gangline.scheduler.why.bounds import QUOTA, Excess
from gangline.scheduler.why.verdict import counted, spoken
from gangline.why.amounts import amount, listed, plain
from gangline.why.changes import ObjectChange
from gangline.why.objects import ClusterObjects

FIELD_UNIT = (1.0, 1e6, 1.0)
"""What 1 means in spec.resources of a Queue: a millicore, a megabyte, a GPU."""
WORDS = {"cpu": "millicores", "memory": "MB", "gpu": "GPUs"}
SHOWN_HOLDERS = 4


def excess_text(excess: Excess) -> str:
    """The queue, its bound with the field it stands in, what is in use and what is asked."""
    field = f"Queue/{excess.account.uid} spec.resources.{excess.word}.{excess.bound}"
    whose = "work that cannot be preempted holds" if excess.bound == QUOTA else "in use are"
    return (
        f"queue {excess.account.name} has a {excess.bound} of {amount(excess.allowed, excess.word)} "
        f"({field}: {field_value(excess.allowed, excess.resource)}); {whose} {plain(excess.held, excess.word)}, "
        f"and {plain(excess.needed - excess.held, excess.word)} more are asked"
    )


def figures(excess: Excess) -> Raw:
    """The same as data; amounts in the core's units."""
    return {
        "queue": excess.account.uid,
        "bound": excess.bound,
        "resource": excess.word,
        "allowed": excess.allowed,
        "held": excess.held,
        "asked": excess.needed - excess.held,
    }


def books(session: Session) -> ProportionPlugin | None:
    return next((plugin for plugin in session.hooks.plugins if isinstance(plugin, ProportionPlugin)), None)


def excesses(session: Session, gang: GangInfo, tasks: Sequence[TaskInfo]) -> list[Excess]:
    """Every queue on the way up and every resource that stands against these tasks."""
    proportion = books(session)
    if proportion is None or gang.queue not in proportion.accounts:
        return []
    return bounds.excesses(proportion, gang, tasks)


def raised(objects: ClusterObjects, found: Sequence[Excess]) -> tuple[ObjectChange, ...]:
    """One change per queue that names all its fields."""
    by_queue: dict[str, Raw] = {}
    for item in found:
        fields = by_queue.setdefault(item.account.uid, {})
        fields.setdefault(item.word, {})[item.bound] = field_value(item.needed, item.resource, up_to=True)
    return tuple(ObjectChange(kinds.QUEUE, name, {"spec": {"resources": fields}}) for name, fields in by_queue.items())


def field_value(value: float, resource: int, up_to: bool = False) -> float:
    """An amount in the unit of the field, whole where it can be."""
    if value == UNLIMITED:
        return -1
    written = value / FIELD_UNIT[resource]
    if up_to and resource != GPU_PLACE and not float(written).is_integer():
        return int(written) + 1
    return int(written) if float(written).is_integer() else round(written, 2)


GPU_PLACE = RESOURCES.index("gpu")


# ── why nobody makes room ──


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
                f"{_of(account.allocated[place], account.fair_share[place], place)}{_bounds(account, place)}"
                f"{_lenders(proportion.accounts, account, place)}"
            )
            break


def _lenders(accounts: Mapping[str, QueueAccount], account: QueueAccount, place: int) -> str:
    """Whose quota is borrowed: queues beside it that use less than theirs."""
    if account.deserved[place] == UNLIMITED or account.allocated[place] <= account.deserved[place] + DUST:
        return ""
    resource = RESOURCES[place]
    found = [
        f"{other.name} (uses {plain(other.allocated[place], resource)} of its quota of "
        f"{plain(other.deserved[place], resource)})"
        for other in accounts.values()
        if other.parent == account.parent and other is not account and other.deserved[place] > other.allocated[place]
    ]
    return f", of queue {listed(found)}" if found else ""


def _of(held: float, share: float, place: int) -> str:
    resource = RESOURCES[place]
    return (
        f"{plain(held, resource)} of its fair share of "
        f"{amount(share, resource) if share != UNLIMITED else 'everything'}"
    )


def _bounds(account: QueueAccount, place: int) -> str:
    resource = RESOURCES[place]
    quota = account.deserved[place]
    said = f" (quota {plain(quota, resource) if quota != UNLIMITED else 'unlimited'}"
    if account.limit[place] != UNLIMITED:
        said += f", limit {plain(account.limit[place], resource)}"
    borrowed = account.allocated[place] - quota
    return said + (f", borrowing {plain(borrowed, resource)})" if quota != UNLIMITED and borrowed > DUST else ")")


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
    found = []
    for other in session.active_gangs():
        if other is gang or other.queue not in session.queues:
            continue
        held = sum(task.given[resource] for task in other.allocated_tasks if resource < len(task.given))
        if held > 0:
            found.append((held, other))
    names = session.cluster.names.names
    found.sort(key=lambda item: (-item[0], item[1].uid))
    told = [
        f"{titles.get(other.uid, other.name)} (queue {other.queue}, {amount(held, names[resource])}) "
        f"{keeps(session, gang, other)}"
        for held, other in found[:SHOWN_HOLDERS]
    ]
    rest = len(found) - SHOWN_HOLDERS
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
            f"{_of(account.allocated[place], account.fair_share[place], place)}{_bounds(account, place)}"
        )
    why = why_no_reclaim(session, gang, ())
    return "keeps its place: taking it would not be fair, or would not be enough" if not why else "keeps its place"


def firmness(gang: GangInfo) -> str:
    said = gang.record.preemptible is False
    return "preemptibility: non-preemptible" if said else f"priority {gang.priority}, 100 and above is not preempted"


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
    return f"has a lower priority ({other.priority}, against {gang.priority}), but its room is not enough"


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
    found: dict[tuple[str, str], None] = {}
    for other in session.active_gangs():
        if other is gang or not other.preemptible or other.queue not in session.queues:
            continue
        text = keeps(session, gang, other)
        for field in ("preemptMinRuntime", "reclaimMinRuntime"):
            if f"spec.{field})" in text:
                found[runtime_queue(session, other.queue, field), field] = None
    return tuple(ObjectChange(kinds.QUEUE, queue, {"spec": {field: "0s"}}) for queue, field in found)


def entitled(session: Session, gang: GangInfo, tasks: Sequence[TaskInfo]) -> tuple[ObjectChange, ...]:
    """Quotas on the whole way up with which the queue may take back what it needs."""
    proportion = books(session)
    if proportion is None or gang.queue not in proportion.accounts:
        return ()
    asked: Amounts = proportion.quota_of(tasks)
    fields: dict[str, Raw] = {}
    for account in line(proportion.accounts, gang.queue):
        wanted = plus(account.allocated, asked)
        for place in EACH:
            if asked[place] and account.deserved[place] != UNLIMITED and account.deserved[place] < wanted[place]:
                value = field_value(wanted[place], place, up_to=True)
                fields.setdefault(account.uid, {}).setdefault(RESOURCES[place], {})["quota"] = value
                if account.limit[place] != UNLIMITED and account.limit[place] < wanted[place]:
                    fields[account.uid][RESOURCES[place]]["limit"] = value
    return tuple(ObjectChange(kinds.QUEUE, name, {"spec": {"resources": given}}) for name, given in fields.items())
