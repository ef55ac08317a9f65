"""Pods that name a scheduler which is not ours: another one, or one that nobody is called.

A scheduler that nobody serves never looks at a pod. Changes the name where the pods are made."""

from __future__ import annotations

import difflib

from gangline.api import kinds, names
from gangline.api.core import Pod
from gangline.api.meta import condition
from gangline.rules.schedulers import SERVED
from gangline.why.cause import Cause
from gangline.why.changes import ObjectChange
from gangline.why.fixes.anew import pods_with
from gangline.why.objects import ClusterObjects, dig
from gangline.why.words.amounts import listed
from gangline.why.workloads import Subject

OTHER_SCHEDULERS = {
    names.DEFAULT_SCHEDULER: "kube-scheduler",
    "volcano": "Volcano",
    "koord-scheduler": "Koordinator",
    "yunikorn": "YuniKorn",
    "scheduler-plugins-scheduler": "scheduler-plugins",
    names.LPX_SCHEDULER: "LPX",
}


def scheduler_cause(objects: ClusterObjects, subject: Subject) -> Cause | None:
    """Pods that name a scheduler which is not ours."""
    named = {scheduler_of(pod) for pod in subject.pods} or _template_scheduler(subject)
    foreign = sorted(name for name in named if name not in SERVED)
    if not foreign or subject.gang is not None:
        return None
    name = foreign[0]
    whose = _whose(subject, name)
    messages = (scheduler_message(pod) for pod in subject.pods if scheduler_of(pod) == name)
    message = next(filter(None, messages), "")
    if name in OTHER_SCHEDULERS:
        its_word = f"; it says: {message}" if message else "; it has said nothing yet"
        return Cause(
            "other-scheduler",
            f"{whose} for another scheduler, {name} ({OTHER_SCHEDULERS[name]}){its_word}",
            facts=(f"spec.schedulerName of its pods is {name}; gangline serves {listed(SERVED)}",),
            fixes=_renamed(objects, subject, SERVED[0]),
            pods_change=True,
        )
    near = (
        difflib.get_close_matches(name, (*SERVED, names.DEFAULT_SCHEDULER), n=1, cutoff=0.75)
        or [item for item in SERVED if item.startswith(name)][:1]
    )
    if near:
        return Cause(
            "scheduler-name",
            f"no scheduler is called {name!r} (spec.schedulerName); did you mean {near[0]}?",
            fixes=_renamed(objects, subject, near[0]),
            pods_change=True,
        )
    return _unknown_scheduler(objects, subject, name, whose, message)


def _whose(subject: Subject, name: str) -> str:
    """Begins the sentence about pods of another scheduler: all of them, or those that are."""
    theirs = [pod.name for pod in subject.pods if scheduler_of(pod) == name]
    if len(theirs) == len(subject.pods) or not theirs:
        return "its pods are"
    return f"{len(theirs)} of its {len(subject.pods)} pods ({listed(theirs)}) {'is' if len(theirs) == 1 else 'are'}"


def _unknown_scheduler(objects: ClusterObjects, subject: Subject, name: str, whose: str, message: str) -> Cause:
    lease = next((item for item in objects.all(kinds.LEASE) if item.name == name), None)
    unseen = "whether it runs cannot be told: you may not read Leases of the whole cluster"
    silent = unseen if kinds.LEASE.resource in objects.unread else "no Lease of that name says that it runs"
    running = silent if lease is None else f"Lease {lease.namespace}/{lease.name} says that it runs"
    return Cause(
        "other-scheduler",
        f"{whose} for another scheduler, {name} (spec.schedulerName)" + (f", which says: {message}" if message else ""),
        facts=(f"{running}; gangline serves {listed(SERVED)}",),
        fixes=_renamed(objects, subject, SERVED[0]),
        pods_change=True,
    )


def _template_scheduler(subject: Subject) -> set[str]:
    template = dig(subject.top, "spec", "template", "spec")
    return {str(template.get("schedulerName") or names.DEFAULT_SCHEDULER)} if isinstance(template, dict) else set()


def scheduler_of(pod: Pod) -> str:
    return pod.spec.scheduler_name or names.DEFAULT_SCHEDULER


def scheduler_message(pod: Pod) -> str:
    """What its scheduler wrote on a pod that it did not place."""
    scheduled = condition(pod.status.conditions, "PodScheduled")
    return scheduled.message if scheduled is not None and scheduled.status == "False" else ""


def _renamed(objects: ClusterObjects, subject: Subject, scheduler: str) -> tuple[tuple[ObjectChange, ...], ...]:
    return pods_with(objects, subject, {"schedulerName": scheduler})
