"""What a BindRequest orders: one pod, as upstream writes it, or the pods of a gang.

Read by the scheduler, which writes requests, by the binder, which carries them out, and by `gangline explain`; all of
them see orders, whatever the form. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kai import BindOrder, BindRequest
from gangline.api.kinds import POD

SUCCEEDED, FAILED = "Succeeded", "Failed"
MOST_TABLES = 256
_TABLES: dict[int, tuple[tuple[BindOrder, ...], Mapping[str, BindOrder]]] = {}


def orders(request: BindRequest) -> tuple[BindOrder, ...]:
    """One per pod."""
    return request.spec.pods or (_only_order(request),)


def _only_order(request: BindRequest) -> BindOrder:
    """The request is the pod's: the reference says whose, and an annotation is passed on."""
    spec = request.spec
    owner = next((owner.uid for owner in request.metadata.owner_references if owner.kind == POD.kind), "")
    group = request.annotations.get(names.POD_GROUP_NAME)
    return BindOrder(
        pod_name=spec.pod_name,
        selected_node=spec.selected_node,
        received_resource_type=spec.received_resource_type,
        received_gpu=spec.received_gpu,
        selected_gpu_groups=spec.selected_gpu_groups,
        resource_claim_allocations=spec.resource_claim_allocations,
        extended_resource_claim_allocation=spec.extended_resource_claim_allocation,
        predicted_numa_zones=spec.predicted_numa_zones,
        pod_uid=owner,
        annotations={} if group is None else {names.POD_GROUP_NAME: group},
    )


def order_for(request: BindRequest, pod: Pod) -> BindOrder | None:
    """What the request orders for this pod; an earlier pod with the same name is another one."""
    order = _by_name(request.spec.pods).get(pod.name) if request.spec.pods else _only_order(request)
    return order if order is not None and order.pod_name == pod.name and order.pod_uid in ("", pod.uid) else None


def _by_name(pods: tuple[BindOrder, ...]) -> Mapping[str, BindOrder]:
    """Orders by the pods' names, each of which stands in a request once. Every pod of a large gang is looked up, some
    times each: the table is kept, with the orders it was made of, so that it is never another request's."""
    known = _TABLES.get(id(pods))
    if known is None:
        if len(_TABLES) >= MOST_TABLES:
            _TABLES.clear()
        known = _TABLES[id(pods)] = pods, {order.pod_name: order for order in pods}
    return known[1]


def live(request: BindRequest) -> bool:
    """A request that failed as often as it may no longer holds its nodes."""
    if request.status.phase != FAILED:
        return True
    limit = request.spec.backoff_limit
    return limit is not None and request.status.failed_attempts < limit


def by_pod(request: BindRequest) -> list[str]:
    """Index of requests by the pods they speak for."""
    return [f"{request.namespace}/{order.pod_name}" for order in orders(request)]


def by_node(request: BindRequest) -> list[str]:
    return _distinct(order.selected_node for order in orders(request))


def by_gpu_group(request: BindRequest) -> list[str]:
    return _distinct(group for order in orders(request) for group in order.selected_gpu_groups)


def _distinct(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))
