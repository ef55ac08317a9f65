"""How fast the decision core decides: the scenarios of the upstream scheduler's own benchmarks, and larger ones. One
JSON line each.

    python bench/core.py [NAME …] [--against FILE] [--repeat N]

`seconds` is the model built from records plus the cycle (as upstream counts its session build), `decide` the cycle
alone; both in processor time, the best of N. `--against` reads lines of another system ({"scenario": …, "seconds": …})
and adds the ratio. After families of sizes the fitted exponent of growth is printed."""

from __future__ import annotations

import argparse
import gc
import json
import math
import resource
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from gangline.rules.requests import GpuRequest
from gangline.scheduler.cycle import decide
from gangline.scheduler.decisions import Decisions
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.model.status import Status
from gangline.scheduler.records import (
    GangRecord,
    NodeRecord,
    QueueRecord,
    Record,
    Share,
    TaskRecord,
    TopologyRecord,
    TopologyRule,
    plain_gang,
)
from gangline.scheduler.settings import SchedulerSettings

NOW = 1_800_000_000.0
FREE = Share(-1, -1, 1)
SETTINGS = SchedulerSettings(max_consolidation_victims=-1, staleness_grace=0, signatures=False)


@dataclass(slots=True)
class Scene:
    records: list[Record]
    settings: SchedulerSettings = SETTINGS
    check: Callable[[Decisions], bool] = lambda decisions: True
    family: str = ""
    size: int = 0


def node(name: str, gpus: int = 8, labels: dict[str, str] | None = None) -> NodeRecord:
    allocatable = {"cpu": 20_000_000, "memory": 20_000_000_000, "pods": 110, "gpu": gpus}
    return NodeRecord(name, allocatable, labels or {}, gpu_memory_synced=True, gpu_count=gpus)


def queue(name: str, parent: str = "", quota: float = 0, weight: float = 0, place: int = 0, **more: Any) -> QueueRecord:
    return QueueRecord(
        name, parent, created=NOW + 60 * place, cpu=FREE, memory=FREE, gpu=Share(quota, -1, weight), **more
    )


def gang(
    name: str,
    queue: str,
    tasks: int = 1,
    gpus: int = 1,
    on: str = "",
    age: float = 0,
    tree: TopologyRule | None = None,
    **more: Any,
) -> Iterator[Record]:
    """A gang of equal tasks, waiting or (with `on`) running on that node."""
    yield GangRecord(name, queue, created=NOW - age, tree=plain_gang(tasks, tree), last_start=NOW - 60 if on else None)
    status = Status.RUNNING if on else Status.PENDING
    for number in range(tasks):
        yield TaskRecord(
            f"{name}-{number}",
            name,
            status=status,
            node=on,
            request={"cpu": 1000, "memory": 1_000_000_000},
            gpu=GpuRequest("Regular", gpus, 1),
            **more,
        )


def with_actions(*names: str) -> SchedulerSettings:
    return SchedulerSettings(actions=names, max_consolidation_victims=-1, staleness_grace=0, signatures=False)


# ── the scenarios ──


def mixed(nodes: int, jobs: int, actions: SchedulerSettings, running: Callable[[int], bool]) -> Scene:
    """One-GPU jobs in four queues below two departments."""
    total = nodes * 8
    records: list[Record] = [node(f"node-{i}") for i in range(nodes)]
    records += [queue(f"dept-{d}", quota=total / 2, weight=total / 2, place=i) for i, d in enumerate("ab")]
    records += [queue(f"queue-{i}", "dept-a" if i < 2 else "dept-b", total / 4, 1, i) for i in range(4)]
    for i in range(jobs):
        records += gang(f"job-{i}", f"queue-{i % 4}", on=f"node-{i % nodes}" if running(i) else "", age=60 * (jobs - i))
    return Scene(records, actions)


def many_queues() -> Scene:
    records: list[Record] = [node(f"node-{i}") for i in range(50)]
    records += [queue(f"dept-{i}", quota=80, weight=80, place=i) for i in range(5)]
    records += [queue(f"queue-{i}", f"dept-{i % 5}", 20, 1, i) for i in range(20)]
    for i in range(200):
        records += gang(f"job-{i}", f"queue-{i % 20}", age=60 * (200 - i))
    return Scene(records, with_actions("allocate"), lambda decisions: len(decisions.binds) == 200)


def gangs() -> Scene:
    records: list[Record] = [node(f"node-{i}") for i in range(50)]
    records += [queue("dept-a", quota=400, weight=400)] + [queue(f"queue-{i}", "dept-a", 100, 1, i) for i in range(4)]
    for i in range(100):
        records += gang(f"job-{i}", f"queue-{i % 4}", 4, age=60 * (100 - i))
    return Scene(records, with_actions("allocate"), lambda decisions: len(decisions.binds) == 400)


def full(nodes: int, quota_0: float, quota_1: float, **labels: Callable[[int], str]) -> list[Record]:
    """Every GPU held by a one-GPU job of queue-0."""
    records: list[Record] = [
        node(f"node{i}", labels={key: value(i) for key, value in labels.items()}) for i in range(nodes)
    ]
    records += [
        queue("default", quota=-1, weight=-1),
        queue("queue-0", "default", quota_0),
        queue("queue-1", "default", quota_1, place=1),
    ]
    for i in range(nodes * 8):
        records += gang(f"running-job-{i}", "queue-0", on=f"node{i % nodes}", age=60.0 * (nodes * 8 + 1 - i))
    return records


def reclaim_large(nodes: int) -> Scene:
    records = full(nodes, 0, 8 * nodes)
    records += gang("pending-job", "queue-1", nodes // 2, 8)
    return Scene(
        records,
        with_actions("reclaim"),
        lambda d: len(d.nominations) == nodes // 2 and len(d.evictions) == 4 * nodes,
        "ReclaimLargeJobs",
        nodes,
    )


def reclaim_many(nodes: int) -> Scene:
    records = full(nodes, 0, 8 * nodes)
    for i in range(nodes * 8):
        records += gang(f"pending-job-{i}", "queue-1", age=-60.0 * i)
    return Scene(records, SETTINGS, lambda d: len(d.evictions) == 8 * nodes, "ReclaimManySingleGPUJobsFullCycle", nodes)


def unschedulable(nodes: int) -> Scene:
    records = full(nodes, 8 * nodes - 80 + 1, 80)
    records += gang("unschedulable", "queue-1", 10, 8)
    return Scene(records, with_actions("reclaim"), lambda d: not d.commits, "ReclaimUnschedulableDistributedJob", nodes)


def unschedulable_topology() -> Scene:
    records = full(100, 8 * 100 - 80 + 1, 80, rack=lambda i: f"rack-{i % 12}")
    records.append(TopologyRecord("racks", ("rack",)))
    records += gang("unschedulable", "queue-1", 10, 8, tree=TopologyRule("racks", "rack"))
    return Scene(records, with_actions("reclaim"), lambda d: not d.commits)


def missing_volume() -> Scene:
    records: list[Record] = [
        NodeRecord(f"cpu-node-{i:04}", {"cpu": 80_000, "memory": 20_000_000_000_000, "pods": 110}) for i in range(1500)
    ]
    records += [queue("default", quota=-1, weight=-1)]
    records += [
        QueueRecord(name, "default", priority, NOW, Share(quota, -1, 1), FREE, Share(0, -1, 0))
        for name, priority, quota in (("test-cpu", 100, 500_000), ("reclaim-cpu", 210, -1))
    ]
    for i in range(7370):
        records.append(GangRecord(f"occupied-{i}", "test-cpu", created=NOW - i, last_start=NOW - 60))
        records.append(
            TaskRecord(
                f"occupied-{i}-0",
                f"occupied-{i}",
                status=Status.RUNNING,
                node=f"cpu-node-{i % 1500:04}",
                request={"cpu": 500 + 250 * (i % 19), "memory": 1_000_000_000},
            )
        )
    for i in range(3):
        records.append(GangRecord(f"missing-{i}", "reclaim-cpu", created=NOW))
        records.append(
            TaskRecord(
                f"missing-{i}-0", f"missing-{i}", request={"cpu": 500, "memory": 1_000_000_000}, volumes=("absent",)
            )
        )
    return Scene(records, with_actions("reclaim"), lambda d: not d.commits)


def placed_from_scratch(nodes: int, pods: int) -> Scene:
    records: list[Record] = [node(f"node-{i:05}") for i in range(nodes)]
    records += [queue("all", quota=-1, weight=1)] + [queue(f"queue-{i}", "all", nodes * 2, 1, i) for i in range(4)]
    for i in range(pods // 8):
        records += gang(f"gang-{i:05}", f"queue-{i % 4}", 8, age=60.0 * (pods - i))
    return Scene(records, SETTINGS, lambda d: len(d.binds) == pods)


def crowded(nodes: int, pods: int) -> list[Record]:
    """Twenty CPU-only pods on every node, so that 100,000 pods stand on 5,000 nodes."""
    records: list[Record] = [node(f"node-{i:05}") for i in range(nodes)]
    records += [queue("all", quota=-1, weight=1)] + [queue(f"queue-{i}", "all", nodes * 2, 1, i) for i in range(4)]
    for i in range(pods):
        name = f"pod-{i:06}"
        records.append(GangRecord(name, f"queue-{i % 4}", created=NOW - i, last_start=NOW - 60))
        records.append(
            TaskRecord(
                f"{name}-0",
                name,
                status=Status.RUNNING,
                node=f"node-{i % nodes:05}",
                request={"cpu": 500, "memory": 500_000_000},
            )
        )
    return records


def small_to_large(
    name: str, actions: SchedulerSettings, running: Callable[[int], bool]
) -> dict[str, Callable[[], Scene]]:
    sizes = {"Small": (10, 50), "Medium": (50, 200), "Large": (100, 500)}
    return {f"{name}{word}": partial(mixed, nodes, jobs, actions, running) for word, (nodes, jobs) in sizes.items()}


def by_nodes(name: str, make: Callable[[int], Scene], *sizes: int) -> dict[str, Callable[[], Scene]]:
    return {f"{name}_{nodes}Node": partial(make, nodes) for nodes in sizes}


def even(number: int) -> bool:
    return number % 2 == 0


SCENES: dict[str, Callable[[], Scene]] = {
    **small_to_large("Allocate", with_actions("allocate"), lambda number: False),
    **small_to_large("Reclaim", with_actions("reclaim"), lambda number: True),
    **small_to_large("Preempt", with_actions("preempt"), even),
    **small_to_large("Consolidation", with_actions("consolidation"), even),
    **small_to_large("FullCycle", SETTINGS, even),
    "ManyQueuesMedium": many_queues,
    "GangSchedulingMedium": gangs,
    **by_nodes("ReclaimLargeJobs", reclaim_large, 10, 50, 100, 200, 500, 1000),
    **by_nodes("ReclaimManySingleGPUJobsFullCycle", reclaim_many, 10, 50, 100, 200, 500),
    **by_nodes("ReclaimUnschedulableDistributedJob", unschedulable, 10, 50, 100, 200, 500, 1000),
    "ReclaimUnschedulableDistributedJobTopology_100Node": unschedulable_topology,
    "ReclaimWithMissingPVCJobs": missing_volume,
    "Placed10000PodsOn5000Nodes": partial(placed_from_scratch, 5000, 10_000),
}


# ── measuring ──


def measure(name: str, repeat: int) -> dict[str, Any]:
    scene = SCENES[name]()
    total, alone = math.inf, math.inf
    for _ in range(repeat):
        gc.collect()
        start = time.process_time()
        cluster = ClusterModel.build(scene.records)
        built = time.process_time()
        decisions = decide(cluster, scene.settings, NOW)
        end = time.process_time()
        total, alone = min(total, end - start), min(alone, end - built)
    return _line(name, total, alone, decisions, scene.check(decisions))


def _line(name: str, total: float, alone: float, decisions: Decisions, right: bool) -> dict[str, Any]:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "scenario": name,
        "seconds": round(total, 5),
        "decide": round(alone, 5),
        "peak_mib": round(peak),
        "binds": len(decisions.binds),
        "evictions": len(decisions.evictions),
        "nominations": len(decisions.nominations),
        "steps": sum(decisions.steps.values()),
        "right": right,
    }


def measure_incremental(repeat: int) -> dict[str, Any]:
    """100,000 pods on 5,000 nodes: 1 % of them leave, as many new ones wait; the events are applied and one cycle
    runs."""
    nodes, pods = 5000, 100_000
    cluster = ClusterModel.build(crowded(nodes, pods))
    decide(cluster, SETTINGS, NOW)
    gc.collect()
    gc.freeze()
    best, alone, next_pod = math.inf, math.inf, pods
    for turn in range(repeat):
        changed = pods // 100
        records: list[Record] = []
        for i in range(changed):
            name = f"new-{next_pod + i:06}"
            records.append(GangRecord(name, f"queue-{i % 4}", created=NOW))
            records.append(TaskRecord(f"{name}-0", name, request={"cpu": 500, "memory": 500_000_000}))
        start = time.process_time()
        for i in range(changed):
            uid = f"pod-{turn * changed + i:06}"
            cluster.remove(TaskRecord, f"{uid}-0")
            cluster.remove(GangRecord, uid)
        for record in records:
            cluster.apply(record)
        applied = time.process_time()
        decisions = decide(cluster, SETTINGS, NOW)
        end = time.process_time()
        best, alone = min(best, end - start), min(alone, end - applied)
        for record in records:
            key = record.uid if isinstance(record, GangRecord | TaskRecord) else ""
            cluster.remove(type(record), key)
        next_pod += changed
    gc.unfreeze()
    return _line("Incremental1PercentOf100000Pods", best, alone, decisions, len(decisions.binds) == pods // 100)


@dataclass(slots=True)
class Growth:
    """Sizes and seconds of one family, for the exponent of growth."""

    points: dict[str, list[tuple[int, float]]] = field(default_factory=dict)

    def add(self, name: str, seconds: float) -> None:
        family, _, size = name.partition("_")
        if size.endswith("Node"):
            self.points.setdefault(family, []).append((int(size.removesuffix("Node")), seconds))

    def exponents(self) -> Iterator[dict[str, Any]]:
        for family, points in self.points.items():
            large = [(math.log(size), math.log(seconds)) for size, seconds in points if size >= 100]
            if len(large) > 1:
                yield {"family": family, "exponent": round(_slope(large), 2)}


def _slope(points: list[tuple[float, float]]) -> float:
    x, y = sum(p[0] for p in points) / len(points), sum(p[1] for p in points) / len(points)
    return sum((p[0] - x) * (p[1] - y) for p in points) / sum((p[0] - x) ** 2 for p in points)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help="only scenarios whose name contains one of these")
    parser.add_argument("--against", type=Path, help="JSON lines of another system, to compare with")
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    other = _other(arguments.against) if arguments.against else {}
    growth, wrong = Growth(), 0
    incremental = "Incremental1PercentOf100000Pods"
    for name in [*SCENES, incremental]:
        if arguments.names and not any(part.lower() in name.lower() for part in arguments.names):
            continue
        line = measure_incremental(arguments.repeat) if name == incremental else measure(name, arguments.repeat)
        if name in other:
            line["against"], line["times_faster"] = other[name], round(other[name] / line["seconds"], 1)
        growth.add(name, line["seconds"])
        wrong += not line["right"]
        print(json.dumps(line), flush=True)
    for exponent in growth.exponents():
        print(json.dumps(exponent))
    return 1 if wrong else 0


def _other(path: Path) -> dict[str, float]:
    lines = [json.loads(text) for text in path.read_text().splitlines() if text.strip()]
    return {line["scenario"]: float(line["seconds"]) for line in lines if "scenario" in line}


if __name__ == "__main__":
    sys.exit(main())
