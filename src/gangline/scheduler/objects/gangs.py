"""PodGroup, Queue and Topology → GangRecord, QueueRecord, TopologyRecord.

A gang is known by namespace and name of its PodGroup; pods name it in an annotation. A PodGroup whose tree makes no
sense becomes a gang with `problems`: it waits and says why, and no other gang notices.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gangline.api import kai, names
from gangline.rules.gangs.priorities import NO_CLASSES, Priorities
from gangline.rules.values import times
from gangline.rules.values.parents import below_themselves
from gangline.scheduler.objects.reading import DEFAULTS, ObjectReading, refuse
from gangline.scheduler.records import (
    DEFAULT_POD_SET,
    GangRecord,
    GroupRecord,
    PodSetRecord,
    QueueRecord,
    Share,
    TopologyRecord,
    TopologyRule,
)
from gangline.scheduler.records.gangs import MoveWish

DEFAULT_QUEUE_PRIORITY = 100
UNLIMITED = -1.0
NO_BACKOFF = -1
MOVE_WISHES: dict[str, MoveWish] = {"start-first": "start-first", "never": "never"}
DEEPEST = 64
"""Levels of sub-groups: far more than needed, and few enough to be walked by functions that call themselves."""

Aliases = Mapping[str, Mapping[str, str]]
"""Topology name → level alias → node label key."""


def gang_uid(namespace: str, name: str) -> str:
    return f"{namespace}/{name}"


LARGEST = 2.0**62
"""No quota, limit or weight counts for more: it is more than any cluster has, and sums of such can still be written."""


def queue_record(queue: kai.Queue, usage: Mapping[str, float] | None = None) -> QueueRecord:
    """`usage`: the part of the cluster it used in the past, per cpu, memory, gpu."""
    spec, used = queue.spec, usage or {}
    given = spec.resources or kai.QueueResources()
    return QueueRecord(
        name=queue.name,
        parent=spec.parent_queue,
        priority=DEFAULT_QUEUE_PRIORITY if spec.priority is None else spec.priority,
        created=times.seconds(queue.metadata.creation_timestamp) or 0.0,
        cpu=_share("cpu", given.cpu, used),
        memory=_share("memory", given.memory, used, unit=1e6),
        gpu=_share("gpu", given.gpu, used),
        display_name=spec.display_name,
        preempt_min_runtime=_duration("spec.preemptMinRuntime", spec.preempt_min_runtime),
        reclaim_min_runtime=_duration("spec.reclaimMinRuntime", spec.reclaim_min_runtime),
        lost_per_hour=_said_number(queue.annotations.get(names.LOST_PER_HOUR)),
        evictions_per_day=_said_number(queue.annotations.get(names.EVICTIONS_PER_DAY)),
    )


def _said_number(text: str | None) -> float | None:
    """The number that an annotation says; one that is none, or negative, says nothing."""
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if number >= 0 else None


def _share(resource: str, given: kai.QueueResource, usage: Mapping[str, float], unit: float = 1.0) -> Share:
    for field_name, value in (("quota", given.quota), ("limit", given.limit)):
        if value < 0 and value != UNLIMITED:
            raise refuse(f"spec.resources.{resource}.{field_name}", "must be -1 (unlimited) or not negative")
    if given.over_quota_weight < 0:
        raise refuse(f"spec.resources.{resource}.overQuotaWeight", "must not be negative")
    return Share(
        quota=min(max(UNLIMITED, given.quota * unit), LARGEST),
        limit=min(max(UNLIMITED, given.limit * unit), LARGEST),
        weight=min(given.over_quota_weight, LARGEST),
        usage=usage.get(resource, 0.0),
    )


def _duration(path: str, text: str | None) -> float | None:
    if text is None:
        return None
    try:
        return times.duration(text)
    except ValueError as error:
        raise refuse(path, str(error)) from error


def gang_record(
    group: kai.PodGroup,
    known: Priorities = NO_CLASSES,
    aliases: Aliases | None = None,
    reading: ObjectReading = DEFAULTS,
) -> GangRecord:
    spec, noted = group.spec, group.annotations
    tree, problems = gang_tree(spec, aliases or {})
    return GangRecord(
        uid=gang_uid(group.namespace, group.name),
        queue=spec.queue,
        name=group.name,
        namespace=group.namespace,
        priority=known.of(group),
        preemptible={"preemptible": True, "non-preemptible": False}.get(spec.preemptibility),
        created=times.seconds(group.metadata.creation_timestamp) or 0.0,
        tree=tree,
        preemption_delay=_duration("spec.preemptionDelay", spec.preemption_delay) or 0.0,
        staleness_grace=_duration("spec.stalenessGracePeriod", spec.staleness_grace_period),
        stale_since=times.seconds(noted.get(names.STALE_SINCE)),
        last_start=times.seconds(noted.get(names.LAST_START)),
        last_eviction=times.seconds(noted.get(names.LAST_EVICTION)),
        skipped=backs_off(group, reading),
        problems=problems,
        expected_runtime=said_runtime(noted),
        last_checkpoint=times.seconds(noted.get(names.LAST_CHECKPOINT)),
        checkpoint_interval=_said_interval(noted.get(names.CHECKPOINT_INTERVAL)),
        workload=next((owner.name for owner in group.metadata.owner_references), group.name),
        counts_succeeded=reading.counts_succeeded,
        move=said_move(noted),
    )


def said_move(annotations: Mapping[str, str]) -> MoveWish:
    """A word that we do not know says nothing."""
    return MOVE_WISHES.get(annotations.get(names.MOVE, ""), "")


def _said_interval(text: str | None) -> float:
    """Seconds; an annotation that is no duration says nothing."""
    try:
        return max(times.duration(text or ""), 0.0)
    except ValueError:
        return 0.0


def said_runtime(annotations: Mapping[str, str], deadline: float | None = None) -> float | None:
    """The runtime that an annotation expects, else the deadline; an annotation that is no duration says nothing."""
    try:
        runtime = times.duration(annotations.get(names.EXPECTED_RUNTIME, ""))
    except ValueError:
        return deadline
    return runtime if runtime > 0 else deadline


def backs_off(group: kai.PodGroup, reading: ObjectReading) -> bool:
    """It gave up on this node pool and asked not to be tried here again."""
    if group.spec.scheduling_backoff in (None, NO_BACKOFF):
        return False
    conditions = group.status.scheduling_conditions
    if not conditions:
        return False
    last = max(
        conditions, key=lambda condition: int(condition.transition_id) if condition.transition_id.isdigit() else -1
    )
    return last.node_pool == (group.labels.get(reading.node_pool_key) or "default")


def gang_tree(spec: kai.PodGroupSpec, aliases: Aliases) -> tuple[GroupRecord, tuple[str, ...]]:
    """The tree of sub-groups, or the plain one with problems when it cannot be built."""
    rule = topology_rule(spec.topology_constraint, aliases)
    if not spec.sub_groups:
        minimum = 1 if spec.min_member is None else spec.min_member
        return GroupRecord(
            min_groups=spec.min_sub_group, topology=rule, pod_sets=(PodSetRecord(DEFAULT_POD_SET, minimum),)
        ), ()
    problems = tree_problems(spec.sub_groups)
    if problems:
        return GroupRecord(topology=rule, pod_sets=(PodSetRecord(DEFAULT_POD_SET, 1),)), problems
    children: dict[str, list[kai.SubGroup]] = {}
    for member in spec.sub_groups:
        children.setdefault((member.parent or "").lower(), []).append(member)
    return _group("", spec.min_sub_group, rule, children, aliases), ()


def _group(
    name: str,
    minimum: int | None,
    rule: TopologyRule | None,
    children: Mapping[str, list[kai.SubGroup]],
    aliases: Aliases,
) -> GroupRecord:
    members = [(member, topology_rule(member.topology_constraint, aliases)) for member in children[name]]
    return GroupRecord(
        name=name,
        min_groups=minimum,
        topology=rule,
        groups=tuple(_group(m.name, m.min_sub_group, r, children, aliases) for m, r in members if m.name in children),
        pod_sets=tuple(
            PodSetRecord(m.name, max(m.min_member or 0, 0), r) for m, r in members if m.name not in children
        ),
    )


def tree_problems(members: Iterable[kai.SubGroup]) -> tuple[str, ...]:
    """Everything that keeps sub-groups from being one tree."""
    parents: dict[str, str] = {}
    problems = []
    for member in members:
        if member.name in parents:
            problems.append(f"sub-group {member.name} is listed twice")
        parents[member.name] = (member.parent or "").lower()
    problems += [
        f"sub-group {name} has the unknown parent {up}" for name, up in parents.items() if up and up not in parents
    ]
    if not problems:
        circular = below_themselves({name: up or None for name, up in parents.items()})
        problems += [f"sub-group {name} is its own ancestor" for name in parents if name in circular]
    if not problems and _depth(parents) > DEEPEST:
        problems.append(f"sub-groups are nested more than {DEEPEST} levels deep")
    return tuple(problems)


def _depth(parents: Mapping[str, str]) -> int:
    """Levels of a tree; every name has its parent in it, or none."""
    below: dict[str, list[str]] = {}
    for name, up in parents.items():
        below.setdefault(up, []).append(name)
    depth, level = 0, below.get("", [])
    while level:
        depth, level = depth + 1, [child for name in level for child in below.get(name, ())]
    return depth


def topology_rule(constraint: kai.TopologyConstraint | None, aliases: Aliases) -> TopologyRule | None:
    if constraint is None or not constraint.topology:
        return None
    known = aliases.get(constraint.topology, {})
    required, preferred = constraint.required_topology_level, constraint.preferred_topology_level
    return TopologyRule(constraint.topology, known.get(required, required), known.get(preferred, preferred))


def topology_record(topology: kai.Topology) -> TopologyRecord:
    if not topology.spec.levels:
        raise refuse("spec.levels", "must name at least one level")
    return TopologyRecord(topology.name, tuple(level.node_label for level in topology.spec.levels))


def level_aliases(topologies: Iterable[kai.Topology]) -> dict[str, dict[str, str]]:
    by_topology = {
        topology.name: {level.alias: level.node_label for level in topology.spec.levels if level.alias}
        for topology in topologies
    }
    return {name: aliases for name, aliases in by_topology.items() if aliases}
