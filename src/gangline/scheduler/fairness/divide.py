"""The fair share of every queue: quota first, then what is left by priority, weight and past usage, then the
rounded-off rest.

Asked by plugins/capacity/proportion.py when a cycle opens. Siblings divide what their parent got, top queues divide the
cluster. Shares grow in whole GPUs, millicores and bytes, because a limit at 2.33 GPUs helps nobody. Quotas that
promise more than there is are not scaled down.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from gangline.scheduler.fairness.accounts import (
    CPU,
    EACH,
    GPU,
    MEMORY,
    NOTHING,
    UNLIMITED,
    Accounts,
    Amounts,
    QueueAccount,
)


class QueueClaim:
    """One queue's claim on one resource while it is being divided."""

    __slots__ = ("created", "limit", "priority", "request", "requestable", "rest", "share", "uid", "usage", "weight")

    def __init__(self, account: QueueAccount, resource: int) -> None:
        self.uid = account.uid
        self.created = account.created
        self.priority = account.priority
        self.limit = account.limit[resource]
        self.request = account.request[resource]
        self.requestable = account.requestable(resource)
        self.weight = account.weight[resource]
        self.usage = account.usage[resource]
        self.share = account.fair_share[resource]
        self.rest = 0.0

    def open(self) -> bool:
        return self.request > self.share and (self.limit == UNLIMITED or self.limit > self.share)


def divide_hierarchy(accounts: Accounts, total: Amounts, k: float) -> None:
    """Give every queue its share. Queues whose parent is unknown take part in nothing."""
    children: dict[str, list[QueueAccount]] = {}
    for account in accounts.values():
        children.setdefault(account.parent, []).append(account)
    level = [(total, children.get("", []))]
    while level:
        below: list[tuple[Amounts, list[QueueAccount]]] = []
        for amount, siblings in level:
            divide_all(siblings, amount, k)
            below.extend((queue.fair_share, children[queue.uid]) for queue in siblings if queue.uid in children)
        level = below


def divide_all(siblings: Iterable[QueueAccount], total: Amounts, k: float) -> None:
    """Each resource on its own. Division starts from nothing."""
    ordered = in_order(siblings)
    for account in ordered:
        account.set_fair_share(NOTHING)
    for resource in EACH:
        divide_one(ordered, resource, total[resource], k)


def in_order(siblings: Iterable[QueueAccount]) -> list[QueueAccount]:
    """Sums of floats depend on their order: fix it."""
    return sorted(siblings, key=lambda account: account.uid)


def divide_one(siblings: Sequence[QueueAccount], resource: int, total: float, k: float) -> float:
    """Quotas, then the rest. Returns what nobody wanted."""
    remaining = total
    claims = [QueueClaim(account, resource) for account in siblings]
    for account, claim in zip(siblings, claims, strict=True):
        deserved = account.deserved[resource]
        give = min(total if deserved == UNLIMITED else deserved, claim.requestable)
        claim.share += give
        remaining -= give
    remaining = _over_quota(claims, remaining, k) if remaining > 0 else 0.0
    _write(siblings, claims, resource)
    return remaining


def divide_over_quota(siblings: Sequence[QueueAccount], resource: int, total: float, k: float) -> float:
    """Only what comes after quotas, added to the shares the accounts already have."""
    claims = [QueueClaim(account, resource) for account in siblings]
    remaining = _over_quota(claims, total, k)
    _write(siblings, claims, resource)
    return remaining


def _write(siblings: Sequence[QueueAccount], claims: Sequence[QueueClaim], resource: int) -> None:
    for account, claim in zip(siblings, claims, strict=True):
        share = account.fair_share
        account.set_fair_share(
            (
                claim.share if resource == CPU else share[CPU],
                claim.share if resource == MEMORY else share[MEMORY],
                claim.share if resource == GPU else share[GPU],
            )
        )


def _over_quota(claims: Sequence[QueueClaim], remaining: float, k: float) -> float:
    bands: dict[int, list[QueueClaim]] = {}
    for claim in claims:
        bands.setdefault(claim.priority, []).append(claim)
    ordered = [bands[priority] for priority in sorted(bands, reverse=True)]
    for band in ordered:
        remaining = _by_weight(band, remaining, k)
    for band in ordered:
        remaining = _rounded_off(band, remaining)
    return remaining


def _by_weight(band: Sequence[QueueClaim], remaining: float, k: float) -> float:
    """Rounds: a queue that wants less than its part leaves the difference to the others of its band."""
    wanting = [claim for claim in band if claim.open()]
    while wanting and remaining != 0:
        parts = _parts(wanting, k)
        if parts is None:
            break
        amount, again = remaining, False
        for claim, part in zip(wanting, parts, strict=True):
            if remaining == 0:
                break
            if claim.weight == 0:
                continue
            fair = amount * part
            wants = claim.requestable - claim.share
            give = _give(claim, wants, fair)
            claim.share += give
            remaining -= give
            again = again or (give != 0 and wants < fair)
        if not again:
            break
        wanting = [claim for claim in wanting if claim.open()]
    return remaining


def _parts(wanting: Sequence[QueueClaim], k: float) -> list[float] | None:
    """What part of the rest each may have: its weight, less the more it used in the past."""
    total = 0.0
    for claim in wanting:
        total += claim.weight
    if total == 0:
        return None
    weights = [max(0.0, w + k * (w - claim.usage)) for claim in wanting for w in (claim.weight / total,)]
    whole = 0.0
    for weight in weights:
        whole += weight
    return [weight / whole for weight in weights] if whole else None


def _give(claim: QueueClaim, wants: float, fair: float) -> float:
    """All it wants, or whole units of its part; the fraction that was cut off is remembered for the last step."""
    if wants <= fair:
        claim.rest = 0.0
        return wants
    whole = float(math.floor(fair))
    give = whole if whole > 0 else 0.0
    if fair - give > 0:
        claim.rest = fair - give
    return give


def _rounded_off(band: Sequence[QueueClaim], remaining: float) -> float:
    """One more unit each, largest fraction first, then the older queue, then the smaller name."""
    for claim in sorted((c for c in band if c.rest > 0), key=lambda c: (-c.rest, c.created, c.uid)):
        if remaining <= 0:
            break
        give = min(1.0, remaining)
        claim.share += give
        remaining -= give
    return remaining
