"""The rules that nearly every workload shares: name, owner, labels, queue, priority, preemptibility, delays, topology.

A grouper calls `base` and replaces what its family does differently. `owners` are searched for priority, preemptibility
and delays; most families search only the object they group by, the default grouper the whole chain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.meta import Raw
from gangline.grouper import owners
from gangline.grouper.defaults import defaults_of, kind_defaults
from gangline.grouper.grouping import Grouping, GroupTopology
from gangline.grouper.look import GrouperView
from gangline.grouper.topowner import described
from gangline.rules.gangs.memberships import OWNED
from gangline.rules.values import times

TRAIN, BUILD, INFERENCE = "train", "build", "inference"
PREEMPTIBILITIES = ("preemptible", "non-preemptible", "")
PROJECT, USER = "project", "user"
"""kubectl's own note about the workload; on a group it would be about the wrong object."""


def base(pod: Pod, owner: Raw, read: GrouperView, chain: Sequence[Raw] = (), fallback: str = TRAIN) -> Grouping:
    """The group of an owner by the common rules, with a minimum of one pod."""
    searched = chain or (owner,)
    return Grouping(
        name=names.kai_pod_group(owners.name_of(owner), owners.uid_of(owner)),
        namespace=pod.namespace,
        owner=owners.reference_to(owner),
        labels=group_labels(pod, owner),
        annotations=group_annotations(pod, owner, read),
        queue=queue(pod, owner, read),
        priority_class=priority_class(pod, searched, read, fallback),
        preemptibility=preemptibility(pod, searched, read),
        preemption_delay=_delay(pod, searched, names.PREEMPTION_DELAY, negative=False),
        staleness_grace=_delay(pod, searched, names.STALENESS_GRACE, negative=True),
        placement=placement(owners.annotations_of(owner)),
    )


def with_all_of_owner(grouping: Grouping, pod: Pod, read: GrouperView) -> Grouping:
    """The same group, which has every pod that its owner owns: those need no mark to be known as its members."""
    direct = grouping.owner["uid"] in [reference.uid for reference in pod.metadata.owner_references[:1]]
    if not direct or read.settings.manner.marks_every_pod:
        return grouping
    return replace(grouping, annotations={**grouping.annotations, names.MEMBERS: OWNED})


def group_labels(pod: Pod, owner: Raw) -> dict[str, str]:
    user = {USER: pod.labels[USER]} if USER in pod.labels else {}
    return user | owners.labels_of(owner)


def group_annotations(pod: Pod, owner: Raw, read: GrouperView) -> dict[str, str]:
    user = {USER: pod.annotations[USER]} if USER in pod.annotations else {}
    annotations = user | {names.TOP_OWNER: described(owner)} | owners.annotations_of(owner)
    manner = read.settings.manner
    copied = {
        names.POD_GROUP_NAME: manner.membership_copied,
        names.LAST_APPLIED: manner.last_applied_copied,
        names.PLACED: False,
    }
    return {key: value for key, value in annotations.items() if copied.get(key, True)}


def queue(pod: Pod, owner: Raw, read: GrouperView) -> str:
    """The queue label of owner or pod, else the older project label, else the default queue."""
    queues = [
        labels[read.settings.queue_label]
        for labels in (owners.labels_of(owner), pod.labels)
        if read.settings.queue_label in labels
    ]
    for name in queues:
        if name or read.settings.manner.empty_queue_counts:
            return name
    project = owners.labels_of(owner).get(PROJECT, pod.labels.get(PROJECT, ""))
    if not project:
        return names.DEFAULT_QUEUE
    pool = pod.labels.get(read.settings.node_pool_label)
    return project if pool is None else f"{project}-{pool}"


def priority_class(pod: Pod, searched: Sequence[Raw], read: GrouperView, fallback: str = TRAIN) -> str:
    """The first class that exists: named by the owners, then by the pod, then the default of a kind."""
    of_owners = [owners.labels_of(owner).get(names.PRIORITY_CLASS) for owner in searched]
    of_pod = [pod.labels.get(names.PRIORITY_CLASS), pod.spec.priority_class_name or None]
    classes = [name for name in of_owners + of_pod if name is not None]
    if read.settings.manner.unknown_priority_hides:
        pods = next((name for name in of_pod if name is not None), "")
        classes = [pods if name is None else name for name in of_owners]
    usual = defaults_of(read)
    by_kind = [kind_defaults(usual, owner).priority for owner in searched]
    return next((name for name in [*classes, *by_kind] if read.has_priority_class(name)), fallback)


def preemptibility(pod: Pod, searched: Sequence[Raw], read: GrouperView) -> str:
    """The first valid label of owners, then pod, then the kind's default; empty: it follows from the priority."""
    for labels in [*(owners.labels_of(owner) for owner in searched), pod.labels]:
        value = labels.get(names.PREEMPTIBILITY)
        if value in PREEMPTIBILITIES:
            return value
    usual = defaults_of(read)
    by_kind = [kind_defaults(usual, owner).preemptibility.lower() for owner in searched]
    return next((value for value in by_kind if value and value in PREEMPTIBILITIES), "")


def _delay(pod: Pod, searched: Sequence[Raw], annotation: str, *, negative: bool) -> str | None:
    for notes in [*(owners.annotations_of(owner) for owner in searched), pod.annotations]:
        seconds = delay(notes.get(annotation), negative=negative)
        if seconds is not None:
            return seconds
    return None


def delay(text: str | None, *, negative: bool = False) -> str | None:
    """A duration in the form in which it is stored; None when it is none, or below zero where that makes no sense."""
    nanos = times.nanoseconds(text) if text is not None else None
    if nanos is None or (nanos < 0 and not negative):
        return None
    return times.canonical(nanos)


def placement(annotations: dict[str, str]) -> GroupTopology:
    return GroupTopology(
        annotations.get(names.TOPOLOGY, ""),
        annotations.get(names.TOPOLOGY_REQUIRED, ""),
        annotations.get(names.TOPOLOGY_PREFERRED, ""),
    )
