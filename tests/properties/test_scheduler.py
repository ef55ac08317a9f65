"""What must hold for every cluster: the decision core on random small clusters."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from gangline.rules.requests import GpuRequest
from gangline.scheduler.cycle import decide
from gangline.scheduler.decisions import Bind, Decisions, Evict, Nominate
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.model.resources import GPU
from gangline.scheduler.model.status import ACTIVE_ALLOCATED, Status
from gangline.scheduler.records import (
    GangRecord,
    GroupRecord,
    NodeRecord,
    PodSetRecord,
    QueueRecord,
    Record,
    Share,
    TaskRecord,
    TopologyRecord,
    TopologyRule,
    plain_gang,
)
from gangline.scheduler.settings import SchedulerSettings, native_settings
from gangline.scheduler.thought.booking import book
from properties.examples import examples

NOW = 1_000_000.0
FREE = Share(-1, -1, 1)
SETTINGS = SchedulerSettings(max_consolidation_victims=-1)
MANY = settings(max_examples=examples(120), deadline=None, suppress_health_check=[HealthCheck.too_slow])


@dataclass(frozen=True)
class World:
    nodes: tuple[NodeRecord, ...]
    queues: tuple[QueueRecord, ...]
    gangs: tuple[GangRecord, ...]
    tasks: tuple[TaskRecord, ...]

    @property
    def records(self) -> list[Record]:
        return [*self.nodes, *self.queues, *self.gangs, *self.tasks]

    def cluster(self) -> ClusterModel:
        return ClusterModel.build(self.records)


@st.composite
def worlds(draw: st.DrawFn) -> World:
    gpus = draw(st.lists(st.integers(0, 4), min_size=1, max_size=4))
    nodes = tuple(
        NodeRecord(f"n{i}", {"cpu": 8000, "memory": 8e9, "pods": 8, "gpu": count}, gpu_memory_synced=True)
        for i, count in enumerate(gpus)
    )
    top = draw(st.booleans())
    queues = [QueueRecord("top", created=0, cpu=FREE, memory=FREE, gpu=Share(-1, -1, 1))] if top else []
    names = [f"q{i}" for i in range(draw(st.integers(1, 3)))]
    for place, name in enumerate(names):
        share = Share(draw(st.integers(0, 5)), draw(st.sampled_from([-1, -1, 3, 6])), draw(st.integers(0, 2)))
        queues.append(QueueRecord(name, "top" if top else "", created=place, cpu=FREE, memory=FREE, gpu=share))
    gangs: list[GangRecord] = []
    tasks: list[TaskRecord] = []
    for number in range(draw(st.integers(1, 7))):
        gang, members = draw(gang_of(number, names, list(gpus), tasks, nodes))
        gangs.append(gang)
        tasks += members
    return World(nodes, tuple(queues), tuple(gangs), tuple(tasks))


@st.composite
def gang_of(
    draw: st.DrawFn,
    number: int,
    queues: list[str],
    gpus: list[int],
    before: list[TaskRecord],
    nodes: tuple[NodeRecord, ...],
) -> tuple[GangRecord, list[TaskRecord]]:
    size = draw(st.integers(1, 3))
    asks = draw(
        st.sampled_from(
            [GpuRequest(), GpuRequest("Regular", 1, 1), GpuRequest("Regular", 2, 1), GpuRequest("Fraction", 1, 0.5)]
        )
    )
    gang = GangRecord(
        f"g{number}",
        draw(st.sampled_from(queues)),
        priority=draw(st.sampled_from([50, 50, 75, 100])),
        created=number,
        tree=plain_gang(draw(st.integers(1, size))),
        last_start=NOW - 60,
    )
    place = draw(st.integers(-1, len(nodes) - 1))
    members: list[TaskRecord] = []
    for index in range(size):
        task = TaskRecord(f"g{number}-{index}", gang.uid, request={"cpu": 1000, "memory": 1e9}, gpu=asks)
        if place >= 0 and _room(nodes[place], [*before, *members], asks):
            groups = (f"own-{task.uid}",) if asks.kind == "Fraction" else ()
            task = replace(task, status=Status.RUNNING, node=nodes[place].name, gpu_groups=groups)
        members.append(task)
    return gang, members


def _room(node: NodeRecord, tasks: list[TaskRecord], asks: GpuRequest) -> bool:
    """A shared task here always opens a device of its own, with a reservation pod."""
    mine = [task for task in tasks if task.node == node.name]
    used = sum(task.gpu.count for task in mine)
    return len(mine) < 4 and used + asks.count <= node.allocatable["gpu"]


# ── following a decision ──


def carried_out(world: World, decisions: Decisions) -> World:
    """Bound pods run, evicted ones wait again (their workload makes a new pod)."""
    tasks = {task.uid: task for task in world.tasks}
    for commit in decisions.commits:
        if isinstance(commit, Bind):
            tasks[commit.task] = replace(
                tasks[commit.task], status=Status.RUNNING, node=commit.node, gpu_groups=commit.gpu_groups
            )
        elif isinstance(commit, Evict):
            tasks[commit.task] = replace(tasks[commit.task], status=Status.PENDING, node="", gpu_groups=())
    return replace(world, tasks=tuple(tasks[task.uid] for task in world.tasks))


def whole_gpus_used(world: World, node: str) -> float:
    mine = [task for task in world.tasks if task.node == node and task.status & ACTIVE_ALLOCATED]
    shared = {group for task in mine for group in task.gpu_groups}
    return sum(task.gpu.count for task in mine if task.gpu.kind == "Regular") + len(shared)


@MANY
@given(worlds())
def test_no_node_gpu_or_pod_slot_is_given_twice(world: World) -> None:
    after = carried_out(world, decide(world.cluster(), SETTINGS, NOW))
    for node in after.nodes:
        mine = [task for task in after.tasks if task.node == node.name]
        assert whole_gpus_used(after, node.name) <= node.allocatable["gpu"]
        assert (
            len(mine) <= node.allocatable["pods"]
            and sum(task.request["cpu"] for task in mine) <= node.allocatable["cpu"]
        )
        portions: dict[str, float] = {}
        for task in mine:
            for group in task.gpu_groups:
                portions[group] = portions.get(group, 0) + task.gpu.portion
        assert all(portion <= 1 for portion in portions.values())


@MANY
@given(worlds())
def test_no_queue_is_bound_above_its_limit(world: World) -> None:
    decisions = decide(world.cluster(), SETTINGS, NOW)
    bound = {commit.task for commit in decisions.binds}
    after = carried_out(world, decisions).cluster()
    for queue in world.queues:
        grew = any(
            task.uid in bound and task.gpu.count for task in world.tasks if after.gangs[task.gang].queue == queue.name
        )
        if queue.gpu.limit >= 0 and grew:
            assert after.queues[queue.name].held.gpu <= queue.gpu.limit * 100


@MANY
@given(worlds())
def test_a_gang_gets_at_least_its_minimum_or_nothing(world: World) -> None:
    decisions = decide(world.cluster(), SETTINGS, NOW)
    for gang in world.gangs:
        mine = {task.uid for task in world.tasks if task.gang == gang.uid}
        given_to = {commit.task for commit in decisions.commits if isinstance(commit, Bind | Nominate)} & mine
        held = {task.uid for task in world.tasks if task.gang == gang.uid and task.status & ACTIVE_ALLOCATED}
        if given_to:
            assert len(given_to | held) >= gang.tree.pod_sets[0].min_available


@MANY
@given(worlds())
def test_work_that_cannot_be_preempted_is_never_a_victim(world: World) -> None:
    decisions = decide(world.cluster(), replace(SETTINGS, staleness_grace=-1), NOW)
    firm = {gang.uid for gang in world.gangs if gang.priority >= 100}
    owner = {task.uid: task.gang for task in world.tasks}
    assert not [commit for commit in decisions.evictions if owner[commit.task] in firm]


@MANY
@given(worlds())
def test_reclaim_takes_only_from_queues_above_their_quota(world: World) -> None:
    cluster = world.cluster()
    decisions = decide(cluster, replace(SETTINGS, actions=("reclaim",)), NOW)
    owner = {task.uid: cluster.gangs[task.gang].queue for task in world.tasks}
    moved = {commit.task for commit in decisions.nominations}
    for queue in world.queues:
        lost = [
            commit for commit in decisions.evictions if owner[commit.task] == queue.name and commit.task not in moved
        ]
        if lost:
            kept = queue.gpu.quota if queue.gpu.limit < 0 else min(queue.gpu.quota, queue.gpu.limit)
            assert cluster.queues[queue.name].held.gpu > kept * 100 or not queue.parent


@MANY
@given(worlds())
def test_deciding_restores_the_cluster_and_decides_the_same_again(world: World) -> None:
    cluster = world.cluster()
    before = cluster.state()
    first = decide(cluster, SETTINGS, NOW)
    assert cluster.state() == before
    assert decide(cluster, SETTINGS, NOW) == first == decide(world.cluster(), SETTINGS, NOW)


@MANY
@given(worlds(), st.randoms(use_true_random=False))
def test_a_cluster_fed_event_by_event_equals_one_built_from_scratch(world: World, random: Any) -> None:
    after = carried_out(world, decide(world.cluster(), SETTINGS, NOW))
    cluster = ClusterModel()
    for record in random.sample(world.records, len(world.records)):
        cluster.apply(record)
    for record in random.sample(after.records, len(after.records)):
        cluster.apply(record)
    assert cluster.state() == after.cluster().state()
    assert decide(cluster, SETTINGS, NOW) == decide(after.cluster(), SETTINGS, NOW)


def rigid(world: World) -> World:
    """With whole GPUs and rigid gangs. (Shares of a GPU that elastic gangs hold can go back and forth between queues,
    as upstream.)"""
    assume(not any(task.gpu.kind == "Fraction" for task in world.tasks))
    sizes = Counter(task.gang for task in world.tasks)
    return replace(world, gangs=tuple(replace(gang, tree=plain_gang(sizes[gang.uid])) for gang in world.gangs))


@MANY
@given(worlds())
def test_a_decided_cluster_comes_to_rest(world: World) -> None:
    """Without consolidation, which upstream lets move, cycle after cycle, what allocate has just placed."""
    world = rigid(world)
    actions = tuple(action for action in SETTINGS.actions if action != "consolidation")
    patient = replace(SETTINGS, staleness_grace=-1, actions=actions)
    for _ in range(8):
        decisions = decide(world.cluster(), patient, NOW)
        if not decisions.binds and not decisions.evictions:
            return
        world = carried_out(world, decisions)
    assert not decide(world.cluster(), replace(patient, actions=("allocate",)), NOW).binds


FULL_OF_PODS = World(
    tuple(NodeRecord(f"n{i}", {"cpu": 8000, "memory": 8e9, "pods": 8, "gpu": 1}) for i in range(2)),
    (QueueRecord("q0", cpu=FREE, memory=FREE, gpu=Share(0, -1, 0)),),
    tuple(GangRecord(f"g{i}", "q0", created=i, tree=plain_gang(pods)) for i, pods in enumerate((5, 3, 2))),
    (
        *[TaskRecord(f"g0-{i}", "g0", status=Status.RUNNING, node="n0", request={"cpu": 1000}) for i in range(5)],
        *[TaskRecord(f"g1-{i}", "g1", request={"cpu": 1000}) for i in range(3)],
        *[TaskRecord(f"g2-{i}", "g2", gpu=GpuRequest("Regular", 1, 1)) for i in range(2)],
    ),
)
"""The fuller node has room for three pods more: for g1, which came first, or for a pod with a GPU."""


@settings(MANY, max_examples=examples(45))
@example(FULL_OF_PODS)
@given(worlds())
def test_natively_evictions_do_not_go_round_in_circles_hour_after_hour(world: World) -> None:
    """A gang that is moved in vain, as g1 is, is left alone for longer each time."""
    native = replace(native_settings(), max_consolidation_victims=-1, staleness_grace=-1)
    cluster, moves = rigid(world).cluster(), Counter[str]()
    for hour in range(40):
        decisions = decide(cluster, native, NOW + 3600 * hour)
        book(cluster, decisions)
        evicted = {commit.task: commit.action for commit in decisions.evictions}
        moves.update({task.rpartition("-")[0] for task, action in evicted.items() if action == "consolidation"})
        for task in list(cluster.tasks.values()):
            if task.uid in evicted:
                cluster.remove(TaskRecord, task.uid)
                cluster.apply(replace(task.record, status=Status.PENDING, node=""))
            elif task.status == Status.BINDING:
                cluster.apply(replace(task.record, status=Status.RUNNING))
    assert set(evicted.values()) <= {"consolidation"}
    assert max(moves.values(), default=0) <= 8


@MANY
@given(worlds())
def test_renaming_everything_renames_the_decisions(world: World) -> None:
    def name(text: str) -> str:
        return f"x-{text}" if text else ""

    renamed = World(
        tuple(replace(node, name=name(node.name)) for node in world.nodes),
        tuple(replace(queue, name=name(queue.name), parent=name(queue.parent)) for queue in world.queues),
        tuple(replace(gang, uid=name(gang.uid), queue=name(gang.queue)) for gang in world.gangs),
        tuple(replace(task, uid=name(task.uid), gang=name(task.gang), node=name(task.node)) for task in world.tasks),
    )
    ours = [
        (type(commit), name(commit.task), name(commit.node))
        for commit in decide(world.cluster(), SETTINGS, NOW).commits
    ]
    theirs = [(type(commit), commit.task, commit.node) for commit in decide(renamed.cluster(), SETTINGS, NOW).commits]
    assert ours == theirs


@MANY
@given(worlds())
def test_idle_gpus_never_become_negative_by_a_decision(world: World) -> None:
    after = carried_out(world, decide(world.cluster(), SETTINGS, NOW)).cluster()
    assert all(node.idle[GPU] >= 0 for node in after.nodes.values())


# ── bad input ──

ODD = st.sampled_from([-5, -1, 0, 1, 3, 2**63 - 1])


@st.composite
def odd_records(draw: st.DrawFn) -> list[Record]:
    """Records that no sane cluster has: negative and absurd amounts, missing parents, circles, unknown nodes, groups
    and topologies."""
    names = ["a", "b", "c", ""]
    records: list[Record] = []
    records += [
        NodeRecord(
            name,
            {"cpu": draw(ODD), "gpu": draw(ODD), "pods": draw(ODD), "strange": draw(ODD)},
            gpu_memory=draw(ODD),
            gpu_memory_synced=True,
            mig_enabled=draw(st.sampled_from([None, True, False])),
        )
        for name in draw(st.lists(st.sampled_from(["n0", "n1"]), unique=True))
    ]
    for name in ("a", "b", "c"):
        share = Share(draw(ODD), draw(ODD), draw(ODD), draw(ODD))
        records.append(QueueRecord(name, draw(st.sampled_from(names)), draw(ODD), cpu=share, memory=FREE, gpu=share))
    records.append(TopologyRecord("none", ()))
    for number in range(draw(st.integers(1, 4))):
        rule = draw(
            st.sampled_from([None, TopologyRule("none", "rack"), TopologyRule("gone", "rack"), TopologyRule("none")])
        )
        tree = GroupRecord(
            min_groups=draw(st.sampled_from([None, -1, 5])), topology=rule, pod_sets=(PodSetRecord("x", draw(ODD)),)
        )
        records.append(
            GangRecord(
                f"g{number}", draw(st.sampled_from(names)), priority=draw(ODD), tree=tree, staleness_grace=draw(ODD)
            )
        )
        for index in range(draw(st.integers(0, 3))):
            kind: Any = draw(st.sampled_from(["Regular", "Fraction", "GpuMemory", "MigInstance"]))
            gpu = GpuRequest(kind, abs(draw(ODD)) % 4, draw(ODD), draw(ODD))
            records.append(
                TaskRecord(
                    f"g{number}-{index}",
                    f"g{number}",
                    pod_set=draw(st.sampled_from(["x", "y"])),
                    status=draw(st.sampled_from(list(Status))),
                    node=draw(st.sampled_from(["", "n0", "gone"])),
                    request={"cpu": draw(ODD), "strange": draw(ODD)},
                    gpu=gpu,
                    gpu_groups=draw(st.sampled_from([(), ("shared",)])),
                    claims=draw(st.sampled_from([(), ("absent",)])),
                )
            )
    return records


@MANY
@given(odd_records())
def test_bad_input_stops_no_cycle_and_leaves_no_trace(records: list[Record]) -> None:
    cluster = ClusterModel.build(records)
    before = cluster.state()
    decide(cluster, SETTINGS, NOW)
    assert cluster.state() == before
