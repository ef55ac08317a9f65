"""The undo journal: every change that a cycle makes to the model leaves its old value here, and rolling back puts it
back.

Old values are stored, never recomputed, so that leaving a statement restores the model exactly. Plugins that keep
state which follows allocations write it through `set_item` or `set_attr` too. Outside a cycle the journal is emptied
after each event.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

Undo = tuple[Callable[[Any, Any], None], Any, Any]

_MISSING: Final = object()


def _put_item(container: Any, change: tuple[Any, Any]) -> None:
    key, old = change
    if old is _MISSING:
        container.pop(key, None)
    else:
        container[key] = old


def _put_attr(target: Any, change: tuple[str, Any]) -> None:
    setattr(target, change[0], change[1])


class UndoJournal:
    """A list of (how to undo, on what, with what). `mark()` remembers a place, `rollback(mark)` returns to it."""

    __slots__ = ("entries",)

    def __init__(self) -> None:
        self.entries: list[Undo] = []

    def mark(self) -> int:
        return len(self.entries)

    def rollback(self, mark: int) -> None:
        entries = self.entries
        while len(entries) > mark:
            undo, target, change = entries.pop()
            undo(target, change)

    def clear(self) -> None:
        self.entries.clear()

    def note(self, undo: Callable[[Any, Any], None], target: Any, change: Any) -> None:
        """Remember how to undo a change that the caller makes itself."""
        self.entries.append((undo, target, change))

    def set_item(self, container: Any, key: Any, value: Any) -> None:
        """`container[key] = value` for a dict or list, undoable."""
        old = container.get(key, _MISSING) if isinstance(container, dict) else container[key]
        self.entries.append((_put_item, container, (key, old)))
        container[key] = value

    def pop_item(self, container: dict[Any, Any], key: Any) -> Any:
        """`container.pop(key)`, undoable."""
        old = container.pop(key)
        self.entries.append((_put_item, container, (key, old)))
        return old

    def set_attr(self, target: Any, name: str, value: Any) -> None:
        self.entries.append((_put_attr, target, (name, getattr(target, name))))
        setattr(target, name, value)
