"""What the flight recorder costs: its share of one core, and megabytes per hour, one JSON line.

    python bench/recorder.py [--nodes N] [--minutes M] [--gangs-per-minute G] [--waiting W]

A full cluster (8 GPUs per node) on which gangs of 1 to 16 GPUs arrive and end at a steady rate while others wait, one
cycle per second in virtual time, on the real decision core (allocate alone: searches for victims write nothing). Pods
carry labels as real ones do. Every cycle is written as the scheduler's recorder writes it and made readable at once,
which is its dearest case; one picture of the whole model is written per hour and counted by its part."""

from __future__ import annotations

import argparse
import itertools
import json
import random
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from gangline.rules.requests import GpuRequest
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.model.status import Status
from gangline.scheduler.recording.files import recorded, segments_of
from gangline.scheduler.recording.memory import take_picture
from gangline.scheduler.recording.recorder import SegmentFile
from gangline.scheduler.recording.segments import RecordedCycle, SegmentPen, SegmentStart
from gangline.scheduler.records import GangRecord, NodeRecord, QueueRecord, Record, Share, TaskRecord, plain_gang
from gangline.scheduler.settings import native_settings
from gangline.scheduler.thought.changes import ModelChange
from gangline.scheduler.thought.think import think

FREE = Share(-1, -1, 1)
NOW = 1_800_000_000.0
HOUR = 3600.0
SIZES = ((1, 1), (1, 1), (1, 2), (1, 4), (2, 4), (1, 8), (2, 8))
"""Pods and GPUs of each."""
MEAN = sum(pods * gpus for pods, gpus in SIZES) / len(SIZES)


class SteadyCluster:
    def __init__(self, nodes: int, waiting: int) -> None:
        self.chance = random.Random(7)
        self.model = ClusterModel()
        self.running: deque[str] = deque()
        self.waiting = waiting
        self.numbers = itertools.count()
        self.nodes = nodes

    def begin(self) -> Iterator[Record]:
        offers = {"cpu": 128_000, "memory": 2.0**40, "pods": 110, "gpu": 8}
        for number in range(self.nodes):
            name = f"gpu-node-{number:04}"
            labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": f"zone-{number % 4}"}
            labels |= {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "nvidia.com/gpu.count": "8"}
            yield NodeRecord(name, offers, labels, gpu_memory=80_000, gpu_memory_synced=True, gpu_count=8)
        for number in range(10):
            yield QueueRecord(f"team-{number}", cpu=FREE, memory=FREE, gpu=Share(self.nodes * 0.8, -1, 1))
        for _ in range(int(self.nodes * 8 / MEAN) + self.waiting):
            yield from self.arrives(NOW)

    def arrives(self, now: float) -> Iterator[Record]:
        number, (pods, gpus) = next(self.numbers), self.chance.choice(SIZES)
        name, queue = f"train-{number}", f"team-{self.chance.randrange(10)}"
        group = f"pg-{name}-{self._uid()}"
        gang = f"{queue}/{group}"
        yield GangRecord(gang, queue, group, queue, created=now, tree=plain_gang(pods))
        labels = {
            "app.kubernetes.io/name": name,
            "batch.kubernetes.io/job-name": name,
            "batch.kubernetes.io/controller-uid": self._uid(),
            "kai.scheduler/queue": queue,
            "team.example.com/experiment": f"run-{number % 97}",
        }
        for place in range(pods):
            yield TaskRecord(
                self._uid(),
                gang,
                f"{name}-{place}",
                queue,
                created=now,
                request={"cpu": 8000.0 * gpus, "memory": 2.0**33 * gpus, "pods": 1},
                gpu=GpuRequest("Regular", gpus, 1),
                gpu_resources={"nvidia.com/gpu": float(gpus)},
                labels=labels,
                annotations={"pod-group-name": group},
                signature=f"{gpus}-{queue}",
            )

    def _uid(self) -> str:
        text = f"{self.chance.getrandbits(128):032x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"

    def moves(self) -> Iterator[Record]:
        """What the kubelet shows: bound pods run."""
        for task in [self.model.tasks[uid].record for uid in self.binding if uid in self.model.tasks]:
            yield replace(task, status=Status.RUNNING)

    binding: tuple[str, ...] = ()

    def ends(self, count: int) -> Iterator[ModelChange]:
        """The pods and the PodGroup of the gangs that have run longest go."""
        while count and self.running:
            gang = self.running.popleft()
            if gang in self.model.gangs:
                count -= 1
                for uid in [*self.model.gangs[gang].tasks]:
                    yield ModelChange(TaskRecord, uid, None)
                yield ModelChange(GangRecord, gang, None)


def _key(record: Record) -> str:
    return record.uid if isinstance(record, GangRecord | TaskRecord) else record.name


def change(record: Record) -> ModelChange:
    return ModelChange(type(record), _key(record), lambda: record)


def measure(nodes: int, minutes: float, per_minute: float, waiting: int, folder: Path) -> dict[str, float | int]:
    cluster, settings, pen = (
        SteadyCluster(nodes, waiting),
        replace(native_settings(), actions=("allocate",)),
        SegmentPen(),
    )
    names = (f"shared-{number}" for number in itertools.count())
    changes = [change(record) for record in cluster.begin()]
    spent = head = 0.0
    written, begun, due = 0, 0, 0.0
    segment = SegmentFile(folder, NOW)
    for second in range(int(minutes * 60) + 2):
        now = NOW + second
        if second == 2:
            begun, segment = segment.bytes, SegmentFile(folder, now)
            began = time.process_time()
            segment.write(pen.begin(SegmentStart("default", now, settings, take_picture(cluster.model))))
            segment.flush()
            head, begun = time.process_time() - began, segment.bytes
        thought = think(cluster.model, changes, settings, now, lambda: next(names))
        if second >= 2:
            began = time.process_time()
            segment.write(pen.cycle(RecordedCycle(now, tuple(thought.taken), thought.decisions, thought.fresh)))
            segment.flush()
            spent += time.process_time() - began
            written = segment.bytes - begun
        cluster.binding = tuple(bind.task for bind in thought.decisions.binds)
        cluster.running.extend(dict.fromkeys(cluster.model.tasks[uid].record.gang for uid in cluster.binding))
        due += per_minute / 60
        whole, due = int(due), due - int(due)
        changes = [*map(change, cluster.moves()), *cluster.ends(whole)]
        changes += [change(record) for _ in range(whole) for record in cluster.arrives(now)]
    segment.close()
    seconds = minutes * 60
    readable = sum(isinstance(piece, RecordedCycle) for piece in recorded(segments_of(folder)[-1:]))
    return {
        "nodes": nodes,
        "pods": len(cluster.model.tasks),
        "gangs_per_minute": per_minute,
        "waiting_gangs": len(cluster.model.waiting),
        "cycles": readable,
        "cpu_percent": round(100 * (spent / seconds + head / HOUR), 3),
        "ms_per_cycle": round(1000 * spent / seconds, 3),
        "picture_ms": round(1000 * head, 1),
        "picture_mb": round(begun / 1e6, 2),
        "mb_per_hour": round((written / seconds * HOUR + begun) / 1e6, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--gangs-per-minute", type=float, default=60.0)
    parser.add_argument("--waiting", type=int, default=200)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        line = measure(given.nodes, given.minutes, given.gangs_per_minute, given.waiting, Path(folder))
    print(json.dumps({"bench": "recorder", **line}))


if __name__ == "__main__":
    main()
