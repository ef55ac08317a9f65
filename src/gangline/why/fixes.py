"""Changes that may give a gang the nodes it lacks: opened nodes, a lower minimum, a relaxed topology, a higher
priority, a paused Job, new nodes. Candidates only; remedies.py tries them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from gangline.api import kinds, names
from gangline.api.meta import Raw
from gangline.rules.values.merge_patch import merge_patch
from gangline.scheduler.fairness.accounts import line
from gangline.scheduler.matching import untolerated
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.resources import CPU, GPU, MEMORY, PODS, at, is_mig
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.records import NodeTerm, TaintRecord
from gangline.scheduler.session import Session
from gangline.scheduler.why.bounds import Excess
from gangline.why.amounts import GIB, quantity
from gangline.why.changes import ObjectChange, both
from gangline.why.members import lowered
from gangline.why.nodes import HOSTNAME, OPENABLE, NodeObstacle, wished
from gangline.why.objects import ClusterObjects, dig
from gangline.why.queues import books
from gangline.why.room import NoRoom
from gangline.why.states import leaves_of
from gangline.why.subjects import Subject

TRIED_OPENED = 4
TRIED_OTHERS = 3
MOST_NODES = 16


# ── nodes that are closed ──


def closed_nodes(objects: ClusterObjects, no_room: NoRoom) -> Iterator[tuple[ObjectChange, ...]]:
    """Nodes that only their own state keeps from it: one of them, then two, …, then all."""
    opened = {
        node: _opening(node, facts)
        for node, facts in no_room.facts.items()
        if facts and all(fact.code in OPENABLE and fact.patch is not None for fact in facts)
    }
    ordered = sorted(opened, key=lambda node: (len(no_room.facts[node]), _cost(no_room.facts[node]), node))
    for count in range(1, min(len(ordered), TRIED_OPENED) + 1):
        yield tuple(opened[node] for node in ordered[:count])
    if len(ordered) > TRIED_OPENED:
        yield tuple(opened[node] for node in ordered)


def _cost(facts: Sequence[NodeObstacle]) -> int:
    return max(OPENABLE.index(fact.code) for fact in facts)


def _opening(node: str, facts: Sequence[NodeObstacle]) -> ObjectChange:
    body: Raw = {}
    for fact in facts:
        body = both(body, fact.patch or {})
    return ObjectChange(kinds.NODE, node, body)


# ── the gang itself ──


def lower_minimum(
    session: Session, subject: Subject, gang: GangInfo, excesses: Sequence[Excess], placed: int = 0
) -> tuple[ObjectChange, ...]:
    """The minimum that what is there, or what the queue may hold, is enough for."""
    if list(leaves_of(subject)) != [""]:
        return ()
    minimum, fits = leaves_of(subject)[""], placed + gang.active_allocated
    if excesses:
        tasks = session.wanted(gang, simulation=False)
        proportion = books(session)
        asked = proportion.quota_of(tasks) if proportion is not None else (0.0, 0.0, 0.0)
        over = max(
            math.ceil((item.needed - item.allowed) / (asked[item.resource] / len(tasks)))
            for item in excesses
            if asked[item.resource]
        )
        fits = minimum - over
    return lowered(subject, fits) if 0 < fits < minimum else ()


def relaxed(subject: Subject, gang: GangInfo, unknown: bool = False) -> tuple[ObjectChange, ...]:
    """The topology level preferred instead of required; one that nobody knows not asked for at all."""
    group = subject.group
    if group is None or subject.gang is not None or group.spec.topology_constraint is None:
        return ()
    constraint = group.spec.topology_constraint
    level = "" if unknown else constraint.required_topology_level
    changes = []
    if subject.top_kind == "Job":
        notes = {names.TOPOLOGY_REQUIRED: None, names.TOPOLOGY_PREFERRED: level or None} | (
            {names.TOPOLOGY: None} if unknown else {}
        )
        changes.append(ObjectChange(kinds.JOB, subject.name, {"metadata": {"annotations": notes}}, subject.namespace))
    word = f"the PodGroup of {subject.top_kind}/{subject.name}" if subject.top is not None else ""
    body: Raw = {
        "spec": {
            "topologyConstraint": {"requiredTopologyLevel": None, "preferredTopologyLevel": level or None}
            | ({"topology": None} if unknown else {})
        }
    }
    changes.append(ObjectChange(kinds.POD_GROUP, group.name, body, subject.namespace, word=word))
    return tuple(changes)


def priority_changes(
    session: Session, objects: ClusterObjects, subject: Subject, gang: GangInfo
) -> Iterator[tuple[ObjectChange, ...]]:
    """A higher class among those that can still be preempted, where somebody of a lower or equal one holds room in
    the queue."""
    group = subject.group
    rivals = [
        other.priority
        for other in (*session.active_gangs(), *session.waiting_gangs())
        if other.queue == gang.queue and other is not gang and other.priority >= gang.priority
    ]
    if group is None or subject.gang is not None or not rivals:
        return
    classes = sorted(
        (item.value, item.name) for item in objects.all(kinds.PRIORITY_CLASS) if item.value > gang.priority
    )
    chosen = next(((value, name) for value, name in classes if min(rivals) < value < 100), None)
    if chosen is None:
        return
    changes = []
    if subject.top_kind == "Job":
        changes.append(
            ObjectChange(
                kinds.JOB, subject.name, {"metadata": {"labels": {names.PRIORITY_CLASS: chosen[1]}}}, subject.namespace
            )
        )
    word = f"the PodGroup of {subject.top_kind}/{subject.name}" if subject.top is not None else ""
    changes.append(
        ObjectChange(
            kinds.POD_GROUP, group.name, {"spec": {"priorityClassName": chosen[1]}}, subject.namespace, word=word
        )
    )
    yield tuple(changes)


def undelayed(subject: Subject, gang: GangInfo, now: float) -> tuple[ObjectChange, ...]:
    """Without the time that it waits before it makes others leave."""
    group = subject.group
    if (
        group is None
        or subject.gang is not None
        or not gang.record.preemption_delay
        or now >= gang.created + gang.record.preemption_delay
    ):
        return ()
    changes = []
    if subject.top_kind == "Job":
        notes = {names.PREEMPTION_DELAY: None}
        changes.append(ObjectChange(kinds.JOB, subject.name, {"metadata": {"annotations": notes}}, subject.namespace))
    word = f"the PodGroup of {subject.top_kind}/{subject.name}" if subject.top is not None else ""
    changes.append(
        ObjectChange(kinds.POD_GROUP, group.name, {"spec": {"preemptionDelay": None}}, subject.namespace, word=word)
    )
    return tuple(changes)


# ── others ──


def suspended_others(
    session: Session, objects: ClusterObjects, gang: GangInfo, below: str, titles: dict[str, str]
) -> list[tuple[ObjectChange, ...]]:
    """Jobs that could be paused (spec.suspend), the smallest first; `below`: only those under this queue."""
    proportion = books(session)
    jobs: list[tuple[float, str, ObjectChange]] = []
    for other in session.active_gangs():
        under = (
            proportion is None
            or not below
            or below in {account.uid for account in line(proportion.accounts, other.queue)}
        )
        reference = next(
            (
                item
                for item in dig(
                    objects.raw(kinds.POD_GROUP, other.name, other.namespace), "metadata", "ownerReferences"
                )
                or ()
                if item.get("kind") == "Job"
            ),
            None,
        )
        if other is gang or reference is None or not under:
            continue
        held = (
            sum(task.given[GPU] for task in other.allocated_tasks)
            or sum(task.given[CPU] for task in other.allocated_tasks) / 1000
        )
        jobs.append(
            (held, other.uid, ObjectChange(kinds.JOB, reference["name"], {"spec": {"suspend": True}}, other.namespace))
        )
    jobs.sort(key=lambda job: job[:2])
    changes = [change for _, _, change in jobs]
    return [*((change,) for change in changes[:TRIED_OTHERS]), *combinations(changes[-TRIED_OTHERS:], 2)]


# ── more nodes ──


def more_nodes(
    session: Session, objects: ClusterObjects, no_room: NoRoom, gang: GangInfo
) -> Iterator[tuple[ObjectChange, ...]]:
    """One, two, four … nodes like the nearest one, changed so that every pod of the gang may use them."""
    tasks = session.wanted(gang, simulation=False)
    numbers = (1, 2, 3, 4, 8, MOST_NODES)
    for count in numbers:
        yield tuple(
            change for number in range(count) for change in _new_node(session, objects, no_room, tasks, number + 1)
        )


def _new_node(
    session: Session, objects: ClusterObjects, no_room: NoRoom, tasks: Sequence[TaskInfo], number: int
) -> Iterable[ObjectChange]:
    like = _template(objects, no_room)
    wishes = _wished_labels(session, tasks)
    name = wishes.get(HOSTNAME) or _free_name(objects, dig(like, "metadata", "name") or "node", number)
    labels = dict(dig(like, "metadata", "labels") or {names.SIMULATED: "true"})
    for key in _apart(tasks):
        labels[key] = f"{labels.get(key, key.rpartition('/')[2])}-more-{number}"
    labels |= {HOSTNAME: name} | {key: value for key, value in wishes.items() if value is not None}
    labels = {key: value for key, value in labels.items() if wishes.get(key, "") is not None}
    capacity = _capacity(session, like, tasks, labels)
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
    yield ObjectChange(kinds.NODE, name, {"metadata": {"labels": labels}, "spec": spec, "status": status}, how="new")
    yield from _slices(objects, str(dig(like, "metadata", "name") or ""), name, tasks)


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
    taken = {raw["metadata"]["name"] for raw in objects.raws(kinds.NODE)}
    free = (f"{stem}-more-{item}" for item in range(1, 1000) if f"{stem}-more-{item}" not in taken)
    for _ in range(number - 1):
        next(free)
    return next(free)


def _wished_labels(session: Session, tasks: Sequence[TaskInfo]) -> dict[str, str | None]:
    """Labels that the pods ask for; None: one that must not be there."""
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
            labels |= {label.key: wished(label) for label in (alternatives[0].labels if alternatives else ())}
    return labels


def _capacity(session: Session, like: Raw, tasks: Sequence[TaskInfo], labels: dict[str, str]) -> dict[str, str]:
    resource_names = session.cluster.names.names
    has = dict(dig(like, "status", "allocatable") or {"cpu": "64", "memory": "512Gi", "pods": "110"})
    largest = [max((at(task.request, place) for task in tasks), default=0) for place in range(len(resource_names))]
    node = session.cluster.nodes.get(str(dig(like, "metadata", "name") or ""))
    for place, need in enumerate(largest):
        there = at(node.allocatable, place) if node is not None else _usual(place)
        if need > there:
            key = names.NVIDIA_GPU if place == GPU else resource_names[place]
            if place == GPU and node is not None and node.record.gpu_resources:
                key = next(iter(node.record.gpu_resources))
            has[key] = quantity(math.ceil(need) if place == GPU else need, resource_names[place])
            if is_mig(key):
                labels |= {"nvidia.com/mig.strategy": "mixed", "node-role.kubernetes.io/mig-enabled": "true"}
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
    return {key: str(value) for key, value in has.items()}


def _usual(place: int) -> float:
    return {CPU: 64_000.0, MEMORY: 512 * GIB, PODS: 110.0}.get(place, 0.0)


def _tolerated(taint: Raw, tasks: Sequence[TaskInfo]) -> bool:
    record = TaintRecord(str(taint.get("key")), str(taint.get("effect")), str(taint.get("value") or ""))
    return all(untolerated((record,), task.record.tolerations) is None for task in tasks)


def _slices(objects: ClusterObjects, like: str, name: str, tasks: Sequence[TaskInfo]) -> Iterator[ObjectChange]:
    """The devices of the new node, as those of the one it is like."""
    if not any(task.record.claims or task.backed for task in tasks):
        return
    slices = [raw for raw in objects.raws(kinds.RESOURCE_SLICE) if dig(raw, "spec", "nodeName")]
    mine = [slice_ for slice_ in slices if dig(slice_, "spec", "nodeName") == like] or slices[:1]
    for number, item in enumerate(mine):
        spec = merge_patch(item["spec"], {"nodeName": name, "pool": {"name": name, "generation": 1}})
        yield ObjectChange(kinds.RESOURCE_SLICE, f"{name}-{number}", {"spec": spec}, how="new")
