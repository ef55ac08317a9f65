"""Cron schedules: what is one, what is wrong with one, and when it comes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangline.rules.values.cron import Calendar, CronError, Every, due, next_after, parse

START = datetime(2026, 1, 1, tzinfo=UTC).timestamp()  # a Thursday


def following(text: str, after: str, zone: str = "UTC", count: int = 1) -> list[str]:
    """The moments of a schedule after one, as the clocks of a zone show them."""
    place, found = ZoneInfo(zone), []
    moment: float | None = datetime.fromisoformat(after).replace(tzinfo=place).timestamp()
    for _ in range(count):
        moment = next_after(parse(text), moment, place) if moment is not None else None
        found.append("never" if moment is None else datetime.fromtimestamp(moment, place).strftime("%Y-%m-%d %H:%M"))
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("*/15 * * * *", ["2026-01-01 00:15", "2026-01-01 00:30"]),
        ("0 0 ? * 1", ["2026-01-05 00:00", "2026-01-12 00:00"]),
        ("0 0 1 ? *", ["2026-02-01 00:00", "2026-03-01 00:00"]),
        ("0 0 13 * 5", ["2026-01-02 00:00", "2026-01-09 00:00"]),
        ("0 0 */2 * 1", ["2026-01-03 00:00", "2026-01-05 00:00"]),
        ("0 0 */1 * mon", ["2026-01-05 00:00", "2026-01-12 00:00"]),
        ("5/20 3 * * *", ["2026-01-01 03:05", "2026-01-01 03:25"]),
        ("0 12 * JAN-mar SUN,wed", ["2026-01-04 12:00", "2026-01-07 12:00"]),
        ("0 0 29 2 *", ["2028-02-29 00:00", "2032-02-29 00:00"]),
        ("59 23 31 2 *", ["never", "never"]),
        ("@yearly", ["2027-01-01 00:00", "2028-01-01 00:00"]),
        ("@annually", ["2027-01-01 00:00", "2028-01-01 00:00"]),
        ("@monthly", ["2026-02-01 00:00", "2026-03-01 00:00"]),
        ("@weekly", ["2026-01-04 00:00", "2026-01-11 00:00"]),
        ("@daily", ["2026-01-02 00:00", "2026-01-03 00:00"]),
        ("@midnight", ["2026-01-02 00:00", "2026-01-03 00:00"]),
        ("@hourly", ["2026-01-01 01:00", "2026-01-01 02:00"]),
        ("@every 1h30m", ["2026-01-01 01:30", "2026-01-01 03:00"]),
    ],
)
def test_a_schedule_comes_when_it_says(text: str, expected: list[str]) -> None:
    assert following(text, "2026-01-01T00:00:00", count=2) == expected


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "empty spec string"),
        ("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
        ("* * * * * *", "expected exactly 5 fields, found 6: [* * * * * *]"),
        ("60 * * * *", "end of range (60) above maximum (59): 60"),
        ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
        ("* * * * 7", "end of range (7) above maximum (6): 7"),
        ("5-2 * * * *", "beginning of range (5) beyond end of range (2): 5-2"),
        ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
        ("*/2/3 * * * *", "too many slashes: */2/3"),
        ("*/0 * * * *", "step of range should be a positive number: */0"),
        ("x * * * *", 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'),
        ("-5 * * * *", 'failed to parse int from : strconv.Atoi: parsing "": invalid syntax'),
        ("* * * * jan", 'failed to parse int from jan: strconv.Atoi: parsing "jan": invalid syntax'),
        (
            f"{'9' * 30} * * * *",
            f'failed to parse int from {"9" * 30}: strconv.Atoi: parsing "{"9" * 30}": value out of range',
        ),
        ("@sometimes", "unrecognized descriptor: @sometimes"),
        ("@every soon", 'failed to parse duration @every soon: time: invalid duration "soon"'),
        ("@every 2d", 'failed to parse duration @every 2d: time: invalid duration "2d"'),
    ],
)
def test_what_is_wrong_is_said_as_upstream_says_it(text: str, wrong: str) -> None:
    with pytest.raises(CronError) as told:
        parse(text)
    assert str(told.value) == wrong


def test_an_interval_has_whole_seconds_and_at_least_one() -> None:
    assert [parse(f"@every {length}") for length in ("90m", "1.5s", "10ms", "-5s", "0")] == [
        Every(5400),
        Every(1),
        Every(1),
        Every(1),
        Every(1),
    ]


def test_an_hour_that_the_clocks_skip_does_not_come_and_one_they_repeat_comes_twice() -> None:
    berlin = "Europe/Berlin"
    assert following("30 2 * * *", "2026-03-28T12:00:00", berlin, 2) == ["2026-03-30 02:30", "2026-03-31 02:30"]
    assert following("30 2 * * *", "2026-10-24T12:00:00", berlin, 3) == [
        "2026-10-25 02:30",
        "2026-10-25 02:30",
        "2026-10-26 02:30",
    ]
    assert following("0 9 * * *", "2026-03-28T12:00:00", berlin) == ["2026-03-29 09:00"]


def test_a_day_without_a_midnight_still_comes() -> None:
    assert following("0 5 4 11 *", "2018-11-01T00:00:00", "America/Sao_Paulo") == ["2018-11-04 05:00"]


def test_how_much_was_missed_does_not_matter() -> None:
    assert due(parse("* * * * *"), 0.0, START + 30) == (START, START + 60)
    assert due(parse("@every 1s"), 0.0, START + 0.5) == (START, START + 1)
    assert due(parse("0 0 1 1 *"), START - 1, START + 5) == (START, datetime(2027, 1, 1, tzinfo=UTC).timestamp())
    assert due(parse("0 0 1 1 *"), START, START + 5)[0] is None
    assert due(parse(", * * * *"), 0.0, START) == (None, None)
    assert next_after(parse("* * * * *"), 1e18) is None


fields = st.tuples(
    *(
        st.lists(
            st.one_of(
                st.just("*"),
                st.just("?"),
                st.integers(low, high).map(str),
                st.integers(1, 12).map(lambda step: f"*/{step}"),
                st.tuples(st.integers(low, high), st.integers(low, high), st.integers(1, 9)).map(
                    lambda item: f"{min(item[:2])}-{max(item[:2])}/{item[2]}"
                ),
            ),
            min_size=1,
            max_size=2,
        ).map(",".join)
        for low, high in ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))
    )
)


def by_the_book(texts: tuple[str, ...], moment: datetime) -> bool:
    """Upstream's rule, told with sets of numbers for one moment."""

    def values(text: str, low: int, high: int) -> set[int]:
        found: set[int] = set()
        for part in text.split(","):
            span, _, step = part.partition("/")
            first, _, last = span.partition("-")
            numbers = range(low, high + 1) if span in ("*", "?") else range(int(first), int(last or first) + 1)
            found |= set(list(numbers)[:: int(step or 1)])
        return found

    minute, hour, day, month, weekday = (
        values(text, *ends) for text, ends in zip(texts, ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6)), strict=True)
    )
    star = any(part in ("*", "?", "*/1") for text in (texts[2], texts[4]) for part in text.split(","))
    days = (moment.day in day, moment.isoweekday() % 7 in weekday)
    return (
        moment.minute in minute and moment.hour in hour and moment.month in month and (all(days) if star else any(days))
    )


@given(fields, st.integers(0, 366 * 24 * 60))
def test_the_next_moment_is_the_first_that_the_fields_allow(texts: tuple[str, ...], minutes: int) -> None:
    schedule = parse(" ".join(texts))
    assert isinstance(schedule, Calendar)
    start = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)
    found = next_after(schedule, start.timestamp())
    looked = [start + timedelta(minutes=entry) for entry in range(1, 400)]
    first = next((entry for entry in looked if by_the_book(texts, entry)), None)
    if first is not None:
        assert found == first.timestamp()
    else:
        assert found is None or found > looked[-1].timestamp()
        assert found is None or by_the_book(texts, datetime.fromtimestamp(found, UTC))


@given(fields, st.integers(0, 30 * 24 * 60), st.integers(0, 30 * 24 * 60))
def test_the_last_moment_is_the_one_before_the_next(texts: tuple[str, ...], since: int, length: int) -> None:
    schedule = parse(" ".join(texts))
    begun, now = START + since * 60, START + (since + length) * 60 + 7
    last, after = due(schedule, begun, now)
    assert after is None or after > now
    assert last is None or (begun < last <= now and next_after(schedule, last) == after)
    if last is None:
        assert next_after(schedule, begun) == after
