"""What the EndpointSlices and Endpoints of a Service say. Pure; endpoints.py writes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from gangline.api.builtin import EndpointSlice
from gangline.api.core import Pod, Service
from gangline.api.kinds import ENDPOINTS, POD, SERVICE, reference
from gangline.api.meta import Raw
from gangline.cluster.world.discovery import only_metadata
from gangline.cluster.world.pods.pod_step import FINAL
from gangline.cluster.world.workloads.replicas import found_by, is_ready, suffix
from gangline.runtime import Reader

MANAGED_BY = "endpointslice.kubernetes.io/managed-by"
MANAGER = "endpointslice-controller.k8s.io"
SERVICE_NAME = "kubernetes.io/service-name"
MOST = 100
MOST_OLD_STYLE = 1000
"""Addresses that an Endpoints object has, at most; the slices have them all."""
OURS = {"endpoints.kubernetes.io/managed-by": "endpoint-controller"}
OVER_CAPACITY = {"endpoints.kubernetes.io/over-capacity": "truncated"}
NAMES = only_metadata(ENDPOINTS)
"""Endpoints without what stands in them."""
Ports: TypeAlias = tuple[tuple[str, int, str], ...]


def chosen(service: Service, read: Reader) -> list[Pod]:
    """The pods of a Service that have an address, by name."""
    pods = found_by(service.spec.selector, service.namespace, POD, read)
    return sorted(
        (pod for pod in pods if pod.status.pod_ip and pod.status.phase not in FINAL), key=lambda pod: pod.name
    )


def ports_of(service: Service, pod: Pod) -> Ports:
    """The Service's ports as this pod serves them: a name is looked up among its containers' ports."""
    ports = []
    for port in service.spec.ports:
        target = port.get("targetPort", port.get("port"))
        number = target if isinstance(target, int) else _named_port(pod, str(target))
        if number is not None:
            ports.append((str(port.get("name") or ""), int(number), str(port.get("protocol") or "TCP")))
    return tuple(ports)


def _named_port(pod: Pod, name: str) -> int | None:
    if name.isdigit():
        return int(name)
    ports = (port for container in pod.spec.containers for port in container.ports)
    return next((int(port["containerPort"]) for port in ports if port.get("name") == name), None)


def endpoint(service: Service, pod: Pod) -> Raw:
    serving = is_ready(pod) or service.spec.publish_not_ready_addresses
    conditions = {
        "ready": serving and not pod.metadata.deleting,
        "serving": serving,
        "terminating": pod.metadata.deleting,
    }
    described: Raw = {
        "addresses": [pod.status.pod_ip],
        "conditions": conditions,
        "nodeName": pod.spec.node_name,
        "targetRef": {"kind": "Pod", "name": pod.name, "namespace": pod.namespace, "uid": pod.uid},
    }
    return described | (
        {"hostname": pod.spec.hostname} if pod.spec.hostname and pod.spec.subdomain == service.name else {}
    )


def slices(service: Service, pods: Iterable[Pod]) -> Iterator[Raw]:
    """EndpointSlices of at most a hundred pods that serve the same ports."""
    groups: dict[Ports, list[Raw]] = {}
    for pod in pods:
        groups.setdefault(ports_of(service, pod), []).append(endpoint(service, pod))
    for ports, members in groups.items() or [((), [])]:
        for start in range(0, max(len(members), 1), MOST):
            yield _slice(service, ports, members[start : start + MOST], start)


def _slice(service: Service, ports: Ports, members: list[Raw], start: int) -> Raw:
    labels = {SERVICE_NAME: service.name, MANAGED_BY: MANAGER}
    if service.spec.cluster_ip == "None":
        labels["service.kubernetes.io/headless"] = ""
    return {
        "metadata": {
            "name": f"{service.name[:57]}-{suffix(service.uid, ports, start)}",
            "namespace": service.namespace,
            "labels": labels,
            "ownerReferences": [reference(SERVICE, service)],
        },
        "addressType": "IPv4",
        "endpoints": members,
        "ports": [{"name": name, "port": number, "protocol": protocol} for name, number, protocol in ports],
    }


def old_style(service: Service, pods: Sequence[Pod]) -> Raw:
    """The Endpoints object that older clients read: of very many pods some, ready ones first."""
    groups: dict[Ports, dict[str, list[Raw]]] = {}
    for pod in (
        sorted(pods, key=lambda pod: (not is_ready(pod), pod.name))[:MOST_OLD_STYLE]
        if len(pods) > MOST_OLD_STYLE
        else pods
    ):
        ready = endpoint(service, pod)["conditions"]["ready"]
        address = {
            "ip": pod.status.pod_ip,
            "nodeName": pod.spec.node_name,
            "targetRef": {"kind": "Pod", "name": pod.name, "namespace": pod.namespace, "uid": pod.uid},
        }
        groups.setdefault(ports_of(service, pod), {}).setdefault(
            "addresses" if ready else "notReadyAddresses", []
        ).append(address)
    subsets = [
        members | {"ports": [{"name": name, "port": number, "protocol": protocol} for name, number, protocol in ports]}
        for ports, members in groups.items()
    ]
    meta: Raw = {"name": service.name, "namespace": service.namespace, "labels": OURS}
    if len(pods) > MOST_OLD_STYLE:
        meta["annotations"] = OVER_CAPACITY
    return {"metadata": meta, "subsets": subsets or None}


def same(wanted: Raw, endpoint_slice: EndpointSlice) -> bool:
    return (list(endpoint_slice.endpoints or ()), _bare(endpoint_slice.ports or ())) == (
        wanted["endpoints"],
        _bare(wanted["ports"]),
    )


def _bare(ports: Iterable[Mapping[str, Any]]) -> list[tuple[Any, ...]]:
    return [(port.get("name") or "", port.get("port"), port.get("protocol")) for port in ports]
