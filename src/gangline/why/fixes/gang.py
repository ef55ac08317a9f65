"""Changes of the gang itself: lower minimum, relaxed topology, higher priority, preemptible, no preemption delay."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import msgspec

from gangline.api import kinds, names
from gangline.api.kai import SubGroup, TopologyConstraint
from gangline.api.meta import Raw
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.records import TopologyRule
from gangline.scheduler.session import Session
from gangline.scheduler.why.bounds import QueueExcess
from gangline.why.changes import ObjectChange
from gangline.why.objects import ClusterObjects, dig
from gangline.why.pods.minimum import lowered
from gangline.why.queues.bounds import books
from gangline.why.states.members import leaves_of
from gangline.why.workloads import Subject, made_by

Fields = dict[str, str | None]
TOPOLOGY_NOTES = {
    "requiredTopologyLevel": names.TOPOLOGY_REQUIRED,
    "preferredTopologyLevel": names.TOPOLOGY_PREFERRED,
    "topology": names.TOPOLOGY,
}


def lower_minimum(
    session: Session, subject: Subject, gang: GangInfo, excesses: Sequence[QueueExcess], placed: int = 0
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


def relaxed(
    objects: ClusterObjects, subject: Subject, rule: TopologyRule, unknown: bool = False
) -> tuple[ObjectChange, ...]:
    """The topology level preferred instead of required; one that nobody knows not asked for at all."""

    def fields_of(constraint: TopologyConstraint) -> Fields:
        level = "" if unknown else constraint.required_topology_level
        if not level and not unknown:
            return {}
        fields: Fields = {"requiredTopologyLevel": None, "preferredTopologyLevel": level or None}
        return fields | ({"topology": None} if unknown else {})

    return _constrained(objects, subject, rule, fields_of)


def renamed(
    objects: ClusterObjects, subject: Subject, rule: TopologyRule, topology: str = "", level: tuple[str, str] = ("", "")
) -> tuple[ObjectChange, ...]:
    """The topology, or one level in place of another, by a name that there is; nothing where none comes near."""
    wrong, right = level

    def fields_of(constraint: TopologyConstraint) -> Fields:
        fields: Fields = {"topology": topology} if topology else {}
        if right and constraint.required_topology_level == wrong:
            fields["requiredTopologyLevel"] = right
        if right and constraint.preferred_topology_level == wrong:
            fields["preferredTopologyLevel"] = right
        return fields

    return _constrained(objects, subject, rule, fields_of)


def _constrained(
    objects: ClusterObjects, subject: Subject, rule: TopologyRule, fields_of: Callable[[TopologyConstraint], Fields]
) -> tuple[ObjectChange, ...]:
    """The topologyConstraints of this rule with other fields: that of the PodGroup, and the annotations of the
    workload that they come from, or those of its sub-groups."""
    group = subject.group
    if group is None or subject.gang is not None:
        return ()
    whole = group.spec.topology_constraint
    fields = fields_of(whole) if whole.topology == rule.topology else {}
    parts = {
        part.name: changed
        for part in group.spec.sub_groups
        if part.topology_constraint is not None
        and part.topology_constraint.topology == rule.topology
        and (changed := fields_of(part.topology_constraint))
    }
    notes = {TOPOLOGY_NOTES[field]: value for field, value in fields.items()}
    owner_notes = dig(made_by(objects, subject), "metadata", "annotations") or {}
    changes = (
        _of_owner(objects, subject, {"annotations": notes}) if owner_notes.keys() & TOPOLOGY_NOTES.values() else []
    )
    spec: Raw = {"topologyConstraint": fields} if fields else {}
    if parts:
        spec["subGroups"] = [_with_constraint(part, parts.get(part.name)) for part in group.spec.sub_groups]
    if spec:
        changes.append(_of_group(subject, spec))
    return tuple(changes)


def _of_owner(objects: ClusterObjects, subject: Subject, meta: Raw) -> list[ObjectChange]:
    """The workload with other labels or annotations: its PodGroup follows them, and would lose what only it was
    given."""
    top = made_by(objects, subject)
    kind = objects.kind(top.get("apiVersion"), top.get("kind"))
    return [ObjectChange(kind, top["metadata"]["name"], {"metadata": meta}, subject.namespace)] if kind and meta else []


def _of_group(subject: Subject, spec: Raw) -> ObjectChange:
    """The PodGroup with other fields, under the name of the workload that people made."""
    assert subject.group is not None
    alone = subject.kind == "pod" and subject.top_kind != "Pod"
    word = f"the PodGroup of {'Pod' if alone else subject.top_kind}/{subject.name}" if subject.top is not None else ""
    return ObjectChange(kinds.POD_GROUP, subject.group.name, {"spec": spec}, subject.namespace, word=word)


def _with_constraint(part: SubGroup, fields: Fields | None) -> Raw:
    """A sub-group as its PodGroup lists it, whole; a list is patched as one."""
    whole: Raw = msgspec.to_builtins(part)
    if fields is not None:
        merged = (whole.get("topologyConstraint") or {}) | fields
        whole["topologyConstraint"] = {field: value for field, value in merged.items() if value is not None}
    return whole


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
    if group is None or not rivals:
        return
    classes = sorted(
        (item.value, item.name) for item in objects.all(kinds.PRIORITY_CLASS) if item.value > gang.priority
    )
    chosen = next(((value, name) for value, name in classes if min(rivals) < value < 100), None)
    if chosen is not None:
        yield from _of_class(objects, subject, chosen[1])


def _of_class(objects: ClusterObjects, subject: Subject, name: str) -> Iterator[tuple[ObjectChange, ...]]:
    """The PodGroup, and the workload that it comes from, with that priority class; of a set, the set alone: its
    PodGroups follow."""
    if subject.gang is not None:
        if subject.top is not None:
            body: Raw = {"spec": {"template": {"priorityClassName": name}}}
            top = subject.top["metadata"]["name"]
            yield (ObjectChange(kinds.POD_CLIQUE_SET, top, body, subject.namespace),)
        return
    label = {"labels": {names.PRIORITY_CLASS: name}}
    yield (*_of_owner(objects, subject, label), _of_group(subject, {"priorityClassName": name}))


def preemptible(objects: ClusterObjects, subject: Subject) -> tuple[ObjectChange, ...]:
    """The workload marked as one that may be evicted, so that its queue may hold it beyond its quota."""
    group = subject.group
    if group is None or subject.gang is not None:
        return ()
    made = _of_owner(objects, subject, {"labels": {names.PREEMPTIBILITY: "preemptible"}})
    body: Raw = {"spec": {"preemptibility": "preemptible"}}
    return (*made, ObjectChange(kinds.POD_GROUP, group.name, body, subject.namespace, word=subject.group_word))


def undelayed(objects: ClusterObjects, subject: Subject, gang: GangInfo, now: float) -> tuple[ObjectChange, ...]:
    """Without the time that it waits before it makes others leave."""
    group = subject.group
    if (
        group is None
        or subject.gang is not None
        or not gang.record.preemption_delay
        or now >= gang.created + gang.record.preemption_delay
    ):
        return ()
    owner_delays = names.PREEMPTION_DELAY in (dig(made_by(objects, subject), "metadata", "annotations") or {})
    notes: Raw = {"annotations": {names.PREEMPTION_DELAY: None}} if owner_delays else {}
    return (*_of_owner(objects, subject, notes), _of_group(subject, {"preemptionDelay": None}))
