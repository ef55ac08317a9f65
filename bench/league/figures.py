"""What a run of one row says: from the moments at which pods were created, bound and told why, to figures. Pure: every
moment is handed in.

A gang is whole once all of its pods are bound. From its first bind to then, or to the end of the run, it is a partial
gang: the sum of these times are partial-gang-seconds, which is what a gang scheduler is there to keep small."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

WRITES = ("POST", "PUT", "PATCH", "DELETE", "APPLY", "DELETECOLLECTION")
SHOWN = 3


@dataclass(slots=True)
class GangTimes:
    size: int
    created: float | None = None
    told: float | None = None
    bound: dict[str, float] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        return len(self.bound) >= self.size

    @property
    def done(self) -> float:
        """The moment of its last bind."""
        return max(self.bound.values())

    def partial(self, end: float) -> float:
        """Seconds during which some of its pods were bound and others not."""
        if not self.bound or self.size == 1:
            return 0.0
        return (self.done if self.whole else end) - min(self.bound.values())


@dataclass(slots=True)
class Timeline:
    gangs: dict[str, GangTimes] = field(default_factory=dict)
    _whole: int = 0
    _told: int = 0

    def expect(self, gang: str, size: int) -> None:
        self.gangs[gang] = GangTimes(size)

    def created(self, gang: str, at: float) -> None:
        found = self.gangs[gang]
        found.created = at if found.created is None else min(found.created, at)

    def bound(self, gang: str, pod: str, at: float) -> None:
        found = self.gangs.get(gang)
        if found is not None and pod not in found.bound:
            found.bound[pod] = at
            self._whole += found.whole

    def unbound(self, gang: str, pod: str) -> None:
        """A bound pod went away again."""
        found = self.gangs.get(gang)
        if found is not None and pod in found.bound:
            self._whole -= found.whole
            del found.bound[pod]

    def told(self, gang: str, at: float) -> None:
        """Somebody said why it does not run."""
        found = self.gangs.get(gang)
        if found is not None and found.told is None:
            found.told = at
            self._told += 1

    @property
    def whole(self) -> int:
        return self._whole

    @property
    def told_gangs(self) -> int:
        return self._told


def summary(timeline: Timeline, began: float, end: float, waits: bool = False) -> dict[str, Any]:
    """The figures of a run; times are of gangs, from the creation of their first pod."""
    gangs = timeline.gangs.values()
    moments = [item.told for item in gangs] if waits else [item.done if item.whole else None for item in gangs]
    spans = [at - item.created for at, item in zip(moments, gangs, strict=True) if at and item.created is not None]
    reached = [at for at in moments if at]
    return {
        "seconds": round(max(reached) - began, SHOWN) if reached else None,
        "p50": quantile(spans, 0.5),
        "p99": quantile(spans, 0.99),
        "gangs": len(timeline.gangs),
        "whole": sum(item.whole for item in gangs),
        "partial": sum(bool(item.bound) and not item.whole for item in gangs),
        "partial_gang_seconds": round(sum(item.partial(end) for item in gangs), SHOWN),
    } | ({"told": timeline.told_gangs} if waits else {})


def quantile(values: Sequence[float], share: float) -> float | None:
    if not values:
        return None
    ordered = sorted(values)
    return round(ordered[min(len(ordered) - 1, int(len(ordered) * share))], SHOWN)


def writes(metrics: str) -> Counter[str]:
    """The writes that an API server has answered, by verb and kind, as its metrics say."""
    found: Counter[str] = Counter()
    for labels, value in _requests(metrics):
        if labels.get("verb") in WRITES:
            kind = "/".join(filter(None, (labels.get("resource"), labels.get("subresource"))))
            found[f"{labels['verb']} {kind}"] += int(value)
    return found


def without_leases(written: Mapping[str, int]) -> dict[str, int]:
    """Writes that say something: who leads or lives renews its lease for ever."""
    return {what: number for what, number in written.items() if not what.endswith(" leases")}


def _requests(metrics: str) -> Iterable[tuple[Mapping[str, str], float]]:
    for line in metrics.splitlines():
        if line.startswith("apiserver_request_total{"):
            inner, _, value = line[len("apiserver_request_total{") :].rpartition("} ")
            pairs = (pair.partition("=") for pair in inner.split(","))
            yield {key: said.strip('"') for key, _, said in pairs}, float(value)


def middle(runs: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One result for each row and peer: of several runs the one whose seconds are the median, lower where even."""
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for run in runs:
        found.setdefault((run["row"], run["peer"]), []).append(run)
    return [_median(each) | {"runs": len(each)} for each in found.values()]


def _median(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    timed = sorted((run for run in runs if run.get("seconds") is not None), key=lambda run: float(run["seconds"]))
    return dict(timed[(len(timed) - 1) // 2] if timed else runs[0])
