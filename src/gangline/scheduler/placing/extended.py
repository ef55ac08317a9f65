"""Extended resources that device classes back: which devices a pod needs for them on a node, and which container uses
which.

On a node that has the resource itself (a device plugin's), nothing is needed. Elsewhere the pod gets one claim that
nobody wrote: a request per container and resource. Init containers run before the others, so they use the devices of
those, and only what they need beyond counts; of several such, the largest. The binder writes the claim down."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from gangline.rules import requests
from gangline.scheduler.decisions import ContainerUse
from gangline.scheduler.model import gpu_pools
from gangline.scheduler.model.dra import Devices
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.records import ClaimRecord, DeviceRequest, ExtendedNeed, TaskRecord

NAME = "<extended-resources>"
"""No name that an object could have."""


@dataclass(frozen=True, slots=True)
class ExtendedClaim:
    """The claim to make, and how containers use it."""

    claim: ClaimRecord
    uses: tuple[ContainerUse, ...]


def extended_claim(devices: Devices, record: TaskRecord, node: NodeInfo) -> ExtendedClaim | None:
    """The claim that the pod needs on this node for its extended resources; None when the node has them itself."""
    needed: list[DeviceRequest] = []
    uses: list[ContainerUse] = []
    for resource in sorted({need.resource for need in record.extended}):
        device_class = devices.class_of(resource)
        if device_class is None or not lacks(node, resource):
            continue
        asked, used = _of_resource([need for need in record.extended if need.resource == resource], device_class)
        needed += asked
        uses += used
    if not needed:
        return None
    claim = ClaimRecord(
        NAME,
        record.namespace,
        requests=tuple(sorted(needed, key=lambda item: item.name)),
        pod=record.uid,
        template=True,
    )
    return ExtendedClaim(claim, tuple(uses))


def lacks(node: NodeInfo, resource: str) -> bool:
    if requests.is_gpu(resource):
        return not gpu_pools.offered(node, resource if node.gpu_names else gpu_pools.UNNAMED)
    return not node.record.allocatable.get(resource)


def _of_resource(needs: Sequence[ExtendedNeed], device_class: str) -> tuple[list[DeviceRequest], list[ContainerUse]]:
    lasting = [(need, _request(need, device_class, need.count)) for need in needs if need.lasting]
    uses = [_use(need, request) for need, request in lasting]
    passing: list[DeviceRequest] = []
    borrowed: list[ContainerUse] = []
    for need in needs:
        if not need.lasting:
            request, used = _passing(need, device_class, [item for later, item in lasting if later.place >= need.place])
            passing += [request] if request is not None else []
            borrowed += used
    largest = max(passing, key=lambda item: item.count or 0, default=None)
    if largest is not None:
        names = {item.name for item in passing}
        borrowed = [replace(item, request=largest.name) if item.request in names else item for item in borrowed]
    return [*([largest] if largest is not None else []), *(request for _, request in lasting)], [*uses, *borrowed]


def _passing(
    need: ExtendedNeed, device_class: str, later: Iterable[DeviceRequest]
) -> tuple[DeviceRequest | None, list[ContainerUse]]:
    """An init container takes the devices of those that start after it, then its own."""
    left, used = need.count, []
    for request in later:
        used.append(_use(need, request))
        left -= request.count or 0
        if left <= 0:
            return None, used
    own = _request(need, device_class, left)
    return own, [*used, _use(need, own)]


def _request(need: ExtendedNeed, device_class: str, count: int) -> DeviceRequest:
    return DeviceRequest(f"container-{need.place}-request-{need.number}", device_class, count)


def _use(need: ExtendedNeed, request: DeviceRequest) -> ContainerUse:
    return ContainerUse(need.container, need.resource, request.name)
