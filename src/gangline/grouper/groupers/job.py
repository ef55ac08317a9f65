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
from gangline.grouper.groupers.base import base
from gangline.grouper.grouping import Grouping, Ungroupable
from gangline.grouper.look import Look


class Job:
    kinds = ("batch/v1 Job",)
    reads = ()

    def group(self, pod: Pod, owner: Raw, read: Look, chain: Sequence[Raw] = ()) -> Grouping:
        grouping = base(pod, owner, read)
        older = names.kai_pod_group(pod.name, owners.uid_of(owner))
        if read.settings.search_legacy and older != grouping.name and read.pod_group(pod.namespace, older):
            return replace(grouping, name=older)
        return replace(grouping, minimum=batch_minimum(owner))


def batch_minimum(owner: Raw) -> int:
    """What the owner's annotation asks for, else one pod."""
    asked = owners.annotations_of(owner).get(names.BATCH_MIN_MEMBER)
    minimum = 1 if asked is None else fields.whole(asked, 32)
    if minimum is None:
        raise Ungroupable(f"annotation {names.BATCH_MIN_MEMBER} of {owners.title(owner)} must be a whole number, not {asked!r}")
    return minimum
