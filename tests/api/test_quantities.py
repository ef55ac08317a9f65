"""Quantities: exact, read as Kubernetes reads them, and printed in the one spelling that it stores."""

from __future__ import annotations

from typing import Any

import pytest

from gangline.api.resources import (
    LONGEST,
    MOST,
    NANO,
    QuantityError,
    add,
    binary,
    canonical,
    decimal,
    exponential,
    milli,
    nanos,
    number,
    units,
)


@pytest.mark.parametrize(
    ("text", "worth"),
    [
        ("2", 2 * NANO),
        ("500m", NANO // 2),
        (".5", NANO // 2),
        ("5.", 5 * NANO),
        ("1.5Gi", 3 * 2**29 * NANO),
        ("1Ki", 1024 * NANO),
        ("1k", 1000 * NANO),
        ("2E", 2 * 10**18 * NANO),
        ("1e3", 1000 * NANO),
        ("1E-3", NANO // 1000),
        ("-3", -3 * NANO),
        ("+3", 3 * NANO),
        ("7u", 7000),
        ("7n", 7),
    ],
)
def test_a_quantity_is_a_number_of_nano_units(text: str, worth: int) -> None:
    assert nanos(text) == worth


def test_what_is_below_a_nano_unit_is_rounded_away_from_zero() -> None:
    assert (nanos("1e-10"), nanos("-1e-10"), nanos("0e-10")) == (1, -1, 0)
    assert nanos("0.0000000011") == 2


def test_numbers_of_json_are_quantities_and_booleans_are_not() -> None:
    assert (nanos(3), nanos(0.5)) == (3 * NANO, NANO // 2)
    with pytest.raises(QuantityError, match="True is not a quantity"):
        nanos(True)


@pytest.mark.parametrize("text", ["", " 1", "1 ", "1Kii", "1K", "0x1", "1e", "--1", "1.2.3", "1\n", "١", "i", "."])
def test_what_is_no_quantity_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(QuantityError) as refusal:
        nanos(text)
    assert str(refusal.value) == f"{text!r} is not a quantity: write a number such as 2, 500m or 1.5Gi"


def test_a_quantity_of_too_many_letters_is_refused_and_not_repeated_whole() -> None:
    assert nanos("1".rjust(LONGEST, "0")) == NANO
    with pytest.raises(QuantityError) as refusal:
        nanos("1" * 100_000)
    assert len(str(refusal.value)) < 2 * LONGEST


def test_an_endless_exponent_takes_no_time_and_no_memory() -> None:
    assert nanos("1e999999999") == 10**60 * NANO
    assert nanos("1e-999999999") == 1


def test_units_and_thousandths_are_rounded_up() -> None:
    assert (units("1"), units("1001m"), units("-1500m")) == (1, 2, -1)
    assert (milli("1"), milli("1000001u"), milli("1u")) == (1000, 1001, 1)
    assert number("1500m") == 1.5


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("1000m", "1"),
        ("1500m", "1500m"),
        ("0.5", "500m"),
        ("1024Mi", "1Gi"),
        ("1.5Gi", "1536Mi"),
        ("1000", "1k"),
        ("1001", "1001"),
        ("0", "0"),
        ("0Gi", "0"),
        ("1000Ki", "1000Ki"),
        ("1e3", "1e3"),
        ("1e4", "10e3"),
        ("100Ki", "100Ki"),
        ("512Ki", "512Ki"),
        ("8Ki", "8Ki"),
        ("1023", "1023"),
    ],
)
def test_a_quantity_is_stored_in_one_spelling(written: str, stored: str) -> None:
    assert canonical(written) == stored
    assert canonical(stored) == stored
    assert nanos(canonical(written)) == nanos(written)


def test_a_binary_quantity_beyond_what_an_integer_holds_is_stored_as_the_largest() -> None:
    assert canonical("16Ei") == canonical(f"{MOST}")


def test_numbers_are_stored_as_their_text() -> None:
    assert (canonical(4), canonical(1000), canonical(0.25)) == ("4", "1k", "250m")


def test_each_form_takes_the_largest_suffix_that_loses_nothing() -> None:
    assert [decimal(amount * NANO) for amount in (0, 1, 1000, 1001, 3 * 10**15)] == ["0", "1", "1k", "1001", "3P"]
    assert (decimal(NANO // 1000), decimal(1500), decimal(1)) == ("1m", "1500n", "1n")
    assert [exponential(amount) for amount in (0, NANO, 10**6 * NANO, 1)] == ["0", "1", "1e6", "1e-9"]
    assert [binary(amount * NANO) for amount in (1023, 1024, 1025, 3 * 2**40)] == ["1023", "1Ki", "1025", "3Ti"]
    assert binary(1024 * NANO + 1) == decimal(1024 * NANO + 1), "what is no whole number has no binary form"


def test_resource_lists_are_added_name_by_name() -> None:
    lists: list[dict[str, Any]] = [{"cpu": "500m", "memory": "1Gi"}, {"cpu": 1}, {}]
    assert add(*lists) == {"cpu": 3 * NANO // 2, "memory": 2**30 * NANO}
