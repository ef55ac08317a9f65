"""JSON patch (RFC 6902), with the refusals of the real server. Merge patches are `rules/values/merge_patch.py`.

    json_patch(obj, operations) -> obj      raises PatchFailed

Does not change what it is given. Pure.
"""

from __future__ import annotations

import copy
import re
from typing import Any

import msgspec

from gangline.cluster.server.status import failure
from gangline.errors import GanglineError

LIMIT = 10_000
COPIED = 3 * 1024 * 1024
"""Bytes that the copies of one patch may add: copies of copies would double it with each."""
_INDEX = re.compile(r"[+-]?[0-9]{1,18}")
"""An index as Go reads a number: no spaces, no underscores, and nothing that no list is long enough for."""


class PatchFailed(GanglineError):
    """The patch cannot be applied to this object (422), or is no patch at all (400: `malformed`)."""

    def __init__(self, message: str, malformed: bool = False) -> None:
        super().__init__(message)
        self.malformed = malformed


def json_patch(target: Any, operations: Any) -> Any:
    """All operations in turn on a copy; the first that fails ends it."""
    if not isinstance(operations, list) or not all(isinstance(item, dict) for item in operations):
        raise PatchFailed("a JSON patch is a list of operations", malformed=True)
    if len(operations) > LIMIT:
        raise PatchFailed(
            f"The allowed maximum operations in a JSON patch is {LIMIT}, got {len(operations)}", malformed=True
        )
    document = msgspec.json.decode(msgspec.json.encode(target))
    copied = 0
    for operation in operations:
        if operation.get("op") == "copy":
            copied += _copy_size(document, operation)
            if copied > COPIED:
                raise failure(
                    413,
                    "RequestEntityTooLarge",
                    "Unable to complete the copy, the accumulated size increase of copy "
                    f"is {copied}, exceeding the limit {COPIED}",
                    {},
                )
        document = _apply(document, operation)
    return document


def _copy_size(document: Any, operation: dict[str, Any]) -> int:
    return len(msgspec.json.encode(_source(document, _pointer(operation, "from"))))


def _apply(document: Any, operation: dict[str, Any]) -> Any:
    op = operation.get("op")
    path = _pointer(operation, "path")
    if op == "add":
        return _add(document, path, _value(operation))
    if op == "remove":
        return _remove(document, path, "remove")
    if op == "replace":
        return _replace(document, path, _value(operation))
    if op == "test":
        return _test(document, path, operation)
    if op == "move":
        source = _pointer(operation, "from")
        value = _get(document, source, "move")
        return _add(_remove(document, source, "move"), path, value)
    if op == "copy":
        return _add(document, path, copy.deepcopy(_source(document, _pointer(operation, "from"))))
    raise PatchFailed(f"Unexpected kind: {op}")


def _source(document: Any, path: list[str]) -> Any:
    """What is copied; a key that an existing object lacks is copied as null."""
    parent = _get(document, path[:-1], "copy")
    return parent.get(path[-1]) if isinstance(parent, dict) and path else _get(document, path, "copy")


def _value(operation: dict[str, Any]) -> Any:
    """A missing value counts as null, as it does in the real server."""
    return copy.deepcopy(operation.get("value"))


def _pointer(operation: dict[str, Any], name: str) -> list[str]:
    text = operation.get(name)
    if not isinstance(text, str):
        raise PatchFailed(f"{operation.get('op')} operation failed to decode {name}: missing")
    if text and not text.startswith("/"):
        raise PatchFailed(
            f"{operation.get('op')} operation does not apply: doc is missing path: {text!r}: missing value"
        )
    return [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:]]


def _missing(op: str, path: list[str]) -> PatchFailed:
    return PatchFailed(f'{op} operation does not apply: doc is missing path: "/{"/".join(path)}": missing value')


def _index(items: list[Any], part: str, op: str, path: list[str], grow: bool = False) -> int:
    if grow and part == "-":
        return len(items)
    if not _INDEX.fullmatch(part):
        raise PatchFailed(f'{op} operation does not apply: "{part}" is not an index of a list')
    at = int(part)
    most = len(items) if grow else len(items) - 1
    if at < 0:
        at += most + 1
    if not 0 <= at <= most:
        raise PatchFailed(f"{op} operation does not apply: index {part} is out of bounds: invalid index referenced")
    return at


def _get(document: Any, path: list[str], op: str) -> Any:
    for part in path:
        if isinstance(document, dict):
            if part not in document:
                raise _missing(op, path)
            document = document[part]
        elif isinstance(document, list):
            document = document[_index(document, part, op, path)]
        else:
            raise _missing(op, path)
    return document


def _add(document: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    parent = _get(document, path[:-1], "add")
    if isinstance(parent, dict):
        parent[path[-1]] = value
    elif isinstance(parent, list):
        parent.insert(_index(parent, path[-1], "add", path, grow=True), value)
    else:
        raise _missing("add", path)
    return document


def _replace(document: Any, path: list[str], value: Any) -> Any:
    """Put a value; a key that an existing object lacks is added, as the real server does."""
    if not path:
        return value
    parent = _get(document, path[:-1], "replace")
    if not isinstance(parent, dict | list):
        raise _missing("replace", path)
    key: Any = path[-1] if isinstance(parent, dict) else _index(parent, path[-1], "replace", path)
    parent[key] = value
    return document


def _remove(document: Any, path: list[str], op: str) -> Any:
    if not path:
        raise PatchFailed(f"{op} operation does not apply: the whole document cannot be removed")
    _get(document, path, op)
    parent = _get(document, path[:-1], op)
    key: Any = path[-1] if isinstance(parent, dict) else _index(parent, path[-1], op, path)
    del parent[key]
    return document


def _test(document: Any, path: list[str], operation: dict[str, Any]) -> Any:
    try:
        value = _get(document, path, "test")
    except PatchFailed:
        if operation.get("value") is None and "value" in operation:
            return document
        raise
    if value != operation.get("value") or isinstance(value, bool) != isinstance(operation.get("value"), bool):
        raise PatchFailed(f"testing path /{'/'.join(path)} value failed: test failed")
    return document
