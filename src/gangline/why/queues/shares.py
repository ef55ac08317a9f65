"""How queues stand: what each holds of its fair share, from whom it borrows, why it may not take from others, and why
others do not give back.

Reads the books that the proportion plugin keeps in an open session."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gangline.scheduler.fairness import QueueAccount
from gangline.scheduler.fairness.accounts import DUST, EACH, RESOURCES, UNLIMITED, line
from gangline.scheduler.fairness.reclaim import can_reclaim, where_they_part
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.resources import GPU
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.session import Session
from gangline.scheduler.why.verdict import amount, plain
from gangline.why.queues.bounds import GPU_PLACE, books
from gangline.why.words.amounts import listed


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
    taker = proportion.taker(gang)
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


def not_given_back(session: Session, gang: GangInfo, other: GangInfo) -> str:
    """Why the queue of another gang, or one above it, need not give back what that gang holds; "" where it must."""
    proportion = books(session)
    if proportion is None or other.queue not in proportion.accounts:
        return "keeps its place" if proportion is not None else ""
    if proportion.may_take(gang, other):
        return ""
    mine, theirs = where_they_part(proportion.accounts, gang.queue, other.queue)
    place = GPU_PLACE if session.asked(gang)[GPU] and theirs.allocated[GPU_PLACE] else 0
    held = f"{share_text(theirs.allocated[place], theirs.fair_share[place], place)}{bounds_text(theirs, place)}"
    if theirs.deserved[place] == UNLIMITED:
        field = f"Queue/{theirs.uid} spec.resources.{RESOURCES[place]}.quota"
        return f"stays: queue {theirs.name} holds {held}; its quota has no end ({field}: -1), so it borrows nothing"
    if theirs.allocated[place] <= max(theirs.deserved[place], theirs.fair_share[place]) + DUST:
        return f"stays: queue {theirs.name} holds {held}"
    if why_no_reclaim(session, gang, ()):
        return ""
    asked = proportion.quota_of(session.wanted(gang, simulation=False))[place]
    taken = share_text(mine.allocated[place] + asked, mine.fair_share[place], place)
    return f"stays: queue {theirs.name} holds {held}, and queue {mine.name} would hold {taken}"
