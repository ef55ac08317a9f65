"""Words for amounts and lists: those of a verdict, and the quantities that objects write."""

from __future__ import annotations

from collections.abc import Iterable

from gangline.scheduler.fairness.capacity import decimals
from gangline.scheduler.why.verdict import GIB, MIB, in_bytes, plain, units


def listed(words: Iterable[str], most: int = 3) -> str:
    """`a, b and 4 more`."""
    given = list(words)
    rest = len(given) - most
    return ", ".join(given) if rest <= 0 else f"{', '.join(given[:most])} and {rest} more"


def together(words: Iterable[str]) -> str:
    """`a, b and c`."""
    *before, last = [*words] or [""]
    return f"{', '.join(before)} and {last}" if before else last


def ordinal(number: int) -> str:
    """`1st`, `2nd`, `13th`."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def quantity(value: float, resource: str) -> str:
    """As an object's resource list writes it."""
    if resource == "cpu":
        return decimals(value / 1000) if value % 1000 == 0 else f"{int(value)}m"
    if not in_bytes(resource):
        return plain(value, resource)
    count = units(value, resource)
    if count % MIB:
        return str(int(count))
    return f"{int(count // MIB)}Mi" if count % GIB else f"{int(count // GIB)}Gi"
