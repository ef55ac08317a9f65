"""What somebody may have meant who wrote a word that is not known; nothing here prints."""

from __future__ import annotations

from collections.abc import Iterable

LIKENESS = 0.6


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'explain'?`, or nothing where no known word is like it."""
    from difflib import get_close_matches

    alike = {name.lower(): name for name in known if 2 * len(name) > len(word)}
    near = get_close_matches(word.lower(), alike, 1, LIKENESS)
    return f"; did you mean {alike[near[0]]!r}?" if near else ""
