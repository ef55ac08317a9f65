"""Pods of DaemonSets: a new node gets its own of each, so they take of its room before any gang does.

Asked by new_nodes.py for how large a node must be, and by remedies.py for what stands on it once it is there. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from gangline.api import kinds
from gangline.api.core import Pod, Taint
from gangline.api.meta import Raw
from gangline.scheduler.matching import all_match, untolerated
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.resources import at
from gangline.scheduler.objects.affinity import required_nodes, taints, tolerations
from gangline.why.objects import ClusterObjects, dig


def daemon_need(objects: ClusterObjects, node: NodeInfo, place: int) -> float:
    """What pods of DaemonSets take of a node as it stands."""
    tasks = (placed.task for placed in node.placed.values())
    return sum(at(task.request, place) for task in tasks if _is_daemon(objects, task.name, task.namespace))


def _is_daemon(objects: ClusterObjects, name: str, namespace: str) -> bool:
    owners = dig(objects.raw(kinds.POD, name, namespace), "metadata", "ownerReferences") or ()
    return any(owner.get("kind") == kinds.DAEMON_SET.kind for owner in owners)


def daemon_pods(objects: ClusterObjects, node: Raw) -> Iterator[Raw]:
    """What the DaemonSet controller puts on a node that is new."""
    for daemon in objects.raws(kinds.DAEMON_SET):
        template = dig(daemon, "spec", "template") or {}
        if not _may_use(template, node):
            continue
        meta, name = daemon["metadata"], node["metadata"]["name"]
        owner = {"apiVersion": daemon.get("apiVersion"), "kind": kinds.DAEMON_SET.kind, "controller": True}
        yield {
            "apiVersion": "v1",
            "kind": kinds.POD.kind,
            "metadata": {
                **(template.get("metadata") or {}),
                "name": f"{meta['name']}-{name}",
                "namespace": meta.get("namespace", ""),
                "uid": f"new-{meta.get('uid')}-{name}",
                "ownerReferences": [{**owner, "name": meta["name"], "uid": meta.get("uid", "")}],
            },
            "spec": {**(template.get("spec") or {}), "nodeName": name},
            "status": {"phase": "Running"},
        }


def _may_use(template: Raw, node: Raw) -> bool:
    pod = msgspec.convert({"metadata": {}, "spec": template.get("spec") or {}}, Pod)
    labels = dig(node, "metadata", "labels") or {}
    if any(labels.get(key) != value for key, value in pod.spec.node_selector.items()):
        return False
    terms = required_nodes(dig(template, "spec", "affinity"))
    if terms is not None and not any(not term.fields and all_match(term.labels, labels) for term in terms):
        return False
    given = [msgspec.convert(item, Taint) for item in dig(node, "spec", "taints") or ()]
    hard = [item for item in given if not item.key.startswith("node.kubernetes.io/")]
    return untolerated(taints(hard), tolerations(pod.spec.tolerations)) is None
