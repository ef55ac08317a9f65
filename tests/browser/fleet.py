"""A cluster of any size that stands still, for the page to show: blocks of racks of nodes with 8 GPUs, queues, gangs
that run, wait, share GPUs, were evicted or failed, and the week before. The same for the same size."""

from __future__ import annotations

import math
from collections.abc import Iterator

import msgspec

from dashboard.seen import Given, event, eviction, group, job, node, owned_by, pod, queue, verdict
from dashboard.seen import look as seen
from gangline.api import names
from gangline.api.kinds import TOPOLOGY
from gangline.dashboard.look import ClusterView, IdleGpus, KnownIdle, KnownShares
from gangline.dashboard.past.data import KeptPast, PastEnding, PastEviction, PastWait, UsePoint
from gangline.dashboard.past.memory import RANGES
from gangline.rules.capacity.idle_causes import CLOSED, FRAGMENTS, QUOTA, RESERVED

BLOCK, RACK = "example.com/block", "example.com/rack"
PER_RACK, PER_BLOCK = 16, 64
WAITING = 40
"""Gangs of two pods with 8 GPUs each."""
QUEUES = ("search", "speech", "vision", "robots", "maps")


class StillLife:
    """Something to serve that never changes."""

    complete, version = True, 1

    def __init__(self, view: ClusterView) -> None:
        self._view = view

    def look(self) -> ClusterView:
        return self._view

    async def start(self) -> None:
        """Nothing is followed."""

    async def stop(self) -> None:
        """Nothing is followed."""


def fleet(nodes: int) -> ClusterView:
    levels = [{"nodeLabel": BLOCK, "alias": "block"}, {"nodeLabel": RACK, "alias": "rack"}]
    levels.append({"nodeLabel": "kubernetes.io/hostname", "alias": "host"})
    topology: Given = TOPOLOGY, {"metadata": {"name": "hall"}, "spec": {"levels": levels}}
    view = seen(topology, *_queues(nodes), *_nodes(nodes), *_gangs(nodes), *_waiting(), *_lost())
    now = view.source.now
    shares = KnownShares({"company": nodes * 8.0} | dict.fromkeys(QUEUES, nodes * 8 * 0.2), now - 8)
    return msgspec.structs.replace(view, idle=KnownIdle(tuple(_idle(nodes)), now - 8), shares=shares)


def lived(view: ClusterView) -> KeptPast:
    """What a dashboard would remember that has watched for a week: days and nights, starts, evictions and endings."""
    now, gpus = view.source.now, float(sum(fact.gpus for fact in view.nodes))
    rings = {name: [_point(at, step, gpus) for at in _steps(now, span, step)] for name, (span, step) in RANGES.items()}
    hours = [now - 3600.0 * hour - 60 for hour in range(168)]
    return KeptPast(
        last=now - 1,
        rings=rings,
        waits=[PastWait(at, 2.0 ** (place % 9), 30.0 * (place % 40 + 1)) for place, at in enumerate(hours)],
        evictions=[
            PastEviction(at, "work", f"train-{place}", "reclaimed for work/wait-0, whose queue had less than its share")
            for place, at in enumerate(hours[::3])
        ],
        endings=[
            PastEnding(at, "work", f"done-{place}", QUEUES[place % 5], 8.0, "failed" if place % 7 == 0 else "ended")
            for place, at in enumerate(hours)
        ],
    )


def _steps(now: float, span: float, step: float) -> list[float]:
    return [now - span + step * number for number in range(int(span / step))]


def _point(at: float, step: float, gpus: float) -> UsePoint:
    """Busier by day than by night, each queue at its own hour."""
    day = [0.5 + 0.4 * math.sin(2 * math.pi * (at / 86400 + place / 9)) for place in range(len(QUEUES))]
    used = {name: round(gpus * part / len(QUEUES), 2) for name, part in zip(QUEUES, day, strict=True)}
    waiting = {name: round(gpus * max(part - 0.7, 0.0), 2) for name, part in zip(QUEUES, day, strict=True)}
    return UsePoint(at, at + step, gpus, used, waiting)


def _idle(nodes: int) -> Iterator[IdleGpus]:
    """What is free is reserved, in pieces that are too small, behind a quota, or cordoned."""
    for number in range(nodes):
        name = f"node-{number}"
        if number % 50 == 7:
            yield IdleGpus(name, CLOSED, 8.0)
        elif number % 16 == 15:
            yield IdleGpus(name, RESERVED, 8.0, "work/wait-0", 1767232800.0)
        elif number % 8 == 7:
            yield IdleGpus(name, QUOTA, 8.0, "work/wait-1")
        elif number % 8 == 3:
            yield IdleGpus(name, FRAGMENTS, 4.25, "work/wait-2")


def _queues(nodes: int) -> Iterator[Given]:
    share, held = nodes * 8 / len(QUEUES), dict.fromkeys(QUEUES, 0.0)
    for number in range(nodes):
        held[_queue_at(number)] += _held_on(number)
    waits = 16.0 * WAITING / len(QUEUES)
    everybody = sum(held.values())
    yield queue("company", quota=nodes * 8, held=everybody, asked=everybody + waits * len(QUEUES))
    for place, name in enumerate(QUEUES):
        quota = share * (0.6 + place * 0.2)
        yield queue(name, "company", quota=quota, held=held[name], asked=held[name] + waits, limit=share * 3)


def _queue_at(number: int) -> str:
    """Whose gang is on this node."""
    return QUEUES[number // 8 % len(QUEUES)]


def _held_on(number: int) -> float:
    """GPUs that a gang holds there."""
    return {3: 3.75, 7: 0.0}.get(number % 8, 8.0)


def _nodes(nodes: int) -> Iterator[Given]:
    for number in range(nodes):
        labels = {BLOCK: f"block-{number // PER_BLOCK}", RACK: f"rack-{number // PER_RACK}"}
        yield _labelled(node(f"node-{number}", cordoned=number % 50 == 7), labels)


def _labelled(given: Given, labels: dict[str, str]) -> Given:
    kind, obj = given
    obj["metadata"]["labels"] = labels
    return kind, obj


def _gangs(nodes: int) -> Iterator[Given]:
    """Gangs of up to eight whole nodes on most nodes, a few single GPUs, a shared one, and every eighth node empty."""
    for number in range(nodes):
        gang = f"train-{number // 8}"
        if number % 8 == 0:
            yield group(gang, 1, _queue_at(number), priorityClassName=_priority(number // 8))
        if number % 8 == 3:
            yield pod(
                f"{gang}-part-a", gang, on=f"node-{number}", notes={"gpu-fraction": "0.5"}, gpu_group=f"g{number}"
            )
            yield pod(
                f"{gang}-part-b", gang, on=f"node-{number}", notes={"gpu-fraction": "0.25"}, gpu_group=f"g{number}"
            )
            yield pod(f"{gang}-small", gang, 3, on=f"node-{number}")
        elif number % 8 != 7:
            yield pod(f"{gang}-{number % 8}", gang, 8, on=f"node-{number}")


def _priority(number: int) -> str:
    return ("train", "build", "inference")[number % 3]


def _waiting() -> Iterator[Given]:
    for number in range(WAITING):
        why = verdict(f"wait-{number}", "16 GPUs short", "there were 2 more nodes, each with 8 GPUs")
        yield group(f"wait-{number}", 2, QUEUES[number % len(QUEUES)], why=why, priorityClassName=_priority(number))
        yield pod(f"wait-{number}-a", f"wait-{number}", 8)
        yield pod(f"wait-{number}-b", f"wait-{number}", 8)
    yield event("wait-0-a", "0/10 nodes are available", warning=True)


def _lost() -> Iterator[Given]:
    yield job("tries", "Failed", "BackoffLimitExceeded", "Job has reached the specified backoff limit")
    yield group("tries", 1, "search", owner=owned_by("Job", "tries"))
    yield group("thrown-out", 1, "maps")
    yield pod("thrown-out-a", "thrown-out", 8)
    yield eviction("thrown-out", "reclaim", "train-0")
    yield pod("stranger", "", 1, on="node-7", notes={names.POD_GROUP_NAME: ""})
