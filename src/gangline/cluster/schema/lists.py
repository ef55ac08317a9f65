"""Keyed lists and sets of custom resources hold each item once; embedded resources have sound metadata.

`repeats` is the quick question, compiled per node; `duplicates` walks again to say where, only when the answer was yes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from gangline.cluster.schema.labels import check_annotations, check_labels
from gangline.errors import Problem
from gangline.rules.values import problems as say
from gangline.rules.values.names import dns1035_problems
from gangline.rules.values.schema_node import MAP, SET, SchemaNode

Repeats = Callable[[Any], bool]


def repeats(node: SchemaNode) -> Repeats | None:
    """Whether some item stands twice in a value of this node; None when the schema has no such lists."""
    if node.type_name:
        return None
    if node.shape == "list":
        return _list_repeats(node)
    parts = {name: test for name, child in node.fields.items() if (test := repeats(child)) is not None}
    values = repeats(node.values) if node.values is not None else None
    if not parts and values is None:
        return None

    def any_repeats(value: Any) -> bool:
        if type(value) is not dict:
            return False
        for name, item in value.items():
            test = parts.get(name) or (values if name not in node.fields else None)
            if test is not None and test(item):
                return True
        return False

    return any_repeats


def _list_repeats(node: SchemaNode) -> Repeats | None:
    inside = repeats(node.items) if node.items is not None else None
    keyed, keys = node.list_type in (SET, MAP), node.keys
    if inside is None and not keyed:
        return None

    def list_repeats(value: Any) -> bool:
        if type(value) is not list:
            return False
        if keyed and len(value) > 1 and _not_unique(value, keys):
            return True
        return inside is not None and any(map(inside, value))

    return list_repeats


def _not_unique(items: list[Any], keys: tuple[str, ...]) -> bool:
    """Perhaps not: what cannot be decided quickly counts as not."""
    try:
        names = {tuple([item.get(key) for key in keys]) for item in items} if keys else set(items)
    except (TypeError, AttributeError):
        return True
    return len(names) != len(items)


def has_embedded(node: SchemaNode, depth: int = 0) -> bool:
    """Whether objects with their own metadata lie inside."""
    if node.type_name or depth > 60:
        return False
    inside = [*node.fields.values(), *(item for item in (node.values, node.items) if item is not None)]
    return node.embedded or any(has_embedded(child, depth + 1) for child in inside)


def duplicates(node: SchemaNode, value: Any, path: str = "") -> Iterator[Problem]:
    """Items that stand twice in a set or a keyed list, at the place of their second appearance."""
    if node.type_name:
        return
    if isinstance(value, list) and node.shape == "list" and node.items is not None:
        if node.list_type == SET:
            yield from (say.duplicate(f"{path}[{at}]", value[at]) for at in _second(value))
        elif node.list_type == MAP:
            yield from _duplicate_keys(node, value, path)
        for index, item in enumerate(value):
            yield from duplicates(node.items, item, f"{path}[{index}]")
    elif isinstance(value, dict):
        for name, item in value.items():
            child = node.child(name)
            if child is not None:
                step = f"{path}.{name}" if path else name
                yield from duplicates(child, item, step if name in node.fields else f"{path}[{name}]")


def _duplicate_keys(node: SchemaNode, items: list[Any], path: str) -> Iterator[Problem]:
    for index, item in enumerate(items):
        if item is not None and not isinstance(item, dict):
            yield say.invalid(f"{path}[{index}]", item, "must be an object for an array of list-type map")
            return
    keys = [{name: item[name] for name in node.keys if name in item} if item else {} for item in items]
    yield from (say.duplicate(f"{path}[{at}]", keys[at]) for at in _second(keys))


def _second(values: list[Any]) -> Iterator[int]:
    seen: dict[str, int] = {}
    for index, value in enumerate(values):
        text = say.compact(value)
        seen[text] = seen.get(text, 0) + 1
        if seen[text] == 2:
            yield index


def embedded_problems(node: SchemaNode, value: Any, path: str = "") -> Iterator[Problem]:
    """apiVersion, kind and metadata of objects inside an object."""
    if node.type_name:
        return
    if isinstance(value, list) and node.items is not None:
        for index, item in enumerate(value):
            yield from embedded_problems(node.items, item, f"{path}[{index}]")
    elif isinstance(value, dict):
        if node.embedded:
            yield from _embedded(value, path)
        for name, item in value.items():
            child = node.child(name)
            if child is not None:
                yield from embedded_problems(child, item, f"{path}.{name}" if path else name)


def _embedded(value: dict[str, Any], path: str) -> Iterator[Problem]:
    for name in ("apiVersion", "kind"):
        if not value.get(name):
            yield (
                say.required(f"{path}.{name}")
                if name not in value
                else say.invalid(f"{path}.{name}", "", "must not be empty")
            )
    version, kind = value.get("apiVersion"), value.get("kind")
    if isinstance(version, str) and version.count("/") > 1:
        yield say.invalid(f"{path}.apiVersion", version, f"unexpected GroupVersion string: {version}")
    if isinstance(kind, str) and kind and (wrong := dns1035_problems(kind.lower())):
        message = f"may have mixed case, but should otherwise match: {','.join(wrong)}"
        yield say.invalid(f"{path}.kind", kind, message)
    meta = value.get("metadata")
    if isinstance(meta, dict):
        yield from check_labels(meta.get("labels") or {}, f"{path}.metadata.labels")
        yield from check_annotations(meta.get("annotations") or {}, f"{path}.metadata.annotations")
