"""Admission of kube-scheduler's groups: the priority of their class, protection while pods name them, and, in 1.36, the
Workload a group says it comes from. The finalizer is lifted by `cluster/world/scheduling/pod_groups.py`, on a real
cluster by its controller manager."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gangline.api import names
from gangline.cluster.server.admit.chain import CREATE, WriteReview
from gangline.cluster.server.admit.plugins import LOWER, established, protect
from gangline.cluster.server.core import Core
from gangline.cluster.server.features import PREEMPTION, PREEMPTION_POLICY
from gangline.cluster.server.status import forbidden
from gangline.errors import ApiError, Problem

GROUP = "scheduling.k8s.io"
Obj = dict[str, Any]
_CALLED = {"podgroups": "pod group", "compositepodgroups": "composite pod group"}


class Groups:
    def __init__(self, core: Core) -> None:
        self._core = core
        for plural in _CALLED:
            core.admission.add(GROUP, plural, (CREATE,), mutate=self.priority, name="Priority")
        core.admission.add(GROUP, "podgroups", (CREATE,), mutate=_protected, name="PodGroupProtection")
        core.admission.add(GROUP, "podgroups", (CREATE,), validate=self.template, name="PodGroupWorkloadExists")

    def priority(self, review: WriteReview) -> None:
        gates, called = self._core.settings.features, _CALLED[review.resource.plural]
        if review.resource.custom or (review.resource.version == "v1alpha2" and PREEMPTION not in gates):
            return
        spec = (review.object or {}).setdefault("spec", {})
        value, policy = established(self._core, review)
        given, given_policy = spec.get("priority"), spec.get("preemptionPolicy") or LOWER
        if given is not None and given != value:
            raise _refuse(
                review,
                f"priority set in the {called} ({given}) must match the priority computed ({value}) based on the "
                "priority class set in the spec",
            )
        spec["priority"] = value
        if PREEMPTION_POLICY not in gates:
            return
        if given_policy != policy:
            raise _refuse(
                review,
                f"the string value of PreemptionPolicy ({given_policy}) must not be provided in {called} spec; "
                f"priority "
                f"admission controller computed {policy} from the given PriorityClass name",
            )
        spec["preemptionPolicy"] = policy

    def template(self, review: WriteReview) -> Iterable[Problem]:
        wanted = (((review.object or {}).get("spec") or {}).get("podGroupTemplateRef") or {}).get("workload")
        if review.resource.custom or review.resource.version != "v1alpha2" or not wanted:
            return ()
        name, template = wanted.get("workloadName") or "", wanted.get("podGroupTemplateName") or ""
        record = self._core.store.get((GROUP, "workloads"), (review.namespace, name))
        if record is None:
            raise _refuse(review, f'PodGroup rejected: Workload "{name}" not found')
        workload = record.object()
        if workload["metadata"].get("deletionTimestamp"):
            raise _refuse(review, f'PodGroup rejected: Workload "{name}" is being deleted')
        if template not in [
            pod_group_template.get("name")
            for pod_group_template in (workload.get("spec") or {}).get("podGroupTemplates") or []
        ]:
            raise _refuse(review, f'PodGroup rejected: PodGroupTemplate "{template}" not found in Workload "{name}"')
        return ()


def _protected(review: WriteReview) -> None:
    if not review.resource.custom:
        _PROTECT(review)


_PROTECT = protect(names.POD_GROUP_PROTECTION)


def _refuse(review: WriteReview, why: str) -> ApiError:
    return forbidden(GROUP, review.resource.plural, review.told_name, why)
