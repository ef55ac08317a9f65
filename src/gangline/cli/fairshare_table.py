"""Shares of queues as people read them, and as data; no command of `gangline`. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gangline.scheduler.fairness.figures import QueueFigureSet, ResourceFigures

HEADING = ("QUEUE", "RESOURCE", "QUOTA", "LIMIT", "WEIGHT", "ASKED", "USED", "SHARE", "WHY")
UNITS = {"gpu": (1.0, "GPUs"), "cpu": (1000.0, "cores"), "memory": (2.0**30, "GiB")}
"""Of a live cluster: how much of the account's unit is one of the unit that people read, and its name."""
ORDER = ("gpu", "cpu", "memory")


def as_data(queues: Sequence[QueueFigureSet]) -> list[dict[str, Any]]:
    """GPUs, thousandths of a core, bytes; of a file in the file's own units."""
    return [
        {
            "queue": item.queue,
            "parent": item.parent,
            "priority": item.priority,
            "resources": {name: asdict(item.resources[name]) for name in ORDER if name in item.resources},
        }
        for item in queues
    ]


def as_text(queues: Sequence[QueueFigureSet], plain: bool = False) -> str:
    """`plain`: in the numbers of the file, which name no unit."""
    depths: dict[str, int] = {}
    rows: list[tuple[str, ...]] = [HEADING]
    for item in queues:
        depth = depths[item.queue] = depths.get(item.parent, -1) + 1
        called = f"{'  ' * depth}{item.queue}"
        rows += [(called, *_row(name, item.resources[name], plain)) for name in ORDER if name in item.resources]
    widths = [max(len(row[place]) for row in rows) for place in range(len(HEADING))]
    return "\n".join(
        "   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def by_name(amounts: Sequence[float]) -> dict[str, float]:
    """In the units of `as_data`: thousandths of a core, bytes, GPUs."""
    return dict(zip(("cpu", "memory", "gpu"), amounts, strict=True))


def outside_text(amounts: Sequence[float]) -> str:
    """A last line about what no queue gets; empty where other schedulers hold nothing."""
    held = [f"{_amount(by_name(amounts)[name], scale)} {unit}" for name, (scale, unit) in UNITS.items()]
    amounts_held = [text for text in held if not text.startswith("0 ")]
    return f"\n\nnot divided: {', '.join(amounts_held)} of pods of other schedulers" if amounts_held else ""


def _row(name: str, figures: ResourceFigures, plain: bool) -> tuple[str, ...]:
    scale, unit = (1.0, "") if plain else UNITS[name]
    amounts = (figures.quota, figures.limit, figures.asked, figures.used, figures.share)
    quota, limit, asked, used, share = (_amount(amount, scale) for amount in amounts)
    called = f"{name} ({unit})" if unit else name
    return called, quota, limit, f"{figures.weight:g}", asked, used, share, figures.why


def _amount(amount: float, scale: float) -> str:
    return "unlimited" if amount == -1 else f"{round(amount / scale, 2):g}"
