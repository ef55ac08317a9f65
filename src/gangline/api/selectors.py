"""Label selectors: what they are, what they match, and how they are printed.

Used by the embedded server, by caches and by pure code alike; a text becomes one in `rules/selectors.py`. Nothing here
fetches anything.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from gangline.api.meta import LabelSelector

_WHOLE = re.compile(r"[+-]?[0-9]{1,63}")


LabelTest = Callable[[Mapping[str, str]], bool]
FEW = 8
"""So many requirements are asked one by one; of more, only those about labels that an object has."""


@dataclass(frozen=True, slots=True)
class SelectorRequirement:
    key: str
    operator: str
    """One of in, notin, exists, !exists, =, !=, gt, lt."""
    values: tuple[str, ...] = ()


def whole_number(text: str | None) -> int | None:
    """A label's value as Go reads an integer of 64 bits: no underscores, no spaces."""
    number = int(text) if text is not None and _WHOLE.fullmatch(text) else None
    return number if number is not None and -(2**63) <= number < 2**63 else None


@dataclass(frozen=True, slots=True)
class Selector:
    requirements: tuple[SelectorRequirement, ...] = ()
    _test: LabelTest | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def test(self) -> LabelTest:
        """What it asks of labels, compiled."""
        if self._test is None:
            object.__setattr__(self, "_test", _compiled(self.requirements))
        return cast(LabelTest, self._test)

    def matches(self, labels: Mapping[str, str]) -> bool:
        return self.test(labels)


def _compiled(requirements: Sequence[SelectorRequirement]) -> LabelTest:
    if len(requirements) > FEW:
        return _by_key(requirements)
    tests = [_alone(requirement) for requirement in requirements]
    return tests[0] if len(tests) == 1 else lambda labels: all(test(labels) for test in tests)


def _alone(requirement: SelectorRequirement) -> LabelTest:
    key, values = requirement.key, frozenset(requirement.values)
    match requirement.operator:
        case "exists":
            return lambda labels: key in labels
        case "!exists":
            return lambda labels: key not in labels
        case "=" | "in":
            return lambda labels: labels.get(key) in values
        case "!=" | "notin":
            return lambda labels: key not in labels or labels[key] not in values
    rule = LabelRule()
    rule.add(requirement)
    return lambda labels: key in labels and rule.holds(labels[key])


def _by_key(requirements: Sequence[SelectorRequirement]) -> LabelTest:
    """A selector may be far longer than the labels of an object: what it costs is in their number, not in its own."""
    rules: dict[str, LabelRule] = defaultdict(LabelRule)
    for requirement in requirements:
        rules[requirement.key].add(requirement)
    needed = [key for key, rule in rules.items() if rule.needed]
    return lambda labels: (
        all(key in labels for key in needed)
        and all(rules[key].holds(value) for key, value in labels.items() if key in rules)
    )


@dataclass(slots=True)
class LabelRule:
    """All that a selector asks of one label."""

    needed: bool = False
    absent: bool = False
    allowed: set[str] | None = None
    banned: set[str] = field(default_factory=set)
    above: int | None = None
    below: int | None = None

    def add(self, requirement: SelectorRequirement) -> None:
        operator, values = requirement.operator, requirement.values
        self.needed = self.needed or operator in ("exists", "=", "in", "gt", "lt")
        match operator:
            case "!exists":
                self.absent = True
            case "=" | "in":
                self.allowed = set(values) if self.allowed is None else self.allowed & set(values)
            case "!=" | "notin":
                self.banned.update(values)
            case "gt":
                self.above = _tighter(max, self.above, whole_number(values[0]))
            case "lt":
                self.below = _tighter(min, self.below, whole_number(values[0]))

    def holds(self, value: str) -> bool:
        """Of a label that is there."""
        if self.absent or value in self.banned or (self.allowed is not None and value not in self.allowed):
            return False
        if self.above is None and self.below is None:
            return True
        number = whole_number(value)
        return (
            number is not None
            and (self.above is None or number > self.above)
            and (self.below is None or number < self.below)
        )


def _tighter(choose: Callable[[int, int], int], known: int | None, bound: int | None) -> int:
    """The bound that leaves less; one that is no number leaves nothing."""
    number = bound if bound is not None else choose(-(2**64), 2**64)
    return number if known is None else choose(known, number)


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
