"""Rows as aligned columns, for every command that prints a table. Pure: nothing here prints."""

from __future__ import annotations

from collections.abc import Sequence

GAP = "   "
NOTHING = "none"


def aligned(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The heading and the rows below it; a sentence where there is no row."""
    if not rows:
        return NOTHING
    lines = [heading, *([_one_line(cell) for cell in row] for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heading))]
    return "\n".join(
        GAP.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def _one_line(cell: str) -> str:
    """A cell that has several lines would look like several rows."""
    first, *others = cell.splitlines() or [""]
    return f"{first}…" if others else first
