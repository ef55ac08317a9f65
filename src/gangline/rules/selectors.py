"""A label selector's text → a Selector, as a kube-apiserver reads it: what it refuses is refused, with its words.

The one parser: the embedded server reads queries with it, components their flags. Matching and printing is
`api/selectors.py`'s. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gangline.api.selectors import EVERYTHING, Selector, SelectorRequirement, whole_number
from gangline.errors import BadInput
from gangline.rules.values.names import label_value_problems, qualified_name_problems

_TOKEN = re.compile(r"\s*(?:(==|!=|=|!|,|\(|\)|<|>)|([^\s=!,()<>]+))")
_SYMBOLS = {"==", "!=", "=", "!", ",", "(", ")", "<", ">"}


_OPERATORS = {"==": "=", ">": "gt", "<": "lt"}
"""As they are written, where that is not what a requirement calls them."""


class SelectorUnreadable(BadInput):
    """`why` is what a kube-apiserver says of it."""

    def __init__(self, text: str, why: str) -> None:
        super().__init__(f"unable to parse label selector {text!r}: {why}")
        self.why = why


class _Unexpected(Exception):
    """The parser came upon something that does not belong there."""


def parse_labels(text: str) -> Selector:
    """A label selector as kubectl writes it: `a=b,c!=d,e in (f,g),!h`."""
    try:
        return Selector(tuple(_requirements(_tokens(text)))) if text else EVERYTHING
    except _Unexpected as error:
        raise SelectorUnreadable(text, str(error)) from error


def _requirements(tokens: list[str]) -> Iterator[SelectorRequirement]:
    while tokens:
        yield _requirement(tokens)
        if not tokens:
            return
        comma = tokens.pop(0)
        if comma != ",":
            raise _Unexpected(f"found '{comma}', expected: ',' or 'end of string'")
        following = tokens[0] if tokens else ""
        if following != "!" and (not following or following in _SYMBOLS):
            raise _Unexpected(f"found '{following}', expected: identifier after ','")


def _unparsable(why: str) -> _Unexpected:
    return _Unexpected(f"unable to parse requirement: {why}")


def _tokens(text: str) -> list[str]:
    tokens, position, text = [], 0, text.strip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            break
        tokens.append(match.group(1) or match.group(2))
        position = match.end()
    return tokens


def _requirement(tokens: list[str]) -> SelectorRequirement:
    negated = tokens[0] == "!"
    if negated:
        tokens.pop(0)
    key = tokens.pop(0) if tokens else ""
    if not key or key in _SYMBOLS:
        if negated:
            raise _unparsable(f"found '{key}', expected: identifier")
        raise _Unexpected(f"found '{key}', expected: !, identifier, or 'end of string'")
    problems = qualified_name_problems(key)
    if problems:
        raise _unparsable(f'<nil>: Invalid value: "{key}": ' + "; ".join(problems))
    if negated:
        return SelectorRequirement(key, "!exists")
    if not tokens or tokens[0] == ",":
        return SelectorRequirement(key, "exists")
    return _comparison(key, tokens.pop(0), tokens)


def _comparison(key: str, operator: str, tokens: list[str]) -> SelectorRequirement:
    if operator in ("in", "notin"):
        values = _value_set(tokens)
    elif operator in ("=", "==", "!=", "<", ">"):
        value = "" if not tokens or tokens[0] == "," else tokens.pop(0)
        if value in _SYMBOLS:
            raise _unparsable(f"found '{value}', expected: identifier")
        values = (value,)
    else:
        raise _unparsable(f"found '{operator}', expected: in, notin, =, ==, !=, gt, lt")
    for index, value in enumerate(values):
        problems = label_value_problems(value)
        if problems:
            raise _unparsable(f'values[{index}][{key}]: Invalid value: "{value}": ' + "; ".join(problems))
    if operator in ("<", ">") and whole_number(values[0]) is None:
        raise _unparsable(
            f"values[0]: Invalid value: \"{values[0]}\": for 'Gt', 'Lt' operators, the value must be an integer"
        )
    return SelectorRequirement(key, _OPERATORS.get(operator, operator), values)


def _value_set(tokens: list[str]) -> tuple[str, ...]:
    if not tokens or tokens[0] != "(":
        raise _unparsable(f"found '{tokens[0] if tokens else ''}' expected: '('")
    tokens.pop(0)
    values: list[str] = []
    expect_value = True
    while tokens:
        token = tokens.pop(0)
        if token == ")":
            if expect_value:
                values.append("")
            return tuple(sorted(set(values)))
        if token == ",":
            if expect_value:
                values.append("")
            expect_value = True
        elif token in _SYMBOLS or not expect_value:
            raise _unparsable(f"found '{token}', expected: ',' or ')'")
        else:
            values.append(token)
            expect_value = False
    raise _unparsable("found '', expected: ',' or ')'")
