"""The headings of tables: names, types, formats, priorities and descriptions of columns, as a kube-apiserver 1.35 puts
them on the wire.

They are data, in `table_headings.json` beside this file; the cells below them are in `table_cells.py`. Pure but for
reading that file once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

Obj = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: str = "string"
    format: str = ""
    priority: int = 0
    description: str = ""

    def definition(self) -> Obj:
        return {
            "name": self.name,
            "type": self.type,
            "format": self.format,
            "description": self.description,
            "priority": self.priority,
        }


@cache
def _recorded() -> dict[str, list[Any]]:
    headings_by_kind: dict[str, list[Any]] = msgspec.json.decode(
        (files(__package__) / "table_headings.json").read_bytes()
    )
    return headings_by_kind


def common(name: str) -> Column:
    """A heading that many kinds share: NAME, AGE, CREATED."""
    return Column(*_recorded()[name])


def headings(group: str, plural: str) -> tuple[Column, ...]:
    """The columns of a built-in kind; none for a kind that has no columns of its own."""
    columns = _recorded().get(f"{plural}.{group}" if group else plural, ())
    return tuple(common(item) if isinstance(item, str) else Column(*item) for item in columns)
