"""What a model remembers beside its records: evictions, places kept for gangs, and which pods are usual here.

Written at the head of a segment, so that cycles after it can be decided again. What was only computed and may be worked
out anew is forgotten at the same moment, in the running model too: both then start from the same. Pure but for the
model it is given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import msgspec

from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.records import Record, TaskRecord
from gangline.scheduler.victims.ledger import EvictionEntry, ledger_of
from gangline.scheduler.victims.moves import MoveUnderWay, moves_of

MARKS, KEPT = "overtaken since", "places kept"
REMEMBERED = (MARKS, KEPT, "evictions", "moves")
COMPUTED = ("slots", "usual pods")


class SeenShape(msgspec.Struct, frozen=True):
    """A pod like this one was seen so often."""

    sample: TaskRecord
    seen: int


class ModelMemory(msgspec.Struct, frozen=True, omit_defaults=True):
    evictions: tuple[EvictionEntry, ...] = ()
    marks: Mapping[str, float] = {}
    kept: Mapping[str, tuple[str, ...]] = {}
    shapes: tuple[SeenShape, ...] = ()
    pods_seen: int = 0
    gpus_started: float = 0.0
    moves: tuple[MoveUnderWay, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelPicture:
    """A whole model between two cycles; its records are shared with the model, which never changes one in place."""

    records: tuple[Record, ...]
    memory: ModelMemory


def take_picture(cluster: ClusterModel) -> ModelPicture:
    """And forget what was only computed."""
    _forget_computed(cluster)
    return ModelPicture(tuple(records_of(cluster)), memory_of(cluster))


def _forget_computed(cluster: ClusterModel) -> None:
    for name in COMPUTED:
        cluster.memo.pop(name, None)
    cluster.futures.clear()


def records_of(cluster: ClusterModel) -> Iterator[Record]:
    """Every record of a model, in the order in which `ClusterModel.build` would apply them."""
    devices = cluster.devices
    yield from (queue.record for queue in cluster.queues.values())
    yield from devices.classes.values()
    yield from devices.slices.values()
    yield from (node.record for node in cluster.nodes.values())
    yield from cluster.topologies.values()
    yield from devices.records.values()
    yield from cluster.volume_claims.values()
    yield from cluster.capacities.values()
    yield from cluster.config_maps.values()
    yield from cluster.budgets.values()
    yield from (gang.record for gang in cluster.gangs.values())
    yield from (task.record for task in cluster.tasks.values())


def memory_of(cluster: ClusterModel) -> ModelMemory:
    kept: Mapping[str, frozenset[str]] = cluster.memo.get(KEPT, {})
    shapes = sorted(cluster.shapes.values(), key=lambda shape: shape.number)
    return ModelMemory(
        tuple(ledger_of(cluster).entries()),
        dict(cluster.memo.get(MARKS, {})),
        {uid: tuple(sorted(nodes)) for uid, nodes in kept.items()},
        tuple(SeenShape(shape.sample.record, shape.seen) for shape in shapes),
        cluster.pods_seen,
        cluster.gpus_started,
        tuple(moves_of(cluster).entries()),
    )


def model_of(records: Iterable[Record], memory: ModelMemory) -> ClusterModel:
    """The model as it was when its picture was taken."""
    cluster = ClusterModel()
    for seen in memory.shapes:
        cluster.know_shape(seen.sample)
    for record in records:
        cluster.apply(record)
    remember(cluster, memory)
    return cluster


def remember(cluster: ClusterModel, memory: ModelMemory) -> None:
    """This and nothing else; what was only computed is forgotten."""
    _forget_computed(cluster)
    for name in REMEMBERED:
        cluster.memo.pop(name, None)
    seen_of = {id(cluster.know_shape(item.sample)): item.seen for item in memory.shapes}
    for shape in cluster.shapes.values():
        shape.seen = seen_of.get(id(shape), 0)
    cluster.pods_seen, cluster.gpus_started = memory.pods_seen, memory.gpus_started
    for entry in memory.evictions:
        ledger_of(cluster).note(entry)
    cluster.memo[MARKS] = dict(memory.marks)
    cluster.memo[KEPT] = {uid: frozenset(nodes) for uid, nodes in memory.kept.items()}
    for under_way in memory.moves:
        moves_of(cluster).note(under_way)
