"""What a BindRequest says: whether it is settled without a bind, when it was given up, when it is tried again, and what
the bind writes onto the pod.

Stands before controller.py, which carries requests out. Pure: reads objects, writes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from gangline.api import names
from gangline.api.core import Node, Pod
from gangline.api.kai import BindRequest
from gangline.api.kinds import POD
from gangline.binder.settings import BinderSettings
from gangline.rules import requests

NUMA_PREDICTED = "kai.scheduler/numa-placement-predicted"
SUCCEEDED, FAILED = "Succeeded", "Failed"
SUCCESS = {"phase": SUCCEEDED, "reason": None}


@dataclass(frozen=True, slots=True)
class RequestSettled:
    """A request that ends without a bind; `reason` empty: it is fulfilled."""

    reason: str = ""


def settled(
    request: BindRequest, pod: Pod | None, node: Node | None, schedulers: Sequence[str]
) -> RequestSettled | None:
    """Whether there is nothing to do for a request, or nothing that can be done."""
    spec = request.spec
    owner = next(
        (
            owner_reference.uid
            for owner_reference in request.metadata.owner_references
            if owner_reference.kind == POD.kind
        ),
        None,
    )
    if pod is None:
        return RequestSettled(f"pod {request.namespace}/{spec.pod_name} does not exist")
    if owner is not None and owner != pod.uid:
        return RequestSettled(f"it was made for an earlier pod named {pod.name}")
    if pod.spec.node_name:
        here = pod.spec.node_name == spec.selected_node
        return RequestSettled("" if here else f"the pod is already on node {pod.spec.node_name}")
    if pod.metadata.deleting:
        return RequestSettled("the pod is being deleted")
    if pod.spec.scheduler_name not in schedulers:
        return RequestSettled(f"the pod belongs to scheduler {pod.spec.scheduler_name}, not {' or '.join(schedulers)}")
    if node is None:
        return RequestSettled(f"node {spec.selected_node} does not exist")
    if spec.received_resource_type == requests.FRACTION and not spec.selected_gpu_groups:
        return RequestSettled("it shares a GPU but names no GPU group")
    return None


def gave_up(request: BindRequest) -> bool:
    limit = request.spec.backoff_limit
    return request.status.phase == FAILED and (limit is None or request.status.failed_attempts >= limit)


def next_try(failures: int, settings: BinderSettings) -> float:
    """Seconds to wait after so many failures in a row."""
    return float(min(settings.first_delay * 2.0 ** min(failures - 1, 30), settings.longest_delay))


def failures_of(pod: Pod) -> int:
    text = pod.annotations.get(names.BIND_FAILURES, "")
    return int(text) if text.isdigit() else 0


def extra_annotations(request: BindRequest) -> dict[str, str]:
    """What the pod is told about its place, in the same write as the bind."""
    annotations = (
        {names.RECEIVED_TYPE: request.spec.received_resource_type} if request.spec.received_resource_type else {}
    )
    if names.POD_GROUP_NAME in request.annotations:
        annotations[names.POD_GROUP_NAME] = request.annotations[names.POD_GROUP_NAME]
    if request.spec.predicted_numa_zones:
        annotations[NUMA_PREDICTED] = json.dumps(list(request.spec.predicted_numa_zones), separators=(",", ":"))
    return annotations
