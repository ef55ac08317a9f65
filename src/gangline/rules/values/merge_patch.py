"""JSON merge patch (RFC 7386) on plain data: once for the server, which applies patches, and for `gangline explain`,
which tries them on what it read.

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
