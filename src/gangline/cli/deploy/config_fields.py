"""What is wrong with the fields of objects that `gangline install --config` is given, before anything is written.

Names and types are compared with the definitions that are installed, as an API server would do it; what values mean is
left to the installer. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from gangline.cli.completion.suggestions import did_you_mean
from gangline.errors import BadInput

TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}
SPOKEN = {
    "object": "a mapping",
    "array": "a list",
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
}
EITHER = "x-kubernetes-int-or-string"
ANYTHING = "x-kubernetes-preserve-unknown-fields"


def refuse_wrong_fields(objects: Iterable[dict[str, Any]], definitions: Iterable[dict[str, Any]]) -> None:
    """Raises BadInput with every field that is unknown or of another type."""
    schemas = {
        (definition["spec"]["group"], definition["spec"]["names"]["kind"]): definition["spec"]["versions"][0]["schema"]
        for definition in definitions
    }
    wrong = []
    for obj in objects:
        schema = schemas.get((str(obj.get("apiVersion", "")).partition("/")[0], str(obj.get("kind", ""))))
        if schema is not None:
            name = f"{obj['kind']} {(obj.get('metadata') or {}).get('name', '')}".strip()
            wrong += [f"{name}: {text}" for text in _wrong(schema["openAPIV3Schema"], obj, "")]
    if wrong:
        raise BadInput("\n  ".join(("these fields cannot be used:", *wrong)) if len(wrong) > 1 else wrong[0])


def _wrong(schema: dict[str, Any], value: Any, path: str) -> Iterator[str]:
    kind = schema.get("type", "")
    if value is None or (schema.get(EITHER) and isinstance(value, int | str)):
        return
    if kind and (not isinstance(value, TYPES[kind]) or (isinstance(value, bool) and kind != "boolean")):
        yield f"{path} must be {SPOKEN[kind]}, not {value!r}"
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from _wrong(schema.get("items") or {}, item, f"{path}[{place}]")
    elif isinstance(value, dict):
        yield from _wrong_fields(schema, value, path)


def _wrong_fields(schema: dict[str, Any], value: dict[str, Any], path: str) -> Iterator[str]:
    known, others = schema.get("properties") or {}, schema.get("additionalProperties")
    for name, inner in value.items():
        where = f"{path}.{name}".lstrip(".")
        if name in known:
            yield from _wrong(known[name], inner, where)
        elif isinstance(others, dict):
            yield from _wrong(others, inner, where)
        elif known and not schema.get(ANYTHING):
            yield f"{where}: there is no such field{did_you_mean(name, known)}"
