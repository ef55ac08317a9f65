"""The pods of a workload that count, and the minimum of each of its groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.meta import condition
from gangline.why.workloads import Subject

ENDED = ("Succeeded", "Failed")


def living(subject: Subject) -> list[Pod]:
    return [pod for pod in subject.pods if pod.status.phase not in ENDED and not pod.metadata.deleting]


def leaves_of(subject: Subject) -> dict[str, int]:
    """Sub-group → its minimum; "" where there is one group only. Of a PodGang of another backend: its cliques."""
    group = subject.group
    if group is None:
        cliques = subject.gang.spec.podgroups if subject.gang is not None else ()
        return {clique.name: clique.min_replicas for clique in cliques} or {"": 1}
    parents = {(sub_group.parent or "").lower() for sub_group in group.spec.sub_groups}
    leaves = {
        sub_group.name: sub_group.min_member or 0
        for sub_group in group.spec.sub_groups
        if sub_group.name not in parents
    }
    return leaves or {"": 1 if group.spec.min_member is None else group.spec.min_member}


def count_by_leaf(subject: Subject, pods: Sequence[Pod]) -> Counter[str]:
    label = names.SUB_GROUP if subject.group is not None else names.POD_CLIQUE
    leaves = leaves_of(subject)
    return Counter("" if "" in leaves else pod.labels.get(label, "") for pod in pods)


def succeeded(subject: Subject) -> list[Pod]:
    return [pod for pod in subject.pods if pod.status.phase == "Succeeded"]


def holds_minimum(subject: Subject) -> bool:
    bound = [pod for pod in living(subject) if pod.spec.node_name]
    counts = count_by_leaf(subject, [*bound, *succeeded(subject)])
    return bool(bound) and all(counts[leaf] >= minimum for leaf, minimum in leaves_of(subject).items())


def is_ready(pod: Pod) -> bool:
    condition_ready = condition(pod.status.conditions, "Ready")
    if condition_ready is not None:
        return condition_ready.status == "True"
    return pod.status.phase == "Running" and all(status.ready for status in pod.status.container_statuses)
