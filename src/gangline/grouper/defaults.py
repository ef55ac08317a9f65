"""Default priority and preemptibility per kind, from a ConfigMap that an administrator keeps.

Read by groupers/base.py after everything that a workload says itself. A map that is absent or unreadable changes nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from gangline.api.meta import Raw
from gangline.grouper import owners
from gangline.grouper.look import Look

KEY = "types"


class Defaults(NamedTuple):
    priority: str = ""
    preemptibility: str = ""


class _Entry(msgspec.Struct, rename="camel"):
    type_name: str | None = None
    group: str | None = None
    priority_name: str | None = None
    preemptibility: str | None = None


def defaults_of(read: Look) -> dict[str, Defaults]:
    """Defaults by `Kind.group`, or by `Kind` for entries without a group."""
    settings = read.settings
    found = read.config_map(settings.defaults_namespace, settings.defaults_name) if settings.has_defaults else None
    if found is None or KEY not in found.data:
        return {}
    try:
        entries = msgspec.json.decode(found.data[KEY], type=list[_Entry] | None) or []
    except msgspec.MsgspecError:
        return {}
    return {_key(each.group or "", each.type_name or ""): Defaults(each.priority_name or "", each.preemptibility or "")
            for each in entries}


def _key(group: str, kind: str) -> str:
    return f"{kind}.{group}" if group else kind


def kind_defaults(usual: dict[str, Defaults], owner: Raw) -> Defaults:
    group, kind = owners.group_kind(owner)
    return usual.get(_key(group, kind)) or usual.get(kind) or Defaults()
