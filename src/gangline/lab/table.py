"""The figures of simulations as a table for people, one column per setting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

ROWS = (
    ("jobs", ("jobs",)),
    ("GPUs used, %", ("used_percent",)),
    ("GPUs used while somebody waits, %", ("used_while_waiting_percent",)),
    ("GPUs allocated after the last arrival, %", ("gpus_allocated_percent",)),
    ("evictions", ("evictions",)),
    ("evicted in the cycle that placed them", ("evicted_at_once",)),
    ("GPU hours lost", ("lost_gpu_hours",)),
    ("promises made", ("promises", "made")),
    ("promises kept", ("promises", "kept")),
    ("makespan, h", ("makespan_h",)),
    ("cycles", ("cycles",)),
    ("seconds to play", ("wall_s",)),
)
WAITS = (
    ("mean_h", "mean wait"),
    ("p50_h", "median"),
    ("p99_h", "p99"),
    ("max_h", "longest"),
    ("never", "never started"),
)


def table(figures: Sequence[dict[str, Any]]) -> str:
    return "\n".join(_lined(table_rows(figures)))


def table_rows(figures: Sequence[dict[str, Any]]) -> list[tuple[str, ...]]:
    """The head with the names of the settings, then a row per figure."""
    rows: list[tuple[str, ...]] = [("", *[str(line["settings"]) for line in figures])]
    for size in figures[0]["waits"]:
        rows += _wait_rows(size, figures)
    rows += [(words, *[_number(_at(line, path)) for line in figures]) for words, path in ROWS]
    causes = sorted({cause for line in figures for cause in line["idle"]})
    rows += [
        (f"idle GPU hours: {cause}", *[_number(line["idle"].get(cause, 0)) for line in figures]) for cause in causes
    ]
    return rows + _queue_rows(figures)


def _wait_rows(size: str, figures: Sequence[dict[str, Any]]) -> list[tuple[str, ...]]:
    """How long jobs of one size waited."""
    shown = "all jobs" if size == "all" else f"{size} GPUs"
    return [
        (f"{shown}: {words}{'' if key == 'never' else ', h'}", *[_number(line["waits"][size][key]) for line in figures])
        for key, words in WAITS
    ]


def _queue_rows(figures: Sequence[dict[str, Any]]) -> list[tuple[str, ...]]:
    """How long jobs waited by queue, where there are several."""
    queues = sorted({name for line in figures for name in line["queues"]})
    if len(queues) < 2:
        return []
    return [
        (f"queue {name}: mean wait, h", *[_number(line["queues"].get(name, {}).get("mean_h", 0)) for line in figures])
        for name in queues
    ]


def _lined(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return [
        "  ".join(
            [row[0].ljust(widths[0]), *[cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]]
        ).rstrip()
        for row in rows
    ]


def _at(line: dict[str, Any], path: tuple[str, ...]) -> Any:
    for key in path:
        line = line[key]
    return line


def _number(value: float) -> str:
    return f"{value:,.0f}" if isinstance(value, int) else f"{value:,.2f}"
