"""JSON merge patches (RFC 7386) on plain data: how one is applied, and which one turns an object into another.

The server applies those of callers, `gangline explain` tries them on what it read, and components write only what
differs.

Changes nothing that it is given, and shares unchanged parts with it. Pure.
"""

from __future__ import annotations

from typing import Any


def merge_patch(target: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = merge_patch(merged.get(name), value)
    return merged


def patch_between(before: Any, after: Any) -> Any:
    """The merge patch that turns one value into another."""
    if not isinstance(before, dict) or not isinstance(after, dict):
        return after
    patch: dict[str, Any] = {name: None for name in before if name not in after}
    for name, value in after.items():
        if name not in before:
            patch[name] = value
        elif before[name] != value:
            patch[name] = patch_between(before[name], value)
    return patch
