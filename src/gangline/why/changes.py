"""A change of objects as data: a merge patch, a new object, or one that takes the place of another; and a remedy,
which is changes.

What people read is printed from the data, and what is tried and applied is the same data: text and deed cannot
differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gangline.api.kinds import NODE, QUEUE, RESOURCE_SLICE, Kind
from gangline.api.meta import Raw
from gangline.rules.values.merge_patch import merge_patch
from gangline.why.objects import ClusterObjects, dig

SHOWN_LIST = 6
SHOWN_LEAVES = 3


@dataclass(frozen=True, slots=True)
class ObjectChange:
    """One object that is patched (`how` patch: `body` is a merge patch), made (new) or made anew in place of itself
    (replace).

    `word`: what people call it, in place of an internal name."""

    kind: Kind[Any]
    name: str
    body: Raw
    namespace: str = ""
    how: str = "patch"
    word: str = ""

    def document(self) -> Raw:
        """As a person or a program applies it: a merge patch or a whole object, under its kind and name."""
        given = dict(self.body)
        meta = {
            "name": self.name,
            **({"namespace": self.namespace} if self.kind.namespaced else {}),
            **(given.pop("metadata", None) or {}),
        }
        return {"apiVersion": self.kind.api_version, "kind": self.kind.kind, "metadata": meta, **given}

    @property
    def title(self) -> str:
        return self.word or f"{self.kind.kind}/{self.name}"

    def text(self, before: ClusterObjects) -> str:
        """Completes "would start if …"."""
        if self.how == "new":
            return f"there was {self.title}{_about(self.kind, self.body)}"
        if self.how == "replace":
            return (
                f"{self.title} were made anew with "
                f"{', '.join(_differences(self.body, before.raw(self.kind, self.name, self.namespace)))}"
            )
        live = before.raw(self.kind, self.name, self.namespace) or {}
        return (
            f"{self.title} had "
            f"{', '.join(f'{path}: {shown(value)}{_was(live, keys)}' for path, keys, value in leaves(self.body))}"
        )

    def applied(self, objects: ClusterObjects) -> ClusterObjects:
        live = objects.raw(self.kind, self.name, self.namespace)
        document = self.document()
        if self.how == "patch" and live is not None:
            return objects.put(self.kind, merge_patch(live, document), self.name, self.namespace)
        if live is not None:
            document["metadata"] = {"uid": live["metadata"].get("uid", ""), **document["metadata"]}
        document["metadata"].setdefault("uid", f"new-{self.kind.plural}-{self.namespace}-{self.name}")
        return objects.put(self.kind, document, self.name, self.namespace)


@dataclass(frozen=True, slots=True)
class Remedy:
    """Changes that together let a gang start. `tried`: how that was seen: `cycle`, `platform`, or "" where it could
    not be tried.

    `behind`: what else stands in the way once the first obstacle is cleared, in the order in which it was met."""

    changes: tuple[ObjectChange, ...]
    tried: str = ""
    behind: tuple[str, ...] = ()

    def text(self, before: ClusterObjects) -> str:
        """Completes "would start if …"; what belongs to an internal object is told with the object that people know."""
        nodes = [change for change in self.changes if change.kind is NODE and change.how == "new"]
        others = [
            change
            for change in self.changes
            if change not in nodes and not (nodes and change.how == "new" and change.kind is RESOURCE_SLICE)
        ]
        told = list(
            dict.fromkeys([*(change.text(before) for change in others), *([_more_nodes(nodes)] if nodes else [])])
        )
        if len(told) > SHOWN_LIST:
            told = [*told[: SHOWN_LIST - 1], f"{len(told) - SHOWN_LIST + 1} more such changes"]
        return " and ".join(told)

    def documents(self) -> list[Raw]:
        return [change.document() for change in self.changes]


def squashed(changes: Sequence[ObjectChange]) -> tuple[ObjectChange, ...]:
    """Patches of one object as one, the later word counting; each object stands where it was first named."""
    found: dict[tuple[str, str, str], ObjectChange] = {}
    for change in changes:
        key = (change.kind.resource, change.namespace, change.name)
        known = found.get(key)
        found[key] = (
            change if known is None or change.how != "patch" else replace(known, body=both(known.body, change.body))
        )
    return tuple(found.values())


def both(left: Raw, right: Raw) -> Raw:
    """Two patches as one; a value of None stays."""
    found = dict(left)
    for key, value in right.items():
        found[key] = both(found[key], value) if isinstance(found.get(key), dict) and isinstance(value, dict) else value
    return found


def applied(objects: ClusterObjects, changes: Sequence[ObjectChange]) -> ClusterObjects:
    for change in changes:
        objects = change.applied(objects)
    return objects


def leaves(body: Any, keys: tuple[str, ...] = ()) -> Iterator[tuple[str, tuple[str, ...], Any]]:
    """Every value of a patch with its path, as people write it."""
    if isinstance(body, Mapping) and body:
        for key, value in body.items():
            yield from leaves(value, (*keys, key))
    else:
        yield _path(keys), keys, body


def _path(keys: tuple[str, ...]) -> str:
    return "".join(f"[{key}]" if "/" in key else f".{key}" for key in keys).lstrip(".")


def shown(value: Any) -> str:
    if value is None:
        return "(none)"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "[" + ", ".join(_item(item) for item in value) + "]"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _item(value: Any) -> str:
    if isinstance(value, Mapping) and "key" in value and "effect" in value:
        return f"{value['key']}{'=' + str(value['value']) if value.get('value') else ''}:{value['effect']}"
    if isinstance(value, Mapping):
        return str(value.get("name") or "{" + ", ".join(f"{key}: {_item(item)}" for key, item in value.items()) + "}")
    return shown(value)


def _was(live: Raw, keys: tuple[str, ...]) -> str:
    found: Any = live
    for key in keys:
        found = found.get(key) if isinstance(found, Mapping) else None
    return f" (now {shown(found)})" if found is not None else ""


def _more_nodes(nodes: Sequence[ObjectChange]) -> str:
    """`there were 2 more nodes (a, b), each with …`."""
    body = nodes[0].body
    has = dig(body, "status", "allocatable") or {}
    amounts = ", ".join(
        f"{value} {name}" for name, value in has.items() if name != "ephemeral-storage" and str(value) != "0"
    )
    plain = ("kubernetes.io/", "gangline.io/", "nvidia.com/gpu.count", "nvidia.com/gpu.present")
    marked = [
        f"{key}={value}" for key, value in (dig(body, "metadata", "labels") or {}).items() if not key.startswith(plain)
    ]
    many = (
        f"{len(nodes)} more nodes ({', '.join(node.name for node in nodes)}), each"
        if len(nodes) > 1
        else f"1 more node (Node/{nodes[0].name})"
    )
    return f"there {'were' if len(nodes) > 1 else 'was'} {many} with {amounts}" + (
        f" and labels {', '.join(marked)}" if marked else ""
    )


def _about(kind: Kind[Any], body: Raw) -> str:
    """What matters of a new object, in brackets."""
    if kind is QUEUE:
        parent = dig(body, "spec", "parentQueue")
        return f" (without limits{f', spec.parentQueue: {parent}' if parent else ''})"
    said = [
        f"{path}: {shown(value)}"
        for path, _, value in leaves({"spec": body.get("spec") or {}})
        if not isinstance(value, Mapping)
    ]
    return f" ({', '.join(said[:SHOWN_LEAVES])})" if said else ""


def _differences(body: Raw, live: Raw | None) -> list[str]:
    """What a new version of an object says otherwise."""
    return [
        f"{path}: {shown(value)}{_was(live or {}, keys)}"
        for path, keys, value in leaves({"spec": body.get("spec") or {}})
        if _at(live or {}, keys) != value
    ] or ["the same fields"]


def _at(obj: Any, keys: tuple[str, ...]) -> Any:
    for key in keys:
        obj = obj.get(key) if isinstance(obj, Mapping) else None
    return obj
