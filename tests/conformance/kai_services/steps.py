"""One recorded operation, done on our server: create, patch, delete, bind, wait. Anything else fails the case.

Shared by the replays of grouper, admission and status cases.
"""

from __future__ import annotations

from typing import Any

from conformance.kai_services.lab import Lab
from conformance.kai_services.placeholders import Uids
from gangline.api.kinds import POD
from gangline.errors import ApiError

Raw = dict[str, Any]
NAMESPACE = "work"
LONG = 120.0
"""Seconds that a recorded `wait` stands for at most: longer than any retry."""
_KEYS = {
    "create": {"op", "object", "stored_metadata", "refused"},
    "patch": {"op", "apiVersion", "kind", "name", "namespace", "patch", "subresource", "refused"},
    "delete": {"op", "apiVersion", "kind", "name", "namespace", "refused"},
    "bind": {"op", "name", "node", "namespace", "refused"},
}


class UnknownCase(Exception):
    """The case holds a key or an operation that this runner does not know."""


def check_keys(op: Raw) -> None:
    known = op.keys() if op["op"] == "wait" else _KEYS.get(op["op"])
    if known is None:
        raise UnknownCase(f"operation {op['op']!r} is not known")
    if op.keys() - known:
        raise UnknownCase(f"{op['op']} has unknown keys {sorted(op.keys() - known)}")


async def do(lab: Lab, uids: Uids, op: Raw) -> None:
    """Do one operation; one that upstream's server refused must be refused by ours."""
    check_keys(op)
    try:
        await _OPERATIONS[op["op"]](lab, uids, uids.real(op))
    except ApiError:
        if not op.get("refused"):
            raise
        return
    if op.get("refused"):
        raise UnknownCase(f"{op['op']} should have been refused: {op['refused']}")


def scoped(lab: Lab, obj: Raw) -> tuple[Any, Raw, str]:
    """The kind of an object, the object with its namespace, and that namespace."""
    kind = lab.kind(obj["apiVersion"], obj["kind"])
    namespace = obj["metadata"].get("namespace", NAMESPACE) if kind.namespaced else ""
    return kind, {**obj, "metadata": {**obj["metadata"], **({"namespace": namespace} if namespace else {})}}, namespace


async def _create(lab: Lab, uids: Uids, op: Raw) -> None:
    kind, obj, namespace = scoped(lab, op["object"])
    made = await lab.admin.create(kind, obj, namespace)
    uids.learn(obj["kind"], made.name, made.uid)
    stored = uids.real(op.get("stored_metadata") or {})
    if stored and any(
        dict(made.labels if key == "labels" else made.annotations) != value for key, value in stored.items()
    ):
        await lab.admin.patch(kind, made.name, namespace, {"metadata": stored})


async def _patch(lab: Lab, uids: Uids, op: Raw) -> None:
    kind = lab.kind(op["apiVersion"], op["kind"])
    namespace = op.get("namespace", NAMESPACE) if kind.namespaced else ""
    await lab.admin.patch(kind, op["name"], namespace, op["patch"], subresource=op.get("subresource", ""))


async def _delete(lab: Lab, uids: Uids, op: Raw) -> None:
    kind = lab.kind(op["apiVersion"], op["kind"])
    namespace = op.get("namespace", NAMESPACE) if kind.namespaced else ""
    await lab.admin.delete(kind, op["name"], namespace, grace=0, propagation="Background")


async def _bind(lab: Lab, uids: Uids, op: Raw) -> None:
    await lab.admin.bind(op["name"], op.get("namespace", NAMESPACE), op["node"])


async def _wait(lab: Lab, uids: Uids, op: Raw) -> None:
    await lab.settle()
    lab.clock.advance(float(op.get("seconds") or LONG))


_OPERATIONS = {"create": _create, "patch": _patch, "delete": _delete, "bind": _bind, "wait": _wait}


def concerns_pod(op: Raw) -> bool:
    """After these the recorder waited until nothing moved."""
    return op["op"] in ("bind", "wait") or (op.get("object") or op).get("kind") == POD.kind
