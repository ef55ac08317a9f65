"""The text of a jq program as tokens, and the pieces of a string with what is filled into it. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from gangline.grouper.jq.values import JqError

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)
  | (?P<text>")
  | (?P<format>@[A-Za-z0-9]+)
  | (?P<field>\.[A-Za-z_][A-Za-z0-9_]*)
  | (?P<variable>\$[A-Za-z_][A-Za-z0-9_]*)
  | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<sign>\.\.|\?//|//=|\|=|\+=|-=|\*=|/=|%=|==|!=|<=|>=|//|[.\[\]{}()|,:;=<>+\-*/%?])
)""",
    re.VERBOSE,
)


def tokens(text: str) -> list[tuple[str, str]]:
    read, at, text = [], 0, text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise JqError(f"cannot read {text[at:].strip()!r} in the jq expression {text!r}")
        kind, at = match.lastgroup or "", match.end()
        if kind == "text":
            start, at = at - 1, _end_of_string(text, at)
            read.append((kind, text[start:at]))
        else:
            read.append((kind, match[kind]))
    return [*read, ("end", "")]


def _end_of_string(text: str, at: int) -> int:
    """Where the string whose content begins here is over; what is filled into it may hold strings itself."""
    while at < len(text):
        if text[at] == '"':
            return at + 1
        at = _end_of_filling(text, at + 2) if text.startswith("\\(", at) else at + (2 if text[at] == "\\" else 1)
    raise JqError(f"a string does not end in the jq expression {text!r}")


def _end_of_filling(text: str, at: int) -> int:
    depth = 1
    while at < len(text) and depth:
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at = _end_of_string(text, at + 1) if text[at] == '"' else at + 1
    return at


def pieces(content: str) -> Iterator[tuple[str, bool]]:
    """A string's text and what is filled into it (True), in turns."""
    start = at = 0
    while at < len(content):
        if content.startswith("\\(", at):
            end = _end_of_filling(content, at + 2)
            yield from ((content[start:at], False), (content[at + 2 : end - 1], True))
            start = at = end
        else:
            at += 2 if content[at] == "\\" else 1
    yield content[start:], False


def unescaped(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"', strict=False))
    except json.JSONDecodeError as error:
        raise JqError(f"cannot read the string {text!r}: {error}") from error
