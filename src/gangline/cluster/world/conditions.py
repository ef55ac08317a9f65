"""Conditions as the controllers of the world write them. Pure: nothing is sent here."""

from __future__ import annotations

from collections.abc import Iterable

from gangline.api.meta import Raw


def disruption(reason: str, message: str, now: str) -> Raw:
    """The condition that tells an end by somebody else's will from a failure (a Job's `podFailurePolicy` can ignore
    it)."""
    return {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": reason,
        "message": message,
        "lastTransitionTime": now,
    }


def merged(conditions: Iterable[Raw], wanted: Iterable[tuple[str, str, str, str]], now: str) -> list[Raw]:
    """Conditions with those wanted (type, status, reason, message) set; a time moves only when its status does."""
    by_type = {str(condition.get("type")): dict(condition) for condition in conditions}
    for kind, status, reason, message in wanted:
        before = by_type.get(kind, {})
        since = before.get("lastTransitionTime") if before.get("status") == status else now
        by_type[kind] = before | {
            "type": kind,
            "status": status,
            "reason": reason,
            "message": message,
            "lastTransitionTime": since,
        }
    return list(by_type.values())
