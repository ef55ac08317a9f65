"""Which of two queues goes first.

Asked by the job order of every action, inside heap comparisons, through plugins/capacity/proportion.py. Everything that
concerns one queue alone is put in a `turn` (a tuple, smallest first) that can be kept as long as the queue and its
next gang do not change; `compare` settles the rest.
"""

from __future__ import annotations

from collections.abc import Iterable

from gangline.scheduler.fairness.accounts import (
    GPU,
    NOTHING,
    Amounts,
    QueueAccount,
    dominant_share,
    minus,
    plus,
    within,
)

Turn = tuple[bool, int, int, bool, float, float]
WITHIN_QUOTA, FIRST_GANG, BORROWS = range(3)


def turn(
    account: QueueAccount,
    total: Amounts,
    request: Amounts = NOTHING,
    victims: Iterable[Amounts] = (),
    lost: Amounts = NOTHING,
) -> Turn:
    """Below its share first; then within quota, priority, no use without a share, and the smaller dominant share.
    `lost`: as if the queue held so much less. Before others borrow, a queue without any GPU may have a first gang."""
    held = account.allocated if lost is NOTHING else minus(account.allocated, lost)
    fair, then = account.fair_share, plus(held, request)
    after = then
    for victim in victims:
        after = minus(after, victim)
    return (
        fair[0] < held[0] and fair[1] < held[1] and fair[2] < held[2],
        _standing(account, held, then),
        -account.priority,
        uses_without_share(account, then),
        dominant_share(account, after, total),
        dominant_share(account, held, total),
    )


def _standing(account: QueueAccount, held: Amounts, then: Amounts) -> int:
    if within(then, account.deserved):
        return WITHIN_QUOTA
    return FIRST_GANG if held[GPU] <= 0 < then[GPU] <= account.unit else BORROWS


def uses_without_share(account: QueueAccount, held: Amounts) -> bool:
    share = account.allocatable
    return (share[0] == 0 < held[0]) or (share[1] == 0 < held[1]) or (share[2] == 0 < held[2])


def compare(left: QueueAccount, left_turn: Turn, right: QueueAccount, right_turn: Turn) -> int:
    """-1: left goes first, 1: right. Never 0: of two queues alike in everything the right one goes first."""
    if left_turn != right_turn:
        return -1 if left_turn < right_turn else 1
    mine, other = left.allocatable, right.allocatable
    if mine != other:
        smaller, larger = within(mine, other), within(other, mine)
        if smaller != larger:
            return -1 if smaller else 1
    return -1 if left.created < right.created else 1


class WaitingLine:
    """The gangs that wait in one queue, by what they ask for, in their order: when does a gang among them have its
    turn?

    Queues beside each other take turns by the gangs at their heads. So a gang has its turn when the worst of those up
    to itself has."""

    def __init__(self, account: QueueAccount, total: Amounts, requests: Iterable[Amounts]) -> None:
        self._account = account
        self._total = total
        self._first: dict[Amounts, int] = {}
        for place, request in enumerate(requests):
            self._first.setdefault(request, place)

    def turn(self, place: int, request: Amounts, lost: Amounts = NOTHING) -> Turn:
        """Of a gang that asks for this and has so many of the line before it. `lost`: what it held before."""
        before = [asked for asked, first in self._first.items() if first < place]
        return max(turn(self._account, self._total, asked, lost=lost) for asked in (*before, request))

    def last(self) -> Turn:
        """No gang of the queue that lost its place would have its turn later than this."""
        return max(turn(self._account, self._total, asked) for asked in (*self._first, NOTHING))
