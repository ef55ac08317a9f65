"""Label selectors: what they are, what they match, and how they are printed.

Used by the embedded server, by caches and by pure code alike; a text becomes one in `rules/selectors.py`. Nothing here
fetches anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gangline.api.meta import LabelSelector

_WHOLE = re.compile(r"[+-]?[0-9]{1,63}")


@dataclass(frozen=True, slots=True)
class SelectorRequirement:
    key: str
    operator: str
    """One of in, notin, exists, !exists, =, !=, gt, lt."""
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        value = labels.get(self.key)
        return _OPERATORS[self.operator](value, self.values)


def whole_number(text: str | None) -> int | None:
    """A label's value as Go reads an integer of 64 bits: no underscores, no spaces."""
    number = int(text) if text is not None and _WHOLE.fullmatch(text) else None
    return number if number is not None and -(2**63) <= number < 2**63 else None


def _compare(value: str | None, values: tuple[str, ...], test: Callable[[int, int], bool]) -> bool:
    number, wanted = whole_number(value), whole_number(values[0])
    return number is not None and wanted is not None and test(number, wanted)


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
