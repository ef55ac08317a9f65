"""The ways in which answers of several plugins become one; `hooks.py` says which hook is combined in which way.

Each function takes the methods of the plugins that answer a hook, in plugin order, and gives what callers ask: with no method it costs
nothing, with one it is that method. Nothing here knows a hook or a plugin.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from inspect import ismethod
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])


def overriding(default: Callable[..., Any], methods: Iterable[F]) -> list[F]:
    """The bound methods that are not the default itself."""
    return [each for each in methods if not (ismethod(each) and each.__func__ is default)]


def key(methods: Sequence[Callable[P, Any]]) -> Callable[P, tuple[Any, ...]]:
    """All answers one after the other, as one sort key."""
    def ask(*about: P.args, **named: P.kwargs) -> tuple[Any, ...]:
        return tuple([method(*about, **named) for method in methods])
    return ask


def compare(methods: Sequence[Callable[P, int]]) -> Callable[P, int]:
    """A key for what can only be compared: the first opinion that is not 0."""
    def ask(*about: P.args, **named: P.kwargs) -> int:
        for method in methods:
            order = method(*about, **named)
            if order:
                return order
        return 0
    return methods[0] if len(methods) == 1 else ask


def veto(methods: Sequence[Callable[P, R | None]]) -> Callable[P, R | None]:
    """The first refusal; everybody is asked until one refuses."""
    def ask(*about: P.args, **named: P.kwargs) -> R | None:
        for method in methods:
            refusal = method(*about, **named)
            if refusal is not None:
                return refusal
        return None
    return methods[0] if len(methods) == 1 else ask


def vetoes(methods: Sequence[Callable[P, R | None]]) -> Callable[P, list[R]]:
    """A veto of which all refusals are told together."""
    def ask(*about: P.args, **named: P.kwargs) -> list[R]:
        return [refusal for method in methods if (refusal := method(*about, **named)) is not None]
    return ask


def consent(methods: Sequence[Callable[P, bool]]) -> Callable[P, bool]:
    """A veto by False: everybody must agree."""
    def ask(*about: P.args, **named: P.kwargs) -> bool:
        return all(method(*about, **named) for method in methods)
    return methods[0] if len(methods) == 1 else ask


def exclusion(methods: Sequence[Callable[P, bool]]) -> Callable[P, bool]:
    """A veto by True: one is enough."""
    def ask(*about: P.args, **named: P.kwargs) -> bool:
        return any(method(*about, **named) for method in methods)
    return methods[0] if len(methods) == 1 else ask


def least(methods: Sequence[Callable[P, float]]) -> Callable[P, float]:
    """A veto by number: the smallest upper bound holds."""
    def ask(*about: P.args, **named: P.kwargs) -> float:
        return min((method(*about, **named) for method in methods), default=math.inf)
    return methods[0] if len(methods) == 1 else ask


def total(methods: Sequence[Callable[P, float]]) -> Callable[P, float]:
    """The sum."""
    def ask(*about: P.args, **named: P.kwargs) -> float:
        return sum([method(*about, **named) for method in methods], 0.0)
    return methods[0] if len(methods) == 1 else ask


def total_or_none(methods: Sequence[Callable[P, float | None]]) -> Callable[P, float | None]:
    """The sum; one None drops the subject."""
    def ask(*about: P.args, **named: P.kwargs) -> float | None:
        found = 0.0
        for method in methods:
            score = method(*about, **named)
            if score is None:
                return None
            found += score
        return found
    return ask


def first(methods: Sequence[Callable[P, R | None]]) -> Callable[P, R | None]:
    """The first answer that is not None: for figures of which one is enough. Never for a refusal."""
    return veto(methods)


def tell(methods: Sequence[Callable[P, None]]) -> Callable[P, None]:
    """Everybody hears of it."""
    def ask(*about: P.args, **named: P.kwargs) -> None:
        for method in methods:
            method(*about, **named)
    return methods[0] if len(methods) == 1 else ask
