"""Each queue's share of each resource with the numbers it comes from, and why it is what it is, in a sentence.

Reads accounts after divide.py has divided; changes nothing. Asked by `gangline fairshare`. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gangline.scheduler.fairness.accounts import DUST, RESOURCES, UNLIMITED, Accounts, Amounts, QueueAccount
from gangline.scheduler.fairness.capacity import decimals


@dataclass(frozen=True, slots=True)
class ResourceFigures:
    """Of one resource, all in its unit; -1 is without bound. `available`: what the queue and its siblings divide."""

    quota: float
    limit: float
    weight: float
    asked: float
    used: float
    share: float
    available: float
    why: str


@dataclass(frozen=True, slots=True)
class QueueFigureSet:
    queue: str
    parent: str
    priority: int
    resources: Mapping[str, ResourceFigures]


@dataclass(frozen=True, slots=True)
class Division:
    """One resource as siblings divide it. `scale`: so much of the account's unit is one of the unit in sentences."""

    siblings: Sequence[QueueAccount]
    resource: int
    available: float
    scale: float = 1.0

    def by_quota(self, account: QueueAccount) -> float:
        quota = account.deserved[self.resource]
        return min(self.available if quota == UNLIMITED else quota, account.requestable(self.resource))

    @property
    def left(self) -> float:
        """Beyond all quotas."""
        return max(self.available - sum(self.by_quota(account) for account in self.siblings), 0.0)

    def shown(self, amount: float) -> str:
        return decimals(amount / self.scale)


def figures_of(accounts: Accounts, total: Amounts, scales: Amounts = (1.0, 1.0, 1.0)) -> list[QueueFigureSet]:
    """Parents before their children, by name."""
    children: dict[str, list[QueueAccount]] = {}
    for account in accounts.values():
        children.setdefault(account.parent, []).append(account)
    return list(_level(children, "", total, total, scales))


def _level(
    children: Mapping[str, Sequence[QueueAccount]], parent: str, available: Amounts, total: Amounts, scales: Amounts
) -> Iterable[QueueFigureSet]:
    siblings = sorted(children.get(parent, ()), key=lambda account: account.uid)
    for account in siblings:
        resources = {
            name: _figures(account, Division(siblings, place, available[place], scales[place]))
            for place, name in enumerate(RESOURCES)
            if total[place]
        }
        yield QueueFigureSet(account.uid, parent, account.priority, resources)
        yield from _level(children, account.uid, account.fair_share, total, scales)


def _figures(account: QueueAccount, division: Division) -> ResourceFigures:
    place = division.resource
    return ResourceFigures(
        account.deserved[place],
        account.limit[place],
        account.weight[place],
        account.request[place],
        account.allocated[place],
        account.fair_share[place],
        division.available,
        why(account, division),
    )


def why(account: QueueAccount, division: Division) -> str:
    place, shown = division.resource, division.shown
    asked, share, limit = account.request[place], account.fair_share[place], account.limit[place]
    beyond = share - division.by_quota(account)
    if asked <= DUST:
        return "it asks for nothing"
    if share >= asked - DUST:
        return "all it asks for" + (
            f", {shown(beyond)} of it beyond its quota" if beyond > DUST else ", within its quota"
        )
    if limit != UNLIMITED and share >= limit - DUST:
        return f"its limit of {shown(limit)}, though it asks for more"
    quota = f"its quota of {shown(share - beyond)}" if share - beyond > DUST else ""
    if beyond > DUST:
        more = f"{shown(beyond)} of {shown(division.left)} that quotas leave: {_weight(account, division)}"
        return f"{quota} and {more}" if quota else more
    return f"{f'{quota} only' if quota else 'nothing'}: {_nothing_beyond(account, division)}"


def _weight(account: QueueAccount, division: Division) -> str:
    place = division.resource
    band = [
        item.weight[place]
        for item in division.siblings
        if item.priority == account.priority and item.requestable(place) > division.by_quota(item)
    ]
    weight = f"weight {decimals(account.weight[place])} of {decimals(sum(band))}"
    return f"{weight} among queues of priority {account.priority} that ask for more than their quota"


def _nothing_beyond(account: QueueAccount, division: Division) -> str:
    if division.left <= DUST:
        return f"quotas take all {division.shown(division.available)}"
    if account.weight[division.resource] == 0:
        return "with weight 0 it borrows nothing"
    if any(item.priority > account.priority for item in division.siblings):
        return f"queues of higher priority take the {division.shown(division.left)} that quotas leave"
    return f"past use or rounding gives the {division.shown(division.left)} that quotas leave to others"
