"""What pods made from one template have in common, read once for all of them.

Asked by pods.py for every pod event. A thousand pods of one Job differ in name, place and status, hardly ever in what
they demand: the demands are recognised by their encoding and the answer is shared. Keeps no pod; nothing here knows
where a pod stands."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from gangline.api import resources
from gangline.api.core import Container, Pod
from gangline.api.meta import Raw
from gangline.rules import requests
from gangline.rules.requests import by_name
from gangline.scheduler.objects import affinity
from gangline.scheduler.records import ContainerRecord, ExtendedNeed, HostPort, NodeTerm, TolerationRecord

MOST = 4096


@dataclass(frozen=True, slots=True)
class Template:
    amounts: Mapping[str, float]
    gpus: Mapping[str, float]
    """Whole GPUs by resource name."""
    overhead: Mapping[str, float]
    node_selector: Mapping[str, str]
    node_affinity: tuple[NodeTerm, ...] | None
    tolerations: tuple[TolerationRecord, ...]
    host_ports: tuple[HostPort, ...]
    containers: tuple[ContainerRecord, ...]
    extended: tuple[ExtendedNeed, ...]
    qos: str
    signature: str


_encode = msgspec.json.Encoder(order="deterministic").encode
_known: dict[bytes, Template] = {}


def template_of(pod: Pod) -> Template:
    key = _key(pod)
    template = _known.get(key)
    if template is None:
        if len(_known) >= MOST:
            _known.clear()
        template = _known[key] = _read(pod)
    return template


def _key(pod: Pod) -> bytes:
    first, then = pod.spec.init_containers, pod.spec.containers
    return _encode((_demands(pod), pod.spec.overhead, [_asks(item) for item in first], [_asks(item) for item in then]))


def _asks(container: Container) -> tuple[Any, ...]:
    return container.name, container.resources, container.ports, container.restart_policy


def _demands(pod: Pod) -> list[Any]:
    """What a pod demands of nodes, amounts aside."""
    spec = pod.spec
    return [
        [_storage(volume) for volume in spec.volumes if not volume.get("configMap") and not volume.get("secret")],
        spec.node_selector,
        spec.affinity,
        [[t.key, t.operator, t.value, t.effect] for t in spec.tolerations],
        [spec.priority_class_name, spec.priority],
        spec.topology_spread_constraints,
        [port.get("hostPort") or 0 for container in every_container(pod) for port in container.ports],
    ]


def _storage(volume: Raw) -> Raw:
    return {key: value for key, value in volume.items() if key != "name"}


def _read(pod: Pod) -> Template:
    spec, amounts = pod.spec, requests.pod_amounts(pod)
    return Template(
        amounts=amounts,
        gpus={name: value for name, value in amounts.items() if value and requests.is_gpu(name)},
        overhead=requests.amounts_of(spec.overhead),
        node_selector=spec.node_selector,
        node_affinity=affinity.required_nodes(spec.affinity),
        tolerations=affinity.tolerations(spec.tolerations),
        host_ports=tuple(_host_ports(pod)),
        containers=tuple(_containers(pod)),
        extended=tuple(_extended_needs(pod)),
        qos=_qos_class(pod),
        signature=hashlib.sha256(_encode(_demands(pod))).hexdigest(),
    )


def every_container(pod: Pod) -> Iterator[Container]:
    yield from pod.spec.init_containers
    yield from pod.spec.containers


def _containers(pod: Pod) -> Iterator[ContainerRecord]:
    for container in pod.spec.init_containers:
        yield ContainerRecord(by_name(container.resources.requests), True, container.restart_policy == "Always")
    for container in pod.spec.containers:
        yield ContainerRecord(by_name(container.resources.requests))


def _host_ports(pod: Pod) -> Iterator[HostPort]:
    for container in every_container(pod):
        for port in container.ports:
            number = int(port.get("hostPort") or 0)
            if number > 0:
                yield HostPort(number, str(port.get("protocol") or "TCP"), str(port.get("hostIP") or "0.0.0.0"))


def _qos_class(pod: Pod) -> str:
    """Guaranteed, Burstable or BestEffort, for servers that do not write it."""
    guaranteed, any_request = True, False
    for container in every_container(pod):
        limits = requests.amounts_of(container.resources.limits)
        asked = limits | requests.amounts_of(container.resources.requests)
        any_request = any_request or bool(asked.get("cpu") or asked.get("memory"))
        guaranteed = guaranteed and all(limits.get(name) and limits[name] == asked[name] for name in ("cpu", "memory"))
    if not any_request:
        return "BestEffort"
    return "Guaranteed" if guaranteed else "Burstable"


def _extended_needs(pod: Pod) -> Iterator[ExtendedNeed]:
    """What its containers ask of resources with a domain: a device class may back any of them."""
    for place, container in enumerate(every_container(pod)):
        lasting = place >= len(pod.spec.init_containers) or container.restart_policy == "Always"
        for number, name in enumerate(sorted(container.resources.requests)):
            count = resources.units(container.resources.requests[name]) if "/" in name else 0
            if count > 0:
                yield ExtendedNeed(container.name, place, number, name, count, lasting)
