"""Short questions are answered once, long ones each time: no cache fills with what callers send."""

from __future__ import annotations

from gangline.api.kept import LONGEST, kept


def test_answers_to_short_questions_are_kept_and_to_long_ones_are_not() -> None:
    asked: list[int] = []

    @kept(8)
    def length(text: str) -> int:
        asked.append(len(text))
        return len(text)

    for _ in range(3):
        assert (length("ab"), length("x" * (LONGEST + 1))) == (2, LONGEST + 1)
    assert asked == [2, LONGEST + 1, LONGEST + 1, LONGEST + 1]
