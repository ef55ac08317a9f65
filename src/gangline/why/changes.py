"""A change of objects as data: a merge patch, a new object, or one that takes the place of another; and a remedy,
which is changes.

What people read is printed from the data, and what is tried and applied is the same data: text and deed cannot
differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gangline.api.kinds import NODE, RESOURCE_SLICE, Kind
from gangline.api.meta import Raw
from gangline.rules.values.merge_patch import merge_patch
from gangline.why.objects import ClusterObjects, dig
from gangline.why.words.change_text import (
    about_text,
    devices_text,
    differences,
    leaves,
    more_nodes_text,
    shown,
    was_text,
)

SHOWN_LIST = 6


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
            return f"there was {self.title}{about_text(self.kind, self.body)}"
        if self.how == "replace":
            return (
                f"{self.title} were made anew with "
                f"{', '.join(differences(self.body, before.raw(self.kind, self.name, self.namespace)))}"
            )
        live = before.raw(self.kind, self.name, self.namespace) or {}
        values = [f"{path}: {shown(value)}{was_text(live, keys)}" for path, keys, value in leaves(self.body, live)]
        return f"{self.title} had {', '.join(values)}"

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
        """Completes "would start if …"; what belongs to an internal object is shown with the object that people
        know."""
        nodes = [change for change in self.changes if change.kind is NODE and change.how == "new"]
        others = [
            change
            for change in self.changes
            if change not in nodes and not (nodes and change.how == "new" and change.kind is RESOURCE_SLICE)
        ]
        texts = list(dict.fromkeys([*(change.text(before) for change in others), *_new_nodes(nodes, self.changes)]))
        if len(texts) > SHOWN_LIST:
            texts = [*texts[: SHOWN_LIST - 1], f"{len(texts) - SHOWN_LIST + 1} more such changes"]
        return " and ".join(texts)

    def documents(self) -> list[Raw]:
        return [change.document() for change in self.changes]


def _new_nodes(nodes: Sequence[ObjectChange], changes: Sequence[ObjectChange]) -> list[str]:
    if not nodes:
        return []
    slices = [change.body for change in changes if change.how == "new" and change.kind is RESOURCE_SLICE]
    first = [body for body in slices if dig(body, "spec", "nodeName") == nodes[0].name]
    return [more_nodes_text([node.name for node in nodes], [node.body for node in nodes]) + devices_text(first)]


def touched(changes: Sequence[ObjectChange]) -> set[tuple[str, str, str]]:
    return {(change.kind.resource, change.namespace, change.name) for change in changes}


def squashed(changes: Sequence[ObjectChange]) -> tuple[ObjectChange, ...]:
    """Patches of one object as one, the later word counting; each object stands where it was first named."""
    by_object: dict[tuple[str, str, str], ObjectChange] = {}
    for change in changes:
        key = (change.kind.resource, change.namespace, change.name)
        known = by_object.get(key)
        by_object[key] = (
            change if known is None or change.how != "patch" else replace(known, body=both(known.body, change.body))
        )
    return tuple(by_object.values())


def renumbered(changes: Sequence[ObjectChange]) -> tuple[ObjectChange, ...]:
    """New nodes of one stem numbered without gaps, from the lowest of their numbers on."""
    new = [change.name for change in changes if change.kind is NODE and change.how == "new"]
    by_stem: dict[str, list[int]] = {}
    for name in new:
        stem, _, number = name.rpartition("-")
        if number.isdigit():
            by_stem.setdefault(stem, []).append(int(number))
    names = {
        f"{stem}-{number}": f"{stem}-{min(numbers) + place}"
        for stem, numbers in by_stem.items()
        for place, number in enumerate(sorted(numbers))
    }
    if all(old == name for old, name in names.items()):
        return tuple(changes)
    return tuple(_with_names(change, names) for change in changes)


def _with_names(change: ObjectChange, names: Mapping[str, str]) -> ObjectChange:
    """The change, where it speaks of new nodes, with their other names."""
    if change.how != "new" or change.kind not in (NODE, RESOURCE_SLICE):
        return change
    stem, dash, part = change.name.rpartition("-")
    name = names.get(change.name) or (f"{names[stem]}{dash}{part}" if stem in names else change.name)
    body: Raw = _told_anew(change.body, names)
    return replace(change, name=name, body=body)


def _told_anew(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        return {key: _told_anew(item, names) for key, item in value.items()}
    if isinstance(value, list):
        return [_told_anew(item, names) for item in value]
    if not isinstance(value, str):
        return value
    before, slashes, name = value.rpartition("//")
    return f"{before}{slashes}{names.get(name, name)}"


def both(left: Raw, right: Raw) -> Raw:
    """Two patches as one; a value of None stays."""
    merged = dict(left)
    for key, value in right.items():
        deeper = isinstance(merged.get(key), dict) and isinstance(value, dict)
        merged[key] = both(merged[key], value) if deeper else value
    return merged


def applied(objects: ClusterObjects, changes: Sequence[ObjectChange]) -> ClusterObjects:
    for change in changes:
        objects = change.applied(objects)
    return objects
