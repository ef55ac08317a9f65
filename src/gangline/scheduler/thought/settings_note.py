"""The settings of a scheduler as a few words on its verdicts, and back: a later judge of the same gang can decide
as that scheduler does.

Only what differs from a native scheduler is written. loop/teller.py writes the note, gangline.why reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from gangline.api.meta import Raw
from gangline.scheduler.settings import PluginSetting, SchedulerSettings, native_settings

UNTOLD = ("budgets", "node_pool", "explains")
"""How long it may search, where it is, and whether somebody listens: of no concern to what it decides."""


def settings_note(settings: SchedulerSettings) -> Raw:
    usual = native_settings()
    return {
        field.name: _written(getattr(settings, field.name))
        for field in fields(SchedulerSettings)
        if field.name not in UNTOLD and getattr(settings, field.name) != getattr(usual, field.name)
    }


def _written(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, tuple):
        return [[item.name, dict(item.arguments)] if isinstance(item, PluginSetting) else item for item in value]
    return value


def noted_settings(note: Mapping[str, Any]) -> SchedulerSettings:
    """What a note says; words that this version does not know are left out."""
    known = {field.name for field in fields(SchedulerSettings)} - set(UNTOLD)
    changes = {name: value for name, value in note.items() if name in known}
    if "actions" in changes:
        changes["actions"] = tuple(changes["actions"])
    if "plugins" in changes:
        changes["plugins"] = tuple(PluginSetting(name, arguments) for name, arguments in changes["plugins"])
    return replace(native_settings(), **changes)
