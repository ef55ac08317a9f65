"""A gang that another scheduler's backend holds, one that nobody has made yet, and a cluster without our kinds.

Asked before and after the scheduler's own model: what is said here comes from conditions and leases only."""

from __future__ import annotations

from collections.abc import Iterator

from gangline.api import kinds, names
from gangline.api.core import Pod
from gangline.api.meta import condition
from gangline.rules.schedulers import SERVED
from gangline.rules.verdicts import HELD
from gangline.why.cause import Cause
from gangline.why.objects import ClusterObjects, dig
from gangline.why.schedulers.components import lease_of, lease_text
from gangline.why.words.amounts import listed
from gangline.why.workloads import Subject

KUBE_SCHEDULER_LEASES = ("kube-scheduler",)
"""`default-scheduler` is the name that pods give; the program and its Lease have another."""


def missing_kind(objects: ClusterObjects, subject: Subject) -> Cause | None:
    """What our scheduler needs is not installed; of no concern to who names another scheduler."""
    named = {pod.spec.scheduler_name or names.DEFAULT_SCHEDULER for pod in subject.pods}
    if named and not named & set(SERVED):
        return None
    absent = [
        kind
        for kind in (kinds.POD_GROUP, kinds.QUEUE)
        if not objects.serves(kind) and kind.resource not in objects.unread
    ]
    if not absent:
        return None
    return Cause(
        "no-crds",
        f"the server does not serve {listed([kind.resource for kind in absent])}: the scheduler half is not installed",
        ("`gangline install` brings its CustomResourceDefinitions",),
    )


def held_by_backend(subject: Subject) -> Cause | None:
    """A gang that another scheduler's backend holds, or that nobody translates."""
    gang = subject.gang
    if gang is None:
        return None
    whole = condition(gang.status.conditions, "Initialized")
    backend = gang.labels.get(names.SCHEDULER_BACKEND, "")
    if whole is not None and whole.status == "False" and whole.reason in HELD:
        return Cause(
            "backend", whole.message or whole.reason, (f"its backend is {backend} (label {names.SCHEDULER_BACKEND})",)
        )
    return None


def elsewhere(objects: ClusterObjects, subject: Subject) -> Cause:
    """A gang without a PodGroup of ours: what its own conditions say."""
    gang = subject.gang
    if gang is not None:
        backend = gang.labels.get(names.SCHEDULER_BACKEND, "") or "default"
        for kind in ("Initialized", "Scheduled", "Ready"):
            unmet = condition(gang.status.conditions, kind)
            if unmet is not None and unmet.status != "True":
                return Cause(
                    "outside" if backend != "kai" else "not-ready",
                    unmet.message or unmet.reason,
                    (
                        f"its scheduler is reached by backend {backend}; condition {kind}: {unmet.reason}",
                        *_outside_scheduler(objects, subject),
                    ),
                )
    if subject.kind == "set":
        note = lease_text(objects, ("gangline-operator", "grove-operator-leader-election"))
        return Cause(
            "not-ready", f"the operator has made no gang for it yet: is it running? {note}", tuple(_problems(subject))
        )
    return Cause(
        "no-pods", f"it has no pods yet; nobody has made them for {subject.top_kind or subject.kind}/{subject.name}"
    )


def _outside_scheduler(objects: ClusterObjects, subject: Subject) -> Iterator[str]:
    """Whether the scheduler that its pods name shows a sign of life; one that has answered for a pod does."""
    silent = {pod.spec.scheduler_name for pod in subject.pods} - {
        pod.spec.scheduler_name for pod in subject.pods if _answered(pod)
    }
    for name in sorted(silent):
        leases = KUBE_SCHEDULER_LEASES if name in ("", names.DEFAULT_SCHEDULER) else (name, f"{name}-scheduler")
        unheard = lease_of(objects, leases) is None and kinds.LEASE.resource not in objects.unread
        yield f"scheduler {name}: {lease_text(objects, leases)}" + ("; is it running?" if unheard else "")


def _answered(pod: Pod) -> bool:
    """Its scheduler has looked at it: gates are judged by the API server, everything else by a scheduler."""
    judged = condition(pod.status.conditions, "PodScheduled")
    return judged is not None and judged.reason != "SchedulingGated"


def _problems(subject: Subject) -> Iterator[str]:
    for item in dig(subject.top, "status", "conditions") or ():
        yield f"condition {item.get('type')}: {item.get('message') or item.get('reason')}"
    for item in dig(subject.top, "status", "lastErrors") or ():
        yield str(item.get("description"))
