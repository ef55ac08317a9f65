"""GPUs that drivers publish as devices (dynamic resource allocation, DRA), counted with those of device plugins.

Between what is read of a cluster and look.py: nodes get the GPUs that ResourceSlices publish for them, pods those that
their ResourceClaims ask for or have. The rules are the scheduler's: a driver with "gpu" in its name publishes GPUs, and
only the newest generation of a pool counts. A device that several pods use is a shared one. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from gangline.api.builtin import Untyped
from gangline.dashboard.look import NodeFact, PodFact
from gangline.rules import requests

Claims = Mapping[tuple[str, str], Untyped]
"""By namespace and name."""


def with_devices(
    pods: Sequence[PodFact], nodes: Sequence[NodeFact], slices: Sequence[Untyped], claims: Sequence[Untyped]
) -> tuple[Sequence[PodFact], Sequence[NodeFact]]:
    """The same pods and nodes, with the GPUs of drivers counted in."""
    if slices:
        published = _published(slices)
        nodes = [_with_gpus(fact, published[fact.node.name]) for fact in nodes]
    if claims:
        known = {(claim.namespace, claim.name): claim for claim in claims}
        users = Counter(key for fact in pods if fact.holds for key in _devices(fact, known))
        pods = [_with_claims(fact, known, users) if fact.pod.spec.resource_claims else fact for fact in pods]
    return pods, nodes


def _published(slices: Sequence[Untyped]) -> Counter[str]:
    """Node → GPUs that drivers publish for it."""
    pools: dict[tuple[str, str], list[Untyped]] = {}
    for item in slices:
        driver = str((item.spec or {}).get("driver") or "")
        if requests.is_gpu_driver(driver):
            pools.setdefault((driver, str(_pool(item).get("name") or "")), []).append(item)
    counts: Counter[str] = Counter()
    for members in pools.values():
        newest = max(_generation(item) for item in members)
        for item in members:
            if _generation(item) == newest:
                counts.update(_nodes_of(item))
    return counts


def _pool(item: Untyped) -> Mapping[str, object]:
    return item.spec.get("pool") or {}


def _generation(item: Untyped) -> int:
    return int(str(_pool(item).get("generation") or 0))


def _nodes_of(item: Untyped) -> Iterator[str]:
    """The node of each device; devices that several nodes reach are no node's own."""
    for device in item.spec.get("devices") or ():
        own = (device.get("basic") or device) if item.spec.get("perDeviceNodeSelection") else item.spec
        if own.get("nodeName"):
            yield str(own["nodeName"])


def _with_gpus(fact: NodeFact, more: int) -> NodeFact:
    return msgspec.structs.replace(fact, gpus=fact.gpus + more) if more else fact


def _claims_of(fact: PodFact, known: Claims) -> list[Untyped]:
    names = requests.claim_names(fact.pod).values() if fact.pod.spec.resource_claims else ()
    return [known[fact.pod.namespace, name] for name in names if (fact.pod.namespace, name) in known]


def _devices(fact: PodFact, known: Claims) -> set[str]:
    """The GPUs that its claims have; who only watches a device does not have it."""
    allocations = [(claim.status or {}).get("allocation") or {} for claim in _claims_of(fact, known)]
    results = [item for given in allocations for item in (given.get("devices") or {}).get("results") or ()]
    return {
        "/".join(str(item.get(part) or "") for part in ("driver", "pool", "device"))
        for item in results
        if requests.is_gpu_driver(str(item.get("driver") or "")) and not item.get("adminAccess")
    }


def _with_claims(fact: PodFact, known: Claims, users: Mapping[str, int]) -> PodFact:
    devices = _devices(fact, known) if fact.holds else set()
    if not devices:
        asked = requests.gpu_devices(
            {"metadata": {"annotations": claim.annotations}, "spec": claim.spec} for claim in _claims_of(fact, known)
        )
        return msgspec.structs.replace(fact, gpus=fact.gpus + sum(asked.values()))
    common = tuple(sorted(key for key in devices if users[key] > 1))
    part = min((1 / users[key] for key in common), default=0.0)
    alone = len(devices) - len(common)
    return msgspec.structs.replace(
        fact,
        gpus=round(fact.gpus + alone + part * len(common), 2),
        whole=fact.whole + alone,
        shared=(*fact.shared, *common),
        portion=fact.portion or part,
    )
