"""PyTorchJob: a master, and workers that may be elastic and may be cut into segments.

The root asks for the whole minimum; `master` and `worker` are its sub-groups. With segments, `worker` becomes a parent
with one leaf per segment; segments past the elastic minimum ask for nothing, so they never hold the job back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.meta import Raw
from gangline.grouper import fields, owners
from gangline.grouper.groupers import segments
from gangline.grouper.groupers.base import base
from gangline.grouper.groupers.contract import Grouper
from gangline.grouper.groupers.kubeflow import POLICY, REPLICA_TYPE, replicas_minimum
from gangline.grouper.grouping import Grouping, GroupPart, Ungroupable
from gangline.grouper.look import GrouperView

REPLICAS = "pytorchReplicaSpecs"
REPLICA_INDEX = "training.kubeflow.org/replica-index"
MASTER, WORKER = "Master", "Worker"


class PyTorchGrouper(Grouper):
    kinds = ("kubeflow.org/v1 PyTorchJob",)

    def group(self, pod: Pod, owner: Raw, read: GrouperView, chain: Sequence[Raw] = ()) -> Grouping:
        minimum = _minimum(owner)
        roles = fields.mapping(owner, "spec", REPLICAS)
        if roles is None:
            raise Ungroupable(f"{owners.title(owner)} has no spec.{REPLICAS}")
        masters = fields.integer(roles, MASTER, "replicas") or 0
        head = (GroupPart("master", masters),) if masters and MASTER in roles else ()
        workers = _workers(pod, owner, roles, max(0, minimum - masters)) if WORKER in roles else ()
        leaf = _leaf(pod, owner, roles)
        parts = head + workers
        return replace(
            base(pod, owner, read),
            minimum=minimum,
            parts=parts,
            leaf=leaf if leaf in [part.name for part in parts] else "",
        )


def _minimum(owner: Raw) -> int:
    """All replicas, or the elastic policy's minimum, or the scheduling policy's: the last one given counts."""
    minimum = replicas_minimum(owner, REPLICAS)
    if fields.integer(owner, *POLICY) is not None:
        return minimum
    try:
        elastic = fields.integer(owner, "spec", "elasticPolicy", "minReplicas")
    except Ungroupable:
        elastic = None
    return minimum if elastic is None else elastic


def _workers(pod: Pod, owner: Raw, roles: Raw, minimum: int) -> tuple[GroupPart, ...]:
    replicas = _replicas(roles)
    size, count = _segments(pod, roles)
    if not count:
        return (GroupPart("worker", minimum),)
    placed = segments.placement(pod, fields.mapping(roles, WORKER, "template"), owner)
    needed = -(-minimum // size)
    sizes = [size] * (replicas // size) + ([replicas % size] if replicas % size else [])
    return (
        GroupPart("worker", children=count),
        *(
            GroupPart(f"worker-{at}", item if at < needed else 0, parent="worker", placement=placed)
            for at, item in enumerate(sizes)
        ),
    )


def _replicas(roles: Raw) -> int:
    replicas = fields.integer(roles, WORKER, "replicas")
    return 1 if replicas is None else max(replicas, 0)


def _segments(pod: Pod, roles: Raw) -> tuple[int, int]:
    """Size and number of segments; both 0 when the workers are not cut."""
    size = _segment_size(pod, roles)
    if size is None:
        return 0, 0
    count = -(-_replicas(roles) // size)
    segments.check_count(count)
    return size, count


def _segment_size(pod: Pod, roles: Raw) -> int | None:
    text, where = pod.annotations.get(names.SEGMENT_SIZE), f"pod {pod.namespace}/{pod.name}"
    if not text:
        text = fields.text(roles, WORKER, "template", "metadata", "annotations", names.SEGMENT_SIZE)
        where = f"spec.{REPLICAS}.{WORKER}.template"
    if not text:
        return None
    size = fields.whole(text)
    if size is None or size <= 0:
        raise Ungroupable(f"annotation {names.SEGMENT_SIZE} of {where} must be a positive whole number, not {text!r}")
    return size


def _leaf(pod: Pod, owner: Raw, roles: Raw) -> str:
    role = pod.labels.get(REPLICA_TYPE, "")
    size, count = _segments(pod, roles) if role == "worker" and WORKER in roles else (0, 0)
    if not count:
        return role if role in ("master", "worker") else ""
    text = pod.labels.get(REPLICA_INDEX)
    index = fields.whole(text) if text is not None else None
    if index is None or index < 0:
        raise Ungroupable(
            f"label {REPLICA_INDEX} of worker pod {pod.namespace}/{pod.name} must be a number from 0 up, "
            f"not {text!r}: without it the pod's segment is unknown"
        )
    return f"worker-{index // size}"
