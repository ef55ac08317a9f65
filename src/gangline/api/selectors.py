"""Label and field selectors: parse, match, print.

Used by the embedded server, by caches and by pure code alike. Nothing here fetches anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gangline.api.meta import LabelSelector
from gangline.errors import BadInput


@dataclass(frozen=True, slots=True)
class SelectorRequirement:
    key: str
    operator: str
    """One of in, notin, exists, !exists, =, !=, gt, lt."""
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        value = labels.get(self.key)
        return _OPERATORS[self.operator](value, self.values)


def _compare(value: str | None, values: tuple[str, ...], test: Callable[[int, int], bool]) -> bool:
    try:
        return value is not None and test(int(value), int(values[0]))
    except ValueError:
        return False


_OPERATORS: dict[str, Callable[[str | None, tuple[str, ...]], bool]] = {
    "=": lambda value, values: value is not None and value == values[0],
    "in": lambda value, values: value is not None and value in values,
    "!=": lambda value, values: value is None or value != values[0],
    "notin": lambda value, values: value is None or value not in values,
    "exists": lambda value, values: value is not None,
    "!exists": lambda value, values: value is None,
    "gt": lambda value, values: _compare(value, values, lambda a, b: a > b),
    "lt": lambda value, values: _compare(value, values, lambda a, b: a < b),
}


@dataclass(frozen=True, slots=True)
class Selector:
    requirements: tuple[SelectorRequirement, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        return all(requirement.matches(labels) for requirement in self.requirements)


EVERYTHING = Selector()

_TOKEN = re.compile(r"\s*(!=|==|=|!|>|<|,|\(|\)|[^\s!=<>,()]+)")


def parse_labels(text: str) -> Selector:
    """A label selector as kubectl writes it: `a=b,c!=d,e in (f,g),!h`."""
    tokens = _TOKEN.findall(text)
    if "".join(tokens) != re.sub(r"\s+", "", text):
        raise BadInput(f"unable to parse label selector {text!r}")
    requirements: list[SelectorRequirement] = []
    position = 0
    while position < len(tokens):
        requirement, position = _requirement(tokens, position, text)
        requirements.append(requirement)
        if position < len(tokens):
            if tokens[position] != "," or position + 1 == len(tokens):
                raise BadInput(f"unable to parse label selector {text!r} near {tokens[position]!r}")
            position += 1
    return Selector(tuple(requirements))


def _requirement(tokens: list[str], at: int, text: str) -> tuple[SelectorRequirement, int]:
    if _token(tokens, at, text) == "!":
        return SelectorRequirement(_token(tokens, at + 1, text), "!exists"), at + 2
    key = tokens[at]
    follow = tokens[at + 1] if at + 1 < len(tokens) else ","
    if follow == ",":
        return SelectorRequirement(key, "exists"), at + 1
    if follow in _EQUALITIES:
        value = tokens[at + 2] if at + 2 < len(tokens) and tokens[at + 2] != "," else ""
        return SelectorRequirement(key, _EQUALITIES[follow], (value,)), at + (3 if value else 2)
    if follow in _ORDERS:
        return SelectorRequirement(key, _ORDERS[follow], (_token(tokens, at + 2, text),)), at + 3
    if follow in ("in", "notin") and _token(tokens, at + 2, text) == "(":
        return _membership(key, follow, tokens, at + 3, text)
    raise BadInput(f"unable to parse label selector {text!r} near {follow!r}")


_EQUALITIES = {"=": "=", "==": "=", "!=": "!="}
_ORDERS = {">": "gt", "<": "lt"}


def _token(tokens: list[str], at: int, text: str) -> str:
    if at >= len(tokens):
        raise BadInput(f"unable to parse label selector {text!r}: it ends too early")
    return tokens[at]


def _membership(key: str, word: str, tokens: list[str], at: int, text: str) -> tuple[SelectorRequirement, int]:
    """`key in (a, b)`, from behind the opening parenthesis."""
    if ")" not in tokens[at:]:
        raise BadInput(f"unable to parse label selector {text!r}: no closing parenthesis")
    end = tokens.index(")", at)
    values = tuple(value for value in tokens[at:end] if value != ",") or ("",)
    return SelectorRequirement(key, word, values), end + 1


_EXPRESSION = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "!exists", "Gt": "gt", "Lt": "lt"}


def from_selector(selector: LabelSelector | Mapping[str, Any] | None) -> Selector:
    """A `matchLabels`/`matchExpressions` selector, typed or plain; None matches nothing in Kubernetes, so callers
    decide."""
    if selector is None:
        return EVERYTHING
    if isinstance(selector, LabelSelector):
        labels: Mapping[str, str] = selector.match_labels
        expressions = [
            (match_expression.key, match_expression.operator, match_expression.values)
            for match_expression in selector.match_expressions
        ]
    else:
        labels = selector.get("matchLabels") or {}
        expressions = [
            (match_expression["key"], match_expression["operator"], tuple(match_expression.get("values") or ()))
            for match_expression in selector.get("matchExpressions") or ()
        ]
    equal = tuple(SelectorRequirement(key, "=", (value,)) for key, value in sorted(labels.items()))
    return Selector(
        equal + tuple(SelectorRequirement(key, _EXPRESSION[op], tuple(values)) for key, op, values in expressions)
    )


def equals(labels: Mapping[str, str]) -> Selector:
    """A selector for exactly these label values."""
    return Selector(tuple(SelectorRequirement(key, "=", (value,)) for key, value in sorted(labels.items())))


def print_labels(selector: Selector) -> str:
    """The selector as it is sent in a query."""
    return ",".join(_print(requirement) for requirement in selector.requirements)


def _print(requirement: SelectorRequirement) -> str:
    key, values = requirement.key, requirement.values
    match requirement.operator:
        case "exists":
            return key
        case "!exists":
            return f"!{key}"
        case "in" | "notin":
            return f"{key} {requirement.operator} ({','.join(values)})"
        case "gt" | "lt":
            return f"{key}{'>' if requirement.operator == 'gt' else '<'}{values[0]}"
        case _:
            return f"{key}{requirement.operator}{values[0]}"
