"""DeviceClass, ResourceSlice and ResourceClaim (plain data) → their records.

Only what deciding needs: which devices stand on which node, which classes exist, and what a claim asks for or already
has.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gangline.api.meta import Raw
from gangline.rules import requests
from gangline.scheduler.objects import affinity
from gangline.scheduler.records import ClaimRecord, Device, DeviceClassRecord, DeviceId, DeviceRequest, SliceRecord


def _meta(obj: Raw) -> Raw:
    return obj.get("metadata") or {}


def _spec(obj: Raw) -> Raw:
    return obj.get("spec") or {}


def device_class_record(obj: Raw) -> DeviceClassRecord:
    return DeviceClassRecord(str(_meta(obj).get("name") or ""), str(_spec(obj).get("extendedResourceName") or ""))


def slice_record(obj: Raw) -> SliceRecord:
    spec = _spec(obj)
    devices = tuple(_device(each, str(spec.get("driver") or "")) for each in spec.get("devices") or ())
    pool = str((spec.get("pool") or {}).get("name") or "")
    name, node, driver = str(_meta(obj).get("name") or ""), str(spec.get("nodeName") or ""), str(spec.get("driver") or "")
    return SliceRecord(name, node, driver, pool, devices)


def _device(device: Raw, driver: str) -> Device:
    """Attributes without a domain belong to the driver."""
    body = device.get("basic") or device
    attributes: dict[str, object] = {}
    for name, value in (body.get("attributes") or {}).items():
        plain = next(iter(value.values()), None) if isinstance(value, dict) else value
        attributes[name if "/" in name else f"{driver}/{name}"] = plain
    return Device(str(device.get("name") or ""), attributes=attributes)


def claim_record(obj: Raw) -> ClaimRecord:
    status = obj.get("status") or {}
    allocation = status.get("allocation")
    return ClaimRecord(
        name=str(_meta(obj).get("name") or ""),
        namespace=str(_meta(obj).get("namespace") or ""),
        labels=_meta(obj).get("labels") or {},
        requests=tuple(device_requests(obj)),
        allocated=None if allocation is None else tuple(allocated_devices(allocation)),
        nodes=None if allocation is None else affinity.node_terms(allocation.get("nodeSelector")),
        reserved_for=tuple(str(each.get("uid") or each.get("name") or "") for each in status.get("reservedFor") or ()),
        template=from_template(obj),
    )


def device_requests(claim: Raw) -> Iterable[DeviceRequest]:
    for request in requests.claim_requests(claim):
        exactly = request.get("exactly") or request
        if exactly.get("deviceClassName"):
            every = exactly.get("allocationMode") == "All"
            count = None if every else max(int(exactly.get("count") or 0), 0) or 1
            yield DeviceRequest(str(request.get("name") or ""), str(exactly["deviceClassName"]), count)


def allocated_devices(allocation: Raw) -> Iterable[DeviceId]:
    for result in (allocation.get("devices") or {}).get("results") or ():
        yield DeviceId(*(str(result.get(key) or "") for key in ("driver", "pool", "device", "request")))


def from_template(claim: Raw) -> bool:
    """Made for one pod: owned by it."""
    owners: list[dict[str, Any]] = _meta(claim).get("ownerReferences") or []
    return any(owner.get("kind") == "Pod" for owner in owners)
