"""metadata.managedFields: read, written, and kept when only their times differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from gangline.apiserver.apply import fieldset
from gangline.apiserver.apply.fieldset import FieldSet

Obj = dict[str, Any]
APPLY, UPDATE = "Apply", "Update"
MOST_UPDATERS = 10
ANCIENT = "ancient-changes"


@dataclass(frozen=True, slots=True)
class Owner:
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


@dataclass(frozen=True, slots=True)
class Entry:
    fields: FieldSet
    api_version: str
    time: str = ""


Managed = dict[Owner, Entry]


def owner(manager: str, operation: str, api_version: str, subresource: str) -> Owner:
    return Owner(manager or "unknown", operation, "" if operation == APPLY else api_version, subresource)


def read(entries: Any) -> Managed:
    """Raises ValueError when an entry is not one."""
    managed: Managed = {}
    for entry in entries or []:
        operation, version = entry.get("operation"), entry.get("apiVersion") or ""
        if operation not in (APPLY, UPDATE) or (entry.get("fieldsType") or "FieldsV1") != "FieldsV1":
            raise ValueError("not a managed fields entry")
        key = owner(entry.get("manager") or "", operation, version, entry.get("subresource") or "")
        managed[key] = Entry(fieldset.decode(entry.get("fieldsV1") or {}), version, entry.get("time") or "")
    return managed


def write(managed: Managed) -> list[Obj]:
    """Appliers first, then by time, then by name."""
    order = sorted(managed.items(), key=lambda pair: (
        pair[0].operation, pair[1].time, pair[0].manager, pair[1].api_version, pair[0].subresource))
    return list(_written(order))


def _written(order: list[tuple[Owner, Entry]]) -> Iterator[Obj]:
    for who, entry in order:
        if not entry.fields:
            continue
        out: Obj = {"manager": who.manager, "operation": who.operation, "apiVersion": entry.api_version}
        if entry.time:
            out["time"] = entry.time
        out |= {"fieldsType": "FieldsV1", "fieldsV1": entry.fields.encode()}
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
    updaters = sorted((who for who in managed if who.operation == UPDATE), key=lambda who: (managed[who].time, who.manager))
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
        bucket = Owner(ANCIENT, UPDATE, version)
        if bucket not in out:
            out[bucket] = out.pop(first[version])
        entry = out.pop(who)
        out[bucket] = replace(entry, fields=entry.fields | out[bucket].fields)
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
