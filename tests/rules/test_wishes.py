"""What a set asks for in annotations: read where it can be read, refused at admission where not, and then not given."""

from __future__ import annotations

import pytest

from gangline.api import names
from gangline.rules import wishes


@pytest.mark.parametrize(
    ("text", "size", "most"),
    [
        ("2", 10, 2),
        ("20", 10, 20),
        ("25%", 10, 2),
        ("100%", 10, 10),
        ("1%", 10, 1),
        ("25%", 1, 1),
        ("0", 10, None),
        ("0%", 10, None),
        ("101%", 10, None),
        ("-1", 10, None),
        ("1.5", 10, None),
        ("٣", 10, None),
        ("%", 10, None),
        ("", 10, None),
        ("many", 10, None),
    ],
)
def test_an_update_may_take_a_number_or_a_share_but_at_least_one(text: str, size: int, most: int | None) -> None:
    assert wishes.max_unavailable({names.MAX_UNAVAILABLE: text}, size) == most


def test_a_set_that_asks_for_nothing_gets_what_is_usual() -> None:
    assert wishes.max_unavailable({}, 10) is None
    assert wishes.progress_deadline({}) is None
    assert wishes.ends_gangs({})
    assert list(wishes.problems({})) == []


@pytest.mark.parametrize(
    ("text", "seconds"), [("10m", 600.0), ("1d", 86400.0), ("0s", None), ("-1m", None), ("soon", None)]
)
def test_a_deadline_is_a_duration_above_zero(text: str, seconds: float | None) -> None:
    assert wishes.progress_deadline({names.PROGRESS_DEADLINE: text}) == seconds


def test_gangs_are_ended_unless_the_set_says_disabled() -> None:
    assert [wishes.ends_gangs({names.GANG_TERMINATION: text}) for text in ("enabled", "disabled", "x")] == [
        True,
        False,
        True,
    ]


def test_every_wish_that_cannot_be_read_is_refused_with_its_path() -> None:
    notes = {names.GANG_TERMINATION: "off", names.MAX_UNAVAILABLE: "0", names.PROGRESS_DEADLINE: "later"}
    assert [(problem.path, problem.message, problem.value) for problem in wishes.problems(notes)] == [
        ("metadata.annotations[gangline.io/gang-termination]", "must be enabled or disabled", "off"),
        (
            "metadata.annotations[gangline.io/max-unavailable]",
            "must be a number above 0, or a share from 1% to 100%",
            "0",
        ),
        ("metadata.annotations[gangline.io/progress-deadline]", "must be a duration above 0", "later"),
    ]


def test_wishes_that_can_be_read_are_no_problem() -> None:
    notes = {names.GANG_TERMINATION: "disabled", names.MAX_UNAVAILABLE: "10%", names.PROGRESS_DEADLINE: "90s"}
    assert list(wishes.problems(notes)) == []
