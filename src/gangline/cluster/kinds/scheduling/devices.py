"""Rules of dynamic resource allocation: ResourceClaim, ResourceClaimTemplate and DeviceClass.

What drivers offer is judged in resource_slices.py.
"""

from __future__ import annotations

import re
from typing import Any

from gangline.cluster.kinds.checks import (
    IMMUTABLE,
    Obj,
    Problems,
    conditions,
    immutable,
    label,
    named,
    subdomain,
    with_paths,
)
from gangline.cluster.kinds.networking.addresses import read_cidr
from gangline.cluster.kinds.pods.placement import node_selector
from gangline.cluster.kinds.rules import WHOLE_METADATA, KindRules
from gangline.cluster.schema.labels import check_annotations, check_labels
from gangline.errors import Problem
from gangline.rules import cel
from gangline.rules.cel.devices import DEVICE_ENV
from gangline.rules.values import problems as say
from gangline.rules.values.names import subdomain_problems

_UNKNOWN_REQUEST = (
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
)
VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?", re.ASCII)
_QUALIFIED = "a fully qualified name must be a domain and a name separated by a slash"


def default_devices(devices: Obj) -> None:
    for request in devices.get("requests") or []:
        for part in [request.get("exactly"), *(request.get("firstAvailable") or [])]:
            if part is not None:
                part.setdefault("allocationMode", "ExactCount")
                if part["allocationMode"] == "ExactCount":
                    part.setdefault("count", 1)


class ResourceClaimRules(KindRules):
    """ResourceClaim."""

    has_status = True
    status_keeps = WHOLE_METADATA

    def defaults(self, obj: Obj) -> None:
        default_devices(obj.setdefault("spec", {}).setdefault("devices", {}))

    def validate(self, obj: Obj) -> list[Problem]:
        return [*claim_spec(obj.get("spec") or {}, "spec")]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        if subresource == "status":
            return [*_claim_status(new, old)]
        return [] if new.get("spec") == old.get("spec") else [say.invalid("spec", new.get("spec"), IMMUTABLE)]


class TemplateRules(KindRules):
    """ResourceClaimTemplate."""

    def defaults(self, obj: Obj) -> None:
        default_devices(obj.setdefault("spec", {}).setdefault("spec", {}).setdefault("devices", {}))

    def validate(self, obj: Obj) -> list[Problem]:
        about = (obj.get("spec") or {}).get("metadata") or {}
        problems = [
            say.forbidden(f"spec.metadata.{name}", "cannot be set")
            for name in ("name", "generateName", "namespace", "uid")
            if about.get(name)
        ]
        problems += check_labels(about.get("labels") or {}, "spec.metadata.labels")
        problems += check_annotations(about.get("annotations") or {}, "spec.metadata.annotations")
        return [*problems, *claim_spec((obj.get("spec") or {}).get("spec") or {}, "spec.spec")]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        return [*self.validate(new), *immutable(new.get("spec"), old.get("spec"), "spec")]


def claim_spec(spec: Obj, path: str) -> Problems:
    devices, where = spec.get("devices") or {}, f"{path}.devices"
    names: set[str] = set()
    for at, request in with_paths(devices.get("requests"), f"{where}.requests"):
        yield from _request(request, at, names)
    known = _request_names(devices)
    for at, constraint in with_paths(devices.get("constraints"), f"{where}.constraints"):
        yield from _constraint(constraint, at, known)
    for at, config in with_paths(devices.get("config"), f"{where}.config"):
        yield from _known_requests(config.get("requests") or [], f"{at}.requests", known)
        yield from _opaque(config, at)
    for name in ("requests", "constraints", "config"):
        if len(devices.get(name) or []) > 32:
            yield say.too_many(f"{where}.{name}", len(devices[name]), 32)


def _request_names(devices: Obj) -> set[str]:
    known: set[str] = set()
    for request in devices.get("requests") or []:
        name = request.get("name") or ""
        known.add(name)
        known |= {f"{name}/{sub.get('name')}" for sub in request.get("firstAvailable") or []}
    return known


def _request(request: Obj, path: str, names: set[str]) -> Problems:
    name = request.get("name") or ""
    yield from label(name, f"{path}.name")
    if name in names:
        yield say.duplicate(path, name)
    names.add(name)
    exactly, first = request.get("exactly"), request.get("firstAvailable") or []
    if exactly is not None and first:
        yield say.invalid(
            path, None, "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set"
        )
    elif exactly is None and not first:
        yield say.required(path, "exactly one of `exactly` or `firstAvailable` is required")
    if exactly is not None:
        yield from _exact(exactly, f"{path}.exactly")
    if len(first) > 8:
        yield say.too_many(f"{path}.firstAvailable", len(first), 8)
    seen: set[str] = set()
    for where, part in with_paths(first, f"{path}.firstAvailable"):
        yield from label(part.get("name") or "", f"{where}.name")
        if part.get("name") in seen:
            yield say.duplicate(where, part.get("name"))
        seen.add(part.get("name") or "")
        yield from _exact(part, where)


def _exact(part: Obj, path: str) -> Problems:
    if not part.get("deviceClassName"):
        yield say.required(f"{path}.deviceClassName")
    else:
        yield from subdomain(part["deviceClassName"], f"{path}.deviceClassName")
    yield from selectors(part.get("selectors") or [], f"{path}.selectors")
    mode, count = part.get("allocationMode"), part.get("count")
    if mode == "All":
        if count:
            yield say.invalid(f"{path}.count", count, "must not be specified when allocationMode is 'All'")
    elif mode == "ExactCount":
        if (count or 0) <= 0:
            yield say.invalid(f"{path}.count", count or 0, "must be greater than zero")
    else:
        yield say.unsupported(f"{path}.allocationMode", mode or "", ("All", "ExactCount"))


def selectors(items: list[Obj], path: str) -> Problems:
    if len(items) > 32:
        yield say.too_many(path, len(items), 32)
    for where, item in with_paths(items, path):
        if item.get("cel") is None:
            yield say.required(f"{where}.cel")
        else:
            yield from _expression(item["cel"].get("expression") or "", f"{where}.cel.expression")


def _expression(text: str, path: str) -> Problems:
    if len(text) > 10 * 1024:
        yield say.too_long(path, 10 * 1024)
        return
    try:
        program = cel.compile(text, DEVICE_ENV)
    except cel.CelSyntaxError as error:
        yield say.invalid(path, text, f"compilation failed: {error}")
        return
    if program.kind.name not in ("bool", "dyn"):
        yield say.invalid(path, text, f"must evaluate to bool or the unknown type, not {program.kind}")


def _constraint(constraint: Obj, path: str, known: set[str]) -> Problems:
    yield from _known_requests(constraint.get("requests") or [], f"{path}.requests", known)
    if constraint.get("matchAttribute") is None:
        yield say.required(f"{path}.matchAttribute")
    else:
        yield from attribute_name(constraint["matchAttribute"], f"{path}.matchAttribute")


def _known_requests(items: list[str], path: str, known: set[str]) -> Problems:
    seen: set[str] = set()
    for where, name in with_paths(items, path):
        if name not in known:
            yield say.invalid(where, name, _UNKNOWN_REQUEST)
        if name in seen:
            yield say.duplicate(where, name)
        seen.add(name)


def attribute_name(name: str, path: str) -> Problems:
    domain, slash, rest = name.partition("/")
    if not slash:
        yield say.invalid(path, name, _QUALIFIED)
        return
    yield from named(domain, subdomain_problems, path)
    if rest:
        yield from identifier(rest, path)
    else:
        yield say.invalid(path, rest, "the name must not be empty")


def identifier(name: str, path: str) -> Problems:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        yield say.invalid(
            path,
            name,
            "a valid C identifier must start with alphabetic character or '_', followed by a string of "
            "alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is "
            "'[A-Za-z_][A-Za-z0-9_]*')",
        )
    elif len(name) > 32:
        yield say.too_long(path, 32)


def _opaque(config: Obj, path: str) -> Problems:
    opaque = config.get("opaque")
    if opaque is None:
        yield say.required(f"{path}.opaque")
        return
    driver_name = opaque.get("driver") or ""
    yield from driver(driver_name, f"{path}.opaque.driver")
    if opaque.get("parameters") is None:
        yield say.required(f"{path}.opaque.parameters")
    elif not isinstance(opaque["parameters"], dict):
        yield say.invalid(f"{path}.opaque.parameters", "<value omitted>", "must be a valid JSON object")


def driver(name: str, path: str) -> Problems:
    if not name:
        yield say.required(path)
        return
    if len(name) > 63:
        yield say.too_long(path, 63)
    yield from (say.invalid(path, name, why) for why in subdomain_problems(name.lower()))


def _claim_status(new: Obj, old: Obj) -> Problems:
    status, before = new.get("status") or {}, old.get("status") or {}
    allocation, known = status.get("allocation"), _request_names((new.get("spec") or {}).get("devices") or {})
    consumers = status.get("reservedFor") or []
    yield from _consumers(consumers)
    if allocation is not None:
        if before.get("allocation") is None:
            yield from _allocation(allocation, "status.allocation", known)
        elif allocation != before["allocation"]:
            yield say.invalid("status.allocation", allocation, IMMUTABLE)
    elif consumers:
        yield say.forbidden("status.reservedFor", "may not be specified when `allocated` is not set")
    results = ((allocation or {}).get("devices") or {}).get("results") or []
    yield from _device_status(status.get("devices") or [], results)


def _consumers(consumers: list[Obj]) -> Problems:
    seen: set[Any] = set()
    for where, consumer in with_paths(consumers, "status.reservedFor"):
        for name in ("resource", "name", "uid"):
            if not consumer.get(name):
                yield say.required(f"{where}.{name}")
        if consumer.get("uid") in seen:
            yield say.duplicate(where, consumer.get("uid"))
        seen.add(consumer.get("uid"))
    if len(consumers) > 256:
        yield say.too_many("status.reservedFor", len(consumers), 256)


def _device_status(devices: list[Obj], results: list[Obj]) -> Problems:
    allocated = {(result.get("driver"), result.get("pool"), result.get("device")) for result in results}
    for where, device in with_paths(devices, "status.devices"):
        if (device.get("driver"), device.get("pool"), device.get("device")) not in allocated:
            shown = {name.capitalize(): device.get(name) or "" for name in ("driver", "pool", "device")}
            yield say.invalid(where, {**shown, "ShareID": None}, "must be an allocated device in the claim")
        yield from conditions(device.get("conditions"), f"{where}.conditions")
        for at, address in with_paths((device.get("networkData") or {}).get("ips"), f"{where}.networkData.ips"):
            if read_cidr(address) is None:
                yield say.invalid(
                    at, address, "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"
                )


def _allocation(allocation: Obj, path: str, known: set[str]) -> Problems:
    devices = allocation.get("devices") or {}
    for where, result in with_paths(devices.get("results"), f"{path}.devices.results"):
        if result.get("request") not in known:
            yield say.invalid(f"{where}.request", result.get("request") or "", _UNKNOWN_REQUEST)
        yield from driver(result.get("driver") or "", f"{where}.driver")
        yield from pool_name(result.get("pool") or "", f"{where}.pool")
        yield from label(result.get("device") or "", f"{where}.device")
    if allocation.get("nodeSelector") is not None:
        yield from node_selector(allocation["nodeSelector"], f"{path}.nodeSelector")


def pool_name(name: str, path: str) -> Problems:
    if not name:
        yield say.required(path)
        return
    if len(name) > 253:
        yield say.too_long(path, 253)
    for part in name.split("/"):
        yield from named(part, subdomain_problems, path)


class ClassRules(KindRules):
    """DeviceClass."""

    generation = True

    def validate(self, obj: Obj) -> list[Problem]:
        spec = obj.get("spec") or {}
        problems = [*selectors(spec.get("selectors") or [], "spec.selectors")]
        for where, config in with_paths(spec.get("config"), "spec.config"):
            problems += _opaque(config, where)
        return problems
