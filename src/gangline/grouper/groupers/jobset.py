"""JobSet: one group, a parent per replicated job, a leaf per replica of it.

A set that starts its jobs in order may begin with the first; otherwise all of them are needed. Sets grouped by older
releases stay flat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.meta import Raw
from gangline.grouper import fields, owners
from gangline.grouper.groupers.base import base
from gangline.grouper.groupers.contract import Grouper
from gangline.grouper.groupers.job import batch_minimum
from gangline.grouper.grouping import Grouping, GroupPart, GroupTopology, Ungroupable
from gangline.grouper.look import GrouperView

JOB_NAME, JOB_INDEX = "jobset.sigs.k8s.io/replicatedjob-name", "jobset.sigs.k8s.io/job-index"
IN_ORDER = "InOrder"
MOST_REPLICAS = 5_000
"""Leaves of one replicated job: each is an entry of the PodGroup, which has to fit into one object."""


class JobSetGrouper(Grouper):
    kinds = ("jobset.x-k8s.io/v1alpha2 JobSet",)
    reads = ("batch/v1 Job",)

    def group(self, pod: Pod, owner: Raw, read: GrouperView, chain: Sequence[Raw] = ()) -> Grouping:
        jobs = _jobs(owner)
        grouping = base(pod, owner, read)
        if _is_flat(grouping, read):
            return _flat(grouping, pod, owner)
        parts = tuple(part for place, job in enumerate(jobs) for part in _parts(job, place))
        return replace(grouping, children=_children(owner, len(jobs)), minimum=0, parts=parts, leaf=_leaf(pod, parts))


def _jobs(owner: Raw) -> list[Raw]:
    jobs = fields.items(owner, "spec", "replicatedJobs") or []
    if not all(isinstance(job, dict) for job in jobs):
        raise Ungroupable(f"spec.replicatedJobs of {owners.title(owner)} must be a list of objects")
    if not jobs:
        raise Ungroupable(f"{owners.title(owner)} has no spec.replicatedJobs")
    return jobs


def _is_flat(grouping: Grouping, read: GrouperView) -> bool:
    """Was this set grouped before there were sub-groups?"""
    return any(
        not group.spec.sub_groups
        for group in read.pod_groups(grouping.namespace)
        if group.name == grouping.name or group.name.startswith(f"{grouping.name}-")
    )


def _flat(grouping: Grouping, pod: Pod, owner: Raw) -> Grouping:
    job = _label(pod, JOB_NAME)
    name = f"{grouping.name}-{job}" if _order(owner) == IN_ORDER else grouping.name
    return replace(grouping, name=name, minimum=batch_minimum(owner))


def _order(owner: Raw) -> str:
    return fields.text(owner, "spec", "startupPolicy", "startupPolicyOrder") or ""


def _label(pod: Pod, key: str) -> str:
    value = pod.labels.get(key)
    if not value:
        raise Ungroupable(f"pod {pod.namespace}/{pod.name} has no label {key}, so its place in the JobSet is unknown")
    return value


def _children(owner: Raw, count: int) -> int:
    """How many replicated jobs must start together."""
    asked = owners.annotations_of(owner).get(names.BATCH_MIN_MEMBER)
    if asked is None:
        return 1 if _order(owner) == IN_ORDER else count
    return min(_at_least_one(asked, owners.title(owner)), count)


def _at_least_one(asked: str, where: str) -> int:
    number = fields.whole(asked, 32)
    if number is None or number < 1:
        raise Ungroupable(
            f"annotation {names.BATCH_MIN_MEMBER} of {where} must be a whole number from 1 up, not {asked!r}"
        )
    return number


def _parts(job: Raw, place: int) -> list[GroupPart]:
    where = f"spec.replicatedJobs[{place}]"
    name = fields.text(job, "name")
    if not name:
        raise Ungroupable(f"{where} has no name")
    replicas = fields.integer(job, "replicas")
    replicas = 1 if replicas is None else replicas
    if replicas > MOST_REPLICAS:
        raise Ungroupable(f"{where}.replicas is {replicas}; a gang has at most {MOST_REPLICAS} jobs of a kind")
    minimum, placed = _leaf_minimum(job, where), _leaf_placement(job)
    return [
        GroupPart(name, children=replicas),
        *(GroupPart(leaf_name(name, str(at)), minimum, parent=name, placement=placed) for at in range(replicas)),
    ]


def leaf_name(job: str, index: str) -> str:
    return f"{job}-replica-{index}"


def _leaf_minimum(job: Raw, where: str) -> int:
    parallelism = fields.integer(job, "template", "spec", "parallelism")
    asked = _template_annotation(job, names.BATCH_MIN_MEMBER)
    if asked:
        return _at_least_one(asked, f"{where}.template")
    return 1 if parallelism is None else parallelism


def _leaf_placement(job: Raw) -> GroupTopology | None:
    placed = GroupTopology(
        _template_annotation(job, names.TOPOLOGY),
        _template_annotation(job, names.TOPOLOGY_REQUIRED),
        _template_annotation(job, names.TOPOLOGY_PREFERRED),
    )
    return placed if placed.topology and (placed.required or placed.preferred) else None


def _template_annotation(job: Raw, key: str) -> str:
    return fields.text(job, "template", "metadata", "annotations", key) or ""


def _leaf(pod: Pod, parts: Sequence[GroupPart]) -> str:
    leaf = leaf_name(_label(pod, JOB_NAME), _label(pod, JOB_INDEX))
    if leaf not in [part.name for part in parts]:
        raise Ungroupable(f"pod {pod.namespace}/{pod.name} belongs to {leaf}, which the JobSet's spec does not have")
    return leaf
