"""A workload that is being deleted: since when, and whose finalizer holds it."""

from __future__ import annotations

from collections.abc import Iterator

from gangline.api import kinds, names
from gangline.api.meta import Raw
from gangline.rules.values import times
from gangline.rules.values.times import spoken
from gangline.why.cause import Cause
from gangline.why.changes import ObjectChange
from gangline.why.objects import ClusterObjects, dig
from gangline.why.words.amounts import listed
from gangline.why.workloads import Subject

FINALIZERS = {
    names.SET_FINALIZER: "gangline's operator",
    names.CLIQUE_FINALIZER: "gangline's operator",
    names.SCALING_GROUP_FINALIZER: "gangline's operator",
    "foregroundDeletion": "the garbage collector, which deletes what belongs to it first",
    "orphan": "the garbage collector",
    "batch.kubernetes.io/job-tracking": "the Job controller",
    "kubernetes.io/pvc-protection": "the volume protection controller",
}


def deletion(objects: ClusterObjects, subject: Subject) -> Cause | None:
    leaving = _leaving(objects, subject)
    if not leaving:
        return None
    began = _since(objects, leaving[0]["metadata"])
    blocking = next((obj for obj in leaving if dig(obj, "metadata", "finalizers")), None)
    if blocking is not None:
        return _held_back(blocking, began)
    nodes = sorted({pod.spec.node_name for pod in subject.pods if pod.metadata.deleting and pod.spec.node_name})
    stopping = f"; its pods stop on {listed(nodes)}" if nodes else ""
    return Cause("deleting", began + stopping, state="is being deleted", transient=True)


def _since(objects: ClusterObjects, meta: Raw) -> str:
    """Its deletionTimestamp is when it must be gone: the request came so many seconds of grace before."""
    grace = float(meta.get("deletionGracePeriodSeconds") or 0)
    asked = (times.seconds(meta.get("deletionTimestamp")) or objects.now) - grace
    ago = objects.now - asked
    until = f", until {meta.get('deletionTimestamp')} at the latest" if grace > ago else ""
    return f"since {times.timestamp(asked)}" + (f" ({spoken(ago)})" if ago >= 1 else "") + until


def _leaving(objects: ClusterObjects, subject: Subject) -> list[Raw]:
    """Its objects that are being deleted; its pods where all of them are."""
    leaving = [obj for obj in _objects(objects, subject) if dig(obj, "metadata", "deletionTimestamp")]
    if leaving or not all(pod.metadata.deleting for pod in subject.pods):
        return leaving
    return [objects.raw(kinds.POD, pod.name, pod.namespace) or {} for pod in subject.pods]


def _held_back(blocking: Raw, began: str) -> Cause:
    """By a finalizer, with whose it is."""
    meta = blocking["metadata"]
    finalizers = [str(item) for item in meta["finalizers"]]
    whose = ", ".join(f"finalizer {finalizer} of {_whose(finalizer)}" for finalizer in finalizers)
    kind = kinds.known(str(blocking.get("apiVersion")), str(blocking.get("kind")))
    freed: Raw = {"metadata": {"finalizers": []}}
    fixes = () if kind is None else ((ObjectChange(kind, meta["name"], freed, meta.get("namespace", "")),),)
    return Cause(
        "deleting",
        f"{began}; {blocking.get('kind')}/{meta['name']} is held by {whose}",
        state="is being deleted",
        fixes=fixes,
        facts=(f"it goes when whoever set {listed(finalizers)} has taken it away",),
    )


def _objects(objects: ClusterObjects, subject: Subject) -> Iterator[Raw]:
    if subject.top is not None:
        yield subject.top
    for kind, held in ((kinds.POD_GANG, subject.gang), (kinds.POD_GROUP, subject.group)):
        live = objects.raw(kind, held.name, held.namespace) if held is not None else None
        if live is not None:
            yield live


def _whose(finalizer: str) -> str:
    return FINALIZERS.get(finalizer) or (finalizer.partition("/")[0] if "/" in finalizer else "an unnamed controller")
