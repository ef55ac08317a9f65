"""What must hold for every division, whatever the queues."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as some

from gangline.scheduler.fairness import GPU, QueueAccount, divide
from scheduler.fairness.books import queue

QUOTAS = some.integers(0, 8)
BOOKS = some.lists(
    some.tuples(
        QUOTAS,
        some.sampled_from([-1, 0, 2, 5, 9]),
        some.integers(0, 3),
        some.integers(0, 24),
        some.sampled_from([50, 100]),
    ),
    min_size=1,
    max_size=8,
)
TOTALS = some.integers(0, 40)

Row = tuple[int, int, int, int, int]


def opened(rows: list[Row], prefix: str = "q") -> list[QueueAccount]:
    return [
        queue(f"{prefix}{place:02}", quota=quota, limit=limit, weight=weight, asks=asks, priority=priority, born=place)
        for place, (quota, limit, weight, asks, priority) in enumerate(rows)
    ]


def divided(rows: list[Row], total: float, prefix: str = "q") -> list[float]:
    accounts = opened(rows, prefix)
    divide.divide_one(accounts, GPU, total, 0)
    return [account.fair_share[GPU] for account in accounts]


def promised(rows: list[Row]) -> list[float]:
    return [min(account.deserved[GPU], account.requestable(GPU)) for account in opened(rows)]


@settings(deadline=None)
@given(BOOKS, TOTALS)
def test_no_more_is_given_than_there_is_unless_quotas_promise_more(rows: list[Row], total: int) -> None:
    assert sum(divided(rows, total)) <= max(total, sum(promised(rows))) + 1e-9


@settings(deadline=None)
@given(BOOKS, TOTALS)
def test_everyone_gets_at_least_what_was_promised_and_asked_for(rows: list[Row], total: int) -> None:
    assert all(share >= owed for share, owed in zip(divided(rows, total), promised(rows), strict=True))


@settings(deadline=None)
@given(BOOKS, TOTALS)
def test_nobody_gets_a_whole_unit_more_than_he_may_use(rows: list[Row], total: int) -> None:
    for share, account in zip(divided(rows, total), opened(rows), strict=True):
        assert share < account.requestable(GPU) + 1 or share == 0


@settings(deadline=None)
@given(BOOKS, TOTALS)
def test_nothing_is_left_while_someone_with_a_weight_still_wants_it(rows: list[Row], total: int) -> None:
    shares, accounts = divided(rows, total), opened(rows)
    left = total - sum(shares)
    hungry = [a for a, share in zip(accounts, shares, strict=True) if a.weight[GPU] and a.requestable(GPU) - share >= 1]
    assert not (left >= 1 and hungry)


@settings(deadline=None)
@given(BOOKS, TOTALS)
def test_a_larger_total_never_takes_from_the_sum(rows: list[Row], total: int) -> None:
    assert sum(divided(rows, total + 5)) >= sum(divided(rows, total)) - 1e-9


@settings(deadline=None)
@given(BOOKS, TOTALS)
def test_renaming_queues_in_order_changes_nothing(rows: list[Row], total: int) -> None:
    assert divided(rows, total, "q") == divided(rows, total, "z")


@settings(deadline=None)
@given(BOOKS, TOTALS)
def test_asking_for_more_never_gets_a_queue_less(rows: list[Row], total: int) -> None:
    quota, limit, weight, asks, priority = rows[0]
    before = divided(rows, total)[0]
    assert divided([(quota, limit, weight, asks + 6, priority), *rows[1:]], total)[0] >= before - 1
