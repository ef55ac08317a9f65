"""What a CustomResourceDefinition names by a path: printer columns, selectable fields, and the scale of its objects.

Pure; definitions.py asks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from gangline.cluster.kinds.rules import Obj
from gangline.errors import Problem
from gangline.rules.values import problems as say

_COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")


_COLUMN_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")


def _json_path(path: str, value: str) -> Iterator[Problem]:
    if not value:
        yield say.invalid(path, value, "must not be empty")
    elif not value.startswith("."):
        yield say.invalid(path, value, "must be a simple json path starting with .")


def scale_problems(scale: Obj, path: str) -> Iterator[Problem]:
    for name, parents, required in (
        ("specReplicasPath", (".spec.",), True),
        ("statusReplicasPath", (".status.",), True),
        ("labelSelectorPath", (".spec.", ".status."), False),
    ):
        value = scale.get(name) or ""
        if not value:
            if required:
                yield say.required(f"{path}.{name}")
            continue
        yield from _json_path(f"{path}.{name}", value)
        if value.startswith(".") and not value.startswith(parents):
            allowed = " or ".join(parent.rstrip(".") for parent in parents)
            yield say.invalid(
                f"{path}.{name}", value, f"should be a json path under {'either ' if len(parents) > 1 else ''}{allowed}"
            )


def column_problems(column: Obj, path: str) -> Iterator[Problem]:
    if not column.get("name"):
        yield say.required(f"{path}.name")
    kinds = "must be one of " + ",".join(_COLUMN_TYPES)
    if not column.get("type"):
        yield say.required(f"{path}.type", kinds)
    elif column["type"] not in _COLUMN_TYPES:
        yield say.invalid(f"{path}.type", column["type"], kinds)
    if column.get("format") and column["format"] not in _COLUMN_FORMATS:
        yield say.invalid(f"{path}.format", column["format"], "must be one of " + ",".join(_COLUMN_FORMATS))
    if not column.get("jsonPath"):
        yield say.required(f"{path}.JSONPath")
    else:
        yield from _json_path(f"{path}.JSONPath", column["jsonPath"])


def selectable_problems(fields: list[Obj], schema: Any, path: str) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, field in enumerate(fields):
        where, value = f"{path}[{index}].jsonPath", field.get("jsonPath") or ""
        if not value:
            yield say.required(where)
            continue
        if value[0] not in ".[":
            message = f"is an invalid path: expected [ or . but got: {re.split(r'[.[]', value)[0]}"
            yield say.invalid(where, value, message)
            continue
        target = _resolve(schema, value)
        if target is None or value.startswith(".metadata"):
            yield say.invalid(where, value, "is an invalid path: does not refer to a valid field")
        elif target.get("type") not in ("string", "boolean", "integer"):
            yield say.invalid(
                where,
                value,
                "must point to a field of type string, boolean or integer. Enum string fields and strings with "
                "formats are allowed.",
            )
        if value in seen:
            yield say.duplicate(where, value)
        seen.add(value)
    if len(seen) > 8:
        yield say.too_many(path, len(seen), 8)


def _resolve(schema: Any, path: str) -> Obj | None:
    if not re.fullmatch(r"(\.[A-Za-z_][\w-]*)+", path):
        return None
    for name in path.split(".")[1:]:
        extra = (schema or {}).get("additionalProperties")
        schema = ((schema or {}).get("properties") or {}).get(name, extra if isinstance(extra, dict) else None)
        if schema is None:
            return None
    node: Obj = schema
    return node
