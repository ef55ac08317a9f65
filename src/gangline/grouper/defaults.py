"""Default priority and preemptibility per kind, from a ConfigMap that an administrator keeps.

Read by groupers/base.py after everything that a workload says itself. A map that is absent or unreadable changes
nothing."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from gangline.api.meta import Raw
from gangline.grouper import owners
from gangline.grouper.look import GrouperView

KEY = "types"


class Defaults(NamedTuple):
    priority: str = ""
    preemptibility: str = ""


class _Entry(msgspec.Struct):
    """One line of the map; the names of its fields count in any case."""

    typename: str | None = None
    group: str | None = None
    priorityname: str | None = None
    preemptibility: str | None = None


def defaults_of(read: GrouperView) -> dict[str, Defaults]:
    """Defaults by `Kind.group`, or by `Kind` for entries without a group."""
    settings = read.settings
    config_map = read.config_map(settings.defaults_namespace, settings.defaults_name) if settings.has_defaults else None
    if config_map is None or KEY not in config_map.data:
        return {}
    try:
        written = msgspec.json.decode(config_map.data[KEY], type=list[dict[str, Any] | None] | None) or []
        entries = [
            msgspec.convert({key.lower(): value for key, value in (item or {}).items()}, _Entry) for item in written
        ]
    except msgspec.MsgspecError:
        return {}
    return {
        _key(entry.group or "", entry.typename or ""): Defaults(entry.priorityname or "", entry.preemptibility or "")
        for entry in entries
    }


def _key(group: str, kind: str) -> str:
    return f"{kind}.{group}" if group else kind


def kind_defaults(usual: dict[str, Defaults], owner: Raw) -> Defaults:
    group, kind = owners.group_kind(owner)
    return usual.get(_key(group, kind)) or usual.get(kind) or Defaults()
