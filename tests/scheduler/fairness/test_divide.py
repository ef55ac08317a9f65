"""How a total becomes fair shares."""

from __future__ import annotations

from gangline.scheduler.fairness import GPU, QueueAccount, divide
from scheduler.fairness.books import books, gpus, queue


def shares(total: float, *queues: QueueAccount, k: float = 0) -> dict[str, float]:
    accounts = books(*queues)
    divide.divide_hierarchy(accounts, gpus(total), k)
    return {name: account.fair_share[GPU] for name, account in accounts.items()}


def test_a_queue_gets_its_quota_only_as_far_as_it_asks_for_it() -> None:
    assert shares(10, queue("a", quota=6, asks=4, weight=0), queue("b", quota=4, asks=9, weight=0)) == {"a": 4, "b": 4}


def test_promised_quotas_are_kept_even_when_they_exceed_the_total() -> None:
    assert shares(4, queue("a", quota=4, asks=4), queue("b", quota=4, asks=4)) == {"a": 4, "b": 4}


def test_an_unlimited_quota_is_the_whole_total() -> None:
    assert shares(10, queue("a", quota=-1, asks=20), queue("b", quota=3, asks=3)) == {"a": 10, "b": 3}


def test_what_is_left_goes_by_weight_in_whole_gpus() -> None:
    assert shares(10, queue("a", weight=3, asks=20), queue("b", weight=1, asks=20, born=1)) == {"a": 8, "b": 2}


def test_what_rounding_left_goes_to_the_larger_fraction_then_to_the_older_queue() -> None:
    assert shares(5, queue("young", asks=9, born=2), queue("old", asks=9, born=1)) == {"young": 2, "old": 3}
    assert shares(7, queue("a", weight=1, asks=9, born=2), queue("b", weight=2, asks=9, born=1)) == {"a": 2, "b": 5}


def test_twins_are_told_apart_by_name() -> None:
    assert shares(5, queue("b", asks=9), queue("a", asks=9)) == {"b": 2, "a": 3}


def test_the_rest_of_a_modest_queue_is_divided_again() -> None:
    assert shares(9, queue("modest", asks=1), queue("a", asks=9), queue("b", asks=9)) == {"modest": 1, "a": 4, "b": 4}


def test_a_queue_never_gets_more_than_its_limit() -> None:
    assert shares(10, queue("a", limit=2, asks=9), queue("b", asks=5)) == {"a": 2, "b": 5}


def test_weight_zero_lives_on_its_quota() -> None:
    assert shares(10, queue("a", quota=2, weight=0, asks=9), queue("b", asks=3)) == {"a": 2, "b": 3}


def test_a_higher_priority_is_served_first() -> None:
    assert shares(6, queue("low", asks=9, priority=50), queue("high", asks=5, priority=200)) == {"low": 1, "high": 5}


def test_past_usage_counts_against_a_queue_as_much_as_k_says() -> None:
    heavy, light = queue("heavy", asks=20, used=0.5), queue("light", asks=20, used=0.0)
    assert shares(12, heavy, light, k=0) == {"heavy": 6, "light": 6}
    heavy, light = queue("heavy", asks=20, used=0.5), queue("light", asks=20, used=0.0)
    assert shares(12, heavy, light, k=1) == {"heavy": 4, "light": 8}


def test_children_divide_what_their_parent_got() -> None:
    tree = (
        queue("top", quota=6, weight=0, asks=20),
        queue("a", parent="top", asks=10),
        queue("b", parent="top", asks=10),
        queue("other", quota=4, weight=0, asks=4),
    )
    assert shares(10, *tree) == {"top": 6, "a": 3, "b": 3, "other": 4}


def test_a_queue_whose_parent_is_missing_takes_part_in_nothing() -> None:
    assert shares(10, queue("lost", parent="nowhere", asks=5), queue("a", asks=5)) == {"lost": 0, "a": 5}


def test_nothing_is_given_when_nobody_asks() -> None:
    assert shares(10, queue("a", quota=5), queue("b")) == {"a": 0, "b": 0}
