"""What an order of a BindRequest says: whether it is settled without a bind, when it is tried again, and what the bind
writes onto the pod.

Stands before controller.py, which carries requests out. Pure: reads objects, writes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from gangline.api import names
from gangline.api.core import Node, Pod
from gangline.api.kai import BindOrder
from gangline.binder.settings import BinderSettings
from gangline.rules import requests
from gangline.rules.gangs.bind_requests import SUCCEEDED

NUMA_PREDICTED = "kai.scheduler/numa-placement-predicted"
SUCCESS = {"phase": SUCCEEDED, "reason": None}


@dataclass(frozen=True, slots=True)
class RequestSettled:
    """An order that ends without a bind; `reason` empty: it is fulfilled."""

    reason: str = ""


def settled(
    namespace: str, order: BindOrder, pod: Pod | None, node: Node | None, schedulers: Sequence[str]
) -> RequestSettled | None:
    """Whether there is nothing to do for an order, or nothing that can be done."""
    if pod is None:
        return RequestSettled(f"pod {namespace}/{order.pod_name} does not exist")
    if order.pod_uid not in ("", pod.uid):
        return RequestSettled(f"it was made for an earlier pod named {pod.name}")
    if pod.spec.node_name:
        here = pod.spec.node_name == order.selected_node
        return RequestSettled("" if here else f"the pod is already on node {pod.spec.node_name}")
    if pod.metadata.deleting:
        return RequestSettled("the pod is being deleted")
    if pod.spec.scheduler_name not in schedulers:
        return RequestSettled(f"the pod belongs to scheduler {pod.spec.scheduler_name}, not {' or '.join(schedulers)}")
    if node is None:
        return RequestSettled(f"node {order.selected_node} does not exist")
    if order.received_resource_type == requests.FRACTION and not order.selected_gpu_groups:
        return RequestSettled("it shares a GPU but names no GPU group")
    return None


def next_try(failures: int, settings: BinderSettings) -> float:
    """Seconds to wait after so many failures in a row."""
    return float(min(settings.first_delay * 2.0 ** min(failures - 1, 30), settings.longest_delay))


def failures_of(pod: Pod) -> int:
    text = pod.annotations.get(names.BIND_FAILURES, "")
    return int(text) if text.isdigit() else 0


def extra_annotations(order: BindOrder) -> dict[str, str]:
    """Annotations that tell the pod about its place, in the same write as the bind."""
    received = order.received_resource_type
    annotations = ({names.RECEIVED_TYPE: received} if received else {}) | order.annotations
    if order.predicted_numa_zones:
        annotations[NUMA_PREDICTED] = json.dumps(list(order.predicted_numa_zones), separators=(",", ":"))
    return annotations
