"""Fewer pods than the minimum: who should make them, and what he says.

Reads the owner and the gang; refused.py reads what the server refused."""

from __future__ import annotations

from typing import Any

from gangline.api import kinds, names
from gangline.api.core import Pod
from gangline.api.kinds import Kind
from gangline.api.meta import Raw, condition
from gangline.scheduler.why.verdict import counted
from gangline.why.cause import Cause
from gangline.why.changes import ObjectChange
from gangline.why.objects import ClusterObjects, dig
from gangline.why.pods.minimum import lacking_pods, lowered, lowered_leaves
from gangline.why.pods.refused import refused_creation
from gangline.why.schedulers.components import lease_text
from gangline.why.schedulers.running_settings import done_for_minimum
from gangline.why.states.members import count_by_leaf, leaves_of, living
from gangline.why.words.amounts import listed
from gangline.why.workloads import Subject, runs_of

JOB_CONTROLLER = "kubernetes.io/job-controller"
MADE_BY_KUBERNETES = ("Job", "Deployment", "StatefulSet", "ReplicaSet", "DaemonSet")


def missing_pods(objects: ClusterObjects, subject: Subject) -> Cause | None:
    """Fewer pods than the minimum, with who should make them and what he says."""
    unasked = _asks_for_none(objects, subject)
    if unasked is not None:
        return unasked
    if subject.kind == "set" and subject.gang is None:
        return None
    members = [*living(subject), *done_for_minimum(objects, subject)]
    counts, leaves = count_by_leaf(subject, members), leaves_of(subject)
    short = {leaf: minimum - counts[leaf] for leaf, minimum in leaves.items() if counts[leaf] < minimum}
    if not short:
        return refused_creation(objects, subject, {}) if _incomplete(subject) else None
    return (
        refused_creation(objects, subject, short)
        or too_few_wanted(objects, subject, short)
        or _gang_says(objects, subject)
        or _failed_before(subject)
        or _unmade(objects, subject)
        or _just_missing(objects, subject, short, leaves)
    )


def _asks_for_none(objects: ClusterObjects, subject: Subject) -> Cause | None:
    """Its owner makes no pods now: suspended, paused, between two runs, or without replicas."""
    top = subject.top or {}
    kind, name = str(top.get("kind") or ""), str(dig(top, "metadata", "name") or "")
    if kind == "Job" and dig(top, "spec", "suspend"):
        return _stopped(subject, kinds.JOB, name, "suspended", "suspend")
    if kind == "Deployment" and dig(top, "spec", "paused") and not subject.pods:
        return _stopped(subject, kinds.DEPLOYMENT, name, "paused", "paused")
    if kind == "CronJob" and not living(subject):
        return _of_cron_job(objects, top, subject)
    suspended = _suspended_foreign(objects, subject, top, name)
    if suspended is not None or dig(top, "spec", "replicas") != 0:
        return suspended
    known = objects.kind(top.get("apiVersion"), kind)
    fixes = () if known is None else ((ObjectChange(known, name, {"spec": {"replicas": 1}}, subject.namespace),),)
    return Cause("empty", f"{kind}/{name} asks for no pods (spec.replicas: 0)", fixes=fixes, pods_change=True)


def _suspended_foreign(objects: ClusterObjects, subject: Subject, top: Raw, name: str) -> Cause | None:
    """A workload of another system that is suspended, in one of the two places where these say so."""
    foreign = _foreign(objects, subject)
    if foreign is None or subject.pods:
        return None
    paths = (path for path in (("suspend",), ("runPolicy", "suspend")) if dig(top, "spec", *path) is True)
    return next((_stopped(subject, foreign, name, "suspended", ".".join(path)) for path in paths), None)


def _stopped(subject: Subject, kind: Kind[Any], name: str, word: str, field: str) -> Cause:
    first, _, below = field.partition(".")
    going = ObjectChange(kind, name, {"spec": {first: {below: False} if below else False}}, subject.namespace)
    why = f"{kind.kind}/{name} is {word} (spec.{field}: true), so it has no pods"
    return Cause("suspended", why, fixes=((going,),), pods_change=True)


def _foreign(objects: ClusterObjects, subject: Subject) -> Kind[Any] | None:
    """The kind of the object that a person made, where it is another maker's."""
    top = subject.top or {}
    return next((item for item in objects.foreign if (item.api_version, item.kind) == kinds.kind_of(top)), None)


def _of_cron_job(objects: ClusterObjects, top: Raw, subject: Subject) -> Cause | None:
    """A run that is suspended, or none at all; None: a run has begun, and its Job should make pods."""
    unfinished = [run for run in runs_of(objects, top) if not _is_finished(run)]
    held = next((run for run in unfinished if dig(run, "spec", "suspend")), None)
    if held is not None:
        return _stopped(subject, kinds.JOB, held["metadata"]["name"], "suspended", "suspend")
    return None if unfinished else _between_runs(top, subject.namespace)


def _is_finished(run: Raw) -> bool:
    ends = ("Complete", "Failed")
    return any(
        item.get("type") in ends and item.get("status") == "True" for item in dig(run, "status", "conditions") or ()
    )


def _between_runs(top: Raw, namespace: str) -> Cause:
    """A CronJob makes its pods by Jobs, at its times."""
    name, schedule = top["metadata"]["name"], dig(top, "spec", "schedule")
    if dig(top, "spec", "suspend"):
        fix = ObjectChange(kinds.CRON_JOB, name, {"spec": {"suspend": False}}, namespace)
        return Cause(
            "suspended", f"CronJob/{name} is suspended (spec.suspend: true)", fixes=((fix,),), pods_change=True
        )
    last = dig(top, "status", "lastScheduleTime")
    last_run = f"; its last run began at {last}" if last else "; it has not run yet"
    return Cause("between-runs", f"CronJob/{name} has no run now (spec.schedule: {schedule}){last_run}", transient=True)


def _unmade(objects: ClusterObjects, subject: Subject) -> Cause | None:
    """A workload of Kubernetes itself of which its controller has made nothing, and said nothing."""
    if subject.pods:
        return None
    if _foreign(objects, subject) is not None:
        return _left_to_operator(subject)
    if subject.top_kind not in MADE_BY_KUBERNETES:
        return None
    manager = dig(subject.top, "spec", "managedBy")
    if manager and manager != JOB_CONTROLLER:
        return Cause(
            "no-pods",
            f"Job/{subject.name} is left to another controller, {manager} (spec.managedBy), which has made no pods yet",
        )
    note = lease_text(objects, ("kube-controller-manager",))
    return Cause(
        "no-pods",
        f"{subject.top_kind}/{subject.name} has no pods yet: its controller has made none; is kube-controller-manager "
        f"running? {note}",
        transient=True,
    )


def _failed_before(subject: Subject) -> Cause | None:
    """A Job whose pod failed makes another one, after a pause that grows."""
    failed = [pod for pod in subject.pods if pod.status.phase == "Failed"]
    seen = max(int(dig(subject.top, "status", "failed") or 0), len(failed))
    if subject.top_kind != "Job" or not seen:
        return None
    limit = dig(subject.top, "spec", "backoffLimit")
    return Cause(
        "failed-before",
        f"{counted(seen, 'pod')} of it failed, and Job/{subject.name} makes another one after a pause: {seen} of "
        f"{6 if limit is None else limit} failures are allowed (spec.backoffLimit)",
        transient=True,
    )


def _left_to_operator(subject: Subject) -> Cause:
    """Pods of another maker's kind are made by that maker's operator."""
    conditions = [
        f"condition {item.get('type')}: {item.get('message') or item.get('reason')}"
        for item in dig(subject.top, "status", "conditions") or ()
        if item.get("message") or item.get("reason")
    ]
    silent = "; it has written no status, so it may not run" if not dig(subject.top, "status") else ""
    return Cause(
        "no-pods",
        f"{subject.top_kind}/{subject.name} has no pods yet: the operator of {subject.top_kind}s has made none{silent}",
        tuple(conditions[-3:]),
    )


def _just_missing(objects: ClusterObjects, subject: Subject, short: dict[str, int], leaves: dict[str, int]) -> Cause:
    why = f"{lacking_pods(short, leaves)} before it can start"
    strays = [pod for pod in living(subject) if pod.labels.get(names.SUB_GROUP, "") not in leaves and "" not in leaves]
    facts = [f"pod {pod.name} names {_named(pod)}; the PodGroup has {listed(sorted(leaves))}" for pod in strays[:3]]
    if _foreign(objects, subject) is not None:
        facts.append(f"the operator of {subject.top_kind}s has not made them yet")
    field = "spec.minMember" if "" in leaves else "spec.subGroups[].minMember"
    return Cause(
        "not-ready",
        why,
        (*facts, f"its PodGroup asks for {counted(sum(leaves.values()), 'pod')} ({field})"),
        fixes=_fewer(subject, short),
    )


def _named(pod: Pod) -> str:
    named = pod.labels.get(names.SUB_GROUP)
    return f"sub-group {named} (label {names.SUB_GROUP})" if named else f"no sub-group (label {names.SUB_GROUP})"


def _fewer(subject: Subject, short: dict[str, int]) -> tuple[tuple[ObjectChange, ...], ...]:
    """A minimum that the pods which are there can meet."""
    if "" not in short:
        return (lowered_leaves(subject, short),)
    there = leaves_of(subject).get("", 0) - short.get("", 0)
    return (lowered(subject, there),) if "" in short and there > 0 else ()


def too_few_wanted(objects: ClusterObjects, subject: Subject, short: dict[str, int]) -> Cause | None:
    """A Job whose parallelism, or completions, can never give the pods that its minimum asks for."""
    top = subject.top or {}
    if top.get("kind") != "Job":
        return None
    name, minimum = top["metadata"]["name"], sum(leaves_of(subject).values())
    parallelism = dig(top, "spec", "parallelism")
    parallelism = 1 if parallelism is None else parallelism
    completions = dig(top, "spec", "completions")
    most = parallelism if completions is None else min(parallelism, completions)
    if most >= minimum:
        return None
    patch: Raw = {"spec": {"parallelism": minimum}}
    field, value = ("parallelism", parallelism) if parallelism < minimum else ("completions", completions)
    if not most:
        return Cause(
            "empty",
            f"Job/{name} has spec.{field}: {value}, so it makes no pods",
            fixes=((ObjectChange(kinds.JOB, name, patch, subject.namespace),),) if field == "parallelism" else (),
            pods_change=True,
        )
    why = (
        f"its minimum of {counted(minimum, 'pod')} ({names.BATCH_MIN_MEMBER}) can never be met: Job/{name} has "
        f"spec.{field}: {value}"
    )
    fixes = (
        [(ObjectChange(kinds.JOB, name, patch, subject.namespace),)]
        if field == "parallelism" and completions is None
        else []
    )
    return Cause(
        "minimum",
        why,
        (f"{minimum - short.get('', 0)} of {minimum} pods are there",),
        fixes=(lowered(subject, most), *fixes),
    )


def _incomplete(subject: Subject) -> bool:
    """A gang of a set that is let go only with all its pods, and lacks some above its minimum."""
    whole = condition(subject.gang.status.conditions, "Initialized") if subject.gang is not None else None
    return whole is not None and whole.status == "False" and any(pod.spec.scheduling_gates for pod in living(subject))


def _gang_says(objects: ClusterObjects, subject: Subject) -> Cause | None:
    """What a PodGang says of itself while its pods are not complete."""
    gang = subject.gang
    whole = condition(gang.status.conditions, "Initialized") if gang is not None else None
    if gang is None or whole is None or whole.status == "True":
        return None
    return Cause("not-ready", whole.message or whole.reason)
