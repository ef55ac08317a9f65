"""The filters that a jq program is made of: each takes a value and the variables, and gives results. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from gangline.grouper.jq import values
from gangline.grouper.jq.budget import spend, spend_on
from gangline.grouper.jq.values import JqError, truthy, type_of

Scope = Mapping[str, Any]
Filter = Callable[[Any, Scope], Iterator[Any]]


def identity(value: Any, scope: Scope) -> Iterator[Any]:
    yield value


def constant(constant: Any) -> Filter:
    return lambda v, s: iter((constant,))


def with_scope(run: Filter, scope: Scope) -> Callable[[Any], Iterator[Any]]:
    return lambda value: run(value, scope)


def as_text(run: Filter) -> Filter:
    return lambda v, s: (values.shown(item) for item in run(v, s))


def piped(left: Filter, right: Filter) -> Filter:
    return lambda v, s: (out for item in counted(left(v, s)) for out in right(item, s))


def counted(results: Iterable[Any]) -> Iterator[Any]:
    """Each result is a step."""
    for result in results:
        spend()
        yield result


def joined(left: Filter, right: Filter) -> Filter:
    def run(value: Any, scope: Scope) -> Iterator[Any]:
        yield from left(value, scope)
        yield from right(value, scope)

    return run


def combined(left: Filter, right: Filter, operation: Callable[[Any, Any], Any]) -> Filter:
    return lambda v, s: (operation(a, b) for b in right(v, s) for a in counted(left(v, s)))


def conjunction(left: Filter, right: Filter) -> Filter:
    return lambda v, s: (
        truthy(a) and truthy(b) for a in counted(left(v, s)) for b in (right(v, s) if truthy(a) else (False,))
    )


def disjunction(left: Filter, right: Filter) -> Filter:
    return lambda v, s: (
        truthy(a) or truthy(b) for a in counted(left(v, s)) for b in ((True,) if truthy(a) else right(v, s))
    )


def alternative(left: Filter, right: Filter) -> Filter:
    def run(value: Any, scope: Scope) -> Iterator[Any]:
        kept = [item for item in counted(left(value, scope)) if truthy(item)]
        yield from kept or right(value, scope)

    return run


def conditional(test: Filter, yes: Filter, no: Filter) -> Filter:
    return lambda v, s: (out for item in counted(test(v, s)) for out in (yes if truthy(item) else no)(v, s))


def optional(run: Filter) -> Filter:
    def quiet(value: Any, scope: Scope) -> Iterator[Any]:
        try:
            yield from run(value, scope)
        except JqError:
            return

    return quiet


def caught(run: Filter, otherwise: Filter) -> Filter:
    def careful(value: Any, scope: Scope) -> Iterator[Any]:
        try:
            yield from run(value, scope)
        except JqError as error:
            yield from otherwise(str(error), scope)

    return careful


def reduced(source: Filter, name: str, start: Filter, update: Filter) -> Filter:
    def run(value: Any, scope: Scope) -> Iterator[Any]:
        for state in start(value, scope):
            for item in counted(source(value, scope)):
                state = next(reversed([*counted(update(state, {**scope, name: item}))]), None)
            yield state

    return run


def indexed(term: Filter, key: Filter, quiet: bool = False) -> Filter:
    """jq asks for the keys first."""
    return lambda v, s: (
        out for k in key(v, s) for item in counted(term(v, s)) for out in _asked(quiet, values.index, item, k)
    )


def iterated(term: Filter, quiet: bool = False) -> Filter:
    return lambda v, s: (
        out for item in term(v, s) for parts in _asked(quiet, values.elements, item) for out in counted(parts)
    )


def sliced(term: Filter, start: Filter, stop: Filter, quiet: bool = False) -> Filter:
    return lambda v, s: (
        out
        for first in start(v, s)
        for last in stop(v, s)
        for item in counted(term(v, s))
        for out in _asked(quiet, _cut, item, first, last)
    )


def _asked(quiet: bool, operation: Callable[..., Any], *operands: Any) -> Iterator[Any]:
    try:
        answer = operation(*operands)
    except JqError:
        if quiet:
            return
        raise
    yield answer


def _cut(value: Any, first: Any, last: Any) -> Any:
    if value is None:
        return None
    if not isinstance(value, list | str):
        raise JqError(f"cannot cut {type_of(value)}")
    if any(type_of(end) not in ("null", "number") for end in (first, last)):
        raise JqError(f"cannot cut at {values.brief(first)} and {values.brief(last)}")
    spend_on(value)
    return value[None if first is None else values.place(first) : None if last is None else -values.place(-last)]


def object_of(pairs: list[tuple[Filter, Filter]]) -> Filter:
    def run(value: Any, scope: Scope) -> Iterator[Any]:
        made: list[dict[str, Any]] = [{}]
        for key, content in pairs:
            made = [
                _with(item, k, c) for item in made for k in key(value, scope) for c in counted(content(value, scope))
            ]
        yield from made

    return run


def _with(item: dict[str, Any], key: Any, content: Any) -> dict[str, Any]:
    spend_on(item)
    return item | {values.as_key(key): content}
