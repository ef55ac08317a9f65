"""Short questions are answered once, long ones each time: no cache fills with what callers send."""

from __future__ import annotations

import pytest

from gangline.api.kept import LONGEST, kept, kept_pairs


def test_answers_to_short_questions_are_kept_and_to_long_ones_are_not() -> None:
    asked: list[int] = []

    @kept(8)
    def length(text: str) -> int:
        asked.append(len(text))
        return len(text)

    for _ in range(3):
        assert (length("ab"), length("x" * (LONGEST + 1))) == (2, LONGEST + 1)
    assert asked == [2, LONGEST + 1, LONGEST + 1, LONGEST + 1]


def test_a_cache_that_is_full_begins_anew() -> None:
    asked: list[str] = []

    @kept(2)
    def doubled(text: str) -> str:
        asked.append(text)
        return text * 2

    assert [doubled(text) for text in "abaca"] == ["aa", "bb", "aa", "cc", "aa"]
    assert asked == ["a", "b", "c", "a"], "the third letter found it full"


def test_answers_to_two_things_are_kept_unless_they_are_long_together() -> None:
    asked: list[int] = []

    @kept_pairs(8)
    def joined(first: str, second: bytes) -> int:
        asked.append(len(first) + len(second))
        return asked[-1]

    for _ in range(2):
        assert (joined("a", b"b"), joined("a" * LONGEST, b"b")) == (2, LONGEST + 1)
    assert asked == [2, LONGEST + 1, LONGEST + 1]


def test_a_question_that_cannot_be_answered_is_asked_again() -> None:
    asked: list[str] = []

    @kept(8)
    def number(text: str) -> int:
        asked.append(text)
        return int(text)

    for _ in range(2):
        with pytest.raises(ValueError, match="invalid literal"):
            number("x")
    assert asked == ["x", "x"]
