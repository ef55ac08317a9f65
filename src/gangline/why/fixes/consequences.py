"""What controllers make of a change at once, on the objects: so that a try sees the cluster as it will be.

Asked by remedies.py for every change that it tries. Makes no pods: what does is tried on a copy of the platform.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from gangline.api import kinds, names
from gangline.api.meta import Raw
from gangline.why.fixes.daemons import daemon_pods
from gangline.why.fixes.others import SCALED
from gangline.why.objects import ClusterObjects, dig, is_simulated

FOLLOWED = (
    ("queue", ("metadata", "labels", names.QUEUE)),
    ("priorityClassName", ("spec", "template", "priorityClassName")),
)
"""Fields of a PodGroup's spec, and where its set says the same."""
LIFECYCLE = "node.kubernetes.io/"
CORDONED = f"{LIFECYCLE}unschedulable"
"""What a node's controller takes away with the cordon."""


def consequences(objects: ClusterObjects) -> ClusterObjects:
    """The objects after what controllers do at once. Pods of a paused workload are gone. A simulated node that plays no
    failure is ready. A node that is no longer cordoned loses the taint of its cordon. A new node has the pods of
    DaemonSets. PodGroups follow their set."""
    for node in objects.raws(kinds.NODE):
        if objects.base.raw(kinds.NODE, node["metadata"]["name"]) is None:
            for pod in daemon_pods(objects, node):
                objects = objects.put(kinds.POD, pod, pod["metadata"]["name"], pod["metadata"]["namespace"])
        if is_simulated(node) and not _plays_failure(node):
            objects = objects.put(kinds.NODE, _ready(node), node["metadata"]["name"])
        elif not dig(node, "spec", "unschedulable") and CORDONED in _taints(node):
            objects = objects.put(kinds.NODE, uncordoned(node), node["metadata"]["name"])
    objects = _followed(objects)
    for pod in list(_ended(objects)):
        objects = objects.put(kinds.POD, None, pod["metadata"]["name"], pod["metadata"].get("namespace", ""))
    return objects


def _followed(objects: ClusterObjects) -> ClusterObjects:
    """PodGroups of a set that asks for another queue or priority than before."""
    for resource, (namespace, name), before, after in list(objects.changes()):
        if resource != kinds.POD_CLIQUE_SET.resource:
            continue
        asked = {field: dig(after, *path) for field, path in FOLLOWED if dig(after, *path) != dig(before, *path)}
        for group in objects.raws(kinds.POD_GROUP, namespace) if any(asked.values()) else ():
            if dig(group, "metadata", "labels", names.PART_OF) == name:
                moved = {**group, "spec": {**group["spec"], **asked}}
                objects = objects.put(kinds.POD_GROUP, moved, group["metadata"]["name"], namespace)
    return objects


def _ended(objects: ClusterObjects) -> Iterator[Raw]:
    """Pods of Jobs that are suspended, and of what has fewer replicas than before."""
    uids = {str(dig(job, "metadata", "uid")) for job in objects.raws(kinds.JOB) if dig(job, "spec", "suspend")}
    fewer: dict[tuple[str, str], int] = {}
    for resource, key, before, after in objects.changes():
        replicas = dig(after, "spec", "replicas")
        if resource == kinds.POD_CLIQUE_SET.resource and replicas is not None:
            fewer[key] = replicas
        elif resource in [kind.resource for kind in SCALED] and replicas == 0:
            uids.add(str(dig(before, "metadata", "uid")))
    if not uids and not fewer:
        return
    below = [dig(item, "metadata", "uid") for item in objects.raws(kinds.REPLICA_SET) if _owned(item, uids)]
    uids |= {str(uid) for uid in below}
    yield from (pod for pod in objects.raws(kinds.POD) if _owned(pod, uids) or _is_surplus(pod, fewer))


def _is_surplus(pod: Raw, replicas: dict[tuple[str, str], int]) -> bool:
    """Whether a pod belongs to a replica that its set has no longer."""
    meta = pod["metadata"]
    labels = meta.get("labels") or {}
    least = replicas.get((meta.get("namespace", ""), labels.get(names.PART_OF, "")))
    replica = str(labels.get(names.SET_REPLICA, ""))
    return least is not None and replica.isdigit() and int(replica) >= least


def _owned(obj: Raw, uids: set[str]) -> bool:
    return any(str(owner.get("uid")) in uids for owner in obj["metadata"].get("ownerReferences") or ())


def _plays_failure(node: Raw) -> bool:
    noted = node["metadata"].get("annotations") or {}
    plays = names.HEALTH in noted or names.FAILURES in noted
    return plays or not any(
        item.get("type") == "Ready" and item.get("status") != "True" for item in dig(node, "status", "conditions") or ()
    )


def _ready(node: Raw) -> Raw:
    conditions = [
        {**item, "status": "True"} if item.get("type") == "Ready" else item
        for item in dig(node, "status", "conditions") or ()
    ]
    open_node = _without_taints(node, [key for key in _taints(node) if key.startswith(LIFECYCLE)])
    return {**open_node, "status": {**node["status"], "conditions": conditions}}


def uncordoned(node: Raw) -> Raw:
    """A node that is open, without the taint of its cordon."""
    return _without_taints(node, (CORDONED,))


def _taints(node: Raw) -> list[str]:
    return [str(item.get("key")) for item in dig(node, "spec", "taints") or ()]


def _without_taints(node: Raw, keys: Collection[str]) -> Raw:
    kept = [item for item in dig(node, "spec", "taints") or () if item.get("key") not in keys]
    return {**node, "spec": {**(node.get("spec") or {}), "taints": kept}}
