"""The verdict on a gang that waits: a cause in one sentence, the proof, and the smallest changes that would start it.

A value: explain.py and remedies.py fill it; conditions, `gangline explain`, `-o json` and the dashboard show it.
Nothing here looks at a cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gangline.rules.values.times import spoken
from gangline.scheduler.fairness.capacity import decimals
from gangline.scheduler.model.resources import is_mig

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
    resource: str = "gpu"

    def text(self) -> str:
        closed = ", ".join(f"{reason}: {counted(number, 'node')}" for reason, number in self.closed)
        return f"{self.name}  {plain(self.free, self.resource)} free" + (f" ({closed})" if closed else "")


@dataclass(frozen=True, slots=True)
class VerdictRemedy:
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
    remedies: tuple[VerdictRemedy, ...] = ()
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
        return f"   and {number} more with at most {plain(most, self.resource or 'gpu')}" if number else ""

    def as_dict(self) -> dict[str, Any]:
        return {
            "gang": self.gang,
            "cause": self.cause,
            "headline": self.headline,
            "text": self.text(),
            "needs": self.needs,
            "resource": self.resource,
            "short": units(self.short, self.resource),
            "areas": [
                {"name": a.name, "free": units(a.free, a.resource), "fits": a.fits, "closed": dict(a.closed)}
                for a in self.areas
            ],
            "moreAreas": self.more_areas,
            "mostElsewhere": units(self.most_elsewhere, self.resource),
            "remedies": [{"kind": remedy.kind, "text": remedy.text} for remedy in self.remedies],
            "queue": self.queue,
            "position": self.position,
            "waiting": self.waiting,
        }


def counted(number: float, word: str) -> str:
    return f"{decimals(number)} {word}" + ("" if number == 1 else "s")


GIB, MIB = 2.0**30, 2.0**20
HUGE_PAGES = "hugepages-"
BYTES = ("memory", "ephemeral-storage", "storage")


def amount(value: float, resource: str) -> str:
    """So much of a resource, in the units that users write: `16 cores of CPU`, `64 GiB of memory`, `8 GPUs`, `2
    rdma/hca`."""
    if resource == "gpu":
        return counted(value, "GPU")
    if resource == "cpu":
        return f"{counted(value / 1000, 'core')} of CPU"
    if in_bytes(resource):
        return f"{size(units(value, resource))} of {resource}"
    if resource == "pods":
        return counted(value, "pod slot")
    return f"{plain(value, resource)} {resource}"


def plain(value: float, resource: str) -> str:
    """The number alone, in the unit of `amount`."""
    counts = units(value, resource)
    return size(counts) if in_bytes(resource) else decimals(counts)


def in_bytes(resource: str) -> bool:
    return resource in BYTES or resource.startswith(HUGE_PAGES)


def units(value: float, resource: str) -> float:
    """An amount of the core in the unit that users count in: cores, bytes, devices."""
    counts = resource in ("gpu", "pods") or is_mig(resource) or resource in BYTES
    return value if counts else value / 1000


def size(value: float) -> str:
    """Bytes as people write them."""
    if value and abs(value) < GIB and value % GIB:
        return f"{decimals(value / MIB, 1)} MiB"
    return f"{decimals(value / GIB, 2)} GiB"
