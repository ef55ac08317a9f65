"""Statuses as patches: only what differs is written, and errors keep the time at which they were first seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from gangline.api.grove import LastError
from gangline.api.kinds import Kind
from gangline.api.meta import Object, Raw, as_raw
from gangline.operator.plan import merge_patch

LONGEST = 1024
HELD_BACK = "HeldBack"
"""The condition of a set, group or clique of which not all is made yet, because so much of it waits already."""


def status_patch(kind: Kind[Any], live: Object, new: Raw) -> Raw | None:
    """The merge patch of the status subresource, or None where nothing differs."""
    before = getattr(live, "status")  # noqa: B009 (kinds differ, all have one)
    after = msgspec.convert(new, type(before), strict=False)
    if before == after:
        return None
    return {
        "status": {
            key: value
            for key, value in merge_patch(as_raw(before), new).items()
            if value is not None or key in as_raw(before)
        }
    }


def error_list(
    before: Sequence[LastError], errors: Sequence[tuple[str, str]], now: str, linger: bool = False
) -> list[Raw]:
    """status.lastErrors: an error that is still there keeps its time. `linger`: without a new one the old ones stay."""
    if linger and not errors:
        errors = [(item.code, item.description) for item in before]
    since = {(item.code, item.description): item.observed_at or now for item in before}
    distinct = dict.fromkeys((code, text[:LONGEST]) for code, text in errors if code)
    return [{"code": code, "description": text, "observedAt": since.get((code, text), now)} for code, text in distinct]
