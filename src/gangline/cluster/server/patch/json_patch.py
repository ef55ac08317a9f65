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
from gangline.rules.values.documents import DEPTH, is_deep

LIMIT = 10_000
COPIED = 3 * 1024 * 1024
"""Bytes that the copies of one patch may add: copies of copies would double it with each."""
_INDEX = re.compile(r"[+-]?[0-9]{1,18}")
"""An index as Go reads a number: no spaces, no underscores, and nothing that no list is long enough for."""


class PatchTooLong(GanglineError):
    """The patch has more operations than anybody carries out (413)."""


class PatchFailed(GanglineError):
    """The patch cannot be applied to this object (422), or is no patch at all (400: `malformed`)."""

    def __init__(self, message: str, malformed: bool = False) -> None:
        super().__init__(message)
        self.malformed = malformed


def json_patch(target: Any, operations: Any) -> Any:
    """All operations in turn on a copy; the first that fails ends it. None at all is a patch that changes nothing."""
    if operations is None:
        return target
    if not isinstance(operations, list):
        raise _misread(operations, "[]handlers.jsonPatchOp")
    odd = next((item for item in operations if item is not None and not isinstance(item, dict)), None)
    if odd is not None:
        raise _misread(odd, "handlers.jsonPatchOp")
    if len(operations) > LIMIT:
        raise PatchTooLong(f"The allowed maximum operations in a JSON patch is {LIMIT}, got {len(operations)}")
    document = msgspec.json.decode(msgspec.json.encode(target))
    copied = 0
    for operation in operations:
        if operation is None:
            raise PatchFailed("Unexpected kind: unknown")
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
    if is_deep(document):
        raise PatchFailed(f"the patch leaves an object that exceeds the max depth of {DEPTH}")
    return document


_KINDS: dict[type, str] = {dict: "object", list: "array", str: "string", bool: "bool", int: "number", float: "number"}


def _misread(value: Any, wanted: str) -> PatchFailed:
    given = _KINDS[type(value)]
    return PatchFailed(f"json: cannot unmarshal {given} into Go value of type {wanted}", malformed=True)


def _copy_size(document: Any, operation: dict[str, Any]) -> int:
    return len(msgspec.json.encode(_get(document, _pointer(operation, "from"), "copy")))


def _apply(document: Any, operation: dict[str, Any]) -> Any:
    op = operation.get("op")
    if op == "move":
        source = _pointer(operation, "from")
        value = _get(document, source, "move")
        _remove(document, source, "move")
        _add(document, _pointer(operation, "path"), value, "move")
        return document
    path = _pointer(operation, "path")
    if op == "add":
        _add(document, path, _value(operation), "add")
    elif op == "remove":
        _remove(document, path, "remove")
    elif op == "replace":
        return _replace(document, path, _value(operation))
    elif op == "test":
        _test(document, path, operation.get("value"))
    elif op == "copy":
        _add(document, path, copy.deepcopy(_get(document, _pointer(operation, "from"), "copy")), "copy")
    else:
        raise PatchFailed(f"Unexpected kind: {op}")
    return document


def _value(operation: dict[str, Any]) -> Any:
    """A missing value counts as null, as it does in the real server."""
    return copy.deepcopy(operation.get("value"))


def _pointer(operation: dict[str, Any], name: str) -> str:
    text = operation.get(name)
    if not isinstance(text, str):
        raise PatchFailed(f"{operation.get('op')} operation failed to decode {name}: missing")
    return text


def _place(document: Any, path: str, op: str) -> tuple[dict[str, Any] | list[Any], str]:
    """Where a pointer leads: what holds the value, and under which key. What stands before the first slash is not
    looked at, as in the real server; a pointer without one leads nowhere."""
    parts = path.split("/")[1:]
    if not parts:
        raise _missing(op, path)
    for part in parts[:-1]:
        document = _child(document, _key(part), op)
        if document is None:
            raise _missing(op, path)
    if not isinstance(document, dict | list):
        raise _missing(op, path)
    return document, _key(parts[-1])


def _key(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")


def _child(holder: Any, key: str, op: str) -> Any:
    """What stands under a key; nothing where an object lacks it."""
    if isinstance(holder, dict):
        return holder.get(key)
    return holder[_index(holder, key, op)] if isinstance(holder, list) else None


def _missing(op: str, path: str) -> PatchFailed:
    return PatchFailed(f'{op} operation does not apply: doc is missing path: "{path}": missing value')


def _index(items: list[Any], part: str, op: str, grow: bool = False) -> int:
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


def _get(document: Any, path: str, op: str) -> Any:
    return _child(*_place(document, path, op), op)


def _add(document: Any, path: str, value: Any, op: str) -> None:
    holder, key = _place(document, path, op)
    if isinstance(holder, dict):
        holder[key] = value
    else:
        holder.insert(_index(holder, key, op, grow=True), value)


def _replace(document: Any, path: str, value: Any) -> Any:
    """Put a value; a key that an existing object lacks is added, as the real server does."""
    if not path:
        if not isinstance(value, dict | list):
            raise PatchFailed("replace operation value must be object or array")
        return value
    holder, key = _place(document, path, "replace")
    if isinstance(holder, dict):
        holder[key] = value
    else:
        holder[_index(holder, key, "replace")] = value
    return document


def _remove(document: Any, path: str, op: str) -> None:
    holder, key = _place(document, path, op)
    if isinstance(holder, list):
        del holder[_index(holder, key, op)]
    elif key in holder:
        del holder[key]
    else:
        raise _missing(op, path)


def _test(document: Any, path: str, wanted: Any) -> None:
    """What is not there equals null."""
    value = _get(document, path, "test") if path else document
    if value != wanted or isinstance(value, bool) != isinstance(wanted, bool):
        raise PatchFailed(f"testing path {path} value failed: test failed")
