"""Which of two queues goes first. In each test everything but the point is alike."""

from __future__ import annotations

from gangline.scheduler.fairness import Amounts, QueueAccount, order
from scheduler.fairness.books import gpus, queue

TOTAL = gpus(100, 100)


def first(
    left: QueueAccount, right: QueueAccount, left_asks: float = 0, right_asks: float = 0, taken: Amounts | None = None
) -> str:
    """The winner; `taken` is what is counted as taken from the left queue."""
    left_turn = order.turn(left, TOTAL, gpus(left_asks), [taken] if taken else [])
    right_turn = order.turn(right, TOTAL, gpus(right_asks))
    winner = order.compare(left, left_turn, right, right_turn)
    assert winner in (-1, 1)
    return left.uid if winner < 0 else right.uid


def everything_over(name: str, over: bool) -> QueueAccount:
    account = queue(name, born=int(over))
    account.allocated = (5, 5, 5)
    account.set_fair_share((4, 4, 4) if over else (4, 4, 5))
    return account


def test_a_queue_over_its_share_in_every_resource_goes_last() -> None:
    assert first(everything_over("over", True), everything_over("fine", False)) == "fine"


def test_a_queue_that_stays_within_quota_with_its_next_gang_goes_first() -> None:
    rich, poor = queue("rich", quota=4, holds=2, priority=200), queue("poor", quota=4, holds=2)
    assert first(rich, poor, left_asks=3, right_asks=2) == "poor"
    assert first(rich, poor, left_asks=2, right_asks=2) == "rich"


def test_before_others_borrow_a_queue_without_any_gpu_may_have_a_first_gang_of_up_to_a_node() -> None:
    tiny, borrower = queue("tiny", quota=0, fair=0.1), queue("borrower", quota=4, fair=20, holds=18)
    assert first(borrower, tiny, left_asks=1, right_asks=8) == "borrower"
    tiny.unit = 8
    assert first(borrower, tiny, left_asks=1, right_asks=8) == "tiny"
    assert first(borrower, tiny, left_asks=1, right_asks=9) == "borrower"
    assert first(queue("owner", quota=20, fair=20, holds=18), tiny, left_asks=1, right_asks=8) == "owner"
    tiny.allocated = gpus(1)
    assert first(borrower, tiny, left_asks=1, right_asks=7) == "borrower"


def test_the_higher_priority_goes_first() -> None:
    assert first(queue("low", priority=50), queue("high", priority=60)) == "high"


def test_a_queue_that_uses_what_it_has_no_share_of_goes_last() -> None:
    assert first(queue("shareless", quota=0, fair=0, holds=1), queue("owner", quota=0, fair=1, holds=1)) == "owner"


def test_the_smaller_part_of_its_share_goes_first() -> None:
    assert first(queue("half", quota=8, fair=8, holds=4), queue("quarter", quota=8, fair=8, holds=2)) == "quarter"


def test_the_next_gang_counts_in_that_part() -> None:
    small, large = queue("small", quota=1, fair=8, holds=1), queue("large", quota=1, fair=8, holds=1)
    assert first(small, large, left_asks=1, right_asks=4) == "small"


def test_what_is_already_counted_as_taken_counts_less() -> None:
    left, right = queue("left", quota=1, fair=8, holds=4), queue("right", quota=1, fair=8, holds=3)
    assert first(left, right) == "right"
    assert first(left, right, taken=gpus(2)) == "left"


def test_of_equals_the_weaker_queue_goes_first_then_the_older() -> None:
    assert first(queue("strong", fair=8), queue("weak", fair=4)) == "weak"
    assert first(queue("young", born=2), queue("old", born=1)) == "old"


def test_of_twins_the_right_one_goes_first_from_both_sides() -> None:
    assert first(queue("a"), queue("b")) == "b" and first(queue("b"), queue("a")) == "a"
