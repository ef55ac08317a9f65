"""Regular expressions as the real server reads them (RE2), on Python's engine.

What RE2 refuses (look-around, back references) is refused, what the two spell differently is rewritten, and a pattern that could
backtrack without end is handed to linear.py.

    finder(text) -> Callable[[str], bool]        whether the pattern occurs
    compile_pattern(text) -> re.Pattern          for those who need what was found
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from gangline.errors import GanglineError
from gangline.schema.linear import Linear, Unsuited, risky

_POSIX = {
    "alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "upper": "A-Z", "lower": "a-z", "space": r"\s", "punct": r"!-/:-@\[-`{-~",
    "word": r"\w", "xdigit": "0-9A-Fa-f", "blank": r" \t", "cntrl": r"\x00-\x1f\x7f", "print": " -~", "graph": "!-~", "ascii": r"\x00-\x7f",
}
_UNICODE = {"L": r"^\W\d_", "Lu": "A-ZÀ-ÖØ-Þ", "Ll": "a-zß-öø-ÿ", "N": r"\d", "Nd": r"\d"}
_WORDS = {"unterminated character set": "missing closing ]", "missing ), unterminated subpattern": "missing closing )",
          "unbalanced parenthesis": "unexpected )", "nothing to repeat": "missing argument to repetition operator",
          "multiple repeat": "invalid nested repetition operator"}
_PERL = re.compile(r"\(\?(?:[=!]|<[=!]|>|#)|\(\?\(")


class BadPattern(GanglineError):
    """The expression cannot be compiled; the text is what the server's own engine would say."""


@lru_cache(maxsize=2048)
def compile_pattern(text: str) -> re.Pattern[str]:
    match = _PERL.search(text)
    if match is not None:
        raise BadPattern(f"error parsing regexp: invalid or unsupported Perl syntax: `{match.group()}`")
    try:
        return re.compile(_translate(text), re.ASCII)
    except (re.error, OverflowError, RecursionError) as error:
        told = _WORDS.get(getattr(error, "msg", ""), str(error))
        raise BadPattern(f"error parsing regexp: {told}: `{text}`") from None


@lru_cache(maxsize=2048)
def finder(text: str) -> Callable[[str], bool]:
    """A test for the pattern whose time grows only with what is searched."""
    pattern = compile_pattern(text)
    if risky(pattern):
        try:
            return Linear(pattern).found
        except Unsuited:
            pass
    return lambda value: pattern.search(value) is not None


def _translate(text: str) -> str:
    out: list[str] = []
    at, in_class = 0, False
    while at < len(text):
        piece, at, in_class = _piece(text, at, in_class)
        out.append(piece)
    return "".join(out)


def _piece(text: str, at: int, in_class: bool) -> tuple[str, int, bool]:
    char = text[at]
    if char == "\\" and at + 1 < len(text):
        return (*_escape(text, at, in_class), in_class)
    if in_class:
        named = re.compile(r"\[:(\w+):\]").match(text, at)
        if named and named.group(1) in _POSIX:
            return _POSIX[named.group(1)], named.end(), True
        return ("\\[" if char == "[" else char), at + 1, char != "]"
    if char == "[":
        opening = re.compile(r"\[\^?\]?").match(text, at)
        assert opening is not None
        return opening.group().replace("]", "\\]"), opening.end(), True
    return (r"\Z" if char == "$" else char), at + 1, False


def _escape(text: str, at: int, in_class: bool) -> tuple[str, int]:
    following = text[at + 1]
    if following == "z":
        return r"\Z", at + 2
    if following == "Q":
        end = text.find("\\E", at)
        stop = len(text) if end < 0 else end
        return re.escape(text[at + 2:stop]), stop + 2
    if following in "123456789":
        raise BadPattern(f"error parsing regexp: invalid escape sequence: `\\{following}`")
    unicode = re.compile(r"\\[pP](?:\{(\^?\w+)\}|(\w))").match(text, at)
    if unicode:
        inner = _UNICODE.get(unicode.group(1) or unicode.group(2), r"\w")
        return (inner.lstrip("^") if in_class else f"[{inner}]"), unicode.end()
    return text[at:at + 2], at + 2
