"""What nodes and pods use, as metrics.k8s.io tells it: `kubectl top`, and autoscalers that ask for it.

On simulated nodes a running container uses what it requests: that is what is served here, from the stored pods. Nothing
is kept. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from gangline.api import resources
from gangline.cluster.server.catalogue import Resource

Obj = dict[str, Any]
GROUP, VERSION = "metrics.k8s.io", "v1beta1"
_VERBS = ("get", "list")
SERVED = (
    Resource(
        GROUP, VERSION, "nodes", "NodeMetrics", False, _VERBS, list_kind="NodeMetricsList", shelf=(GROUP, "nodes")
    ),
    Resource(GROUP, VERSION, "pods", "PodMetrics", True, _VERBS, list_kind="PodMetricsList", shelf=(GROUP, "pods")),
)
WINDOW = "20s"
_AMOUNTS = ("cpu", "memory")


def pod_metrics(pod: Obj, now: str) -> Obj:
    """What the containers of a running pod use."""
    containers = [
        {"name": item["name"], "usage": {name: resources.decimal(_requested(item, name)) for name in _AMOUNTS}}
        for item in pod["spec"]["containers"]
    ]
    return {**_head("PodMetrics", pod, now), "containers": containers}


def node_metrics(node: Obj, pods: Iterable[Obj], now: str) -> Obj:
    """What all running pods of a node use together."""
    used: defaultdict[str, int] = defaultdict(int)
    for pod in pods:
        for name in _AMOUNTS:
            used[name] += sum(_requested(item, name) for item in pod["spec"]["containers"])
    return {**_head("NodeMetrics", node, now), "usage": {name: resources.decimal(used[name]) for name in _AMOUNTS}}


def metrics_list(kind: str, items: list[Obj], revision: int) -> Obj:
    head = {"kind": kind, "apiVersion": f"{GROUP}/{VERSION}", "metadata": {"resourceVersion": str(revision)}}
    return {**head, "items": items}


def runs(pod: Obj) -> bool:
    return bool(pod["spec"].get("nodeName")) and (pod.get("status") or {}).get("phase") == "Running"


def _head(kind: str, obj: Obj, now: str) -> Obj:
    kept = {key: obj["metadata"][key] for key in ("name", "namespace", "labels") if key in obj["metadata"]}
    return {
        "kind": kind,
        "apiVersion": f"{GROUP}/{VERSION}",
        "metadata": {**kept, "creationTimestamp": now},
        "timestamp": now,
        "window": WINDOW,
    }


def _requested(container: Obj, name: str) -> int:
    return resources.nanos(((container.get("resources") or {}).get("requests") or {}).get(name, "0"))
