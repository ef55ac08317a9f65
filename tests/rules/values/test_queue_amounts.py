"""Amounts of a queue as people write them, and the sentence for those that are none."""

from __future__ import annotations

import pytest

from gangline.rules.values.queue_amounts import UNLIMITED, read_bound, read_priority, read_weight


@pytest.mark.parametrize(
    ("resource", "text", "amount"),
    [
        ("gpu", "8", 8),
        ("gpu", "0.5", 0.5),
        ("cpu", "16", 16_000),
        ("cpu", "500m", 500),
        ("memory", "64Gi", 68719.476736),
        ("memory", "500M", 500),
    ],
)
def test_an_amount_is_read_in_the_units_of_pods_and_given_in_those_of_a_queue(
    resource: str, text: str, amount: float
) -> None:
    assert read_bound(resource, text) == amount


@pytest.mark.parametrize("text", ["unlimited", "Unlimited", "none", "-1"])
def test_no_bound_has_several_names(text: str) -> None:
    assert read_bound("gpu", text) == UNLIMITED == -1


def test_a_whole_number_stays_one_because_a_queue_in_yaml_should_not_say_8_0() -> None:
    assert isinstance(read_bound("gpu", "8.0"), int) and isinstance(read_weight("3"), int)


@pytest.mark.parametrize(
    ("resource", "text", "why"),
    [
        ("gpu", "many", "'many' is no amount: write a number of GPUs, as in 8 or 0.5, or unlimited"),
        ("gpu", "nan", "'nan' is no amount: write a number of GPUs, as in 8 or 0.5, or unlimited"),
        ("gpu", "inf", "'inf' is no amount: write a number of GPUs, as in 8 or 0.5, or unlimited"),
        ("cpu", "16 cores", "'16 cores' is no amount: write cores, as in 16, 0.5 or 500m, or unlimited"),
        ("memory", "64GB", "'64GB' is no amount: write bytes, as in 64Gi or 500M, or unlimited"),
        ("gpu", "-2", "it must not be negative; `unlimited` stands for no bound"),
    ],
)
def test_what_is_no_amount_is_refused_with_what_to_write(resource: str, text: str, why: str) -> None:
    with pytest.raises(ValueError) as refused:
        read_bound(resource, text)
    assert str(refused.value) == why


def test_a_weight_is_not_negative_and_a_priority_is_whole() -> None:
    assert (read_weight("2.5"), read_priority("-100")) == (2.5, -100)
    with pytest.raises(ValueError, match=r"^it must not be negative$"):
        read_weight("-1")
    with pytest.raises(ValueError, match=r"^'1\.5' is no whole number$"):
        read_priority("1.5")
    with pytest.raises(ValueError, match=r"^'high' is no number$"):
        read_priority("high")
