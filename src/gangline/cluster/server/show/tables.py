"""Tables for `kubectl get`: columns per kind, cells per object.

`table_cells.py` knows the built-in kinds; a custom resource brings its printer columns. A kind with neither shows its
name and creation time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from gangline.cluster.server.show.jsonpath import BadPath, PathFinder, Visits, compile_path
from gangline.cluster.server.show.table_headings import Column, common
from gangline.rules.values.times import brief, seconds

Obj = dict[str, Any]
Cells = Callable[[Obj, float], list[Any]]
"""From an object and the present time to one row."""
META = "meta.k8s.io"
MOST_TEXT = 256 * 1024
"""Characters of the printer columns of one row, at most: ten thousand columns may each ask for the whole object."""

NAME, AGE, CREATED = (common(name) for name in ("NAME", "AGE", "CREATED"))


@dataclass(frozen=True, slots=True)
class Printer:
    columns: tuple[Column, ...]
    cells: Cells


def age(text: Any, now: float) -> str:
    then = seconds(text)
    return "<unknown>" if then is None else brief(now - then)


def plain_cells(obj: Obj, now: float) -> list[Any]:
    about = obj["metadata"]
    return [about.get("name", ""), age(about.get("creationTimestamp"), now)]


def created_cells(obj: Obj, now: float) -> list[Any]:
    about = obj["metadata"]
    return [about.get("name", ""), about.get("creationTimestamp")]


PLAIN = Printer((NAME, CREATED), created_cells)


def custom_printer(version: Obj) -> Printer:
    """What a definition's additionalPrinterColumns say; where one of them cannot be read, or there are none, name and
    age."""
    given = version.get("additionalPrinterColumns") or []
    try:
        paths = [(item["type"], compile_path(item["jsonPath"])) for item in given]
    except BadPath:
        paths = []
    if not paths:
        return Printer((NAME, Column("Age", "date", description=AGE.description)), plain_cells)
    columns = [
        Column(
            item["name"],
            item["type"],
            item.get("format", ""),
            item.get("priority", 0),
            item.get("description") or f"Custom resource definition column (in JSONPath format): {item['jsonPath']}",
        )
        for item in given
    ]

    return Printer((NAME, *columns), lambda obj, now: _custom_cells(obj, now, paths))


def _custom_cells(obj: Obj, now: float, paths: list[tuple[str, PathFinder]]) -> list[Any]:
    """A row, within bounds on what is looked at and what is written: beyond them cells are empty."""
    cells, visits, room = [obj["metadata"].get("name", "")], Visits(), MOST_TEXT
    for kind, find in paths:
        cell = _custom_cell(kind, find(obj, visits), now) if room > 0 else None
        room -= len(cell) if isinstance(cell, str) else 0
        cells.append(cell if room >= 0 else None)
    return cells


def _custom_cell(kind: str, values: list[Any], now: float) -> Any:
    if not values or values[0] is None:
        return None
    value = values[0]
    if kind == "date":
        unreadable = "<unknown>" if isinstance(value, str) else None
        return age(value, now) if seconds(value) is not None else unreadable
    if kind == "integer":
        return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
    if kind == "number":
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None
    if kind == "boolean":
        return value if isinstance(value, bool) else None
    return _text(value)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return msgspec.json.encode(value).decode()


def table(version: str, printer: Printer, about: Obj, rows: list[Obj], headed: bool = True) -> Obj:
    shown: Obj = {
        "kind": "Table",
        "apiVersion": f"{META}/{version}",
        "metadata": about,
        "columnDefinitions": [column.definition() for column in printer.columns] if headed else None,
        "rows": rows,
    }
    return shown


def partial(obj: Obj, version: str = "v1") -> Obj:
    return {"kind": "PartialObjectMetadata", "apiVersion": f"{META}/{version}", "metadata": obj["metadata"]}


def row(printer: Printer, stored: Obj, now: float, include: str, version: str, shown: Obj) -> Obj:
    """One row; `include` is what of the object (as `shown`) goes with it: Metadata, Object or None."""
    with_it: Any = None
    if include != "None":
        with_it = shown if include == "Object" else partial(shown, version)
    return {"cells": printer.cells(stored, now), "object": with_it}
