"""Time stamps and durations."""

from __future__ import annotations

import pytest

from gangline.rules.values import times


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("90s", 90),
        ("1h30m", 5400),
        ("2d", 172800),
        ("1w", 604800),
        ("1.5h", 5400),
        ("250ms", 0.25),
        ("-1s", -1),
        ("0", 0),
    ],
)
def test_durations_of_every_unit(text: str, value: float) -> None:
    assert times.duration(text) == value


@pytest.mark.parametrize("text", ["", "5", "soon", "1h 30m", "1y", "1h30", "1h x", "--5s", "-+5s"])
def test_what_is_no_duration_says_what_one_looks_like(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration: write for example 90s, 1h30m or 2d"):
        times.duration(text)


def test_a_duration_reads_back() -> None:
    for value in (0, 1, 90, 5400, 3661.5, -30, 86400):
        assert times.duration(times.as_duration(value)) == value
    assert times.as_duration(5400) == "1h30m0s"


def test_a_time_stamp_is_seconds_since_the_epoch_and_nonsense_is_none() -> None:
    assert times.seconds("1970-01-01T00:01:00Z") == 60
    assert times.seconds("2026-01-02T03:04:05.5+01:00") == 1767319445.5
    assert times.seconds("yesterday") is None and times.seconds(None) is None


def test_a_time_stamp_is_printed_in_utc_and_reads_back() -> None:
    assert times.timestamp(60) == "1970-01-01T00:01:00Z"
    assert times.micro_timestamp(60.25) == "1970-01-01T00:01:00.250000Z"
    assert times.seconds_of(times.timestamp(1_700_000_000)) == 1_700_000_000


@pytest.mark.parametrize(
    ("text", "printed"),
    [("90s", "1m30s"), ("123456789ns", "123.456789ms"), ("-1500us", "-1.5ms"), (".5h", "30m0s"), ("+0", "0s")],
)
def test_a_duration_is_read_and_printed_as_go_does(text: str, printed: str) -> None:
    nanos = times.nanoseconds(text)
    assert nanos is not None and times.canonical(nanos) == printed


@pytest.mark.parametrize("text", ["", "5", "1d", "2w", "--1s", "1s ", "1.5.5s", "9" * 5000 + "s", "9" * 30 + "h"])
def test_what_go_reads_as_no_duration_is_none(text: str) -> None:
    assert times.nanoseconds(text) is None


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (-2, "<invalid>"),
        (-1, "0s"),
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (130, "2m10s"),
        (599, "9m59s"),
        (600, "10m"),
        (659, "10m"),
        (179 * 60 + 59, "179m"),
        (180 * 60, "3h"),
        (185 * 60, "3h5m"),
        (8 * 3600 - 1, "7h59m"),
        (8 * 3600, "8h"),
        (48 * 3600 - 1, "47h"),
        (48 * 3600, "2d"),
        (49 * 3600, "2d1h"),
        (192 * 3600 - 1, "7d23h"),
        (192 * 3600, "8d"),
        (729 * 86400, "729d"),
        (730 * 86400, "2y"),
        (731 * 86400, "2y1d"),
        (8 * 365 * 86400 + 86400, "8y"),
    ],
)
def test_an_age_is_shown_as_kubectl_shows_it(seconds: int, shown: str) -> None:
    assert times.brief(seconds) == shown


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.9, "0 s"),
        (59, "59 s"),
        (60, "1 min"),
        (130, "2 min 10 s"),
        (3600, "1 h"),
        (3605, "1 h 5 s"),
        (3661, "1 h 1 min"),
        (90000, "1 d 1 h"),
        (172800, "2 d"),
    ],
)
def test_a_duration_is_told_in_its_two_largest_units(seconds: float, text: str) -> None:
    assert times.spoken(seconds) == text
