"""Gangs that a minimum run time protects: which one, where it is said, and the change that ends it.

Asked by rivals.py about each gang that holds the room, and by no_room.py for changes. Reads an open session.
"""

from __future__ import annotations

from gangline.api import kinds
from gangline.rules.values.times import spoken
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.plugins.evict.minruntime import MinRuntimePlugin, RuntimeProtection
from gangline.scheduler.session import Session
from gangline.why.changes import ObjectChange


def protected_text(session: Session, gang: GangInfo, other: GangInfo) -> str:
    """How long its minimum run time still keeps another gang; "" where none does."""
    known = _protection(session, gang, other)
    if known is None or not known.minimum or other.last_start is None:
        return ""
    argument = f"default{known.field[0].upper()}{known.field[1:]}"
    where = f"Queue/{known.queue} spec.{known.field}" if known.stated else f"argument {argument} of plugin minruntime"
    left = other.last_start + known.minimum - session.now
    whose = "gives only its surplus: its minimum " if other.elastic else ""
    return f"{whose}is protected for {spoken(left)} more by its minimum run time of {spoken(known.minimum)} ({where})"


def unprotected(session: Session, gang: GangInfo) -> tuple[ObjectChange, ...]:
    """Queues whose minimum run time protects somebody who could make room."""
    protecting: dict[str, dict[str, str]] = {}
    for other in session.active_gangs():
        if other is gang or not other.preemptible or other.queue not in session.queues:
            continue
        known = _protection(session, gang, other)
        could = other.queue != gang.queue or other.priority < gang.priority
        if could and known is not None and known.minimum:
            protecting.setdefault(known.queue, {})[known.field] = "0s"
    return tuple(ObjectChange(kinds.QUEUE, queue, {"spec": fields}) for queue, fields in protecting.items())


def _protection(session: Session, gang: GangInfo, other: GangInfo) -> RuntimeProtection | None:
    plugin = next((item for item in session.hooks.plugins if isinstance(item, MinRuntimePlugin)), None)
    return plugin.protection(gang, other) if plugin is not None else None
