"""Whether the keywords of a list in a schema fit together: its type, its keys, its items.

Pure; wellformed.py asks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from gangline.errors import Problem
from gangline.rules.values import problems as say

Props = Mapping[str, Any]


def list_type_problems(schema: Props, path: str) -> Iterator[Problem]:
    list_type = schema.get("x-kubernetes-list-type")
    keys, items = schema.get("x-kubernetes-list-map-keys") or [], schema.get("items")
    if list_type is not None:
        yield from _known_list_type(schema, list_type, path)
    if keys and list_type != "map":
        text = "must be map if x-kubernetes-list-map-keys is non-empty"
        where = f"{path}.x-kubernetes-list-type"
        yield say.invalid(where, list_type, text) if list_type is not None else say.required(where, text)
    if list_type == "map":
        yield from _map_items(keys, items, path)
    if list_type in ("set", "map") and isinstance(items, dict) and items.get("nullable"):
        yield say.forbidden(f"{path}.items.nullable", f"cannot be nullable when x-kubernetes-list-type is {list_type}")
    if list_type == "map" and isinstance(items, dict):
        yield from _key_fields(keys, items, path)


def _known_list_type(schema: Props, list_type: str, path: str) -> Iterator[Problem]:
    kind = schema.get("type") or ""
    if kind != "array":
        text = "must be array if x-kubernetes-list-type is specified"
        yield say.invalid(f"{path}.type", kind, text) if kind else say.required(f"{path}.type", text)
    if list_type == "set":
        yield from _set_items(schema.get("items"), path)
    elif list_type not in ("atomic", "map"):
        yield say.unsupported(f"{path}.x-kubernetes-list-type", list_type, ("atomic", "set", "map"))


def _set_items(items: Any, path: str) -> Iterator[Problem]:
    if not isinstance(items, dict):
        return
    text = "must be atomic as item of a list with x-kubernetes-list-type=set"
    if items.get("type") == "array" and items.get("x-kubernetes-list-type") not in (None, "atomic"):
        yield say.invalid(f"{path}.items.x-kubernetes-list-type", items.get("x-kubernetes-list-type"), text)
    if items.get("type") == "object" and items.get("x-kubernetes-map-type") != "atomic":
        yield say.invalid(f"{path}.items.x-kubernetes-map-type", items.get("x-kubernetes-list-type"), text)


def _map_items(keys: list[str], items: Any, path: str) -> Iterator[Problem]:
    if not keys:
        yield say.required(f"{path}.x-kubernetes-list-map-keys", "must not be empty if x-kubernetes-list-type is map")
    if items is None:
        yield say.required(f"{path}.items", "must have a schema if x-kubernetes-list-type is map")
    if not isinstance(items, dict):
        return
    if items.get("type") != "object":
        yield say.invalid(
            f"{path}.items.type",
            items.get("type") or "",
            "must be object if parent array's x-kubernetes-list-type is map",
        )
        return
    yield from islice(_map_keys(keys, items, path), say.MOST_TOLD)


def _map_keys(keys: list[str], items: Props, path: str) -> Iterator[Problem]:
    properties, seen = items.get("properties") or {}, set()
    for key in keys:
        if key not in properties:
            yield say.invalid(
                f"{path}.x-kubernetes-list-map-keys", keys, "entries must all be names of item properties"
            )
        elif properties[key].get("type") in ("array", "object"):
            yield say.invalid(
                f"{path}.items.properties[{key}].type",
                items.get("type"),
                "must be a scalar type if parent array's x-kubernetes-list-type is map",
            )
        if key in seen:
            yield say.invalid(f"{path}.x-kubernetes-list-map-keys", keys, "must not contain duplicate entries")
        seen.add(key)


def _key_fields(keys: list[str], items: Props, path: str) -> Iterator[Problem]:
    properties, required = items.get("properties") or {}, set(items.get("required") or [])
    for key in keys:
        if key not in properties:
            continue
        where = f"{path}.items.properties[{key}]"
        if properties[key].get("default") is None and key not in required:
            yield say.required(
                f"{where}.default",
                "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
            )
        if properties[key].get("nullable"):
            yield say.forbidden(
                f"{where}.nullable", "this property is in x-kubernetes-list-map-keys, so it cannot be nullable"
            )
