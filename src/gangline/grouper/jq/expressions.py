"""Regular expressions of jq: `test`, `sub` and `gsub`, with the flags we know. Used by functions.py. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from gangline.grouper.jq.budget import spend, spend_on, spend_on_pattern
from gangline.grouper.jq.filters import counted
from gangline.grouper.jq.values import LONGEST, JqError, Unsupported, brief, type_of
from gangline.rules.values.patterns import BadPattern, Pattern, worked_out

_SPACE = re.compile(r"(\\.|\[(?:\\.|[^\]\\])*+\])|\s+|#[^\n]*", re.DOTALL)
"""White space and remarks of an extended expression; what is escaped or inside a class is found first, and stays."""
Run = Callable[[Any], Iterator[Any]]
Function = Callable[[Any, list[Run]], Iterator[Any]]


def text_of(value: Any) -> str:
    if not isinstance(value, str):
        raise JqError(f"a string is needed, not {type_of(value)}")
    return value


def _pattern(text: Any, flags: str = "") -> Pattern:
    """`x` (white space does not count), `s` (one line), `i` (any case) are the flags we know; `g` and `n` are the
    caller's."""
    if set(flags) - set("gnixs"):
        raise JqError(f"{brief(flags)} are not flags of a regular expression")
    spend(1 + len(text_of(text)))
    plain = _SPACE.sub(lambda space: space[1] or "", text_of(text)) if "x" in flags else text_of(text)
    known = "".join(sorted(set(flags) & set("is")))
    try:
        pattern, steps = worked_out(f"(?{known}){plain}" if known else plain)
    except BadPattern as error:
        raise JqError(f"{brief(text)} is not a regular expression: {error}") from error
    spend_on_pattern(steps)
    return pattern


def tested(value: Any, arguments: list[Run]) -> Iterator[Any]:
    for flags in arguments[1](value) if len(arguments) > 1 else ("",):
        for pattern in arguments[0](value):
            yield _matched(_pattern(pattern, _flags(flags)), text_of(value))


def replaced(everywhere: bool) -> Function:
    def run(value: Any, arguments: list[Run]) -> Iterator[Any]:
        for flags in arguments[2](value) if len(arguments) > 2 else ("",):
            for pattern in arguments[0](value):
                most = None if everywhere or "g" in _flags(flags) else 1
                matches = islice(_matches(_pattern(pattern, _flags(flags)), text_of(value)), most)
                yield _with_replacements(text_of(value), matches, arguments[1])

    return run


def _matched(pattern: Pattern, value: str) -> bool:
    spend_on(value)
    spend_on_pattern(pattern.steps(value))
    try:
        return pattern.found(value)
    except BadPattern as error:
        raise JqError(str(error)) from error


def _matches(pattern: Pattern, value: str) -> Iterator[Any]:
    spend_on(value)
    spend_on_pattern(pattern.steps(value))
    try:
        yield from counted(pattern.each(value))
    except BadPattern as error:
        raise JqError(str(error)) from error


def _with_replacements(value: str, matches: Iterator[Any], run: Run) -> str:
    parts, end, size = [], 0, 0
    for match in matches:
        parts += [value[end : match.start()], _replacement(match, run)]
        end, size = match.end(), size + len(parts[-1])
        if size > LONGEST:
            raise JqError(f"a text of more than {LONGEST} letters")
    return "".join((*parts, value[end:]))


def _replacement(match: Any, run: Run) -> str:
    """What a match is replaced by; it is asked about the named groups of the match."""
    made = [*run(match.groupdict())]
    if len(made) != 1:
        raise Unsupported("a replacement must give one text")
    return text_of(made[0])


def _flags(value: Any) -> str:
    return "" if value is None else text_of(value)
