"""The numbers of an Indexed Job, kept as spans: a Job with a thousand million of them costs no more than one with ten.

`read` takes what a Job's status says, and leaves out what is no span, as upstream's controller does. Pure.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

Span: TypeAlias = tuple[int, int]
"""First and last, both included."""
LONGEST_NUMBER = 10
"""Digits of the largest 32-bit number."""


@dataclass(frozen=True, slots=True)
class JobIndexes:
    """Spans in order; none touches the next."""

    spans: tuple[Span, ...] = ()

    @property
    def total(self) -> int:
        return sum(last - first + 1 for first, last in self.spans)

    def has(self, number: int) -> bool:
        at = bisect_right(self.spans, number, key=lambda span: span[0])
        return at > 0 and number <= self.spans[at - 1][1]

    def joined(self, other: JobIndexes) -> JobIndexes:
        return _in_order((*self.spans, *other.spans))

    def outside(self, end: int) -> Iterator[int]:
        """The numbers below `end` that are not here, one after the other; nobody makes a list of them."""
        at = 0
        for first, last in self.spans:
            yield from range(at, min(first, end))
            at = last + 1
        yield from range(at, end)

    def text(self) -> str:
        """0, 1, 2, 5 → `0-2,5`; two in a row are written with a comma."""
        return ",".join(_written(first, last) for first, last in self.spans)


def of(numbers: Iterable[int]) -> JobIndexes:
    return _in_order((number, number) for number in numbers)


def read(text: str, end: int) -> JobIndexes:
    """`0-2,5` → 0, 1, 2, 5, as far as they are below `end`."""
    spans = (_span(part, end) for part in text.split(",") if part)
    return _in_order(span for span in spans if span is not None)


def _span(part: str, end: int) -> Span | None:
    first, dash, last = part.partition("-")
    ends = (first, last if dash else first)
    if not all(item.isascii() and item.isdigit() and len(item) <= LONGEST_NUMBER for item in ends):
        return None
    low, high = int(ends[0]), min(int(ends[1]), end - 1)
    return (low, high) if low <= high else None


def _in_order(spans: Iterable[Span]) -> JobIndexes:
    joined: list[Span] = []
    for first, last in sorted(spans):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], last))
        else:
            joined.append((first, last))
    return JobIndexes(tuple(joined))


def _written(first: int, last: int) -> str:
    if first == last:
        return str(first)
    return f"{first},{last}" if last == first + 1 else f"{first}-{last}"
