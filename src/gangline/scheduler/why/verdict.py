"""The verdict on a gang that waits: a cause in one sentence, the proof, and the smallest changes that would start it.

A value: explain.py and remedies.py fill it; conditions, `gangline explain`, `-o json` and the dashboard show it.
Nothing here looks at a cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gangline.scheduler.fairness.capacity import decimals

INDENT = "  "
SHOWN_AREAS = 4


@dataclass(frozen=True, slots=True)
class Area:
    """Nodes that belong together for this gang: a topology domain, or all. `free` is of the scarce resource, on nodes
    the gang may use; `fits` of its waiting pods would find room; `closed` counts the nodes it may not use by reason."""

    name: str
    free: float
    fits: int
    closed: tuple[tuple[str, int], ...] = ()

    def text(self) -> str:
        closed = ", ".join(f"{reason}: {counted(number, 'node')}" for reason, number in self.closed)
        return f"{self.name}  {decimals(self.free)} free" + (f" ({closed})" if closed else "")


@dataclass(frozen=True, slots=True)
class Remedy:
    """One change that would let the gang start, alone. `text` completes "would start if …"."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """`cause` is a word for machines, `headline` the sentence for people. `more_areas` were not looked at closely,
    because at most `most_elsewhere` is free in any of them."""

    gang: str
    name: str
    cause: str
    headline: str
    needs: str = ""
    resource: str = ""
    short: float = 0.0
    areas: tuple[Area, ...] = ()
    more_areas: int = 0
    most_elsewhere: float = 0.0
    remedies: tuple[Remedy, ...] = ()
    queue: str = ""
    position: int = 0
    waiting: int = 0

    def text(self, waited: float | None = None) -> str:
        """The headline and, below it, one fact per line."""
        first = self.headline
        if waited is not None:
            first = first.replace(f"{self.name} waits", f"{self.name} waits ({spoken(waited)})", 1)
        return "\n".join([first, *(INDENT + line for line in self._facts())])

    def _facts(self) -> list[str]:
        facts = [f"needs     {self.needs}"] if self.needs else []
        if self.areas:
            facts.append("   ".join(area.text() for area in self.areas[:SHOWN_AREAS]) + self._more())
        for place, remedy in enumerate(self.remedies):
            facts.append(f"{'would start if' if place == 0 else '            or'}   {remedy.text}")
        if self.position:
            again = "when one of these changes" if self.remedies else "when something changes"
            facts.append(f"next try  {again}; queue position {self.position} of {self.waiting} in {self.queue}")
        return facts

    def _more(self) -> str:
        rest = self.areas[SHOWN_AREAS:]
        number, most = len(rest) + self.more_areas, max([self.most_elsewhere, *(area.free for area in rest)])
        return f"   and {number} more with at most {decimals(most)}" if number else ""

    def as_dict(self) -> dict[str, Any]:
        return {
            "gang": self.gang,
            "cause": self.cause,
            "headline": self.headline,
            "text": self.text(),
            "needs": self.needs,
            "resource": self.resource,
            "short": self.short,
            "areas": [{"name": a.name, "free": a.free, "fits": a.fits, "closed": dict(a.closed)} for a in self.areas],
            "moreAreas": self.more_areas,
            "mostElsewhere": self.most_elsewhere,
            "remedies": [{"kind": remedy.kind, "text": remedy.text} for remedy in self.remedies],
            "queue": self.queue,
            "position": self.position,
            "waiting": self.waiting,
        }


def counted(number: float, word: str) -> str:
    return f"{decimals(number)} {word}" + ("" if number == 1 else "s")


def amount(value: float, resource: str) -> str:
    """So much of a resource, in words: `8 GPUs`, `1.5 CPU cores`, `64 GB memory`."""
    if resource == "gpu":
        return counted(value, "GPU")
    if resource == "cpu":
        return counted(value / 1000, "CPU core")
    if resource == "memory":
        return f"{decimals(value / 1e9)} GB memory"
    if resource == "pods":
        return counted(value, "pod slot")
    return f"{decimals(value)} {resource}"


def spoken(seconds: float) -> str:
    """A duration as people say it: `2 min 10 s`."""
    whole = int(seconds)
    days, hours, minutes, rest = whole // 86400, whole // 3600 % 24, whole // 60 % 60, whole % 60
    parts = [(days, "d"), (hours, "h"), (minutes, "min"), (rest, "s")]
    told = [f"{number} {unit}" for number, unit in parts if number][:2]
    return " ".join(told) or "0 s"
