"""DeviceClass, ResourceSlice and ResourceClaim (plain data) → their records.

Only what deciding needs: which devices stand on which node, which classes exist, and what a claim asks for or already
has.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gangline.api import resources
from gangline.api.meta import Raw
from gangline.rules import requests
from gangline.rules.values import times
from gangline.scheduler.objects import affinity
from gangline.scheduler.records import (
    ClaimRecord,
    DeviceClassRecord,
    DeviceConstraint,
    DeviceId,
    DeviceRecord,
    DeviceRequest,
    SliceRecord,
    TaintRecord,
    TolerationRecord,
)


def _meta(obj: Raw) -> Raw:
    return obj.get("metadata") or {}


def _spec(obj: Raw) -> Raw:
    return obj.get("spec") or {}


def device_class_record(obj: Raw) -> DeviceClassRecord:
    spec = _spec(obj)
    return DeviceClassRecord(
        str(_meta(obj).get("name") or ""),
        str(spec.get("extendedResourceName") or ""),
        selectors=_selectors(spec),
        config=tuple(spec.get("config") or ()),
        created=times.seconds(_meta(obj).get("creationTimestamp")) or 0.0,
    )


def _selectors(part: Raw) -> tuple[str, ...]:
    return tuple(str((selector.get("cel") or {}).get("expression") or "") for selector in part.get("selectors") or ())


def slice_record(obj: Raw) -> SliceRecord:
    spec = _spec(obj)
    driver, pool = str(spec.get("driver") or ""), spec.get("pool") or {}
    return SliceRecord(
        name=str(_meta(obj).get("name") or ""),
        node=str(spec.get("nodeName") or ""),
        driver=driver,
        pool=str(pool.get("name") or ""),
        devices=tuple(_device(device, driver) for device in spec.get("devices") or ()),
        nodes=affinity.node_terms(spec.get("nodeSelector")),
        everywhere=bool(spec.get("allNodes")),
        by_device=bool(spec.get("perDeviceNodeSelection")),
        generation=int(pool.get("generation") or 0),
        slices=int(pool.get("resourceSliceCount") or 0),
        counters={
            str(shared_counter.get("name")): _amounts(shared_counter)
            for shared_counter in spec.get("sharedCounters") or ()
        },
    )


def _device(device: Raw, driver: str) -> DeviceRecord:
    body = device.get("basic") or device
    return DeviceRecord(
        name=str(device.get("name") or ""),
        attributes=_qualified(body.get("attributes"), driver),
        capacity={
            name: str(value.get("value") if isinstance(value, dict) else value)
            for name, value in _qualified(body.get("capacity"), driver).items()
        },
        taints=tuple(
            TaintRecord(_text(taint, "key"), _text(taint, "effect"), _text(taint, "value"))
            for taint in body.get("taints") or ()
        ),
        counters={
            str(consumes_counter.get("counterSet")): _amounts(consumes_counter)
            for consumes_counter in body.get("consumesCounters") or ()
        },
        node=str(body.get("nodeName") or ""),
        nodes=affinity.node_terms(body.get("nodeSelector")),
        everywhere=bool(body.get("allNodes")),
    )


def _qualified(given: Raw | None, driver: str) -> dict[str, Any]:
    """Names without a domain belong to the driver."""
    return {name if "/" in name else f"{driver}/{name}": value for name, value in (given or {}).items()}


def _text(part: Raw, key: str) -> str:
    return str(part.get(key) or "")


def _amounts(part: Raw) -> dict[str, float]:
    counters: dict[str, Raw] = part.get("counters") or {}
    return {
        name: resources.nanos(_text(counter, "value") or "0") / resources.NANO for name, counter in counters.items()
    }


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
        reserved_for=tuple(str(item.get("uid") or item.get("name") or "") for item in status.get("reservedFor") or ()),
        template=from_template(obj),
        constraints=tuple(_constraints(obj)),
        config=tuple((_spec(obj).get("devices") or {}).get("config") or ()),
        pod=made_for(obj),
    )


def device_requests(claim: Raw) -> Iterable[DeviceRequest]:
    for request in requests.claim_requests(claim):
        name = str(request.get("name") or "")
        if request.get("firstAvailable"):
            choices = tuple(_request(f"{name}/{item.get('name')}", item) for item in request["firstAvailable"])
            yield DeviceRequest(name, choices[0].device_class, choices=choices)
            continue
        exactly = request.get("exactly") or request
        if exactly.get("deviceClassName"):
            yield _request(name, exactly)


def _request(name: str, body: Raw) -> DeviceRequest:
    all_devices = body.get("allocationMode") == "All"
    count = None if all_devices else max(int(body.get("count") or 0), 0) or 1
    tolerations = tuple(
        TolerationRecord(
            _text(toleration, "key"),
            _text(toleration, "operator") or "Equal",
            _text(toleration, "value"),
            _text(toleration, "effect"),
        )
        for toleration in body.get("tolerations") or ()
    )
    return DeviceRequest(
        name, str(body["deviceClassName"]), count, _selectors(body), tolerations, bool(body.get("adminAccess"))
    )


def _constraints(claim: Raw) -> Iterable[DeviceConstraint]:
    for constraint in (_spec(claim).get("devices") or {}).get("constraints") or ():
        yield DeviceConstraint(
            tuple(constraint.get("requests") or ()),
            _text(constraint, "matchAttribute"),
            _text(constraint, "distinctAttribute"),
        )


def allocated_devices(allocation: Raw) -> Iterable[DeviceId]:
    for result in (allocation.get("devices") or {}).get("results") or ():
        driver, pool, device, request = (str(result.get(key) or "") for key in ("driver", "pool", "device", "request"))
        yield DeviceId(driver, pool, device, request, bool(result.get("adminAccess")))


def from_template(claim: Raw) -> bool:
    """Made for one pod: owned by it."""
    owners: list[dict[str, Any]] = _meta(claim).get("ownerReferences") or []
    return any(owner.get("kind") == "Pod" for owner in owners)


def made_for(claim: Raw) -> str:
    """The uid of the pod for whose extended resources the claim was made; "" for other claims."""
    if (_meta(claim).get("annotations") or {}).get(requests.EXTENDED_CLAIM) != "true":
        return ""
    owners: list[dict[str, Any]] = _meta(claim).get("ownerReferences") or []
    return next((str(owner.get("uid") or "") for owner in owners if owner.get("controller")), "")
