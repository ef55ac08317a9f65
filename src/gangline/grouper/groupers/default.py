"""Kinds that need no rule of their own: one group per top owner, of which one pod is enough to start."""

from __future__ import annotations

from collections.abc import Sequence

from gangline.api.core import Pod
from gangline.api.meta import Raw
from gangline.grouper.groupers.base import base
from gangline.grouper.grouping import Grouping
from gangline.grouper.look import Look


class Default:
    kinds = ("apps/v1 StatefulSet", "apps/v1 ReplicaSet",
             "machinelearning.seldon.io/v1alpha2 SeldonDeployment", "machinelearning.seldon.io/v1 SeldonDeployment",
             "kubevirt.io/v1 VirtualMachineInstance", "workspace.devfile.io/v1alpha2 DevWorkspace",
             "kubeflow.org/v1alpha1 ScheduledWorkflow", "tekton.dev/v1 PipelineRun", "tekton.dev/v1 TaskRun")
    reads = ("kubevirt.io/v1 VirtualMachine",)

    def group(self, pod: Pod, owner: Raw, read: Look, chain: Sequence[Raw] = ()) -> Grouping:
        return base(pod, owner, read, chain)
