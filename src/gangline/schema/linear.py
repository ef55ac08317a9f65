"""A second engine for patterns that could make Python's own backtrack without end, such as `(a+)+$`.

Python's parser reads the pattern; the tree becomes a non-deterministic automaton that is walked one character at a time, sets of states
remembered as they are met. Time grows with the text, never faster. It answers only whether a pattern is found; what it does not know
(word boundaries, case folding) stays with the usual engine.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

LARGEST = 4000
REMEMBERED = 20_000
Test = Callable[[str], bool]
_REPEATS = (ops.MAX_REPEAT, ops.MIN_REPEAT)
_CATEGORIES: dict[Any, Test] = {
    ops.CATEGORY_DIGIT: lambda c: "0" <= c <= "9", ops.CATEGORY_NOT_DIGIT: lambda c: not "0" <= c <= "9",
    ops.CATEGORY_SPACE: lambda c: c in " \t\n\r\f\v", ops.CATEGORY_NOT_SPACE: lambda c: c not in " \t\n\r\f\v",
    ops.CATEGORY_WORD: lambda c: c.isascii() and (c.isalnum() or c == "_"),
    ops.CATEGORY_NOT_WORD: lambda c: not (c.isascii() and (c.isalnum() or c == "_")),
}


class Unsuited(Exception):
    """The pattern uses something this engine does not know."""


def risky(pattern: re.Pattern[str]) -> bool:
    """Whether more than one repeat has no end, or alternatives stand inside one: then time could grow faster than the text."""
    return _weight(parser.parse(pattern.pattern, pattern.flags), inside=False) > 1


def _weight(tree: Any, inside: bool) -> int:
    total = 0
    for op, about in tree:
        endless = op in _REPEATS and about[1] == ops.MAXREPEAT
        total += endless + (op is ops.BRANCH and inside)
        total += sum(_weight(part, inside or endless) for part in _parts(op, about))
    return total


def _parts(op: Any, about: Any) -> list[Any]:
    if op in _REPEATS:
        return [about[2]]
    if op is ops.SUBPATTERN:
        return [about[3]]
    return list(about[1]) if op is ops.BRANCH else []


class Linear:
    """`found(text)`: whether the pattern occurs. Raises Unsuited when it cannot be built."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        if pattern.flags & (re.IGNORECASE | re.MULTILINE | re.DOTALL | re.VERBOSE):
            raise Unsuited
        self._tests: list[Test | None] = []
        self._next: list[tuple[int, ...]] = []
        self._anchors: dict[int, str] = {}
        self._end = self._state(None)
        start = self._sequence(parser.parse(pattern.pattern, pattern.flags), self._end)
        self._from_start = self._closure((start,), at_start=True)
        self._anywhere = self._closure((start,), at_start=False)
        self._steps: dict[tuple[frozenset[int], str], frozenset[int]] = {}

    def found(self, text: str) -> bool:
        states = self._from_start
        for char in text:
            if self._end in states:
                return True
            key = (states, char)
            after = self._steps.get(key)
            if after is None:
                after = self._step(states, char)
                if len(self._steps) < REMEMBERED:
                    self._steps[key] = after
            states = after
        return self._end in self._closure(tuple(states), at_start=not text, at_end=True)

    def _step(self, states: frozenset[int], char: str) -> frozenset[int]:
        reached: list[int] = []
        for state in states:
            test = self._tests[state]
            if test is not None and test(char):
                reached.extend(self._next[state])
        return self._closure(tuple(reached), at_start=False) | self._anywhere

    def _closure(self, states: tuple[int, ...], at_start: bool, at_end: bool = False) -> frozenset[int]:
        """All states reachable without reading a character."""
        seen: set[int] = set()
        todo = list(states)
        while todo:
            state = todo.pop()
            if state in seen:
                continue
            seen.add(state)
            anchor = self._anchors.get(state)
            if (anchor == "start" and not at_start) or (anchor == "end" and not at_end):
                continue
            if self._tests[state] is None:
                todo.extend(self._next[state])
        return frozenset(seen)

    def _state(self, test: Test | None, *after: int) -> int:
        if len(self._tests) >= LARGEST:
            raise Unsuited
        self._tests.append(test)
        self._next.append(after)
        return len(self._tests) - 1

    def _sequence(self, tree: Any, after: int) -> int:
        for op, about in reversed(list(tree)):
            after = self._part(op, about, after)
        return after

    def _part(self, op: Any, about: Any, after: int) -> int:
        if op is ops.LITERAL:
            return self._state(chr(about).__eq__, after)
        if op is ops.NOT_LITERAL:
            return self._state(chr(about).__ne__, after)
        if op is ops.ANY:
            return self._state("\n".__ne__, after)
        if op is ops.IN:
            return self._state(_one_of(about), after)
        if op is ops.BRANCH:
            return self._state(None, *(self._sequence(branch, after) for branch in about[1]))
        if op is ops.SUBPATTERN and not about[1] and not about[2]:
            return self._sequence(about[3], after)
        if op in _REPEATS:
            return self._repeat(about[0], about[1], about[2], after)
        if op is ops.AT:
            return self._anchor(about, after)
        raise Unsuited

    def _repeat(self, least: int, most: Any, tree: Any, after: int) -> int:
        if most == ops.MAXREPEAT:
            loop = self._state(None)
            self._next[loop] = (self._sequence(tree, loop), after)
            after = loop
        else:
            for _ in range(int(most) - least):
                after = self._state(None, self._sequence(tree, after), after)
        for _ in range(least):
            after = self._sequence(tree, after)
        return after

    def _anchor(self, kind: Any, after: int) -> int:
        state = self._state(None, after)
        if kind in (ops.AT_BEGINNING, ops.AT_BEGINNING_STRING):
            self._anchors[state] = "start"
        elif kind is ops.AT_END_STRING:
            self._anchors[state] = "end"
        else:
            raise Unsuited
        return state


def _one_of(items: Any) -> Test:
    negate = bool(items) and items[0][0] is ops.NEGATE
    tests = [_item(op, about) for op, about in (items[1:] if negate else items)]
    return (lambda char: not any(test(char) for test in tests)) if negate else (lambda char: any(test(char) for test in tests))


def _item(op: Any, about: Any) -> Test:
    if op is ops.LITERAL:
        return chr(about).__eq__
    if op is ops.RANGE:
        low, high = chr(about[0]), chr(about[1])
        return lambda char: low <= char <= high
    if op is ops.CATEGORY and about in _CATEGORIES:
        return _CATEGORIES[about]
    raise Unsuited
