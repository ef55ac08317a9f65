"""Whatever the cluster and its constraints: every pod that is placed keeps them, by a plain count; and where the
last pod is left waiting, no node would have kept them."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as some

from gangline.rules.requests import GpuRequest
from gangline.scheduler.cycle import decide
from gangline.scheduler.decisions import Bind
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.model.status import Status
from gangline.scheduler.records import (
    GangRecord,
    NodeRecord,
    QueueRecord,
    Record,
    Requirement,
    Share,
    SpreadTerm,
    TaintRecord,
    TaskRecord,
    TolerationRecord,
    plain_gang,
)
from gangline.scheduler.settings import native_settings
from properties.examples import examples

FREE = Share(-1, -1, 1)
KEYS = ("zone", "rack")
TAINT = TaintRecord("own", "NoSchedule")

NODES = some.lists(
    some.tuples(some.sampled_from(["", "a", "b", "c"]), some.sampled_from(["", "r", "s"]), some.booleans()),
    min_size=1,
    max_size=6,
)
"""Zone, rack, tainted."""
TERMS = some.lists(
    some.builds(
        SpreadTerm,
        topology_key=some.sampled_from(KEYS),
        max_skew=some.integers(1, 2),
        selector=some.sampled_from([None, (), (Requirement("app", "In", ("x",)),), (Requirement("app", "Exists"),)]),
        hard=some.sampled_from([True, True, True, False]),
        min_domains=some.integers(1, 3),
        honours_affinity=some.booleans(),
        honours_taints=some.booleans(),
    ),
    max_size=2,
).map(tuple)
PODS = some.builds(
    TaskRecord,
    uid=some.just(""),
    namespace=some.sampled_from(["here", "there"]),
    labels=some.sampled_from([{"app": "x"}, {"app": "y"}, {}]),
    node_selector=some.sampled_from([{}, {"zone": "a"}]),
    tolerations=some.sampled_from([(), (TolerationRecord(operator="Exists"),)]),
    spread=TERMS,
    gpu=some.just(GpuRequest("Regular", 1, 1)),
)
GANGS = some.lists(some.tuples(PODS, some.integers(1, 4)), min_size=1, max_size=5)
STANDING = some.lists(some.tuples(PODS, some.integers(0, 5), some.booleans()), max_size=6)
"""The pod, its node, and whether it is leaving."""

Where = dict[str, str]


def labels_match(selector: tuple[Requirement, ...] | None, labels: dict[str, str]) -> bool:
    if not selector:
        return False
    return all(
        item.key in labels and (item.operator == "Exists" or labels[item.key] in item.values) for item in selector
    )


def usable(pod: TaskRecord, node: NodeRecord) -> bool:
    return selected(pod, node) and tolerated(pod, node)


def selected(pod: TaskRecord, node: NodeRecord) -> bool:
    return all(node.labels.get(key) == value for key, value in pod.node_selector.items())


def tolerated(pod: TaskRecord, node: NodeRecord) -> bool:
    return not node.taints or bool(pod.tolerations)


def kept(pod: TaskRecord, node: NodeRecord, nodes: list[NodeRecord], pods: dict[str, TaskRecord], where: Where) -> bool:
    """Whether the pod may go there beside those that stand: the definition, counted plainly."""
    hard = [term for term in pod.spread if term.hard]
    for term in hard:
        if term.topology_key not in node.labels:
            return False
        counted: dict[str, int] = {}
        for other in nodes:
            whole = all(item.topology_key in other.labels for item in hard)
            kind = (not term.honours_affinity or selected(pod, other)) and (
                not term.honours_taints or tolerated(pod, other)
            )
            if whole and kind:
                counted.setdefault(other.labels[term.topology_key], 0)
                counted[other.labels[term.topology_key]] += sum(
                    pods[uid].namespace == pod.namespace and labels_match(term.selector, dict(pods[uid].labels))
                    for uid, place in where.items()
                    if place == other.name
                )
        if counted:
            fewest = min(counted.values()) if len(counted) >= term.min_domains else 0
            there = counted.get(node.labels[term.topology_key], 0) + labels_match(term.selector, dict(pod.labels))
            if there - fewest > term.max_skew:
                return False
    return True


@settings(max_examples=examples(300), deadline=None)
@given(NODES, STANDING, GANGS)
def test_what_is_placed_keeps_its_constraints_and_what_waits_had_no_node(
    shapes: list[tuple[str, str, bool]],
    standing: list[tuple[TaskRecord, int, bool]],
    gangs: list[tuple[TaskRecord, int]],
) -> None:
    nodes = [
        NodeRecord(
            f"n{place}",
            {"cpu": 1e6, "memory": 1e12, "pods": 110, "gpu": 4},
            {key: value for key, value in (("zone", zone), ("rack", rack)) if value},
            taints=(TAINT,) if tainted else (),
        )
        for place, (zone, rack, tainted) in enumerate(shapes)
    ]
    pods: dict[str, TaskRecord] = {}
    where: Where = {}
    records: list[Record] = [*nodes, QueueRecord("q", cpu=FREE, memory=FREE, gpu=FREE)]
    for number, (pod, place, leaving) in enumerate(standing):
        status = Status.RELEASING if leaving else Status.RUNNING
        old = replace(pod, uid=f"old-{number}", status=status, node=f"n{place % len(nodes)}", gpu=GpuRequest())
        pods[old.uid] = old
        if not leaving:
            where[old.uid] = old.node
    for number, (pod, size) in enumerate(gangs):
        records.append(GangRecord(f"g{number}", "q", created=number, tree=plain_gang(size)))
        mine = [replace(pod, uid=f"g{number}-{item}", gang=f"g{number}") for item in range(size)]
        pods |= {item.uid: item for item in mine}
    decisions = decide(ClusterModel.build([*records, *pods.values()]), native_settings(), 1_000.0)

    by_name = {node.name: node for node in nodes}
    free = {node.name: 4 for node in nodes}
    for commit in decisions.commits:
        assert isinstance(commit, Bind)
        pod = pods[commit.task]
        assert usable(pod, by_name[commit.node])
        assert kept(pod, by_name[commit.node], nodes, pods, where), commit
        where[commit.task] = commit.node
        free[commit.node] -= 1
    last = pods[f"g{len(gangs) - 1}-0"]
    if last.uid not in where and gangs[-1][1] == 1:
        for node in nodes:
            assert not (free[node.name] and usable(last, node) and kept(last, node, nodes, pods, where)), node.name
