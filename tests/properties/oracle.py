"""Words of the tests that ask a library which does the same as ours: random JSON, answers that can be compared, and the
differences that are meant to be.

A difference is data: when it applies, and why ours answers otherwise. Where none applies, both answers are the same, or
both refuse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

REFUSED = "refused"
"""The answer of who raises an error: the words of the errors differ."""

names = st.sampled_from(["a", "b", "name", "x/y", "m~n", "0", ""])
numbers = st.one_of(st.integers(-5, 20), st.sampled_from([0.5, -1.5, 2.0, 1e3, 2**31, -(2**31)]))
texts = st.one_of(st.sampled_from(["", "a", "b", "Ab c", "1", "-2.5", "a,b", "é"]), st.text("abé ,1", max_size=5))
scalars = st.one_of(st.none(), st.booleans(), numbers, texts)
json_values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(names, inner, max_size=4)),
    max_leaves=10,
)


@dataclass(frozen=True)
class Difference:
    """Where ours answers otherwise than the library, and why."""

    why: str
    applies: Callable[..., bool]


def meant(differences: Sequence[Difference], *question: Any) -> bool:
    """Whether the two may differ about this question."""
    return any(difference.applies(*question) for difference in differences)


def answer(ask: Callable[[], Any], *refusals: type[Exception]) -> Any:
    """What is answered, or that it is refused."""
    try:
        return ask()
    except refusals:
        return REFUSED


def plain(value: Any) -> Any:
    """A value in which true is not 1, though 1 is 1.0, and in which NaN is itself."""
    if isinstance(value, dict):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, bool) or value != value:
        return type(value), str(value)
    return value


def anywhere(value: Any, test: Callable[[Any], bool]) -> bool:
    """Whether the test holds for the value or for one below it."""
    if isinstance(value, dict):
        value = [*value.values()]
    elif not isinstance(value, list):
        return test(value)
    return any(anywhere(item, test) for item in value)


def is_whole_float(value: Any) -> bool:
    return isinstance(value, float) and value.is_integer()
