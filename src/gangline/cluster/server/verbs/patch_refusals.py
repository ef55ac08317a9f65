"""How a patch is refused: in the words of a kube-apiserver, with the object or the patch as it prints them.

Pure text; patch_reader.py asks for it.
"""

from __future__ import annotations

from typing import Any

import msgspec

from gangline.cluster.schema import WrongType
from gangline.cluster.server.call import ServerCall
from gangline.cluster.server.status import invalid
from gangline.errors import ApiError, Problem
from gangline.rules.values.problems import go_text


def strategic_refusal(call: ServerCall, why: str | WrongType) -> ApiError:
    """A strategic patch is quoted by its own text; of a wrong type only what was found and what was wanted."""
    message = _conversion_refusal(why.given, why.wanted) if isinstance(why, WrongType) else why
    text = msgspec.json.encode(go_text(msgspec.json.decode(call.request.body))).decode()
    return invalid("", "", "", [Problem("patch", f"Invalid value: {text}: {message}")])


_GO_KINDS = {
    "string": "string",
    "integer": "int64",
    "number": "float64",
    "boolean": "bool",
    "object": "map",
    "array": "slice",
}


_GO_RESTORED = {"an object": "struct from:", "a list": "slice from", "a map": "map from"}


def _conversion_refusal(given: str, wanted: str) -> str:
    """What the real server's converter says about a value of the wrong type."""
    go_kind = _GO_KINDS.get(given, given)
    if wanted in _GO_RESTORED:
        return f"cannot restore {_GO_RESTORED[wanted]} {go_kind}"
    target = _GO_KINDS.get(wanted, wanted)
    if (given, target) == ("integer", "string") or (given == "number" and target in ("int32", "int64")):
        return f"cannot convert {go_kind} to {target}"
    if target == "quantity":
        return "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
    return f"unrecognized type: {target}"


_META_ORDER = (
    "name",
    "generateName",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
)


def as_printed(obj: Any) -> Any:
    """An object in the order in which a refusal prints it."""
    if not isinstance(obj, dict) or not isinstance(obj.get("metadata"), dict):
        return obj
    meta = obj["metadata"]
    ordered = {key: meta[key] for key in _META_ORDER if key in meta} | meta
    return {key: ordered if key == "metadata" else obj[key] for key in sorted(obj)}
