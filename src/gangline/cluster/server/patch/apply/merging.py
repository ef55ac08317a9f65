"""Server-side apply: one object on top of another, field by field and item by item, as its schema says.

Pure; walk.py names fields and items.
"""

from __future__ import annotations

from typing import Any

from gangline.api.notation import MISSING
from gangline.cluster.server.patch.apply.walk import LIST, OBJECT, below, element, form
from gangline.rules.values.schema_node import ANY, SchemaNode


def merge(node: SchemaNode, live: Any, applied: Any) -> Any:
    """`applied` on top of `live`: its leaves win, what it does not mention stays."""
    if applied is MISSING:
        return live
    if live is MISSING or (not live and not applied):
        return applied
    kind = form(node, applied)
    if kind == OBJECT and isinstance(live, dict):
        return _merge_fields(node, live, applied)
    if kind == LIST and isinstance(live, list):
        return _merge_list(node, live, applied)
    return applied


def _merge_fields(node: SchemaNode, live: dict[str, Any], applied: Any) -> Any:
    if not isinstance(applied, dict):
        return live if applied is None else applied
    out = dict(live)
    for name, item in applied.items():
        out[name] = merge(below(node, name), live.get(name, MISSING), item)
    return out


def _merge_list(node: SchemaNode, live: list[Any], applied: Any) -> Any:
    if not isinstance(applied, list):
        return live if applied is None else applied
    return _ItemMerge(node, live, applied).merged()


class _ItemMerge:
    """Items of both lists, each once: the applied ones in their order, the others where they stood before the next
    common one."""

    def __init__(self, node: SchemaNode, live: list[Any], applied: list[Any]) -> None:
        self._items = node.items or ANY
        self._live = [(element(node, item), item) for item in live]
        self._applied = [(element(node, item), item) for item in applied]
        self._known: dict[str, Any] = {}
        for name, item in self._live:
            self._known[name] = MISSING if name in self._known else item
        self._given = dict(self._applied)
        self._shared = [name for name, _ in self._applied if name in self._known]
        """Names that are in both and still to come, in the order of the applied ones."""
        self._taken: set[str] = set()
        self._out: list[Any] = []

    def merged(self) -> list[Any]:
        left = right = 0
        while left < len(self._live) or right < len(self._applied):
            to_left, to_right = self._step(left, right)
            left, right = left + to_left, right + to_right
        return self._out

    def _step(self, left: int, right: int) -> tuple[int, int]:
        """Take what comes next, and say how far to go on in either list."""
        name, item = self._live[left] if left < len(self._live) else ("", None)
        applied = self._applied[right][0] if right < len(self._applied) else ""
        if name and applied:
            if name == applied:
                self._take(name)
                return 1, 1
            if name in self._given and self._shared and self._shared[0] != name:
                return 1, 0
        if name and name not in self._given:
            self._out.append(item)
            return 1, 0
        if applied:
            self._take(applied)
        return int(name in self._taken and bool(name)), int(bool(applied))

    def _take(self, name: str) -> None:
        self._taken.add(name)
        self._out.append(merge(self._items, self._known.get(name, MISSING), self._given[name]))
        if self._shared and self._shared[0] == name:
            self._shared.pop(0)
