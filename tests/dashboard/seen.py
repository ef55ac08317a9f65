"""Short words for a look at a cluster: objects as a test states them, read into the types that the pages are made
from."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from gangline.api import names
from gangline.api.kinds import (
    EVENT,
    JOB,
    NODE,
    POD,
    POD_CLIQUE,
    POD_CLIQUE_SET,
    POD_GANG,
    POD_GROUP,
    QUEUE,
    RESOURCE_CLAIM,
    RESOURCE_SLICE,
    TOPOLOGY,
    Kind,
)
from gangline.api.meta import Raw
from gangline.dashboard.claimed import with_devices
from gangline.dashboard.look import ClusterView, node_fact, pod_fact
from gangline.dashboard.page_data import PageSource
from gangline.rules.values.times import seconds

NOW = "2026-01-01T01:00:00Z"
MADE = "2026-01-01T00:58:00Z"
SPACE = "work"
Given = tuple[Kind[Any], Raw]
"""An object and its kind."""


def look(*objects: Given, **source: Any) -> ClusterView:
    """What the pages would be made from, were these objects all there is."""
    held: dict[Kind[Any], list[Any]] = {}
    for kind, obj in objects:
        held.setdefault(kind, []).append(msgspec.convert(obj, kind.type, strict=False))
    now = seconds(NOW) or 0.0
    told: dict[str, Any] = {"server": "here", "now": now, "heard": now} | source
    pods, nodes = with_devices(
        [pod_fact(item) for item in held.get(POD, [])],
        [node_fact(item) for item in held.get(NODE, [])],
        held.get(RESOURCE_SLICE, []),
        held.get(RESOURCE_CLAIM, []),
    )
    return ClusterView(
        source=PageSource(**told),
        pods=pods,
        nodes=nodes,
        gangs=held.get(POD_GANG, []),
        groups=held.get(POD_GROUP, []),
        queues=held.get(QUEUE, []),
        sets=held.get(POD_CLIQUE_SET, []),
        cliques=held.get(POD_CLIQUE, []),
        topologies=held.get(TOPOLOGY, []),
        events=held.get(EVENT, []),
        jobs=held.get(JOB, []),
    )


def meta(name: str, namespace: str = SPACE, **more: Any) -> Raw:
    return {"name": name, "namespace": namespace, "uid": f"uid-{namespace}-{name}", "creationTimestamp": MADE, **more}


def node(name: str, gpus: int = 8, *, cordoned: bool = False, **labels: str) -> Given:
    has = {"cpu": "64", "memory": "256Gi", names.NVIDIA_GPU: str(gpus)}
    return NODE, {
        "metadata": meta(name, "", labels=labels),
        "spec": {"unschedulable": cordoned},
        "status": {"allocatable": has, "conditions": [{"type": "Ready", "status": "True"}]},
    }


def pod(
    name: str,
    group: str = "",
    gpus: int = 0,
    *,
    on: str = "",
    phase: str = "",
    notes: dict[str, str] | None = None,
    **labels: str,
) -> Given:
    noted = ({names.POD_GROUP_NAME: group} if group else {}) | (notes or {})
    asked = {"cpu": "1"} | ({names.NVIDIA_GPU: str(gpus)} if gpus else {})
    given = {
        names.POD_GANG if key == "gang" else names.POD_CLIQUE if key == "clique" else names.GPU_GROUP: value
        for key, value in labels.items()
    }
    return POD, {
        "metadata": meta(name, annotations=noted, labels=given),
        "spec": {"nodeName": on, "containers": [{"name": "main", "resources": {"requests": asked}}]},
        "status": {"phase": phase or ("Running" if on else "Pending")},
    }


def group(
    name: str, minimum: int = 1, queue: str = "q", *, why: Any = None, owner: Raw | None = None, **spec: Any
) -> Given:
    notes = {names.VERDICT: why if isinstance(why, str) else json.dumps(why)} if why is not None else {}
    return POD_GROUP, {
        "metadata": meta(name, annotations=notes, ownerReferences=[owner] if owner else []),
        "spec": {"minMember": minimum, "queue": queue, **spec},
    }


def job(name: str, ended: str = "", reason: str = "", message: str = "") -> Given:
    """`ended`: Complete or Failed; empty: it goes on."""
    told = [{"type": ended, "status": "True", "reason": reason, "message": message}] if ended else []
    return JOB, {"metadata": meta(name), "status": {"conditions": told}}


def eviction(of: str, action: str, other: str, at: str = MADE) -> Given:
    notes = {
        "num-evicted-pods": "2",
        "evictor-action-type": action,
        "evictor-pod-group-name": other,
        "evictor-pod-group-namespace": SPACE if other else "",
    }
    return EVENT, {
        "metadata": meta(f"{of}.evict", annotations=notes),
        "reason": "Evict",
        "message": "Pod … was evicted",
        "type": "Normal",
        "involvedObject": {"kind": "PodGroup", "name": of, "namespace": SPACE},
        "count": 1,
        "lastTimestamp": at,
    }


def verdict(name: str, why: str, *remedies: str) -> Raw:
    return {
        "headline": f"{name} waits: {why}",
        "text": f"{name} waits: {why}\n  needs     16 GPUs for 2 pods\n"
        + "".join(f"  would start if   {remedy}\n" for remedy in remedies),
        "remedies": [{"kind": "x", "text": remedy} for remedy in remedies],
        "position": 2,
        "waiting": 3,
    }


def gang(name: str, minima: dict[str, int], phase: str = "", *, of: str = "", said: str = "") -> Given:
    conditions = (
        [{"type": "Scheduled", "status": "False", "reason": "Waits", "message": said, "lastTransitionTime": MADE}]
        if said
        else []
    )
    return POD_GANG, {
        "metadata": meta(name, labels={names.PART_OF: of} if of else {}),
        "spec": {
            "podgroups": [{"name": part, "minReplicas": least, "podReferences": []} for part, least in minima.items()]
        },
        "status": {"phase": phase, "conditions": conditions},
    }


def owned_by(kind: str, name: str, namespace: str = SPACE) -> Raw:
    return {"apiVersion": "v1", "kind": kind, "name": name, "uid": f"uid-{namespace}-{name}"}


def queue(
    name: str, parent: str = "", *, quota: float = 0, limit: float = -1, held: float = 0, asked: float = 0
) -> Given:
    return QUEUE, {
        "metadata": meta(name, ""),
        "spec": {"parentQueue": parent, "resources": {"gpu": {"quota": quota, "limit": limit}}},
        "status": {"allocated": {names.NVIDIA_GPU: str(held)}, "requested": {names.NVIDIA_GPU: str(asked)}},
    }


def event(about: str, message: str, at: str = MADE, *, warning: bool = False) -> Given:
    return EVENT, {
        "metadata": meta(f"{about}.1"),
        "involvedObject": {"kind": "Pod", "name": about, "namespace": SPACE},
        "reason": "Told",
        "message": message,
        "type": "Warning" if warning else "Normal",
        "count": 2,
        "lastTimestamp": at,
    }
