"""Rows as aligned columns, for every command that prints a table. Pure: nothing here prints."""

from __future__ import annotations

from collections.abc import Sequence

GAP = "   "
NOTHING = "nothing found"


def aligned(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The heading and the rows below it; a sentence where there is no row."""
    if not rows:
        return NOTHING
    lines = [heading, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heading))]
    return "\n".join(
        GAP.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )
