"""Workloads whose pods ask for something else: patched where the server lets the template change, made anew where it
does not.

Asked for scheduler names and for wishes that nothing in the cluster can meet. Only the whole platform can try these:
they make new pods. Pure.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable

from gangline.api import kinds, names
from gangline.api.meta import Raw
from gangline.rules.values.merge_patch import merge_patch
from gangline.why.changes import ObjectChange, both
from gangline.why.objects import dig
from gangline.why.workloads import Subject

FIXED = ("Job", "Pod")
"""Kinds whose pod template cannot be changed."""
PATCHED = ("Deployment", "StatefulSet", "ReplicaSet", "DaemonSet")


def pods_with(subject: Subject, patch: Raw) -> tuple[tuple[ObjectChange, ...], ...]:
    """The workload with another pod spec; nothing where its kind has no template that is known here."""
    top = subject.top or {}
    kind = kinds.known(str(top.get("apiVersion") or ""), str(top.get("kind") or ""))
    if kind is None or kind.kind not in (*FIXED, *PATCHED):
        return ()
    name, namespace = top["metadata"]["name"], top["metadata"].get("namespace", "")
    if kind.kind in PATCHED:
        return ((ObjectChange(kind, name, {"spec": {"template": {"spec": patch}}}, namespace),),)
    fresh = again(top)
    if kind.kind == "Pod":
        fresh["spec"] = merge_patch(fresh["spec"], patch)
    else:
        fresh["spec"]["template"]["spec"] = merge_patch(fresh["spec"]["template"]["spec"], patch)
    return ((ObjectChange(kind, name, fresh, namespace, "replace"),),)


def unasked(subject: Subject, codes: Iterable[str]) -> tuple[tuple[ObjectChange, ...], ...]:
    """The workload without the wishes that stand against nodes, by the codes of what these say; else without those for
    certain nodes."""
    top = subject.top or {}
    spec = dig(top, "spec", "template", "spec") or (dig(top, "spec") if top.get("kind") == "Pod" else None) or {}
    told = set(codes)
    tried = [
        patch
        for wishes in (told & {"pod-affinity"}, told & {"label", "field"}, {"label"})
        if wishes and (patch := _without(spec, wishes))
    ]
    return tuple(fix for patch in tried[:2] for fix in pods_with(subject, patch))


def _without(spec: Raw, codes: set[str]) -> Raw:
    """The patch that takes away what is there of these wishes."""
    gone: list[tuple[str, ...]] = [("affinity", "podAffinity")] if "pod-affinity" in codes else []
    gone += [("nodeSelector",), ("affinity", "nodeAffinity")] if codes & {"label", "field"} else []
    patch: Raw = {}
    for path in gone:
        if dig(spec, *path):
            alone = path[0] == "affinity" and len(spec["affinity"]) == 1
            patch = both(patch, {path[0]: None} if alone or len(path) == 1 else {path[0]: {path[1]: None}})
    return patch


def again(live: Raw) -> Raw:
    """An object as a person would create it once more."""
    meta = live["metadata"]
    kept = {key: meta[key] for key in ("name", "namespace", "labels", "annotations") if meta.get(key)}
    kept["annotations"] = {
        key: value
        for key, value in (meta.get("annotations") or {}).items()
        if key not in (names.LAST_APPLIED, names.POD_GROUP_NAME, "batch.kubernetes.io/job-tracking")
    }
    spec = copy.deepcopy(live.get("spec") or {})
    spec.pop("selector", None)
    spec.pop("nodeName", None)
    template = dig(spec, "template", "metadata")
    labels = {"controller-uid", "batch.kubernetes.io/controller-uid", "job-name", "batch.kubernetes.io/job-name"}
    for holder in (kept, template):
        if isinstance(holder, dict) and holder.get("labels"):
            holder["labels"] = {key: value for key, value in holder["labels"].items() if key not in labels}
    return {"metadata": kept, "spec": spec}
