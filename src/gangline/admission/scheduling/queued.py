"""Pods that name a queue and no scheduler: ours, where their namespace or a setting says so.

An API server fills in kube-scheduler's name before any webhook is asked, so that name counts as none. Off unless
somebody switches it on, and never in exempt namespaces, for pods of a PodCliqueSet (the operator chose their scheduler)
or pods that have a node. What a namespace says is handed in. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gangline.admission.scheduling.settings import AdmissionSettings
from gangline.api import names
from gangline.api.meta import Raw
from gangline.rules.hooks import HookReview

Labels = Callable[[str], Mapping[str, str]]
"""Namespace → its labels."""
NO_NAME = ("", names.DEFAULT_SCHEDULER)
ON, OFF = "true", "false"


def queued(review: HookReview, settings: AdmissionSettings, labels: Labels) -> bool:
    """Whether a pod is to be given our scheduler."""
    spec, own = review.obj.get("spec") or {}, (review.obj.get("metadata") or {}).get("labels") or {}
    if review.namespace in settings.exempt or not own.get(settings.queue_label) or names.POD_CLIQUE in own:
        return False
    if (spec.get("schedulerName") or "") not in NO_NAME or spec.get("nodeName"):
        return False
    wish = labels(review.namespace).get(names.SCHEDULE_QUEUED_PODS, "")
    return wish != OFF if settings.schedule_queued_pods else wish == ON


def condition(settings: AdmissionSettings) -> str:
    """The same in CEL, but for what namespaces say."""
    key = settings.queue_label
    return (
        f"(!has(object.spec.schedulerName) || object.spec.schedulerName in ['', '{names.DEFAULT_SCHEDULER}'])"
        f" && has(object.metadata.labels) && '{key}' in object.metadata.labels && object.metadata.labels['{key}'] != ''"
        f" && !('{names.POD_CLIQUE}' in object.metadata.labels)"
    )


def asked_where(settings: AdmissionSettings) -> Raw:
    """Namespaces in which a cluster asks us at all, as a term of a namespace selector."""
    key = names.SCHEDULE_QUEUED_PODS
    if settings.schedule_queued_pods:
        return {"key": key, "operator": "NotIn", "values": [OFF]}
    return {"key": key, "operator": "In", "values": [ON]}


def with_scheduler(pod: Raw, settings: AdmissionSettings) -> Raw:
    return pod | {"spec": pod["spec"] | {"schedulerName": settings.scheduler_names[0]}}
