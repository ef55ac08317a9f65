"""Services' endpoints: which pods a Service's selector finds, ready or not, as EndpointSlices (and Endpoints for old
readers).

Pure functions work out the slices; the shell compares them with those that are there. Services without a selector are
left alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from gangline.api.builtin import EndpointSlice
from gangline.api.core import Pod, Service
from gangline.api.kinds import ENDPOINT_SLICE, ENDPOINTS, POD, SERVICE, reference
from gangline.api.meta import Raw
from gangline.cluster.world.discovery import only_metadata
from gangline.cluster.world.pods.pod_life import FINAL
from gangline.cluster.world.workloads.replicas import BY_LABEL, by_label, found_by, is_ready, suffix
from gangline.runtime import Again, Context, Controller, Key, Reader, Watch, itself, key_of, owner

BY_SELECTOR = "selector"
MANAGED_BY = "endpointslice.kubernetes.io/managed-by"
MANAGER = "endpointslice-controller.k8s.io"
SERVICE_NAME = "kubernetes.io/service-name"
MOST = 100
PAUSE = 0.002
"""Seconds a Service with many pods waits between writes, for each of them."""
MOST_OLD_STYLE = 1000
"""Addresses that an Endpoints object has, at most; the slices have them all."""
OURS = {"endpoints.kubernetes.io/managed-by": "endpoint-controller"}
OVER_CAPACITY = {"endpoints.kubernetes.io/over-capacity": "truncated"}
NAMES = only_metadata(ENDPOINTS)
"""Endpoints without what stands in them."""
Ports: TypeAlias = tuple[tuple[str, int, str], ...]


# --- thinking
# ----------------------------------------------------------------------------------------------------------


def chosen(service: Service, read: Reader) -> list[Pod]:
    """The pods of a Service that have an address, by name."""
    found = found_by(service.spec.selector, service.namespace, POD, read)
    return sorted(
        (pod for pod in found if pod.status.pod_ip and pod.status.phase not in FINAL), key=lambda pod: pod.name
    )


def ports_of(service: Service, pod: Pod) -> Ports:
    """The Service's ports as this pod serves them: a name is looked up among its containers' ports."""
    found = []
    for port in service.spec.ports:
        target = port.get("targetPort", port.get("port"))
        number = target if isinstance(target, int) else _named_port(pod, str(target))
        if number is not None:
            found.append((str(port.get("name") or ""), int(number), str(port.get("protocol") or "TCP")))
    return tuple(found)


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
    one: Raw = {
        "addresses": [pod.status.pod_ip],
        "conditions": conditions,
        "nodeName": pod.spec.node_name,
        "targetRef": {"kind": "Pod", "name": pod.name, "namespace": pod.namespace, "uid": pod.uid},
    }
    return one | ({"hostname": pod.spec.hostname} if pod.spec.hostname and pod.spec.subdomain == service.name else {})


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


# --- doing
# -------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Slicer:
    """Writes a Service's endpoints; the more pods it has, the longer it gathers changes before it writes again."""

    written: dict[Key, float] = field(default_factory=dict)

    async def reconcile(self, ctx: Context, key: Key) -> Again | None:
        service = ctx.read.get(SERVICE, key.name, key.namespace)
        if service is None or service.metadata.deleting or not service.spec.selector:
            self.written.pop(key, None)
            if service is None:
                await forget(ctx, key)
            return None
        pods, now = chosen(service, ctx.read), ctx.clock.now()
        pause = self.written.get(key, 0.0) + PAUSE * len(pods) - now
        if pause > 0 and len(pods) > MOST:
            return Again(pause)
        self.written[key] = now
        await write(ctx, key, service, pods)
        return None


async def forget(ctx: Context, key: Key) -> None:
    """A Service is gone: its slices go with their owner, its Endpoints, which has none, goes here."""
    left = ctx.read.get(NAMES, key.name, key.namespace)
    if left is not None and not left.metadata.deleting:
        await ctx.writer.delete_unless_gone(ENDPOINTS, left)


async def write(ctx: Context, key: Key, service: Service, pods: Sequence[Pod]) -> None:
    there = {
        endpoint_slice.name: endpoint_slice
        for endpoint_slice in ctx.read.owned(ENDPOINT_SLICE, service.uid)
        if endpoint_slice.labels.get(MANAGED_BY) == MANAGER
    }
    wanted = {slice_["metadata"]["name"]: slice_ for slice_ in slices(service, pods)}
    changed = False
    for name, item in wanted.items():
        if name not in there:
            changed |= await ctx.writer.create_unless_there(ENDPOINT_SLICE, item)
        elif not same(item, there[name]):
            await ctx.client.patch(
                ENDPOINT_SLICE, name, key.namespace, {"endpoints": item["endpoints"], "ports": item["ports"]}
            )
            changed = True
    for name in [name for name in there if name not in wanted]:
        changed |= await ctx.writer.delete_unless_gone(ENDPOINT_SLICE, there[name])
    if changed:
        await ctx.client.apply(ENDPOINTS, old_style(service, pods), manager="endpoint-controller")


def _services_of(pod: Pod, read: Reader) -> list[Key]:
    return [
        key_of(service)
        for label in pod.labels.items()
        for service in read.by(SERVICE, BY_SELECTOR, _selects(pod.namespace, label))
        if service.spec.selector.items() <= pod.labels.items()
    ]


def by_selector(service: Service) -> list[str]:
    """One label of the selector finds the service; the last by name, which most often tells it from others."""
    return [_selects(service.namespace, max(service.spec.selector.items()))] if service.spec.selector else []


def _selects(namespace: str, label: tuple[str, str]) -> str:
    return f"{namespace}/{label[0]}={label[1]}"


def _endpoint_moved(before: Pod | None, after: Pod | None) -> bool:
    return _serves(before) != _serves(after)


def _serves(pod: Pod | None) -> object:
    return (
        None
        if pod is None
        else (pod.status.pod_ip, is_ready(pod), pod.metadata.deleting, pod.status.phase in FINAL, pod.labels)
    )


def endpoints() -> Controller:
    return Controller(
        "endpoints",
        Slicer().reconcile,
        watches=(
            Watch(SERVICE, itself),
            Watch(POD, _services_of, when=_endpoint_moved),
            Watch(ENDPOINT_SLICE, owner(SERVICE)),
            Watch(NAMES, itself, when=lambda before, after: before is None and OURS.items() <= after.labels.items()),
        ),
        indexes=((POD, BY_LABEL, by_label), (SERVICE, BY_SELECTOR, by_selector)),
        workers=4,
    )
