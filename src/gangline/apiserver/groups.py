"""Admission of kube-scheduler's groups: the priority of their class, and, in 1.36, the Workload a group says it comes from.

Upstream also stamps a finalizer on a PodGroup and lifts it when its last pod is gone; nothing here would lift it, so it is not stamped.
"""

from __future__ import annotations

from typing import Any

from gangline.apiserver.admission import CREATE, Review
from gangline.apiserver.core import Core
from gangline.apiserver.features import PREEMPTION
from gangline.apiserver.status import forbidden
from gangline.errors import ApiError

GROUP = "scheduling.k8s.io"
Obj = dict[str, Any]


class Groups:
    def __init__(self, core: Core) -> None:
        self._core = core
        for plural in ("podgroups", "compositepodgroups"):
            core.admission.add(GROUP, plural, (CREATE,), mutate=self.priority, name="Priority")
        core.admission.add(GROUP, "podgroups", (CREATE,), mutate=self.template, name="PodGroupWorkloadExists")

    def priority(self, review: Review) -> None:
        spec = (review.object or {}).get("spec") or {}
        name = spec.get("priorityClassName")
        if not name or (review.resource.version == "v1alpha2" and PREEMPTION not in self._core.settings.features):
            return
        found = self._core.store.get((GROUP, "priorityclasses"), ("", name))
        if found is None:
            raise _refuse(review, f"no PriorityClass with name {name} was found")
        spec["priority"] = found.object().get("value", 0)

    def template(self, review: Review) -> None:
        wanted = (((review.object or {}).get("spec") or {}).get("podGroupTemplateRef") or {}).get("workload")
        if review.resource.version != "v1alpha2" or not wanted:
            return
        name, template = wanted.get("workloadName") or "", wanted.get("podGroupTemplateName") or ""
        record = self._core.store.get((GROUP, "workloads"), (review.namespace, name))
        workload = record.object() if record is not None else None
        if workload is None or workload["metadata"].get("deletionTimestamp"):
            raise _refuse(review, f"the Workload {name} it names is {'being deleted' if workload else 'not there'}")
        if template not in [each.get("name") for each in (workload.get("spec") or {}).get("podGroupTemplates") or []]:
            raise _refuse(review, f"the Workload {name} has no template {template}")


def _refuse(review: Review, why: str) -> ApiError:
    return forbidden(GROUP, review.resource.plural, review.name, why)
