"""A gang that lost its pods to others: when, to whom, and whether it comes back."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gangline.api import kinds
from gangline.api.meta import Raw
from gangline.rules.gangs.evictions import EvictionNote, failure_of, last_eviction, prospects, reason_of
from gangline.scheduler.why.verdict import counted
from gangline.why.cause import Cause
from gangline.why.objects import ClusterObjects, dig
from gangline.why.states.members import living
from gangline.why.workloads import Subject

RENEWED = ("Deployment", "ReplicaSet", "StatefulSet")


def evicted(objects: ClusterObjects, subject: Subject) -> Cause | None:
    """A gang that lost its pods to others, and that nobody makes anew."""
    eviction = last_eviction(subject.group) if subject.group is not None else _of_lone_pod(objects, subject)
    if eviction is None or living(subject) or (subject.top is not None and subject.top_kind != "Pod"):
        return None
    by = f" by {eviction.by.partition('/')[2] or eviction.by}" if eviction.by else ""
    return Cause(
        "evicted",
        f"at {eviction.at}{by} ({eviction.action}): {eviction.pods} of {counted(eviction.of, 'pod')}; no "
        "controller makes them "
        "anew, so it does not come back by itself",
        state="was evicted",
    )


def eviction_line(objects: ClusterObjects, subject: Subject, titles: dict[str, str]) -> str:
    """When, by whom and why pods of it were evicted last, and whether they come back; "" where none were."""
    eviction = last_eviction(subject.group) if subject.group is not None else None
    eviction = eviction or _of_former_pods(objects, subject)
    if eviction is None:
        return ""
    by = f" by {titles.get(eviction.by, eviction.by)}" if eviction.by else ""
    of = counted(eviction.of, "pod")
    why = reason_of(eviction.action)
    return f"last evicted {eviction.at}{by} ({why}): {eviction.pods} of {of}; {_comes_back(objects, subject)}"


def _of_former_pods(objects: ClusterObjects, subject: Subject) -> EvictionNote | None:
    """Of a Deployment or StatefulSet each pod is a gang of its own, and its PodGroup goes with it: read from the
    event of the eviction."""
    if subject.top is None or subject.top_kind not in RENEWED:
        return None
    makers = {subject.top["metadata"]["name"]} | {
        item.name
        for item in objects.all(kinds.REPLICA_SET, subject.namespace)
        if any(owner.uid == dig(subject.top, "metadata", "uid") for owner in item.metadata.owner_references)
    }
    events = [event for event in objects.raws(kinds.EVENT, subject.namespace) if _evicts_one_of(event, makers)]
    return _last_note(events)


def _of_lone_pod(objects: ClusterObjects, subject: Subject) -> EvictionNote | None:
    """Of a pod that stood for itself and is gone, with its PodGroup: read from the event."""
    gone = subject.kind == "pod" and subject.top is None and not subject.pods
    return _last_note(evictions_of_lone_pod(objects, subject.name, subject.namespace)) if gone else None


def evictions_of_lone_pod(objects: ClusterObjects, pod: str, namespace: str) -> list[Raw]:
    """Events that say so of the PodGroup which was made for this pod alone."""
    mine = re.compile(rf"pg-{re.escape(pod)}-[0-9a-f]{{8}}(-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}")
    events = [event for event in objects.raws(kinds.EVENT, namespace) if _evicts_one_of(event, {pod})]
    groups = {str(event["involvedObject"].get("name")) for event in events}
    lone = {name for name in groups if mine.fullmatch(name) and not _of_others(objects, name, namespace)}
    return [event for event in events if event["involvedObject"].get("name") in lone]


def _of_others(objects: ClusterObjects, group: str, namespace: str) -> bool:
    """Whether a PodGroup is there and belongs to something else than a pod."""
    live = objects.get(kinds.POD_GROUP, group, namespace)
    return live is not None and any(owner.kind != kinds.POD.kind for owner in live.metadata.owner_references)


def _last_note(events: Iterable[Raw]) -> EvictionNote | None:
    last = max(events, key=_moment, default=None)
    if last is None:
        return None
    notes = dig(last, "metadata", "annotations") or {}
    by = "/".join(str(notes.get(key) or "") for key in ("evictor-pod-group-namespace", "evictor-pod-group-name"))
    pods = int(notes.get("num-evicted-pods") or 1)
    return EvictionNote(str(notes.get("evictor-action-type") or ""), _moment(last), by.strip("/"), pods, pods)


def _evicts_one_of(event: Raw, makers: set[str]) -> bool:
    """Whether an event says that a PodGroup of one of these owners was evicted."""
    about = event.get("involvedObject") or {}
    if event.get("reason") != "Evict" or about.get("kind") != kinds.POD_GROUP.kind:
        return False
    return str(about.get("name")).startswith(tuple(f"pg-{maker}-" for maker in makers))


def _moment(event: Raw) -> str:
    return str(event.get("lastTimestamp") or event.get("eventTime") or "")


def _comes_back(objects: ClusterObjects, subject: Subject) -> str:
    if subject.top is None or subject.top_kind == "Pod":
        return "no controller makes them anew"
    name = subject.top["metadata"]["name"]
    job = objects.get(kinds.JOB, name, subject.namespace) if subject.top_kind == kinds.JOB.kind else None
    if failure_of(job) is not None:
        return prospects(job, kinds.JOB.kind, waits=False)
    return f"{subject.top_kind}/{name} makes them anew"
