"""Whatever the cluster and whoever comes and goes: evictions never go round in circles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from hypothesis import example, given, settings
from hypothesis import strategies as some

from gangline.rules.requests import GpuRequest
from gangline.scheduler.cycle import decide
from gangline.scheduler.decisions import Decisions
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.model.status import Status
from gangline.scheduler.plugins.evict.disruption import DisruptionLimits
from gangline.scheduler.records import GangRecord, NodeRecord, QueueRecord, Share, TaskRecord, plain_gang
from gangline.scheduler.settings import native_settings
from gangline.scheduler.thought.booking import book
from properties.examples import examples

FREE = Share(-1, -1, 1)
NODES, GPUS, QUEUES = 3, 4, 2
SETTINGS = replace(native_settings(), max_consolidation_victims=-1, explains=False)
LIMITS = DisruptionLimits()
NOBODY = 1_000
LONG_ENOUGH = 30
"""Cycles after which everything rests."""


@dataclass(frozen=True)
class Step:
    """A gang comes (queue, priority, pods, GPUs of each), one that runs may end, and so many seconds pass."""

    queue: int
    priority: int
    pods: int
    gpus: int
    ends: int
    seconds: int


STEPS = some.lists(
    some.builds(
        Step,
        some.integers(0, QUEUES - 1),
        some.sampled_from((50, 50, 75, 100)),
        some.integers(1, 3),
        some.integers(1, GPUS),
        some.integers(0, 12),
        some.sampled_from((1, 60, 600, 1500, 4000)),
    ),
    min_size=3,
    max_size=16,
)


class Play:
    """A cluster on which decisions are carried out at once; remembers who was evicted, by what and when. `quotas`: of
    its queues, in turn below two parents where it is `deep`."""

    def __init__(self, quotas: Sequence[int], nodes: int = NODES, deep: bool = False) -> None:
        self.now = 1_000_000.0
        offers = {"cpu": 1e6, "memory": 1e12, "pods": 110, "gpu": GPUS}
        parents = [sum(quotas[place::2]) for place in range(2)] if deep else []
        self.cluster = ClusterModel.build(
            [
                *[NodeRecord(f"n{number}", offers) for number in range(nodes)],
                *[_queue(f"d{place}", "", place, quota) for place, quota in enumerate(parents)],
                *[
                    _queue(f"q{place}", f"d{place % 2}" if deep else "", place, quota)
                    for place, quota in enumerate(quotas)
                ],
            ]
        )
        self.evicted: dict[tuple[str, str], float] = {}

    def come(self, name: str, step: Step) -> None:
        tree = plain_gang(step.pods)
        self.cluster.apply(
            GangRecord(name, f"q{step.queue}", name, "ns", step.priority, step.priority < 100, self.now, tree)
        )
        for number in range(step.pods):
            self.cluster.apply(
                TaskRecord(f"{name}-{number}", name, created=self.now, gpu=GpuRequest("Regular", step.gpus, 1))
            )

    def end(self, place: int) -> None:
        running = sorted(uid for uid, gang in self.cluster.gangs.items() if gang.active_allocated)
        if place < len(running):
            for uid in list(self.cluster.gangs[running[place]].tasks):
                self.cluster.remove(TaskRecord, uid)
            self.cluster.remove(GangRecord, running[place])

    def cycle(self) -> Decisions:
        decisions = decide(self.cluster, SETTINGS, self.now)
        book(self.cluster, decisions)
        gone = {evict.task for evict in decisions.evictions}
        for task in list(self.cluster.tasks.values()):
            if task.uid in gone:
                self.cluster.remove(TaskRecord, task.uid)
                self.cluster.apply(replace(task.record, status=Status.PENDING, node=""))
            elif task.status == Status.BINDING:
                self.cluster.apply(replace(task.record, status=Status.RUNNING))
        return decisions


def _queue(name: str, parent: str, created: int, quota: int) -> QueueRecord:
    return QueueRecord(name, parent, created=created, cpu=FREE, memory=FREE, gpu=Share(quota, -1, 1))


def gang_of(task: str) -> str:
    return task.rpartition("-")[0]


LOST_ONE_POD = [
    *[Step(0, 50, pods, gpus, ends, 1) for pods, gpus, ends in ((1, 1, 0), (1, 2, 0), (3, 1, 1), (1, 1, 2), (1, 1, 2))],
    Step(0, 75, 1, 4, 2, 1),
    Step(0, 75, 1, 1, 0, 1),
    Step(0, 50, 1, 1, 3, 1),
    Step(0, 100, 2, 4, 3, 4000),
    Step(0, 50, 1, 2, 1, 1),
]
"""A gang that runs gets a pod back that it lost, and is itself in the way of another one in the same cycle."""


@settings(max_examples=examples(150), deadline=None)
@example(8, LOST_ONE_POD)
@given(some.integers(0, NODES * GPUS), STEPS)
def test_no_gang_is_evicted_twice_for_the_same_reason_within_its_grace_nor_for_more_than_it_is_worth(
    quota: int, steps: list[Step]
) -> None:
    play = Play((quota, NODES * GPUS - quota))
    for number, step in enumerate(steps):
        play.end(step.ends)
        play.come(f"g{number}", step)
        before = {task.uid: task.gpus for task in play.cluster.tasks.values()}
        decisions = play.cycle()
        placed = {gang_of(bind.task) for bind in decisions.binds}
        gpus: dict[str, float] = {}
        for evict in decisions.evictions:
            assert gang_of(evict.task) not in placed, "evicted in the cycle that placed it"
            if evict.preemptor:
                gpus[evict.preemptor] = gpus.get(evict.preemptor, 0.0) + before[evict.task]
        for victim, action in {(gang_of(evict.task), evict.action) for evict in decisions.evictions}:
            last = play.evicted.get((victim, action))
            assert last is None or play.now >= last + LIMITS.grace, f"{victim} is evicted again by {action}"
            play.evicted[victim, action] = play.now
        for preemptor, evicted in gpus.items():
            asked = sum(before[uid] for uid in play.cluster.gangs[preemptor].tasks)
            assert evicted <= LIMITS.ratio * asked
        play.now += step.seconds


CROWD = some.lists(
    some.lists(
        some.builds(
            Step,
            some.integers(0, 3),
            some.sampled_from((50, 50, 50, 75, 100)),
            some.integers(1, 3),
            some.integers(1, GPUS),
            some.just(NOBODY),
            some.sampled_from((1, 60, 600, 4000)),
        ),
        min_size=1,
        max_size=12,
    ),
    min_size=1,
    max_size=5,
)
"""Gangs that come together, some time after those before them; nobody leaves."""


@settings(max_examples=examples(60), deadline=None)
@given(some.integers(2, 6), some.lists(some.integers(0, 12), min_size=4, max_size=4), some.booleans(), CROWD)
def test_where_nobody_comes_or_goes_evictions_end_and_no_gang_has_room_made_for_it_again_and_again(
    nodes: int, quotas: list[int], deep: bool, crowd: list[list[Step]]
) -> None:
    play = Play(quotas, nodes, deep)
    for turn, steps in enumerate(crowd):
        for number, step in enumerate(steps):
            play.come(f"g{turn}x{number}", step)
        play.cycle()
        play.now += steps[0].seconds
    times: Counter[str] = Counter()
    for _ in range(LONG_ENOUGH):
        decisions = play.cycle()
        times.update({evict.preemptor for evict in decisions.evictions})
        play.now += 1
    assert not decisions.evictions
    assert max(times.values(), default=0) <= 2, f"room is made for the same gang again and again: {times}"
