"""What one evaluation of a jq program may cost: steps, charged before they are taken.

JqProgram opens a budget; filters, functions and values charge it. A program that would take more ends with an error
that no `try` of its own can catch. Pure but for the one number it counts down."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

MOST_STEPS = 200_000
"""Some tenths of a second; a Karta of everyday takes a few hundred."""
_PART = 16
"""So many parts of a value are copied or looked at in one step; so many steps of a pattern are one."""
_left: ContextVar[list[int] | None] = ContextVar("jq steps left", default=None)


class StepsSpent(Exception):
    """No error of jq: expressions cannot catch it."""


@contextmanager
def budget() -> Iterator[None]:
    token = _left.set([MOST_STEPS])
    try:
        yield
    finally:
        _left.reset(token)


def spend(steps: int = 1) -> None:
    left = _left.get()
    if left is None:
        return
    left[0] -= steps
    if left[0] < 0:
        raise StepsSpent


def spend_on(*values: Any) -> None:
    """What it costs to copy these values, or to look at all their parts."""
    spend(1 + sum(len(value) for value in values if isinstance(value, str | list | dict)) // _PART)


def spend_on_pattern(steps: int) -> None:
    """What it costs to compile or look for one (rules/values/patterns.py)."""
    spend(1 + steps // _PART)


def spend_on_all(value: Any) -> None:
    """What it costs to walk a value with all that is in it; a value that holds another twice is walked twice."""
    todo = [value]
    while todo:
        part = todo.pop()
        spend_on(part)
        if isinstance(part, list | dict):
            todo.extend(part.values() if isinstance(part, dict) else part)
