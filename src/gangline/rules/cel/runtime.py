"""What a compiled expression calls while it runs: selection, logic that forgives, comprehensions, and the budget that
they spend from.

emit.py writes the calls by the names in RUNTIME. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gangline.rules.cel.charges import LETTERS, Charge, weight
from gangline.rules.cel.functions import lists
from gangline.rules.cel.values import NONE, CelError, Optional, OutOfBudget, equal, no_overload
from gangline.rules.values.problems import compact
from gangline.rules.values.schema_node import MAP, SET, SchemaNode

Rows = Iterator[tuple[Any, ...]]
"""What a comprehension goes through."""
PARTS = 4
"""Of two values that are compared, so many parts are a step."""


class StepBudget:
    """How many steps are left."""

    __slots__ = ("left",)

    def __init__(self, steps: int) -> None:
        self.left = steps

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise OutOfBudget("operation cancelled: actual cost limit exceeded")


def same(node: SchemaNode | None, left: Any, right: Any) -> bool:
    """Equality that knows which lists are sets."""
    if node is None or type(left) is not type(right):
        return equal(left, right)
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(
            same(node.child(name), item, right[name]) for name, item in left.items()
        )
    if not isinstance(left, list) or node.shape != "list":
        return equal(left, right)
    return len(left) == len(right) and _same_items(node, left, right)


def _same_items(node: SchemaNode, left: list[Any], right: list[Any]) -> bool:
    if node.list_type == MAP:
        known = {_key_text(node, item): item for item in right}
        return all(same(node.items, item, known.get(_key_text(node, item))) for item in left)
    if node.list_type == SET:
        return sorted(map(compact, left)) == sorted(map(compact, right))
    return all(same(node.items, a, b) for a, b in zip(left, right, strict=True))


def _key_text(node: SchemaNode, item: Any) -> str:
    return compact([item.get(key) for key in node.keys])


def _select(operand: Any, name: str) -> Any:
    if type(operand) is dict:
        try:
            return operand[name]
        except KeyError:
            raise CelError(f"no such key: {name}") from None
    if isinstance(operand, dict):
        raise CelError(f"no such key: {name}")
    if isinstance(operand, Mapping):
        return operand[name]
    raise no_overload(f"select {name}")


def _has(operand: Any, name: str) -> bool:
    if isinstance(operand, Optional):
        return operand.present and _has(operand.content, name)
    if isinstance(operand, dict):
        return name in operand and operand[name] is not None
    raise no_overload("has")


def _opt_select(operand: Any, name: str, convert: Callable[[Any], Any] | None) -> Optional:
    if isinstance(operand, Optional):
        if not operand.present:
            return NONE
        operand = operand.content
    if not isinstance(operand, dict):
        raise no_overload("select")
    if name not in operand:
        return NONE
    return Optional(convert(operand[name]) if convert else operand[name], True)


def _bool(value: Any) -> bool:
    if value is True or value is False:
        return bool(value)
    raise no_overload()


def _and(*sides: Callable[[], Any]) -> bool:
    return _decided(sides, True)


def _or(*sides: Callable[[], Any]) -> bool:
    return _decided(sides, False)


def _decided(sides: tuple[Callable[[], Any], ...], answer: bool) -> bool:
    """`answer`, unless a side says otherwise: that one decides, whatever failed before it. Else the first failure is
    raised."""
    failed: CelError | None = None
    for side in sides:
        try:
            if _bool(side()) is not answer:
                return not answer
        except OutOfBudget:
            raise
        except CelError as error:
            failed = failed or error
    if failed is not None:
        raise failed
    return answer


def _charged_equal(budget: StepBudget, left: Any, right: Any) -> bool:
    _charge_pair(budget, left, right)
    return equal(left, right)


def _charged_same(budget: StepBudget, node: SchemaNode, left: Any, right: Any) -> bool:
    _charge_pair(budget, left, right)
    return same(node, left, right)


def _charge_pair(budget: StepBudget, left: Any, right: Any) -> None:
    if isinstance(left, list | dict) and isinstance(right, list | dict):
        budget.spend(1 + weight(left, PARTS * budget.left) // PARTS)
    elif isinstance(left, str | bytes) and isinstance(right, str | bytes):
        budget.spend(min(len(left), len(right)) // LETTERS)


def _fold(budget: StepBudget, value: Any, steps: list[tuple[Callable[..., Any], Charge, Any]]) -> Any:
    for function, cost, other in steps:
        value = _call(budget, function, cost, value, other)
    return value


def _opt_or(value: Any, other: Callable[[], Any]) -> Any:
    return value if value.present else other()


def _opt_value(value: Any, other: Callable[[], Any]) -> Any:
    if not isinstance(value, Optional):
        raise no_overload("orValue")
    return value.content if value.present else other()


def _call(budget: StepBudget, function: Callable[..., Any], cost: Charge, *args: Any) -> Any:
    try:
        budget.spend(1 + cost(budget.left, *args))
        return function(*args)
    except (TypeError, AttributeError, IndexError, KeyError):
        raise no_overload() from None
    except (ValueError, OverflowError, ArithmeticError) as error:
        raise CelError(str(error)) from None


def _items(target: Any) -> Rows:
    """One after the other: whoever stops at the first has not made the rest."""
    if not isinstance(target, list | dict):
        raise no_overload("comprehension")
    return ((item,) for item in target)


def _pairs(target: Any) -> Rows:
    if isinstance(target, dict):
        return iter(target.items())
    if isinstance(target, list):
        return enumerate(target)
    raise no_overload("comprehension")


def _all(budget: StepBudget, rows: Rows, test: Callable[..., Any]) -> bool:
    return _unless(budget, rows, test, True)


def _exists(budget: StepBudget, rows: Rows, test: Callable[..., Any]) -> bool:
    return _unless(budget, rows, test, False)


def _unless(budget: StepBudget, rows: Rows, test: Callable[..., Any], answer: bool) -> bool:
    """`answer`, unless a row says otherwise: that one decides, whatever failed before it. Else the first failure is
    raised."""
    failure: CelError | None = None
    for row in rows:
        budget.spend(3)
        try:
            if _bool(test(*row)) is not answer:
                return not answer
        except OutOfBudget:
            raise
        except CelError as error:
            failure = failure or error
    if failure is not None:
        raise failure
    return answer


def _kept(budget: StepBudget, rows: Rows, test: Callable[..., Any] | None) -> list[tuple[Any, ...]]:
    out = []
    for row in rows:
        budget.spend(3)
        if test is None or _bool(test(*row)):
            out.append(row)
    return out


def _split(bodies: tuple[Callable[..., Any], ...]) -> tuple[Callable[..., Any] | None, Callable[..., Any]]:
    return (bodies[0], bodies[1]) if len(bodies) == 2 else (None, bodies[0])


def _exists_one(budget: StepBudget, rows: Rows, test: Callable[..., Any]) -> bool:
    return len(_kept(budget, rows, test)) == 1


def _filter(budget: StepBudget, rows: Rows, test: Callable[..., Any]) -> list[Any]:
    return [row[0] for row in _kept(budget, rows, test)]


def _map(budget: StepBudget, rows: Rows, *bodies: Callable[..., Any]) -> list[Any]:
    test, body = _split(bodies)
    return [body(*row) for row in _kept(budget, rows, test)]


def _transform_map(budget: StepBudget, rows: Rows, *bodies: Callable[..., Any]) -> dict[Any, Any]:
    test, body = _split(bodies)
    return {row[0]: body(*row) for row in _kept(budget, rows, test)}


def _transform_entry(budget: StepBudget, rows: Rows, *bodies: Callable[..., Any]) -> dict[Any, Any]:
    test, body = _split(bodies)
    out: dict[Any, Any] = {}
    for row in _kept(budget, rows, test):
        entries = body(*row)
        budget.spend(len(entries))
        for key, value in entries.items():
            if key in out:
                raise CelError(f"insert failed: key {key} already exists")
            out[key] = value
    return out


def _sort_by(budget: StepBudget, rows: Rows, key: Callable[..., Any]) -> list[Any]:
    """What is compared is paid for: keys may be long, and alike."""
    keyed = [(key(*row), row[0]) for row in _kept(budget, rows, None)]
    keys = [entry for entry, _ in keyed]
    budget.spend(weight(keys, budget.left))
    lists.sort(keys)
    return [item for _, item in sorted(keyed, key=lambda pair: pair[0])]


def _opt_map(value: Any, body: Callable[..., Any]) -> Any:
    return Optional(body(value.content), True) if value.present else NONE


def _opt_flat_map(value: Any, body: Callable[..., Any]) -> Any:
    return body(value.content) if value.present else NONE


def _list_opt(items: list[Any], flags: list[bool]) -> list[Any]:
    out = []
    for item, optional in zip(items, flags, strict=True):
        if not optional:
            out.append(item)
        elif item.present:
            out.append(item.content)
    return out


def _map_lit(entries: list[tuple[Any, Any, bool]]) -> dict[Any, Any]:
    out: dict[Any, Any] = {}
    for key, value, optional in entries:
        if optional and not value.present:
            continue
        if key in out:
            raise CelError(f"insert failed: key {key} already exists")
        out[key] = value.content if optional else value
    return out


RUNTIME: dict[str, Any] = {
    "_select": _select,
    "_has": _has,
    "_opt_select": _opt_select,
    "_bool": _bool,
    "_and": _and,
    "_or": _or,
    "_opt_or": _opt_or,
    "_opt_value": _opt_value,
    "_call": _call,
    "_items": _items,
    "_pairs": _pairs,
    "_equal": _charged_equal,
    "_same": _charged_same,
    "_fold": _fold,
    "_list_opt": _list_opt,
    "_map_lit": _map_lit,
    "_optMap": _opt_map,
    "_optFlatMap": _opt_flat_map,
    "_m_all": _all,
    "_m_exists": _exists,
    "_m_exists_one": _exists_one,
    "_m_existsOne": _exists_one,
    "_m_filter": _filter,
    "_m_map": _map,
    "_m_transformList": _map,
    "_m_transformMap": _transform_map,
    "_m_transformMapEntry": _transform_entry,
    "_m_sortBy": _sort_by,
}
