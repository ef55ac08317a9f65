"""Kinds that need no rule of their own: one group per top owner, of which one pod is enough to start.

They may differ in their usual priority. A Deployment's replicas do not need each other: each pod is a group of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.meta import Raw
from gangline.grouper import owners
from gangline.grouper.groupers.base import INFERENCE, base, with_all_of_owner
from gangline.grouper.groupers.contract import Grouper
from gangline.grouper.grouping import Grouping
from gangline.grouper.look import GrouperView


class DefaultGrouper(Grouper):
    kinds = (
        "apps/v1 StatefulSet",
        "apps/v1 ReplicaSet",
        "machinelearning.seldon.io/v1alpha2 SeldonDeployment",
        "machinelearning.seldon.io/v1 SeldonDeployment",
        "kubevirt.io/v1 VirtualMachineInstance",
        "workspace.devfile.io/v1alpha2 DevWorkspace",
        "kubeflow.org/v1alpha1 ScheduledWorkflow",
        "tekton.dev/v1 PipelineRun",
        "tekton.dev/v1 TaskRun",
    )
    reads = ("kubevirt.io/v1 VirtualMachine",)

    def group(self, pod: Pod, owner: Raw, read: GrouperView, chain: Sequence[Raw] = ()) -> Grouping:
        return with_all_of_owner(base(pod, owner, read, chain), pod, read)


@dataclass(frozen=True, slots=True)
class PriorityGrouper(Grouper):
    """A kind whose usual priority is not that of training."""

    kinds: Sequence[str]
    priority: str

    def group(self, pod: Pod, owner: Raw, read: GrouperView, chain: Sequence[Raw] = ()) -> Grouping:
        return base(pod, owner, read, fallback=self.priority)


class DeploymentGrouper(Grouper):
    kinds = ("apps/v1 Deployment",)
    reads = ("apps/v1 ReplicaSet",)

    def group(self, pod: Pod, owner: Raw, read: GrouperView, chain: Sequence[Raw] = ()) -> Grouping:
        return for_one_pod(base(pod, owner, read, fallback=INFERENCE), pod)


def for_one_pod(grouping: Grouping, pod: Pod) -> Grouping:
    """The same group, but named after one pod and owned by it."""
    return replace(
        grouping, name=names.kai_pod_group(pod.name, pod.uid), owner=owners.reference_to(owners.as_owner(pod))
    )
