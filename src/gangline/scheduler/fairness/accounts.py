"""The books of one queue, and amounts: triples of (millicores, bytes, GPUs).

Every rule of this folder reads a `QueueAccount`; only divide.py writes `fair_share`, only the proportion plugin writes
`allocated`. Amounts are plain tuples, so an old value can be kept and put back exactly, and comparing two queues
inside a heap costs no allocation of objects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

Amounts = tuple[float, float, float]

RESOURCES = ("cpu", "memory", "gpu")
CPU, MEMORY, GPU = range(3)
EACH = (CPU, MEMORY, GPU)
UNLIMITED = -1.0
NOTHING: Amounts = (0.0, 0.0, 0.0)
DUST = 1e-6
"""Parts of GPUs added up in different orders differ by less than this."""


def plus(a: Amounts, b: Amounts) -> Amounts:
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def minus(a: Amounts, b: Amounts) -> Amounts:
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def within(a: Amounts, b: Amounts) -> bool:
    """a ≤ b in every resource, where -1 on either side means unlimited."""
    return (
        (b[0] == UNLIMITED or (a[0] != UNLIMITED and a[0] <= b[0]))
        and (b[1] == UNLIMITED or (a[1] != UNLIMITED and a[1] <= b[1]))
        and (b[2] == UNLIMITED or (a[2] != UNLIMITED and a[2] <= b[2] + DUST))
    )


class QueueAccount:
    """One queue. `parent` is a uid, empty at the top; `created` is any number that grows with time. `unit`: a queue
    that holds no GPU may have up to so many before others borrow more, however small its share."""

    __slots__ = (
        "allocatable",
        "allocated",
        "allocated_non_preemptible",
        "created",
        "deserved",
        "fair_share",
        "limit",
        "name",
        "parent",
        "priority",
        "request",
        "uid",
        "unit",
        "usage",
        "weight",
    )

    def __init__(
        self,
        uid: str,
        *,
        name: str = "",
        parent: str = "",
        priority: int = 100,
        created: float = 0.0,
        deserved: Amounts = NOTHING,
        limit: Amounts = NOTHING,
        weight: Amounts = NOTHING,
        allocated: Amounts = NOTHING,
        allocated_non_preemptible: Amounts = NOTHING,
        request: Amounts = NOTHING,
        usage: Amounts = NOTHING,
        fair_share: Amounts = NOTHING,
        unit: float = 0.0,
    ) -> None:
        self.uid = uid
        self.unit = unit
        self.name = name or uid
        self.parent = parent
        self.priority = priority
        self.created = created
        self.deserved = deserved
        self.limit = limit
        self.weight = weight
        self.allocated = allocated
        self.allocated_non_preemptible = allocated_non_preemptible
        self.request = request
        self.usage = usage
        self.set_fair_share(fair_share)

    def set_fair_share(self, share: Amounts) -> None:
        """The fair share, and what follows from it: the most this queue may hold before it counts as borrowing too
        much."""
        self.fair_share = share
        self.allocatable = (self._allocatable(CPU), self._allocatable(MEMORY), self._allocatable(GPU))

    def _allocatable(self, resource: int) -> float:
        limit = self.limit[resource]
        if self.deserved[resource] == UNLIMITED:
            return limit
        owed = max(self.deserved[resource], self.fair_share[resource])
        return owed if limit == UNLIMITED else min(limit, owed)

    def requestable(self, resource: int) -> float:
        """What it asks for, as far as its limit lets it."""
        limit = self.limit[resource]
        return self.request[resource] if limit == UNLIMITED else min(limit, self.request[resource])

    def copy(self) -> QueueAccount:
        """The same books, for a what-if: amounts are shared, they never change in place."""
        twin = QueueAccount.__new__(QueueAccount)
        for slot in QueueAccount.__slots__:
            setattr(twin, slot, getattr(self, slot))
        return twin


Accounts = Mapping[str, QueueAccount]


def line(accounts: Accounts, uid: str) -> Iterator[QueueAccount]:
    """A queue and its ancestors, from the leaf to the top. A missing parent ends the line."""
    account = accounts.get(uid)
    while account is not None:
        yield account
        account = accounts.get(account.parent) if account.parent else None


def dominant_share(account: QueueAccount, held: Amounts, total: Amounts) -> float:
    """The largest part it would hold of what it may hold; holding what it has no share of weighs heavily."""
    worst = 0.0
    for i in EACH:
        share = account.allocatable[i]
        if share == UNLIMITED:
            share = total[i]
        worst = max(worst, held[i] / share if share else held[i] * 1000)
    return worst
