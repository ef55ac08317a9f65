"""The BindRequest that speaks for a pod, and what it gives the pod, as the cache shows it. Only looks."""

from __future__ import annotations

from gangline.api.core import Pod
from gangline.api.kai import BindOrder, BindRequest
from gangline.api.kinds import BIND_REQUEST, POD
from gangline.rules import requests
from gangline.rules.gangs.bind_requests import by_node, by_pod, live, order_for
from gangline.runtime import Cache
from gangline.scheduler.objects.devices import allocated_devices
from gangline.scheduler.records import DeviceId


class RequestLookup:
    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    @staticmethod
    def prepare(cache: Cache) -> None:
        made = cache.informer(BIND_REQUEST)
        made.add_index("pod", by_pod)
        made.add_index("node", by_node)

    def of(self, pod: Pod) -> BindRequest | None:
        """One that is over only where no other holds a node for the pod."""
        made = self._cache.by(BIND_REQUEST, "pod", f"{pod.namespace}/{pod.name}")
        mine = [request for request in made if order_for(request, pod) is not None]
        return next((request for request in mine if live(request)), mine[0] if mine else None)

    def devices(self, pod: Pod, claim: str) -> tuple[DeviceId, ...] | None:
        """What it gives one of the pod's claims, before the binder has written that down."""
        request = self.of(pod)
        order = order_for(request, pod) if request is not None and live(request) else None
        for given in () if order is None else order.resource_claim_allocations:
            if requests.claim_names(pod).get(str(given.get("name"))) == claim:
                return tuple(allocated_devices(given.get("allocation") or {}))
        return None

    def has_its_node(self, request: BindRequest, order: BindOrder) -> bool:
        """That the request of such a pod goes changes nothing in how the pod is read."""
        pod = self._cache.get(POD, order.pod_name, request.namespace)
        return pod is not None and pod.spec.node_name == order.selected_node
