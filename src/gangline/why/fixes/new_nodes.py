"""New nodes like the nearest one, changed so that every pod of the gang may use them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from gangline.api import kinds, names
from gangline.api.meta import Raw
from gangline.scheduler.matching import matches, untolerated
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.gpu_pools import offered
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.resources import CPU, GPU, MEMORY, PODS, at, is_mig
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.plugins.fit.affinity import term_matches
from gangline.scheduler.records import NodeTerm, TaintRecord
from gangline.scheduler.session import Session
from gangline.scheduler.why.trial import subtree
from gangline.scheduler.why.verdict import GIB
from gangline.why.changes import ObjectChange
from gangline.why.fixes.daemons import daemon_need
from gangline.why.fixes.devices import new_slices
from gangline.why.nodes.labels import wished
from gangline.why.nodes.obstacles import HOSTNAME
from gangline.why.nodes.room import NoRoom
from gangline.why.objects import ClusterObjects, dig, is_simulated
from gangline.why.words.amounts import quantity

FEW_NODES = (1, 2, 3, 4, 8, 16)
MOST_NODES = 256
NEW_NAME = re.compile(r"-more-\d+$")
MIG_LABELS = {"nvidia.com/mig.strategy": "mixed", "node-role.kubernetes.io/mig-enabled": "true"}
Joined = Callable[[list[float]], float]
"""How the needs of pods make that of a node: the largest of them, or their sum."""


def more_nodes(
    session: Session, objects: ClusterObjects, no_room: NoRoom, gang: GangInfo
) -> Iterator[tuple[ObjectChange, ...]]:
    """One, two, four … nodes like the nearest one, changed so that every pod of the gang may use them."""
    tasks = session.wanted(gang, simulation=False)
    named = _wished_name(session, tasks)
    if named and objects.raw(kinds.NODE, named) is not None:
        return
    for count in _counts(session, objects, no_room, tasks) if not named else (1,):
        yield tuple(
            change for number in range(count) for change in _new_node(session, objects, no_room, tasks, number + 1)
        )


def _counts(session: Session, objects: ClusterObjects, no_room: NoRoom, tasks: Sequence[TaskInfo]) -> list[int]:
    """Numbers of nodes that are tried: few, and as many as the pods that are left over would fill."""
    like = session.cluster.nodes.get(str(dig(_template(objects, no_room), "metadata", "name") or ""))
    stuck = no_room.stuck.request
    fits = [int(at(like.allocatable, place) // need) for place, need in enumerate(stuck) if need] if like else []
    alone = any(term.topology_key == HOSTNAME for term in no_room.stuck.record.pod_anti_affinity)
    tasks_of_node = 1 if alone or no_room.stuck.shared else max(min(fits, default=1), 1)
    enough = math.ceil(max(no_room.asked - no_room.placed, 1) / tasks_of_node)
    wanted = {enough, min(2 * enough, MOST_NODES)} if FEW_NODES[-1] < enough <= MOST_NODES else {enough}
    return sorted({*FEW_NODES, *(count for count in wanted if count <= MOST_NODES)})


def _new_node(
    session: Session, objects: ClusterObjects, no_room: NoRoom, tasks: Sequence[TaskInfo], number: int
) -> Iterable[ObjectChange]:
    like = _template(objects, no_room)
    name = _wished_name(session, tasks) or _free_name(objects, dig(like, "metadata", "name") or "node", number)
    labels = _like_labels(like, name)
    for key in (*_near(no_room, tasks), *topology_levels(session, no_room.gang)):
        labels.setdefault(key, f"{key.rpartition('/')[2]}-more")
    for key, domains in no_room.emptiest.items():
        labels[key] = domains[(number - 1) % len(domains)]
    for key in _apart(tasks):
        labels[key] = f"{labels.get(key, key.rpartition('/')[2])}-more-{number}"
    wishes = _wished_labels(session, tasks, labels)
    labels |= {HOSTNAME: name} | {key: value for key, value in wishes.items() if value is not None}
    labels = {key: value for key, value in labels.items() if wishes.get(key, "") is not None}
    joined: Joined = sum if HOSTNAME in _near(no_room, tasks) else max
    capacity = _capacity(session, objects, like, tasks, labels, joined)
    yield _node(like, name, labels, capacity, tasks)
    if any(task.record.claims or task.backed for task in tasks):
        like_name = str(dig(like, "metadata", "name") or "")
        yield from new_slices(session, objects, like_name, name, tasks, joined is sum)


def _node(
    like: Raw, name: str, labels: dict[str, str], capacity: dict[str, str], tasks: Sequence[TaskInfo]
) -> ObjectChange:
    now = dig(like, "metadata", "creationTimestamp")
    ready: Raw = {"type": "Ready", "status": "True", "reason": "KubeletReady"}
    ready |= {"lastHeartbeatTime": now, "lastTransitionTime": now} if now else {}
    status: Raw = {"capacity": capacity, "allocatable": dict(capacity), "conditions": [ready]}
    taints = [
        item
        for item in dig(like, "spec", "taints") or ()
        if not item.get("key", "").startswith("node.kubernetes.io/") and _tolerated(item, tasks)
    ]
    spec: Raw = {"taints": taints} if taints else {}
    spec |= {"providerID": names.SIMULATED_PROVIDER + name} if not like or is_simulated(like) else {}
    return ObjectChange(kinds.NODE, name, {"metadata": {"labels": labels}, "spec": spec, "status": status}, how="new")


def _like_labels(like: Raw, name: str) -> dict[str, str]:
    """Labels of the node that it is like, but for those of the simulation; where a value is that node's own name, the
    new name stands."""
    own = dig(like, "metadata", "name")
    labels = dig(like, "metadata", "labels") or {}
    kept = {key: value for key, value in labels.items() if key not in (names.SIMULATED, names.POOL)}
    return {key: name if value == own else value for key, value in kept.items()}


def topology_levels(session: Session, gang: GangInfo) -> list[str]:
    """Labels that a node must have to count in the topologies which the gang names."""
    named = {member.topology.topology for member in subtree(gang.root) if member.topology is not None}
    records = [session.cluster.topologies[name] for name in sorted(named) if name in session.cluster.topologies]
    return [level for record in records for level in record.levels if level != HOSTNAME]


def _near(no_room: NoRoom, tasks: Sequence[TaskInfo]) -> set[str]:
    """Labels whose value all pods of the gang must share: by topology, or because they want to be beside each other."""
    required = no_room.rule.required if no_room.rule is not None else ""
    keys = {term.topology_key for task in tasks for term in task.record.pod_affinity if term_matches(term, task, task)}
    return (keys | {required}) - {""}


def _apart(tasks: Sequence[TaskInfo]) -> set[str]:
    """Labels in which a new node must differ from the others, for pods that keep apart."""
    return {term.topology_key for task in tasks for term in task.record.pod_anti_affinity} - {HOSTNAME}


def _template(objects: ClusterObjects, no_room: NoRoom) -> Raw:
    """The node with the fewest reasons against it, the largest of those."""

    def rank(name: str) -> tuple[int, float, str]:
        live = objects.raw(kinds.NODE, name) or {}
        lasting = sum(fact.lasting for fact in no_room.facts.get(name, ()))
        return lasting, -len(dig(live, "status", "allocatable") or {}), name

    names_known = [name for name in no_room.nodes if objects.raw(kinds.NODE, name) is not None]
    return objects.raw(kinds.NODE, min(names_known, key=rank)) or {} if names_known else {}


def _free_name(objects: ClusterObjects, stem: str, number: int) -> str:
    """A node like one that is new itself is numbered on."""
    stem = NEW_NAME.sub("", stem)
    taken = {raw["metadata"]["name"] for raw in objects.raws(kinds.NODE)}
    free = (f"{stem}-more-{item}" for item in range(1, 1000) if f"{stem}-more-{item}" not in taken)
    for _ in range(number - 1):
        next(free)
    return next(free)


def _wished_name(session: Session, tasks: Sequence[TaskInfo]) -> str:
    """The one node that the pods ask for by name; "" where any name will do."""
    affinities = (task.record.node_affinity for task in tasks)
    fields = [item for terms in affinities if terms for item in terms[0].fields if item.key == "metadata.name"]
    named = next((item.values[0] for item in fields if item.operator == "In" and item.values), "")
    return named or _wished_labels(session, tasks, {}).get(HOSTNAME) or ""


def _wished_labels(session: Session, tasks: Sequence[TaskInfo], there: Mapping[str, str]) -> dict[str, str | None]:
    """Labels that the pods ask for and that are not there; None: one that must not be there."""
    labels: dict[str, str | None] = {}
    for task in tasks:
        record = task.record
        labels |= dict(record.node_selector)
        claims = (session.cluster.volume_claims.get((task.namespace, name)) for name in record.volumes)
        terms: list[tuple[NodeTerm, ...] | None] = [
            record.node_affinity,
            *(claim.nodes for claim in claims if claim is not None),
        ]
        for alternatives in terms:
            asked = alternatives[0].labels if alternatives else ()
            labels |= {label.key: wished(label) for label in asked if not matches(label, there)}
    return labels


def _capacity(
    session: Session,
    objects: ClusterObjects,
    like: Raw,
    tasks: Sequence[TaskInfo],
    labels: dict[str, str],
    joined: Joined,
) -> dict[str, str]:
    """What the node has, as large as its pods need it; labels that say so are added."""
    has = dict(dig(like, "status", "allocatable") or {"cpu": "64", "memory": "512Gi", "pods": "110"})
    node = session.cluster.nodes.get(str(dig(like, "metadata", "name") or ""))
    is_cut = any(is_mig(key) for key in has) or any(labels.get(key) == value for key, value in MIG_LABELS.items())
    if is_cut and any(task.needs_gpu and not task.gpu.mig for task in tasks):
        _make_whole(has, labels)
    has |= _enlarged(session, objects, node, tasks, joined)
    if any(is_mig(key) for key in has):
        labels |= MIG_LABELS
    _add_gpus(has, labels, tasks)
    return {key: str(value) for key, value in has.items()}


def _make_whole(has: dict[str, str], labels: dict[str, str]) -> None:
    """Without MIG instances: pods that ask for whole GPUs may not use GPUs that are cut."""
    for key in [key for key in has if is_mig(key)]:
        del has[key]
    for key in MIG_LABELS:
        labels.pop(key, None)


def _enlarged(
    session: Session, objects: ClusterObjects, node: NodeInfo | None, tasks: Sequence[TaskInfo], joined: Joined
) -> dict[str, str]:
    """Amounts of which the largest pod, or all pods of a node together, need more than DaemonSets leave of the node."""
    amounts: dict[str, str] = {}
    for place, name in enumerate(session.cluster.names.names):
        need = joined([0, *(at(task.request, place) for task in tasks)])
        need += daemon_need(objects, node, place) if node is not None and need else 0
        key = _gpu_resource(node, tasks) if place == GPU else name
        there = _has(node, place, key) if node is not None else _usual(place)
        if need > there:
            amounts[key] = quantity(math.ceil(need) if place == GPU else need, name)
    return amounts


def _has(node: NodeInfo, place: int, resource: str) -> float:
    """What the node has; of GPUs, where it names several kinds of them, those of that name."""
    return offered(node, resource) if place == GPU and node.gpu_names else at(node.allocatable, place)


def _gpu_resource(node: NodeInfo | None, tasks: Sequence[TaskInfo]) -> str:
    """The name by which the pods ask for whole GPUs; else by which the node has them."""
    asked = (name for task in tasks if not task.shared for name in task.record.gpu_resources)
    return next(asked, next(iter(node.record.gpu_resources if node is not None else ()), names.NVIDIA_GPU))


def _add_gpus(has: dict[str, str], labels: dict[str, str], tasks: Sequence[TaskInfo]) -> None:
    """Memory and number of GPUs that shares of them need, and the labels that tell both."""
    memory = max((task.gpu.memory for task in tasks), default=0)
    if memory:
        had = int(labels.get(names.GPU_MEMORY_LABEL) or 0)
        labels[names.GPU_MEMORY_LABEL] = str(max(had, math.ceil(memory / 100) * 100))
    devices = max((task.gpu.count for task in tasks if task.shared), default=0)
    if devices and devices > int(float(has.get(names.NVIDIA_GPU, 0) or 0)):
        has[names.NVIDIA_GPU] = str(devices)
    if names.NVIDIA_GPU in has:
        labels[names.GPU_COUNT_LABEL] = str(has[names.NVIDIA_GPU])
        labels.setdefault(names.GPU_MEMORY_LABEL, "81920")


def _usual(place: int) -> float:
    return {CPU: 64_000.0, MEMORY: 512 * GIB, PODS: 110.0}.get(place, 0.0)


def _tolerated(taint: Raw, tasks: Sequence[TaskInfo]) -> bool:
    record = TaintRecord(str(taint.get("key")), str(taint.get("effect")), str(taint.get("value") or ""))
    return all(untolerated((record,), task.record.tolerations) is None for task in tasks)
