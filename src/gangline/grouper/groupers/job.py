"""Jobs that know how many pods they start with: batch Job and CronJob, Run:ai job, Azure ML job.

A batch Job starts with one pod unless its annotation asks for a gang; a CronJob makes one group per run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.meta import Raw
from gangline.grouper import fields, owners
from gangline.grouper.groupers.base import base, with_all_of_owner
from gangline.grouper.groupers.contract import Grouper
from gangline.grouper.grouping import Grouping, Ungroupable
from gangline.grouper.look import GrouperView


class JobGrouper(Grouper):
    kinds = ("batch/v1 Job",)

    def group(self, pod: Pod, owner: Raw, read: GrouperView, chain: Sequence[Raw] = ()) -> Grouping:
        grouping = base(pod, owner, read)
        older = names.kai_pod_group(pod.name, owners.uid_of(owner))
        if read.settings.search_legacy and older != grouping.name and read.pod_group(pod.namespace, older):
            return replace(grouping, name=older)
        return with_all_of_owner(replace(grouping, minimum=batch_minimum(owner)), pod, read)


def batch_minimum(owner: Raw) -> int:
    """What the owner's annotation asks for, else one pod."""
    asked = owners.annotations_of(owner).get(names.BATCH_MIN_MEMBER)
    minimum = 1 if asked is None else fields.whole(asked, 32)
    if minimum is None:
        raise Ungroupable(
            f"annotation {names.BATCH_MIN_MEMBER} of {owners.title(owner)} must be a whole number, not {asked!r}"
        )
    return minimum


class CronJobGrouper(Grouper):
    kinds = ("batch/v1 CronJob",)
    reads = ("batch/v1 Job",)

    def group(self, pod: Pod, owner: Raw, read: GrouperView, chain: Sequence[Raw] = ()) -> Grouping:
        run = next(
            (owner_reference for owner_reference in pod.metadata.owner_references if owner_reference.kind == "Job"),
            None,
        )
        if run is None:
            raise Ungroupable(
                f"pod {pod.namespace}/{pod.name} belongs to {owners.title(owner)} but has no owner of kind Job"
            )
        return base(pod, read.get("batch/v1", "Job", pod.namespace, run.name), read)


class RunaiJobGrouper(Grouper):
    kinds = ("run.ai/v1 RunaiJob",)

    def group(self, pod: Pod, owner: Raw, read: GrouperView, chain: Sequence[Raw] = ()) -> Grouping:
        uid = owners.uid_of(owner)
        older = names.kai_pod_group(pod.name if _parallel(owner) else owners.name_of(owner), uid)
        if not read.settings.search_legacy or read.pod_group(pod.namespace, older) is None:
            older = ""
        stem = pod.name.rpartition("-")[0] if "-" in pod.name else pod.name
        return replace(base(pod, owner, read), name=older or names.kai_pod_group(stem, uid))


def _parallel(owner: Raw) -> bool:
    try:
        return (fields.integer(owner, "spec", "parallelism") or 1) > 1
    except Ungroupable:
        return False


class AmlJobGrouper(Grouper):
    kinds = ("amlarc.azureml.com/v1alpha1 AmlJob",)
    PATH = ("spec", "job", "options", "envs", "AZUREML_NODE_COUNT")

    def group(self, pod: Pod, owner: Raw, read: GrouperView, chain: Sequence[Raw] = ()) -> Grouping:
        count = fields.integer(owner, *self.PATH)
        if count is None:
            raise Ungroupable(f"{owners.title(owner)} does not say how many pods it has: set {'.'.join(self.PATH)}")
        return replace(base(pod, owner, read), minimum=count)
