"""Whatever happens to a cluster: every recorded cycle, decided again from the recording, decides the same."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from gangline.rules.requests import GpuRequest
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.model.status import Status
from gangline.scheduler.recording.memory import take_picture
from gangline.scheduler.recording.redacting import redacted
from gangline.scheduler.recording.replaying import ReplayedCycle, replayed
from gangline.scheduler.recording.segments import RecordedCycle, SegmentPen, SegmentStart, cycles_of
from gangline.scheduler.records import GangRecord, NodeRecord, QueueRecord, Record, Share, TaskRecord, plain_gang
from gangline.scheduler.settings import SchedulerSettings, native_settings
from gangline.scheduler.thought.changes import ModelChange
from gangline.scheduler.thought.think import think
from properties.examples import examples

NOW = 1_000_000.0
FREE = Share(-1, -1, 1)
GPUS = (
    GpuRequest(),
    GpuRequest("Regular", 1, 1),
    GpuRequest("Regular", 2, 1),
    GpuRequest("Fraction", 1, 0.3),
    GpuRequest("Fraction", 1, 0.45),
)
Step = tuple[int, int, int, int, int]
STEPS = some.lists(
    some.tuples(
        some.integers(0, 6), some.integers(0, 4), some.integers(1, 3), some.integers(0, 2), some.integers(1, 400)
    ),
    min_size=4,
    max_size=18,
)
"""What happens before each cycle: which event, its kind of GPU, pods, queue, and seconds that pass."""


class Story:
    """A cluster to which things happen, recorded as a scheduler would."""

    def __init__(self, settings: SchedulerSettings, every: int) -> None:
        self.settings, self.every = settings, every
        self.model, self.pen = ClusterModel(), SegmentPen()
        self.lines: list[bytes] = []
        self.now, self.made = NOW, 0
        self.names = (f"shared-{number}" for number in itertools.count())
        self.cycles = 0

    def begin(self) -> None:
        nodes = [
            NodeRecord(f"n{i}", {"cpu": 8000, "memory": 8e9, "pods": 8, "gpu": 2 + i}, gpu_memory_synced=True)
            for i in range(3)
        ]
        queues = [QueueRecord(f"q{i}", created=i, cpu=FREE, memory=FREE, gpu=Share(2 + i, -1, 1 + i)) for i in range(3)]
        self.cycle([*nodes, *queues])

    def happens(self, step: Step) -> None:
        event, gpu, pods, queue, seconds = step
        self.now += seconds
        self.cycle(list(self.arrives(gpu, pods, queue) if event < 4 else self.moves(event)))

    def arrives(self, gpu: int, pods: int, queue: int) -> Iterator[Record]:
        name, self.made = f"ns/g{self.made}", self.made + 1
        runtime = 600.0 if pods == 2 else None
        priority = 50 if queue else 75
        tree = plain_gang(pods)
        yield GangRecord(
            name, f"q{queue}", name[3:], "ns", priority, created=self.now, tree=tree, expected_runtime=runtime
        )
        for place in range(pods):
            request = {"cpu": 500 + 100 * gpu, "memory": 1e9}
            yield TaskRecord(
                f"{name}-{place}", name, f"{name[3:]}-{place}", "ns", created=self.now, request=request, gpu=GPUS[gpu]
            )

    def moves(self, event: int) -> Iterator[Record]:
        """What is bound runs, what is evicted waits again, and (5) the oldest that runs ends."""
        for task in [item.record for item in self.model.tasks.values()]:
            if task.status is Status.BINDING:
                yield replace(task, status=Status.RUNNING)
            elif task.status is Status.RELEASING:
                yield replace(task, status=Status.PENDING, node="", gpu_groups=())
            elif task.status is Status.RUNNING and event == 5:
                yield replace(task, status=Status.SUCCEEDED)
                event = 4

    def cycle(self, records: list[Record]) -> None:
        if self.cycles % self.every == 0:
            start = SegmentStart("default", self.now, self.settings, take_picture(self.model))
            self.pen = SegmentPen()
            self.lines += self.pen.begin(start)
        self.cycles += 1
        changes = [ModelChange(type(record), _key(record), partial(_itself, record)) for record in records]
        thought = think(self.model, changes, self.settings, self.now, lambda: next(self.names))
        self.lines += self.pen.cycle(RecordedCycle(self.now, tuple(thought.taken), thought.decisions, thought.fresh))


def _itself(record: Record) -> Record:
    return record


def _key(record: Record) -> str:
    return record.uid if isinstance(record, GangRecord | TaskRecord) else record.name


def told(steps: list[Step], every: int, settings: SchedulerSettings) -> Story:
    story = Story(settings, every)
    story.begin()
    for step in steps:
        story.happens(step)
    return story


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(STEPS, some.integers(1, 9), some.booleans())
def test_a_recorded_cycle_decides_the_same_again(steps: list[Step], every: int, native: bool) -> None:
    story = told(steps, every, native_settings() if native else SchedulerSettings())
    played = list(replayed(cycles_of(story.lines)))
    assert len(played) == story.cycles
    assert [cycle.differences for cycle in played if not cycle.same] == []


@settings(max_examples=examples(30), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(STEPS, some.integers(1, 9))
def test_a_redacted_recording_still_decides_the_same(steps: list[Step], every: int) -> None:
    story = told(steps, every, native_settings())
    lines = list(redacted(lambda: cycles_of(story.lines)))
    played = list(replayed(cycles_of(lines)))
    assert [cycle.differences for cycle in played if not cycle.same] == []
    assert not [name for name in (b"shared-", b"ns/g", b'"g0', b'"q0"', b'"n0"') if name in b"".join(lines)]
    before = [_steps(cycle) for cycle in replayed(cycles_of(story.lines))]
    assert [_steps(cycle) for cycle in played] == before


def _steps(cycle: ReplayedCycle) -> list[str]:
    return [type(commit).__name__ for commit in cycle.decided.commits]
