"""Owners that only wrap the real workload: they are skipped, and what they say is handed down to the one below.

Argo workflows, Run:ai workloads, Kubeflow's TrainJob and Dynamo's graphs. The owner below (or the pod itself) is then
grouped as its own kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.meta import Raw
from gangline.grouper import owners
from gangline.grouper.defaults import defaults_of, kind_defaults
from gangline.grouper.groupers.contract import Grouper
from gangline.grouper.grouping import Grouping
from gangline.grouper.look import GrouperView

RUNAI = (
    "TrainingWorkload",
    "InteractiveWorkload",
    "DistributedWorkload",
    "InferenceWorkload",
    "DistributedInferenceWorkload",
)


class SkipGrouper(Grouper):
    kinds = (
        "argoproj.io/v1alpha1 Workflow",
        *(f"run.ai/* {kind}" for kind in RUNAI),
        "trainer.kubeflow.org/v1alpha1 TrainJob",
        "nvidia.com/* DynamoGraphDeployment",
    )

    def __init__(self, choose: Callable[[Raw, GrouperView], Grouper]) -> None:
        self._choose = choose

    def group(self, pod: Pod, owner: Raw, read: GrouperView, chain: Sequence[Raw] = ()) -> Grouping:
        below = chain[-2] if len(chain) > 1 else owners.as_owner(pod)
        below = _with_defaults(below, owner, read)
        heard = owners.with_missing(below, owner)
        rest = (*chain[:-2], below if read.settings.manner.skipped_owner_unheard else heard) if len(chain) > 1 else ()
        return self._choose(heard, read).group(pod, heard, read, rest)


def _with_defaults(below: Raw, skipped: Raw, read: GrouperView) -> Raw:
    """The administrator's defaults for the skipped kind, as labels of the owner below where it has none."""
    usual = kind_defaults(defaults_of(read), skipped)
    labels = {}
    if read.has_priority_class(usual.priority):
        labels[names.PRIORITY_CLASS] = usual.priority
    if usual.preemptibility:
        verbatim = read.settings.manner.skipped_defaults_verbatim
        labels[names.PREEMPTIBILITY] = usual.preemptibility if verbatim else usual.preemptibility.lower()
    return owners.with_labels(below, labels | owners.labels_of(below))
