"""Knative: all pods of a revision are one gang of its minimum scale; without gangs, each pod is a group of its own.

A revision whose pods were grouped one by one before stays that way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.meta import Raw
from gangline.grouper import fields, owners
from gangline.grouper.groupers.base import INFERENCE, base
from gangline.grouper.groupers.contract import Grouper
from gangline.grouper.groupers.default import for_one_pod
from gangline.grouper.grouping import Grouping, GroupTopology, Ungroupable
from gangline.grouper.look import GrouperView

SERVING = "serving.knative.dev/v1"
REVISION, MIN_SCALE = "serving.knative.dev/revision", "autoscaling.knative.dev/min-scale"


class KnativeGrouper(Grouper):
    kinds = (f"{SERVING} Service",)
    reads = (f"{SERVING} Revision", f"{SERVING} Configuration")

    def group(self, pod: Pod, owner: Raw, read: GrouperView, chain: Sequence[Raw] = ()) -> Grouping:
        name = pod.labels.get(REVISION)
        if name is None:
            raise Ungroupable(f"pod {pod.namespace}/{pod.name} has no label {REVISION} that names its revision")
        revision = read.get(SERVING, "Revision", pod.namespace, name)
        grouping = _of_revision(pod, revision, owner, read)
        if read.settings.knative_gangs and not _is_one_by_one(pod.namespace, revision, read):
            return replace(grouping, minimum=_scale(revision))
        priority = INFERENCE if read.settings.manner.revision_only else grouping.priority_class
        return for_one_pod(replace(grouping, priority_class=priority), pod)


def _of_revision(pod: Pod, revision: Raw, owner: Raw, read: GrouperView) -> Grouping:
    """A revision's group. Upstream hears neither the service above it nor what it says besides queue and priority."""
    if read.settings.manner.revision_only:
        return replace(
            base(pod, revision, read, fallback=INFERENCE),
            preemptibility="",
            preemption_delay=None,
            staleness_grace=None,
            placement=GroupTopology(),
        )
    return base(pod, owners.with_missing(revision, owner), read, fallback=INFERENCE)


def _scale(revision: Raw) -> int:
    minimum = fields.whole(owners.annotations_of(revision).get(MIN_SCALE, "1"))
    return 1 if minimum is None else minimum


def _is_one_by_one(namespace: str, revision: Raw, read: GrouperView) -> bool:
    """Do the revision's pods have groups of their own from an earlier time?"""
    pods = read.pods(namespace, {REVISION: owners.name_of(revision)})
    joined = [pod.annotations[names.POD_GROUP_NAME] for pod in pods if names.POD_GROUP_NAME in pod.annotations]
    if not joined or len(set(joined)) < len(joined):
        return False
    if len(joined) > 1:
        return True
    group = read.pod_group(namespace, joined[0])
    if group is None:
        return False
    kind = group.metadata.owner_references[0].kind if group.metadata.owner_references else "nobody"
    if kind not in ("Revision", "Pod"):
        raise Ungroupable(
            f"PodGroup {namespace}/{joined[0]} of {owners.title(revision)} belongs to {kind}; "
            f"it should belong to the revision or to a pod: delete it to let it be made anew"
        )
    return kind == "Pod"
