"""metadata.managedFields: read, written, and kept when only their times differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gangline.cluster.server.patch.apply import fieldset
from gangline.cluster.server.patch.apply.fieldset import FieldSet, Tree

Obj = dict[str, Any]
APPLY, UPDATE = "Apply", "Update"
MOST_UPDATERS = 10
ANCIENT = "ancient-changes"


@dataclass(frozen=True, slots=True)
class FieldManager:
    """Who wrote: the identity of an entry. An applier is the same whatever version it writes in."""

    manager: str
    operation: str
    api_version: str = ""
    subresource: str = ""

    def named(self) -> str:
        """As a conflict names it."""
        text = f'"{self.manager}"'
        if self.subresource:
            text += f' with subresource "{self.subresource}"'
        return text if self.operation == APPLY else f"{text} using {self.api_version}"


class Entry:
    """One account: its fields, read from their tree when somebody asks."""

    __slots__ = ("_fields", "_tree", "api_version", "time")

    def __init__(self, fields: FieldSet | None, api_version: str, time: str = "", tree: Tree | None = None) -> None:
        self._fields, self._tree = fields, tree
        self.api_version, self.time = api_version, time

    @property
    def fields(self) -> FieldSet:
        if self._fields is None:
            self._fields = fieldset.decode(self._tree or {})
        return self._fields

    @property
    def tree(self) -> Tree:
        if self._tree is None:
            self._tree = self.fields.encode()
        return self._tree

    def common(self, others: FieldSet) -> FieldSet:
        """Which of some fields are in this account; its tree is not read for it."""
        return self._fields & others if self._fields is not None else fieldset.common(self._tree or {}, others)

    def without(self, gone: FieldSet) -> Entry:
        """This account less some fields; itself if it had none of them."""
        return Entry(self.fields - gone, self.api_version, self.time) if self.common(gone) else self

    def __bool__(self) -> bool:
        return bool(self._tree if self._fields is None else self._fields)


Managed = dict[FieldManager, Entry]


def owner(manager: str, operation: str, api_version: str, subresource: str) -> FieldManager:
    return FieldManager(manager or "unknown", operation, "" if operation == APPLY else api_version, subresource)


def read(entries: Any) -> Managed:
    """Raises ValueError when an entry is not one."""
    if not all(entry.get("apiVersion") and entry.get("fieldsType") for entry in entries or []):
        raise ValueError("an entry says neither its version nor how its fields are written")
    managed = read_stored(entries)
    return {who: Entry(entry.fields, entry.api_version, entry.time) for who, entry in managed.items()}


def read_stored(entries: Any) -> Managed:
    """Entries that were written by us: their trees are in order, and stay as they are unless they change."""
    managed: Managed = {}
    for entry in entries or []:
        operation, version = entry.get("operation"), entry.get("apiVersion") or ""
        if operation not in (APPLY, UPDATE) or (entry.get("fieldsType") or "FieldsV1") != "FieldsV1":
            raise ValueError("not a managed fields entry")
        key = owner(entry.get("manager") or "", operation, version, entry.get("subresource") or "")
        managed[key] = Entry(None, version, entry.get("time") or "", entry.get("fieldsV1") or {})
    return managed


def write(managed: Managed) -> list[Obj]:
    """Appliers first, then by time, then by name."""
    order = sorted(
        managed.items(),
        key=lambda pair: (pair[0].operation, pair[1].time, pair[0].manager, pair[1].api_version, pair[0].subresource),
    )
    return list(_written(order))


def _written(order: list[tuple[FieldManager, Entry]]) -> Iterator[Obj]:
    for who, entry in order:
        if not entry:
            continue
        out: Obj = {"manager": who.manager, "operation": who.operation, "apiVersion": entry.api_version}
        if entry.time:
            out["time"] = entry.time
        out |= {"fieldsType": "FieldsV1", "fieldsV1": entry.tree}
        if who.subresource:
            out["subresource"] = who.subresource
        yield out


def attach(obj: Obj, managed: Managed) -> Obj:
    """The object with these entries, as a new object."""
    meta = {name: value for name, value in (obj.get("metadata") or {}).items() if name != "managedFields"}
    entries = write(managed)
    if entries:
        meta["managedFields"] = entries
    return {**obj, "metadata": meta}


def detached(obj: Obj) -> Obj:
    meta = obj.get("metadata")
    if not isinstance(meta, dict) or "managedFields" not in meta:
        return obj
    return {**obj, "metadata": {name: value for name, value in meta.items() if name != "managedFields"}}


def capped(managed: Managed) -> Managed:
    """No more than ten updaters: the oldest are merged into one entry per version."""
    updaters = sorted(
        (who for who in managed if who.operation == UPDATE), key=lambda who: (managed[who].time, who.manager)
    )
    surplus = len(updaters) - MOST_UPDATERS
    if surplus <= 0:
        return managed
    out, first = dict(managed), {}
    for who in updaters:
        if surplus <= 0:
            break
        version = managed[who].api_version
        if version not in first:
            first[version] = who
            continue
        bucket = FieldManager(ANCIENT, UPDATE, version)
        if bucket not in out:
            out[bucket] = out.pop(first[version])
        entry = out.pop(who)
        out[bucket] = Entry(entry.fields | out[bucket].fields, entry.api_version, entry.time)
        surplus -= 1
    return out


def keep_times(old: Obj | None, new: Obj) -> Obj:
    """When a write changed nothing but the times of its entries, the old object is still the one."""
    if old is None or "managedFields" not in (old.get("metadata") or {}):
        return new
    if _timeless(old) != _timeless(new):
        return new
    return {**new, "metadata": {**new["metadata"], "managedFields": old["metadata"]["managedFields"]}}


def _timeless(obj: Obj) -> Obj:
    meta = dict(obj.get("metadata") or {})
    meta["managedFields"] = [{**entry, "time": ""} for entry in meta.get("managedFields") or []]
    return {**obj, "metadata": meta}
