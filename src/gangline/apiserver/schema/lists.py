"""Keyed lists and sets of custom resources hold each item once; embedded resources have sound metadata."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gangline.apiserver.meta import check_annotations, check_labels
from gangline.apiserver.schema import problems as say
from gangline.apiserver.schema.node import MAP, SET, Node
from gangline.errors import Problem


def duplicates(node: Node, value: Any, path: str = "") -> Iterator[Problem]:
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


def _duplicate_keys(node: Node, items: list[Any], path: str) -> Iterator[Problem]:
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


def embedded_problems(node: Node, value: Any, path: str = "") -> Iterator[Problem]:
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
            yield say.required(f"{path}.{name}") if name not in value else say.invalid(f"{path}.{name}", "", "must not be empty")
    meta = value.get("metadata")
    if isinstance(meta, dict):
        yield from check_labels(meta.get("labels") or {}, f"{path}.metadata.labels")
        yield from check_annotations(meta.get("annotations") or {}, f"{path}.metadata.annotations")
