"""A field that a server does not know → the name that its author may have meant, from the server's own schema.

Asks only after a refusal, and never makes another error of it: a server without OpenAPI gives no advice."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from gangline.cli.completion.suggestions import did_you_mean
from gangline.errors import ApiError

if TYPE_CHECKING:
    from gangline.api.kinds import Kind
    from gangline.cli.connection import ClusterConnection

UNKNOWN = re.compile(r"\.([\w.\-\[\]=\"]+): field not declared in schema")
INDEX = re.compile(r"\[[^\]]*\]")


async def did_you_mean_field(connection: ClusterConnection, kind: Kind[Any], refusal: str) -> str:
    """Ends the message of a refusal; empty where it names no unknown field, or nothing comes near."""
    unknown = UNKNOWN.search(refusal)
    if unknown is None:
        return ""
    group = f"apis/{kind.group}" if kind.group else "api"
    try:
        document = await connection.json(f"/openapi/v3/{group}/{kind.version}")
    except ApiError:
        return ""
    *path, word = INDEX.sub("", unknown[1]).split(".")
    return did_you_mean(word, known_fields(document, kind.group, kind.kind, path))


def known_fields(document: Mapping[str, Any], group: str, kind: str, path: list[str]) -> list[str]:
    """The fields below a path of a kind, as an OpenAPI document (v3) has them."""
    schemas: Mapping[str, Any] = (document.get("components") or {}).get("schemas") or {}
    shape: Mapping[str, Any] = next((schema for schema in schemas.values() if _is(schema, group, kind)), {})
    for word in path:
        shape = _inside(_fields(shape, schemas).get(word) or {}, schemas)
    return list(_fields(shape, schemas))


def _is(schema: Mapping[str, Any], group: str, kind: str) -> bool:
    named = schema.get("x-kubernetes-group-version-kind") or []
    return any(item.get("kind") == kind and item.get("group", "") == group for item in named)


def _inside(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Mapping[str, Any]:
    """What one entry of a list is like, or the object itself."""
    whole = [schema, *_referred(schema, schemas)]
    return next((part["items"] for part in whole if isinstance(part.get("items"), Mapping)), schema)


def _fields(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> dict[str, Any]:
    parts = [schema, *_referred(schema, schemas)]
    return {name: field for part in parts for name, field in (part.get("properties") or {}).items()}


def _referred(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for part in (schema, *(schema.get("allOf") or [])):
        if reference := str(part.get("$ref") or "").rpartition("/")[2]:
            yield schemas.get(reference) or {}
