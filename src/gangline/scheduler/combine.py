"""The ways in which answers of several plugins become one; `hooks.py` says which hook is combined in which way.

Each function takes the methods of the plugins that answer a hook, in plugin order, and gives what callers ask: with no
method it costs nothing, with one it is that method. Hooks are asked by position, never by keyword: that is faster.
Nothing here knows a hook or a plugin."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from types import MethodType
from typing import Any, ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


def overriding(default: Callable[..., Any], plugins: Iterable[T], method_of: Callable[[T], F]) -> list[F]:
    """The plugins' bound methods of one hook, those left out that are the default itself."""
    return [method for plugin in plugins if overrides(default, method := method_of(plugin))]


def overrides(default: Callable[..., Any], method: Callable[..., Any]) -> bool:
    return not (isinstance(method, MethodType) and method.__func__ is default)


def key(methods: Sequence[Callable[P, Any]]) -> Callable[P, tuple[Any, ...]]:
    """All answers one after the other, as one sort key."""
    positional: Sequence[Callable[..., Any]] = methods

    def ask(*about: Any) -> tuple[Any, ...]:
        return tuple([method(*about) for method in positional])

    return cast("Callable[P, tuple[Any, ...]]", ask)


def compare(methods: Sequence[Callable[P, int]]) -> Callable[P, int]:
    """A key for what can only be compared: the first opinion that is not 0."""
    positional: Sequence[Callable[..., int]] = methods

    def ask(*about: Any) -> int:
        for method in positional:
            order = method(*about)
            if order:
                return order
        return 0

    return methods[0] if len(methods) == 1 else cast("Callable[P, int]", ask)


def veto(methods: Sequence[Callable[P, R | None]]) -> Callable[P, R | None]:
    """The first refusal; plugins are asked in order until one refuses."""
    positional: Sequence[Callable[..., R | None]] = methods

    def ask(*about: Any) -> R | None:
        for method in positional:
            refusal = method(*about)
            if refusal is not None:
                return refusal
        return None

    return methods[0] if len(methods) == 1 else cast("Callable[P, R | None]", ask)


def vetoes(methods: Sequence[Callable[P, R | None]]) -> Callable[P, list[R]]:
    """A veto that gives all refusals together."""
    positional: Sequence[Callable[..., Any]] = methods

    def ask(*about: Any) -> list[R]:
        return [refusal for method in positional if (refusal := method(*about)) is not None]

    return cast("Callable[P, list[R]]", ask)


def consent(methods: Sequence[Callable[P, bool]]) -> Callable[P, bool]:
    """A veto by False: all plugins must agree."""
    positional: Sequence[Callable[..., Any]] = methods

    def ask(*about: Any) -> bool:
        return all(method(*about) for method in positional)

    return methods[0] if len(methods) == 1 else cast("Callable[P, bool]", ask)


def exclusion(methods: Sequence[Callable[P, bool]]) -> Callable[P, bool]:
    """A veto by True: one is enough."""
    positional: Sequence[Callable[..., Any]] = methods

    def ask(*about: Any) -> bool:
        return any(method(*about) for method in positional)

    return methods[0] if len(methods) == 1 else cast("Callable[P, bool]", ask)


def least(methods: Sequence[Callable[P, float]]) -> Callable[P, float]:
    """A veto by number: the smallest upper bound holds."""
    positional: Sequence[Callable[..., Any]] = methods

    def ask(*about: Any) -> float:
        return min((method(*about) for method in positional), default=math.inf)

    return methods[0] if len(methods) == 1 else cast("Callable[P, float]", ask)


def total(methods: Sequence[Callable[P, float]]) -> Callable[P, float]:
    """The sum."""
    positional: Sequence[Callable[..., Any]] = methods

    def ask(*about: Any) -> float:
        return sum([method(*about) for method in positional], 0.0)

    return methods[0] if len(methods) == 1 else cast("Callable[P, float]", ask)


def total_or_none(methods: Sequence[Callable[P, float | None]]) -> Callable[P, float | None]:
    """The sum; one None drops the subject."""
    positional: Sequence[Callable[..., Any]] = methods

    def ask(*about: Any) -> float | None:
        score_sum = 0.0
        for method in positional:
            score = method(*about)
            if score is None:
                return None
            score_sum += score
        return score_sum

    return cast("Callable[P, float | None]", ask)


def first(methods: Sequence[Callable[P, R | None]]) -> Callable[P, R | None]:
    """The first answer that is not None: for figures of which one is enough. Never for a refusal."""
    return veto(methods)


def tell(methods: Sequence[Callable[P, None]]) -> Callable[P, None]:
    """Everybody hears of it."""
    positional: Sequence[Callable[..., Any]] = methods

    def ask(*about: Any) -> None:
        for method in positional:
            method(*about)

    return methods[0] if len(methods) == 1 else cast("Callable[P, None]", ask)
