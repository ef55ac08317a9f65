"""Rows of a comma-separated trace: each read by its columns' names, and every row that cannot be read is named with its
line.

The formats beside this file say which columns there are and what they mean. Nothing here knows what a job is.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from gangline.lab.jobs import BadTrace, TraceProblem
from gangline.rules.values import times

R = TypeVar("R")
_OFFSET = re.compile(r"[+-]\d\d:\d\d$")
LARGEST = 1e15
"""Of any number in a trace: a petabyte of memory in MiB, thirty million years in seconds."""


@dataclass(frozen=True, slots=True)
class TraceText:
    """A trace as it lies in a file. `node_gpus`: how many GPUs a pod may have at most, where the trace counts only a
    job's GPUs."""

    source: str
    text: str
    node_gpus: int = 8


class RowError(ValueError):
    """Why one row cannot be read."""


@dataclass(frozen=True, slots=True)
class TraceRow:
    line: int
    cells: Mapping[str, str]
    surplus: int = 0
    """How many cells more than the header it has."""

    def text(self, column: str, otherwise: str = "") -> str:
        return self.cells.get(column, "") or otherwise

    def number(self, column: str, otherwise: float | None = None) -> float:
        """A number that is not negative; `otherwise` where the cell is empty or absent."""
        text = self.text(column)
        if not text:
            if otherwise is None:
                raise RowError(f"{column} is missing")
            return otherwise
        try:
            value = float(text)
        except ValueError:
            raise RowError(f"{column} is {text!r}, which is no number") from None
        if not 0 <= value <= LARGEST:
            raise RowError(f"{column} is {text}, which must be a number from 0 to {LARGEST:g}")
        return value

    def whole(self, column: str, otherwise: int | None = None) -> int:
        value = self.number(column, None if otherwise is None else float(otherwise))
        if value != int(value):
            raise RowError(f"{column} is {self.text(column)}, which must be a whole number")
        return int(value)

    def moment(self, column: str) -> float:
        """Seconds, or a date and time as `2017-10-09 07:01:55`; UTC where no offset is said."""
        text = self.text(column)
        if not text:
            raise RowError(f"{column} is missing")
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if abs(value) <= LARGEST:
            return value
        seconds = times.seconds(text.replace(" ", "T") + ("" if text.endswith("Z") or _OFFSET.search(text) else "Z"))
        if seconds is None:
            raise RowError(
                f"{column} is {text!r}, which is no date and time (2017-10-09 07:01:55) and no number of seconds"
            )
        return seconds


def read_rows(text: TraceText, columns: tuple[str, ...], read: Callable[[TraceRow], R]) -> list[R]:
    """Every row through `read`; raises BadTrace with all rows that cannot be read. `columns` must be there."""
    jobs: list[R] = []
    problems: list[TraceProblem] = []
    for row in _rows(text, columns):
        try:
            jobs.append(read(_complete(row)))
        except RowError as error:
            problems.append(TraceProblem(row.line, str(error)))
    if problems:
        raise BadTrace(text.source, problems)
    return jobs


def _rows(text: TraceText, columns: tuple[str, ...]) -> Iterator[TraceRow]:
    reader = _cells(text)
    header = [cell.strip() for cell in next(reader, (0, []))[1]]
    missing = [column for column in columns if column not in header]
    if missing:
        raise BadTrace(
            text.source,
            [TraceProblem(1, f"the header has no column {', '.join(missing)}; it needs {', '.join(columns)}")],
        )
    for line, cells in reader:
        if cells:
            named = dict(zip(header, (cell.strip() for cell in cells), strict=False))
            yield TraceRow(line, named, max(len(cells) - len(header), 0))


def _cells(text: TraceText) -> Iterator[tuple[int, list[str]]]:
    """Lines and their cells; what is no such text is refused with its line."""
    reader = csv.reader(io.StringIO(text.text.removeprefix("\ufeff")))  # spreadsheets write a byte order mark
    try:
        for cells in reader:
            yield reader.line_num, cells
    except csv.Error as error:
        raise BadTrace(text.source, [TraceProblem(reader.line_num, str(error))]) from None


def _complete(row: TraceRow) -> TraceRow:
    if row.surplus:
        raise RowError(f"the row has {row.surplus} more cells than the header")
    return row
