"""Durations as Go reads and prints them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangline.rules.values.times import canonical, nanoseconds


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("90s", "1m30s"),
        ("1.5h", "1h30m0s"),
        ("60m", "1h0m0s"),
        ("0", "0s"),
        ("-5s", "-5s"),
        ("+2m", "2m0s"),
        ("1500ms", "1.5s"),
        (".5s", "500ms"),
        ("100us", "100µs"),
        ("1h1ns", "1h0m0.000000001s"),
        ("1500ns", "1.5µs"),
        ("2540400h", "2540400h0m0s"),
    ],
)
def test_a_duration_is_stored_in_one_form(text: str, stored: str) -> None:
    nanos = nanoseconds(text)
    assert nanos is not None
    assert canonical(nanos) == stored


@pytest.mark.parametrize("text", ["", "5", "soon", "1d", "1w", "s", ".s", "-", "1h 30m", "9999999999h", "٣s"])
def test_what_is_no_duration_is_none(text: str) -> None:
    assert nanoseconds(text) is None


@given(st.integers(-(2**63) + 1, 2**63 - 1))
def test_what_is_printed_is_read_back(nanos: int) -> None:
    assert nanoseconds(canonical(nanos)) == nanos
