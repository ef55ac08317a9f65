"""Rules that Kubernetes declares beside fields, and the one walk that judges an object by them.

A `DeclaredShape` is a table: what each field must be, which fields exclude each other, what may change. What did not
change is not judged again, so that an object written under older rules stays usable. Pure; `pod_groups.py` states the
shapes of kube-scheduler's groups in these words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from gangline.cluster.kinds.checks import IMMUTABLE, Obj, Problems, repeated
from gangline.errors import Problem
from gangline.rules.values import problems as say

Form = Callable[[Any, str], Iterable[Problem]]


@dataclass(frozen=True, slots=True)
class FieldRule:
    """What one field must be. By default it may be absent and hold anything."""

    required: bool = False
    fixed: bool = False
    """It never changes."""
    stays: bool = False
    """It is neither set nor cleared later; what is in it may change."""
    closed: bool = False
    """No item is added or removed later."""
    pointer: bool = False
    """An empty value counts as given."""
    form: Form | None = None
    least: int | None = None
    most: int | None = None
    choices: tuple[str, ...] = ()
    shape: DeclaredShape | None = None
    items: Callable[[], DeclaredShape] | None = None
    """What each item of a list is; a call, because a shape may contain itself."""
    key: str = ""
    """The field that tells items apart."""
    most_items: int | None = None


@dataclass(frozen=True, slots=True)
class DeclaredShape:
    fields: dict[str, FieldRule]
    union: tuple[str, ...] = ()
    """Of these fields exactly one is set."""


def judge(shape: DeclaredShape, new: Obj, old: Obj | None, path: str, *, update: bool = False) -> Problems:
    """Everything wrong with an object; on an update `old` is what it was, None for an item that is new."""
    yield from _one_of(shape.union, new, old, path)
    for name, rule in shape.fields.items():
        yield from _field(
            rule, new.get(name), (old or {}).get(name), f"{path}.{name}", update=update, known=old is not None
        )


def _field(rule: FieldRule, new: Any, old: Any, path: str, *, update: bool, known: bool) -> Iterator[Problem]:
    if update and known and _unchanged(new, old):
        return
    stops = [*_changes(rule, new, old, path)] if update else []
    if rule.most_items is not None and len(new or []) > rule.most_items:
        stops.append(say.too_many(path, len(new), rule.most_items))
    absent = _is_absent(rule, new)
    if absent and rule.required:
        stops.append(say.required(path))
    yield from stops
    if not stops and not absent:
        yield from _value(rule, new, old, path, update=update)


def _unchanged(new: Any, old: Any) -> bool:
    """Of an empty value only whether it stands there counts."""
    return (new or None) == (old or None) and (new is None) == (old is None)


def _is_absent(rule: FieldRule, value: Any) -> bool:
    return value is None or (not rule.pointer and value in ("", 0, [], {}) and rule.shape is None)


def _changes(rule: FieldRule, new: Any, old: Any, path: str) -> Problems:
    if rule.fixed:
        yield say.invalid(path, None, IMMUTABLE)
    if rule.stays and old is None:
        yield say.invalid(path, None, "field cannot be set once created")
    if rule.stays and new is None:
        yield say.invalid(path, None, "field cannot be cleared once set")
    if rule.closed:
        before, now = ({item.get(rule.key) for item in items or []} for items in (old, new))
        yield from (
            say.forbidden(f"{path}[{index}]", "item may not be added")
            for index, item in enumerate(new or [])
            if item.get(rule.key) not in before
        )
        yield from (
            say.forbidden(path, "item may not be removed") for item in old or [] if item.get(rule.key) not in now
        )


def _value(rule: FieldRule, new: Any, old: Any, path: str, *, update: bool) -> Problems:
    if rule.form is not None:
        yield from rule.form(new, path)
    if rule.least is not None and new < rule.least:
        yield say.invalid(path, new, f"must be greater than or equal to {rule.least}")
    if rule.most is not None and new > rule.most:
        yield say.invalid(path, new, f"must be less than or equal to {rule.most}")
    if rule.choices and new not in rule.choices:
        yield say.unsupported(path, new, rule.choices)
    if rule.shape is not None:
        yield from judge(rule.shape, new, old, path, update=update)
    if rule.items is not None:
        yield from _items(rule, rule.items(), new, old or [], path, update=update)


def _items(
    rule: FieldRule, shape: DeclaredShape, new: list[Obj], old: list[Obj], path: str, *, update: bool
) -> Problems:
    if rule.key:
        yield from (
            say.repeated(f"{path}[{index}]", new[index]) for index in repeated(item.get(rule.key) for item in new)
        )
    known = {item.get(rule.key): item for item in reversed(old)} if rule.key else {}
    for index, item in enumerate(new):
        before = known.get(item.get(rule.key)) if rule.key else None
        if not update or item != before:
            yield from judge(shape, item, before, f"{path}[{index}]", update=update)


def _one_of(members: tuple[str, ...], new: Obj, old: Obj | None, path: str) -> Problems:
    if not members:
        return
    chosen = [name for name in members if new.get(name) not in (None, [])]
    if len(chosen) == 1 or (
        old is not None and chosen == [name for name in members if old.get(name) not in (None, [])]
    ):
        return
    named = ", ".join(f"`{name}`" for name in members)
    if not chosen:
        yield say.invalid(path, "", f"must specify one of: {named}")
    else:
        yield say.invalid(path, "{" + ", ".join(chosen) + "}", f"must specify exactly one of: {named}")
