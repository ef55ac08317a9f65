"""Quantities: exact, canonical, and refused with a sentence when they are none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangline.api import resources


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("1000m", "1"),
        ("0.5", "500m"),
        ("1024Mi", "1Gi"),
        ("1.5Gi", "1536Mi"),
        ("1e3", "1e3"),
        ("2000k", "2M"),
        ("0", "0"),
        ("0.1Gi", "107374182400m"),
        ("-500m", "-500m"),
        ("100", "100"),
        ("1023Ki", "1023Ki"),
    ],
)
def test_a_quantity_has_one_canonical_spelling(text: str, canonical: str) -> None:
    assert resources.canonical(text) == canonical


def test_what_is_smaller_than_a_unit_is_rounded_up() -> None:
    assert (resources.units("1m"), resources.milli("1n"), resources.units("1500m")) == (1, 1, 2)


@pytest.mark.parametrize("text", ["", "abc", "1 Gi", "1GiB", "--1", "1e", "0x10", "1\n", "٣"])
def test_a_text_that_is_no_quantity_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(resources.QuantityError, match=r"is not a quantity: write a number such as 2, 500m or 1\.5Gi"):
        resources.nanos(text)


@given(st.integers(min_value=-(10**24), max_value=10**24))
def test_printing_and_reading_again_loses_nothing(amount: int) -> None:
    assert resources.nanos(resources.decimal(amount)) == amount
    assert resources.nanos(resources.binary(amount)) == amount


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_sum_is_exact(a: int, b: int) -> None:
    assert resources.add({"cpu": f"{a}m"}, {"cpu": f"{b}m"}) == {"cpu": (a + b) * 10**6}
