"""`did you mean …?`: the known words that are closest to one that nobody knows. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

LIKENESS = 0.6


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word that comes nearest; empty where none does."""
    return next(iter(get_close_matches(word, sorted(set(known) - {word}), 1, LIKENESS)), "")


def did_you_mean(word: str, known: Iterable[str], most: int = 1) -> str:
    """Ends a message about an unknown word; empty where nothing comes near."""
    near = get_close_matches(word, sorted(set(known)), most, LIKENESS)
    return f"; did you mean {' or '.join(near)}?" if near else ""
