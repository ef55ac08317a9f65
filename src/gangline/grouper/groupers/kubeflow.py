"""Kubeflow's training jobs: the gang is all replicas, or what the job's scheduling policy asks for.

TensorFlow, XGBoost, JAX and MPI differ in where they keep their replicas and which of them must be there. PyTorch
builds on `replicas_minimum` in pytorch.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gangline.api.core import Pod
from gangline.api.meta import Raw
from gangline.grouper import fields, owners
from gangline.grouper.groupers.base import base
from gangline.grouper.groupers.contract import Grouper
from gangline.grouper.grouping import Grouping, Ungroupable
from gangline.grouper.look import GrouperView

POLICY = ("spec", "runPolicy", "schedulingPolicy", "minAvailable")
JOB_NAME, JOB_ROLE, REPLICA_TYPE = (
    "training.kubeflow.org/job-name",
    "training.kubeflow.org/job-role",
    "training.kubeflow.org/replica-type",
)


@dataclass(frozen=True, slots=True)
class KubeflowGrouper(Grouper):
    kinds: Sequence[str]
    field: str
    """Where the job keeps its replicas by role, below spec."""
    mandatory: Sequence[str] = ()
    """Roles that must be there."""

    def group(self, pod: Pod, owner: Raw, read: GrouperView, chain: Sequence[Raw] = ()) -> Grouping:
        return replace(base(pod, owner, read), minimum=replicas_minimum(owner, self.field, self.mandatory))


def replicas_minimum(owner: Raw, field: str, mandatory: Sequence[str] = ()) -> int:
    """The scheduling policy's minimum, else the sum of all replicas, none of which may be zero."""
    asked = fields.integer(owner, *POLICY)
    if asked is not None:
        return asked
    roles = fields.mapping(owner, "spec", field)
    if roles is None:
        raise Ungroupable(f"{owners.title(owner)} has no spec.{field}")
    for role in mandatory:
        if role not in roles:
            raise Ungroupable(f"{owners.title(owner)} needs a {role} in spec.{field}")
    total = sum(_replicas(owner, field, role) for role in roles)
    if total <= 0:
        raise Ungroupable(f"the replicas of {owners.title(owner)} must be more than 0 together, not {total}")
    return total


def _replicas(owner: Raw, field: str, role: str) -> int:
    replicas = fields.integer(owner, "spec", field, role, "replicas")
    if not replicas:
        raise Ungroupable(f"{owners.title(owner)} cannot have 0 {role} pods: set spec.{field}.{role}.replicas")
    return replicas


class MpiGrouper(Grouper):
    """While the launcher waits for its workers, the workers are the gang; once it is there, it belongs to it."""

    kinds = ("kubeflow.org/v1 MPIJob", "kubeflow.org/v2beta1 MPIJob")
    FIELD, LAUNCHER = "mpiReplicaSpecs", "Launcher"

    def group(self, pod: Pod, owner: Raw, read: GrouperView, chain: Sequence[Raw] = ()) -> Grouping:
        minimum = replicas_minimum(owner, self.FIELD, (self.LAUNCHER, "Worker"))
        late = fields.text(owner, "spec", "launcherCreationPolicy") == "WaitForWorkersReady"
        if late and not _has_launcher(pod, owner, read):
            minimum -= _replicas(owner, self.FIELD, self.LAUNCHER)
        return replace(base(pod, owner, read), minimum=minimum)


def _has_launcher(pod: Pod, owner: Raw, read: GrouperView) -> bool:
    roles = (JOB_ROLE,) if read.settings.manner.launcher_by_role_only else (JOB_ROLE, REPLICA_TYPE)
    return any(
        not item.metadata.deleting
        for role in roles
        for item in read.pods(pod.namespace, {JOB_NAME: owners.name_of(owner), role: "launcher"})
    )
