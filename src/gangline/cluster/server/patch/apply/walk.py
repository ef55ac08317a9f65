"""Typed walks over an object, driven by its schema: what it sets, how two differ, what is left without some fields.

The schema says which lists are keyed, sets or atomic, and which objects are owned as a whole. Where it says nothing
(unknown fields are kept), the value itself does: objects field by field, lists as a whole. A value that is absent is
MISSING; null is a value. merging.py puts one object on top of another.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from gangline.api.kept import kept_pairs
from gangline.api.notation import MISSING
from gangline.cluster.server.patch.apply.fieldset import FieldSet
from gangline.errors import GanglineError
from gangline.rules.values.problems import compact
from gangline.rules.values.schema_node import ANY, MAP, SET, SchemaNode


class UntypableError(GanglineError):
    """An applied object does not fit its schema; the text begins with the path."""


LEAF, OBJECT, LIST = "leaf", "object", "list"


def form(node: SchemaNode, value: Any) -> str:
    """How a value of this node is owned: as a whole, field by field, or item by item."""
    shape = node.shape
    if node.atomic or shape == "scalar":
        return LEAF
    if shape in ("struct", "map"):
        return OBJECT
    if shape == "list":
        return LIST if node.list_type in (MAP, SET) else LEAF
    return OBJECT if shape in ("any", "either") and isinstance(value, dict) else LEAF


def below(node: SchemaNode, name: str) -> SchemaNode:
    """The node of one key of an object."""
    return node.fields.get(name) or node.values or ANY


def element(node: SchemaNode, item: Any) -> str:
    """How one item of a keyed list or set is named."""
    if node.list_type == SET:
        if item is None or isinstance(item, dict | list):
            raise UntypableError(": associative list without keys has an element that's not a plain value")
        return f"v:{compact(item)}"
    if len(node.keys) == 1 and type(item) is dict and type(only := item.get(node.keys[0])) is str:
        return keyed(node.keys[0], only)
    if not isinstance(item, dict):
        noun = "a null element" if item is None else "non-map elements"
        raise UntypableError(f": associative list with keys may not have {noun}")
    keys = _key_values(node, item)
    if not keys:
        names = " ".join(f'"{name}"' for name in node.keys)
        raise UntypableError(
            f": associative list with keys has an element that omits all key fields [{names}] "
            "(and doesn't have default values for any key fields)"
        )
    return f"k:{compact(keys)}"


def _key_values(node: SchemaNode, item: dict[str, Any]) -> dict[str, Any]:
    """The keys that an item has, by itself or by default."""
    keys = {}
    for name in node.keys:
        value = item.get(name, MISSING)
        if value is MISSING and node.items is not None and name in node.items.fields:
            value = _default_key(node.items, name)
        if value is not MISSING:
            keys[name] = value
    return keys


def _default_key(items: SchemaNode, name: str) -> Any:
    """What a missing key counts as: its default, and in built-in kinds, whose keys always stand there, the empty
    value."""
    key = items.fields[name]
    if key.default is not MISSING or not items.type_name:
        return key.default
    return _EMPTY_KEYS.get(key.scalar, MISSING)


_EMPTY_KEYS: dict[str, Any] = {"string": "", "integer": 0}


@kept_pairs(65536)
def keyed(key: str, value: str) -> str:
    """How an item is named in the usual case: one key, a text."""
    return f"k:{compact({key: value})}"


def element_text(name: str) -> str:
    """A path element as conflicts and errors print it."""
    mark, text = name[:2], name[2:]
    if mark == "f:":
        return f".{text}"
    if mark == "k:":
        return "[" + ",".join(f"{key}={compact(value)}" for key, value in json.loads(text).items()) + "]"
    return f"[={text}]" if mark == "v:" else f"[{text}]"


def fields_of(node: SchemaNode, value: Any) -> FieldSet:
    """Everything an object sets."""
    field_set = FieldSet()
    kind = form(node, value)
    if kind == OBJECT and isinstance(value, dict):
        declared = node.fields
        for name, item in value.items():
            child = declared.get(name)
            _note(
                field_set,
                f"f:{name}",
                child or node.values or ANY,
                item,
                own=child is None or item is None or item == {},
            )
    elif kind == LIST and isinstance(value, list):
        assert node.items is not None
        for item in value:
            _note(field_set, element(node, item), node.items, item, own=True)
    return field_set


def _note(field_set: FieldSet, name: str, child: SchemaNode, item: Any, own: bool) -> None:
    if own or form(child, item) == LEAF:
        field_set.members.add(name)
    inner = fields_of(child, item) if item and isinstance(item, dict | list) else None
    if inner:
        field_set.children[name] = field_set.children[name] | inner if name in field_set.children else inner


def check(node: SchemaNode, value: Any) -> None:
    """Raise UntypableError unless the value fits the schema: no unknown field, no wrong type, no item twice."""
    if value is None:
        return
    if isinstance(value, dict):
        _check_object(node, value)
    elif isinstance(value, list):
        _check_list(node, value)
    elif node.shape in ("struct", "map", "list"):
        noun = "list" if node.shape == "list" else "map"
        raise UntypableError(f": expected {noun}, got {value!r}")
    else:
        _check_scalar(node, value)


def _check_object(node: SchemaNode, value: dict[str, Any]) -> None:
    if node.shape in ("scalar", "intstr", "list"):
        raise UntypableError(f": expected {node.scalar or node.shape}, got a map")
    open_ended = node.keep_unknown or node.values is not None or node.shape in ("any", "either") or not node.fields
    for name, item in value.items():
        if name not in node.fields and not open_ended:
            raise UntypableError(f".{name}: field not declared in schema")
        _step(f".{name}", below(node, name), item)


def _check_list(node: SchemaNode, value: list[Any]) -> None:
    if node.shape in ("struct", "map", "scalar", "intstr"):
        raise UntypableError(f": expected {node.scalar or 'map'}, got a list")
    keyed = node.shape == "list" and node.list_type in (MAP, SET)
    seen: set[str] = set()
    for index, item in enumerate(value):
        name = f"[{index}]"
        if keyed:
            try:
                key = element(node, item)
            except UntypableError as error:
                raise UntypableError(f": element {index}{error}") from None
            name = element_text(key)
            if key in seen:
                raise UntypableError(f": duplicate entries for key {name}")
            seen.add(key)
        _step(name, node.items or ANY, item)


def _check_scalar(node: SchemaNode, value: Any) -> None:
    good: Any = {"string": str, "integer": (int, float), "number": (int, float), "boolean": bool}.get(node.scalar)
    if good is None or node.form in ("quantity", "time", "microtime"):
        return
    if not isinstance(value, good) or (isinstance(value, bool) and node.scalar != "boolean"):
        expected = "numeric (int or float)" if node.scalar in ("integer", "number") else node.scalar
        raise UntypableError(f": expected {expected}, got {_go_kind(value)}")


def _go_kind(value: Any) -> str:
    return {str: "string", bool: "bool", int: "int64", float: "float64"}.get(type(value), type(value).__name__)


def _step(name: str, node: SchemaNode, value: Any) -> None:
    try:
        check(node, value)
    except UntypableError as error:
        raise UntypableError(f"{name}{error}") from None


class Difference:
    """What changed between two objects, as three sets of fields."""

    __slots__ = ("added", "modified", "removed")

    def __init__(self) -> None:
        self.added, self.modified, self.removed = FieldSet(), FieldSet(), FieldSet()

    @property
    def changed(self) -> FieldSet:
        return self.modified | self.added

    def without(self, reset: FieldSet) -> Difference:
        if reset:
            self.added = self.added.without_below(reset)
            self.modified = self.modified.without_below(reset)
            self.removed = self.removed.without_below(reset)
        return self


def compare(node: SchemaNode, old: Any, new: Any) -> Difference:
    difference = Difference()
    _compare_inside(node, old, new, difference.added, difference.modified, difference.removed)
    return difference


def _compare_inside(
    node: SchemaNode, old: Any, new: Any, added: FieldSet, modified: FieldSet, removed: FieldSet
) -> None:
    """Compare two values of one form field by field (or item by item)."""
    if isinstance(old, list) or isinstance(new, list):
        inner = node.items or ANY
        before = _by_element(node, old if isinstance(old, list) else [])
        after = _by_element(node, new if isinstance(new, list) else [])
        for name, was, now in _different(before, after):
            _compare_one(name, inner, was, now, added, modified, removed)
        return
    for name, was, now in _different(old if isinstance(old, dict) else {}, new if isinstance(new, dict) else {}):
        _compare_one(f"f:{name}", node.fields.get(name) or node.values or ANY, was, now, added, modified, removed)


def _different(before: dict[str, Any], after: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """The keys under which two dicts differ, with both values."""
    for name, was in before.items():
        now = after.get(name, MISSING)
        if was is not now and not (was == now and type(was) is type(now)):
            yield name, was, now
    for name, now in after.items():
        if name not in before:
            yield name, MISSING, now


def _compare_one(
    name: str, node: SchemaNode, was: Any, now: Any, added: FieldSet, modified: FieldSet, removed: FieldSet
) -> None:
    whole = _is_whole(node, was, now)
    if not whole:
        inner = FieldSet(), FieldSet(), FieldSet()
        _compare_inside(node, was, now, *inner)
        for target, below_it in zip((added, modified, removed), inner, strict=True):
            if below_it:
                target.children[name] = below_it
    if was is MISSING:
        added.members.add(name)
    elif now is MISSING:
        removed.members.add(name)
    elif whole and was != now:
        modified.members.add(name)


def _is_whole(node: SchemaNode, before: Any, after: Any) -> bool:
    if node.atomic or node.shape == "scalar":
        return True
    if not _given(before):
        return not _given(after) or not _has_form(after, form(node, after))
    kind = form(node, before)
    if not _has_form(before, kind):
        return True
    return _given(after) and (form(node, after) != kind or not _has_form(after, kind))


def _has_form(value: Any, kind: str) -> bool:
    """A value can be walked as its form says."""
    return kind != LEAF and isinstance(value, dict if kind == OBJECT else list)


def _given(value: Any) -> bool:
    return value is not MISSING and value is not None and value != {} and value != []


def _by_element(node: SchemaNode, items: list[Any]) -> dict[str, Any]:
    elements: dict[str, Any] = {}
    for item in items:
        try:
            name = element(node, item)
        except UntypableError:
            continue
        elements.setdefault(name, item)
    return elements


def remove(node: SchemaNode, value: Any, gone: FieldSet) -> Any:
    """The value without the fields of `gone`. What becomes empty by it stays as null, which the reader drops."""
    if isinstance(value, dict):
        out = {}
        for name, item in value.items():
            key = f"f:{name}"
            if key in gone.members:
                continue
            deeper = gone.children.get(key)
            out[name] = remove(below(node, name), item, deeper) if deeper else item
        return out or None
    if isinstance(value, list) and node.shape == "list" and node.list_type in (MAP, SET):
        kept = []
        for item in value:
            key = element(node, item)
            if key in gone.members:
                continue
            deeper = gone.children.get(key)
            kept.append(remove(node.items or ANY, item, deeper) if deeper else item)
        return kept or None
    return value


def with_named(node: SchemaNode, fields: FieldSet) -> FieldSet:
    """The set, with every declared field above a member a member too."""
    members = set(fields.members)
    children = {}
    for name, child in fields.children.items():
        declared = name.startswith("f:") and name[2:] in node.fields
        if declared and not node.atomic:
            members.add(name)
        inner = below(node, name[2:]) if name.startswith("f:") else (node.items or ANY)
        children[name] = with_named(inner, child)
    return FieldSet(members, children)
