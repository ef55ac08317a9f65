"""A small cluster to which things happen, recorded cycle by cycle as a scheduler would: `days` of a test in seconds."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import partial
from pathlib import Path

from gangline.rules.requests import GpuRequest
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.model.status import Status
from gangline.scheduler.recording.memory import records_of, take_picture
from gangline.scheduler.recording.recorder import FlightRecorder, RecorderSettings
from gangline.scheduler.recording.segments import RecordedCycle, SegmentPen, SegmentStart
from gangline.scheduler.records import GangRecord, NodeRecord, QueueRecord, Record, Share, TaskRecord, plain_gang
from gangline.scheduler.settings import SchedulerSettings, shard_settings
from gangline.scheduler.thought.changes import ModelChange
from gangline.scheduler.thought.think import CycleThought, think

NOW = 1_790_000_000.0
FREE = Share(-1, -1, 1)


def key_of(record: Record) -> str:
    return record.uid if isinstance(record, GangRecord | TaskRecord) else record.name


class RecordedScene:
    """Time moves by `after` seconds before each cycle. `lines` is the recording; with a folder a recorder writes it."""

    def __init__(self, folder: Path | None = None, gpus: int = 4, **settings: float) -> None:
        self.model, self.pen, self.lines = ClusterModel(), SegmentPen(), list[bytes]()
        self.settings: SchedulerSettings = shard_settings()
        self.now = NOW
        self._names = (f"shared-{number}" for number in itertools.count())
        self._begun = False
        chosen = RecorderSettings(str(folder) if folder is not None else "", **settings)
        self.recorder = FlightRecorder(chosen, "default")
        self.cycle(
            NodeRecord("n1", {"cpu": 64000, "memory": 1e12, "pods": 110, "gpu": gpus}, gpu_memory_synced=True),
            QueueRecord("a", cpu=FREE, memory=FREE, gpu=Share(gpus / 2, -1, 1)),
            QueueRecord("b", created=1, cpu=FREE, memory=FREE, gpu=Share(gpus / 2, -1, 1)),
        )

    def restart(self) -> None:
        """The scheduler starts anew and reads everything again."""
        records = list(records_of(self.model))
        self.model, self._begun = ClusterModel(), False
        self.cycle(*records)

    def gang(self, name: str, pods: int, gpus: int = 1, queue: str = "a", priority: int = 50) -> CycleThought:
        uid = f"team/{name}"
        record = GangRecord(uid, queue, name, "team", priority, created=self.now, tree=plain_gang(pods))
        tasks = [
            TaskRecord(
                f"{name}-uid-{place}",
                uid,
                f"{name}-{place}",
                "team",
                created=self.now,
                request={"cpu": 1000, "memory": 1e9},
                gpu=GpuRequest("Regular", gpus, 1),
            )
            for place in range(pods)
        ]
        return self.cycle(record, *tasks)

    def runs(self) -> CycleThought:
        """What is bound runs; what is evicted goes, and its workload makes it again."""
        turned: list[Record] = []
        for task in [item.record for item in self.model.tasks.values()]:
            if task.status is Status.BINDING:
                turned.append(replace(task, status=Status.RUNNING))
            elif task.status is Status.RELEASING:
                turned.append(replace(task, status=Status.PENDING, node=""))
        return self.cycle(*turned)

    def ends(self, name: str, status: Status = Status.SUCCEEDED) -> CycleThought:
        tasks = [task.record for task in self.model.gangs[f"team/{name}"].tasks.values()]
        return self.cycle(*(replace(task, status=status) for task in tasks))

    def deletes(self, name: str) -> CycleThought:
        gang = self.model.gangs[f"team/{name}"]
        return self.changes([ModelChange(TaskRecord, uid, None) for uid in gang.tasks] + [_gone(gang.uid)])

    def passes(self, seconds: float) -> None:
        self.now += seconds

    def cycle(self, *records: Record) -> CycleThought:
        return self.changes([ModelChange(type(record), key_of(record), partial(_itself, record)) for record in records])

    def changes(self, changes: list[ModelChange]) -> CycleThought:
        start = None
        if self.recorder.due(self.model, self.now) or not self._begun:
            start = SegmentStart("default", self.now, self.settings, take_picture(self.model))
            self.pen, self._begun = SegmentPen(), True
            self.lines += self.pen.begin(start)
        thought = think(self.model, changes, self.settings, self.now, lambda: next(self._names))
        cycle = RecordedCycle(self.now, tuple(thought.taken), thought.decisions, thought.fresh)
        self.lines += self.pen.cycle(cycle)
        self.recorder.note(cycle, start, self.model)
        self.now += 1
        return thought


def _gone(uid: str) -> ModelChange:
    return ModelChange(GangRecord, uid, None)


def _itself(record: Record) -> Record:
    return record
