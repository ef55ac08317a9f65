"""How fast the decision core decides where more waits than fits: several cycles in a row with all actions, one JSON
line per scenario.

    python bench/crowds.py [NAME …]

`seconds` is the processor time of the slowest cycle after the first, with what changed before it; `first` that of the
first. Memory is kept as in the process of a scheduler. After the sizes of one scenario the fitted exponent of growth is
printed.

Overload: 1,000 nodes of 8 GPUs, 1.6 times as many GPUs asked for, ten queues, and one gang more with every cycle;
below two parents (Tree), with three priorities of which gangs keep coming (Priorities), and with one queue whose
gangs come when others hold all (Late); as upstream does it only on 100 nodes, because its search grows with their
square. Waiting: 500 gangs wait for 10,000 full nodes with 100,000 pods, and every second a thousandth of the pods end
and as many new ones come; native, and without each of its parts. Evicted pods come back as new ones, bound ones run
at the next cycle.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import random
import resource
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import linear_regression
from typing import Any

from gangline.rules.requests import GpuRequest
from gangline.runtime.process.memory import settle
from gangline.scheduler.cycle import decide
from gangline.scheduler.decisions import Decisions
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.model.status import Status
from gangline.scheduler.records import GangRecord, NodeRecord, QueueRecord, Record, Share, TaskRecord, plain_gang
from gangline.scheduler.settings import PluginSetting, SchedulerSettings, native_settings, shard_settings
from gangline.scheduler.thought.booking import book

NOW = 1_800_000_000.0
HOUR = 3600.0
FREE = Share(-1, -1, 1)
SIZES = ((1, 1), (1, 1), (1, 2), (1, 4), (2, 4), (1, 8), (2, 8))
"""Pods, and GPUs of each."""
BINPACK = PluginSetting("nodeplacement", {"cpu": "binpack", "gpu": "binpack"})
QUEUES = 10
TURNS = 5
GROWING = "WaitingNative_"


def node(name: str) -> NodeRecord:
    offers = {"cpu": 20_000_000, "memory": 20_000_000_000, "pods": 110, "gpu": 8}
    return NodeRecord(name, offers, gpu_memory_synced=True, gpu_count=8)


def gang(name: str, queue: str, pods: int, gpus: int, created: float, on: str = "", **more: Any) -> Iterator[Record]:
    """Waiting, or running on that node."""
    yield GangRecord(name, queue, name, "ns", created=created, tree=plain_gang(pods), **more)
    gpu = GpuRequest("Regular", gpus, 1 if gpus else 0)
    status, request = Status.RUNNING if on else Status.PENDING, {"cpu": 500.0, "memory": 5e8}
    for number in range(pods):
        uid = f"{name}-{number}"
        yield TaskRecord(uid, name, uid, "ns", status=status, node=on, created=created, request=request, gpu=gpu)


@dataclass(slots=True)
class Crowd:
    """`turn`: what happens between two cycles."""

    cluster: ClusterModel
    settings: SchedulerSettings
    turn: Callable[[Crowd, int], None]
    chance: random.Random = field(default_factory=lambda: random.Random(1))
    running: list[str] = field(default_factory=list)

    def end(self, number: int) -> None:
        """So many of the gangs that run leave."""
        for _ in range(number):
            place = self.chance.randrange(len(self.running))
            self.running[place], uid = self.running[-1], self.running[place]
            self.running.pop()
            for task in list(self.cluster.gangs[uid].tasks):
                self.cluster.remove(TaskRecord, task)
            self.cluster.remove(GangRecord, uid)

    def carry_out(self, decisions: Decisions) -> None:
        book(self.cluster, decisions)
        for bind in decisions.binds:
            self.cluster.apply(replace(self.cluster.tasks[bind.task].record, status=Status.RUNNING))
        for evict in decisions.evictions:
            record = self.cluster.tasks[evict.task].record
            self.cluster.remove(TaskRecord, evict.task)
            self.cluster.apply(replace(record, status=Status.PENDING, node=""))


# ── more asked for than there is ──


def overloaded(settings: SchedulerSettings, nodes: int = 1000, kind: str = "") -> Crowd:
    chance = random.Random(7)
    records: list[Record] = [node(f"node-{place:05}") for place in range(nodes)]
    share, half = Share(nodes * 8 / QUEUES, -1, 1), Share(nodes * 4, -1, 1)
    parents = [f"unit-{number}" for number in range(2)] if kind == TREE else []
    records += [QueueRecord(name, cpu=FREE, memory=FREE, gpu=half) for name in parents]
    for number in range(QUEUES):
        parent = parents[number % 2] if parents else ""
        records.append(QueueRecord(f"team-{number}", parent, cpu=FREE, memory=FREE, gpu=share))
    asked, number = 0, 0
    while asked < 1.6 * 8 * nodes:
        pods, gpus = chance.choice(SIZES)
        team = chance.randrange(QUEUES - 1 if kind == LATE else QUEUES)
        more: dict[str, Any] = {"priority": chance.choice((50, 60, 70))} if kind == PRIORITIES else {}
        records += gang(f"train-{number}", f"team-{team}", pods, gpus, NOW, **more)
        asked, number = asked + pods * gpus, number + 1
    return Crowd(ClusterModel.build(records), settings, COMING.get(kind, _one_more))


def _one_more(crowd: Crowd, turn: int) -> None:
    for record in gang(f"late-{turn}", f"team-{turn % QUEUES}", 1, 1, NOW + turn):
        crowd.cluster.apply(record)


def _a_queue_wakes(crowd: Crowd, turn: int) -> None:
    """At first gangs that ask for more than its quota; later one at a time."""
    for number in range(len(crowd.cluster.nodes) // 5 if turn == 1 else 1):
        pods, gpus = crowd.chance.choice(SIZES)
        for record in gang(f"late-{turn}-{number}", f"team-{QUEUES - 1}", pods, gpus, NOW + turn):
            crowd.cluster.apply(record)


def _of_all_priorities(crowd: Crowd, turn: int) -> None:
    for number in range(20):
        pods, gpus = crowd.chance.choice(SIZES)
        name, queue = f"late-{turn}-{number}", f"team-{crowd.chance.randrange(QUEUES)}"
        for record in gang(name, queue, pods, gpus, NOW + turn, priority=crowd.chance.choice((50, 60, 70, 80))):
            crowd.cluster.apply(record)


TREE, LATE, PRIORITIES = "Tree", "Late", "Priorities"
COMING = {LATE: _a_queue_wakes, PRIORITIES: _of_all_priorities}


# ── gangs that wait for a large cluster ──


def waited_for(settings: SchedulerSettings, nodes: int, known: bool = True) -> Crowd:
    chance = random.Random(5)
    records: list[Record] = [node(f"node-{place:05}") for place in range(nodes)]
    records.append(QueueRecord("all", cpu=FREE, memory=FREE, gpu=Share(nodes * 8, -1, 1)))
    running = []
    for number in range(nodes * 10):
        gpus, on = int(number % 10 < 8), f"node-{number // 10:05}"
        start = NOW - chance.uniform(60, 20 * HOUR)
        expected = chance.uniform(21, 60) * HOUR if known else None
        name = f"run-{number:06}"
        records += gang(name, "all", 1, gpus, start, on, last_start=start, expected_runtime=expected)
        running += [name] if gpus else []
    for number in range(nodes // 20):
        pods, gpus = chance.choice((1, 2, 3, 4, 6, 8, 12, 16)), chance.choice((2, 4, 8, 8))
        records += gang(f"wait-{number:04}", "all", pods, gpus, NOW - chance.uniform(60, HOUR))
    return Crowd(ClusterModel.build(records), settings, _some_end, running=running)


def _some_end(crowd: Crowd, turn: int) -> None:
    number = len(crowd.cluster.nodes) // 100
    crowd.end(number)
    for place in range(number):
        for record in gang(f"new-{turn}-{place}", "all", 1, 1, NOW + turn, expected_runtime=HOUR):
            crowd.cluster.apply(record)


def without(*names: str) -> SchedulerSettings:
    settings = native_settings()
    return replace(settings, plugins=tuple(plugin for plugin in settings.plugins if plugin.name not in names))


def binpacked() -> SchedulerSettings:
    plugins = [BINPACK if plugin.name == BINPACK.name else plugin for plugin in native_settings().plugins]
    return replace(native_settings(), plugins=tuple(plugins))


CROWDS: dict[str, Callable[[], Crowd]] = {
    "OverloadNative_1000Node": lambda: overloaded(native_settings()),
    **{
        f"Overload{kind}_1000Node": partial(overloaded, native_settings(), 1000, kind)
        for kind in (TREE, PRIORITIES, LATE)
    },
    "OverloadAsUpstream_100Node": lambda: overloaded(shard_settings(), 100),
    **{f"{GROWING}{size}Node": partial(waited_for, native_settings(), size) for size in (1000, 3000, 10_000)},
    "WaitingRuntimesUnknown_10000Node": partial(waited_for, native_settings(), 10_000, False),
    "WaitingWithoutReservations_10000Node": partial(waited_for, without("reservations"), 10_000),
    "WaitingWithoutDisruption_10000Node": partial(waited_for, without("disruption"), 10_000),
    "WaitingWithoutFragments_10000Node": partial(waited_for, binpacked(), 10_000),
}


def measure(name: str) -> dict[str, Any]:
    crowd, seconds, decisions = CROWDS[name](), list[float](), Decisions()
    settle()
    totals = {"binds": 0, "evictions": 0, "nominations": 0, "steps": 0}
    for turn in range(TURNS):
        began = time.process_time()
        if turn:
            crowd.turn(crowd, turn)
        decisions = decide(crowd.cluster, crowd.settings, NOW + turn)
        seconds.append(time.process_time() - began)
        for word in ("binds", "evictions", "nominations"):
            totals[word] += len(getattr(decisions, word))
        totals["steps"] += sum(decisions.steps.values())
        crowd.carry_out(decisions)
    gc.unfreeze()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "scenario": name,
        "seconds": round(max(seconds[1:]), 4),
        "first": round(seconds[0], 4),
        "peak_mib": round(peak),
        **totals,
        "waiting": len(crowd.cluster.waiting),
        "reservations": len(decisions.reservations),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help="only scenarios whose name contains one of these")
    names, points = parser.parse_args().names, list[tuple[float, float]]()
    for name in CROWDS:
        if names and not any(part.lower() in name.lower() for part in names):
            continue
        line = measure(name)
        print(json.dumps(line), flush=True)
        if name.startswith(GROWING):
            points.append((math.log(int(name.removeprefix(GROWING).removesuffix("Node"))), math.log(line["seconds"])))
    if len(points) > 1:
        slope, _ = linear_regression(*zip(*points, strict=True))
        print(json.dumps({"family": GROWING.rstrip("_"), "exponent": round(slope, 2)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
