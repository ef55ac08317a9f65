"""Which of two queues goes first.

Asked by the job order of every action, inside heap comparisons, through plugins/capacity/proportion.py. Everything that
concerns one queue alone is put in a `turn` (a tuple, smallest first) that can be kept as long as the queue and its
next gang do not change; `compare` settles the rest.
"""

from __future__ import annotations

from collections.abc import Iterable

from gangline.scheduler.fairness.accounts import NOTHING, Amounts, QueueAccount, dominant_share, minus, plus, within

Turn = tuple[bool, bool, int, bool, float, float]


def turn(account: QueueAccount, total: Amounts, request: Amounts = NOTHING, victims: Iterable[Amounts] = ()) -> Turn:
    """Below its share first; then within quota, priority, no use without a share, and the smaller dominant share."""
    held, fair = account.allocated, account.fair_share
    then = plus(held, request)
    after = then
    for victim in victims:
        after = minus(after, victim)
    return (
        fair[0] < held[0] and fair[1] < held[1] and fair[2] < held[2],
        not within(then, account.deserved),
        -account.priority,
        uses_without_share(account, then),
        dominant_share(account, after, total),
        dominant_share(account, held, total),
    )


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
