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
from gangline.why.objects import ClusterObjects, dig
from gangline.why.workloads import Subject

FIXED = ("Job", "Pod", "StatefulSet")
"""Kinds whose pod template cannot be changed, or whose controller waits for the pods of the old one to become ready."""
SPREAD = "topologySpreadConstraints"
PATCHED = ("Deployment", "ReplicaSet", "DaemonSet")


def pods_with(objects: ClusterObjects, subject: Subject, patch: Raw) -> tuple[tuple[ObjectChange, ...], ...]:
    """The workload with another pod spec; nothing where its kind has no template that is known here."""
    top = subject.top or {}
    if not top:
        return _bare_pods_with(objects, subject, patch)
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


def _bare_pods_with(objects: ClusterObjects, subject: Subject, patch: Raw) -> tuple[tuple[ObjectChange, ...], ...]:
    """Pods that a person made for a PodGroup of their own, each made anew where the patch changes it."""
    made = []
    for pod in subject.pods:
        live = objects.raw(kinds.POD, pod.name, pod.namespace)
        if live is None or pod.metadata.owner_references or pod.metadata.deleting:
            continue
        if merge_patch(live["spec"], patch) == live["spec"]:
            continue
        fresh = again(live)
        fresh["spec"] = merge_patch(fresh["spec"], patch)
        named = pod.annotations.get(names.POD_GROUP_NAME)
        if named:
            fresh["metadata"]["annotations"][names.POD_GROUP_NAME] = named
        made.append(ObjectChange(kinds.POD, pod.name, fresh, pod.namespace, "replace"))
    return (tuple(made),) if made else ()


def unasked(objects: ClusterObjects, subject: Subject, codes: Iterable[str]) -> tuple[tuple[ObjectChange, ...], ...]:
    """The workload without the wishes that stand against nodes, by the codes of what these say; else without those for
    certain nodes."""
    top = subject.top or {}
    if top.get("kind") == kinds.POD_CLIQUE_SET.kind:
        return _cliques_unasked(top, set(codes))
    spec = dig(top, "spec", "template", "spec") or (dig(top, "spec") if top.get("kind") == "Pod" else None) or {}
    asked = set(codes)
    tried = [
        patch
        for wishes in (asked & {"spread"}, asked & {"pod-affinity"}, asked & {"label", "field"}, {"label"})
        if wishes and (patch := _without(spec, wishes))
    ]
    return tuple(fix for patch in tried[:2] for fix in pods_with(objects, subject, patch))


def _cliques_unasked(top: Raw, codes: set[str]) -> tuple[tuple[ObjectChange, ...], ...]:
    """The set with cliques that no longer ask for it; its pods are made anew, one clique after the other."""
    fixes = []
    for wishes in (codes & {"pod-affinity"}, codes & {"label", "field"}, {"label"}):
        cliques = copy.deepcopy(dig(top, "spec", "template", "cliques") or [])
        for clique in cliques:
            clique["spec"]["podSpec"] = merge_patch(
                clique["spec"]["podSpec"], _without(clique["spec"]["podSpec"], wishes)
            )
        if wishes and cliques != dig(top, "spec", "template", "cliques"):
            body: Raw = {"spec": {"template": {"cliques": cliques}}}
            meta = top["metadata"]
            fixes.append((ObjectChange(kinds.POD_CLIQUE_SET, meta["name"], body, meta.get("namespace", "")),))
    return tuple(fixes[:2])


def _without(spec: Raw, codes: set[str]) -> Raw:
    """The patch that takes away what is there of these wishes; a spread becomes a preference."""
    gone: list[tuple[str, ...]] = [("affinity", "podAffinity")] if "pod-affinity" in codes else []
    gone += [("nodeSelector",), ("affinity", "nodeAffinity")] if codes & {"label", "field"} else []
    patch: Raw = {SPREAD: _anyway(spec[SPREAD])} if "spread" in codes and spec.get(SPREAD) else {}
    for path in gone:
        if dig(spec, *path):
            alone = path[0] == "affinity" and len(spec["affinity"]) == 1
            patch = both(patch, {path[0]: None} if alone or len(path) == 1 else {path[0]: {path[1]: None}})
    return patch


def _anyway(constraints: Iterable[Raw]) -> list[Raw]:
    """The same constraints as wishes; minDomains is for those that must hold."""
    return [
        {key: value for key, value in item.items() if key != "minDomains"} | {"whenUnsatisfiable": "ScheduleAnyway"}
        for item in constraints
    ]


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
    if live.get("kind") == "Job":
        spec.pop("selector", None)
    spec.pop("nodeName", None)
    template = dig(spec, "template", "metadata")
    labels = {"controller-uid", "batch.kubernetes.io/controller-uid", "job-name", "batch.kubernetes.io/job-name"}
    for holder in (kept, template):
        if isinstance(holder, dict) and holder.get("labels"):
            holder["labels"] = {key: value for key, value in holder["labels"].items() if key not in labels}
    return {"metadata": kept, "spec": spec}
