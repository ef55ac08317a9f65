"""Scalars that are stored in one text, whatever the text they came in."""

from __future__ import annotations

import pytest

from gangline.rules.values import canonical
from gangline.rules.values.canonical import BadForm


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("0.1m", "1m"),
        ("1.0001", "1001m"),
        ("-0.1m", "-1m"),
        ("500m", "500m"),
        ("1024Mi", "1Gi"),
        ("100u", "1m"),
        ("1e-5", "1e-3"),
        ("2E", "2E"),
    ],
)
def test_what_is_finer_than_a_thousandth_is_rounded_up_in_a_list_of_resources(given: str, stored: str) -> None:
    assert canonical.listed_quantity(given) == stored


def test_outside_of_lists_a_quantity_keeps_its_fineness() -> None:
    assert canonical.quantity("100u") == "100u"


@pytest.mark.parametrize(
    ("text", "why"),
    [("1MM", "unable to parse quantity's suffix"), ("", canonical.QUANTITY_RULE), ("1Gib", canonical.QUANTITY_RULE)],
)
def test_what_is_no_quantity_says_why(text: str, why: str) -> None:
    with pytest.raises(BadForm) as caught:
        canonical.quantity(text)
    assert str(caught.value) == why


@pytest.mark.parametrize(
    ("given", "stored", "fine"),
    [
        ("2026-01-02T03:04:05.678901234Z", "2026-01-02T03:04:05Z", "2026-01-02T03:04:05.678901Z"),
        ("2026-01-02T03:04:05.5+02:00", "2026-01-02T01:04:05Z", "2026-01-02T01:04:05.500000Z"),
    ],
)
def test_a_time_is_stored_in_utc_by_seconds_or_by_microseconds(given: str, stored: str, fine: str) -> None:
    assert (canonical.time(given), canonical.micro_time(given)) == (stored, fine)


def test_a_time_without_a_fraction_has_no_microseconds() -> None:
    assert canonical.time("2026-01-02T03:04:05Z") == "2026-01-02T03:04:05Z"
    with pytest.raises(BadForm, match=r'cannot parse "Z" as "\.000000"'):
        canonical.micro_time("2026-01-02T03:04:05Z")


@pytest.mark.parametrize("text", ["2026-01-02", "2026-01-02 03:04:05Z", "2026-13-02T03:04:05Z", "soon"])
def test_what_is_no_time_is_refused_with_its_text(text: str) -> None:
    with pytest.raises(BadForm, match=f'parsing time "{text}"'):
        canonical.time(text)


def test_lines_of_base64_are_joined() -> None:
    assert canonical.bytes_("aGVs\nbG8=\r\n") == "aGVsbG8="


@pytest.mark.parametrize(("text", "byte"), [("aGV$", 3), ("aGVsb", 4), ("=aaa", 0)])
def test_what_is_no_base64_is_told_with_its_first_bad_byte(text: str, byte: int) -> None:
    with pytest.raises(BadForm, match=f"illegal base64 data at input byte {byte}"):
        canonical.bytes_(text)
