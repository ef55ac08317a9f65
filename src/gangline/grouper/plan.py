"""The whole thought about one pod: whose it is, which grouper answers, what its group should be.

Called by the controller, possibly several times with more and more seen (see look.py). None: the pod is none of our business.
"""

from __future__ import annotations

from dataclasses import replace

from gangline.api import names
from gangline.api.core import Pod
from gangline.grouper import groupers, owners
from gangline.grouper.grouping import Grouping
from gangline.grouper.look import Look


def plan(pod: Pod, read: Look) -> Grouping | None:
    if not ours(pod, read):
        return None
    chain = owners.walk(pod, read)
    if any(skipped(owners.annotations_of(owner)) for owner in chain.owners):
        return None
    grouper = groupers.choose(chain.top, read)
    return _with_pool(grouper.group(pod, chain.top, read, chain.owners), pod, read)


def ours(pod: Pod, read: Look) -> bool:
    """Not asked to be left alone, and not a lone pod that somebody has put into a group already."""
    lone = not pod.metadata.owner_references
    return (pod.spec.scheduler_name == read.settings.scheduler_name and not skipped(pod.annotations)
            and not (lone and names.POD_GROUP_NAME in pod.annotations))


def skipped(annotations: dict[str, str]) -> bool:
    return annotations.get(names.SKIP_GROUPER) == "true"


def _with_pool(grouping: Grouping, pod: Pod, read: Look) -> Grouping:
    """The group belongs to the pod's node pool unless the workload names another."""
    key = read.settings.node_pool_label
    if not key or key in grouping.labels or key not in pod.labels:
        return grouping
    return replace(grouping, labels=grouping.labels | {key: pod.labels[key]})
