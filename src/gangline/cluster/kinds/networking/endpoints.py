"""Rules of Endpoints and EndpointSlice: the addresses behind a service."""

from __future__ import annotations

from typing import Any

from gangline.cluster.kinds.checks import (
    Obj,
    Problems,
    immutable,
    label,
    named,
    one_of,
    qualified,
    subdomain,
    with_paths,
    within,
)
from gangline.cluster.kinds.networking.addresses import external, legacy_ip, read_ip
from gangline.cluster.kinds.networking.services import PROTOCOLS
from gangline.cluster.kinds.rules import KindRules
from gangline.errors import Problem
from gangline.rules.values import problems as say
from gangline.rules.values.names import subdomain_problems

_VERSIONS = {"IPv4": 4, "IPv6": 6}


class EndpointsRules(KindRules):
    create_on_update = True

    def defaults(self, obj: Obj) -> None:
        for subset in obj.get("subsets") or []:
            for item in subset.get("ports") or []:
                item.setdefault("protocol", "TCP")

    def validate(self, obj: Obj) -> list[Problem]:
        return [
            problem for where, subset in with_paths(obj.get("subsets"), "subsets") for problem in _subset(subset, where)
        ]


def _subset(subset: Obj, path: str) -> Problems:
    if not subset.get("addresses") and not subset.get("notReadyAddresses"):
        yield say.required(path, "must specify `addresses` or `notReadyAddresses`")
    for name in ("addresses", "notReadyAddresses"):
        for where, address in with_paths(subset.get(name), f"{path}.{name}"):
            yield from _address(address, where)
    items = subset.get("ports") or []
    for where, item in with_paths(items, f"{path}.ports"):
        if len(items) > 1 and not item.get("name"):
            yield say.required(f"{where}.name")
        elif item.get("name"):
            yield from label(item["name"], f"{where}.name")
        yield from within(item.get("port", 0), 1, 65535, f"{where}.port")
        yield from one_of(item.get("protocol"), PROTOCOLS, f"{where}.protocol", required=True)
        if item.get("appProtocol") is not None:
            yield from qualified(item["appProtocol"], f"{where}.appProtocol")


def _address(address: Obj, path: str) -> Problems:
    text = address.get("ip") or ""
    yield from legacy_ip(text, f"{path}.ip")
    if address.get("hostname"):
        yield from label(address["hostname"], f"{path}.hostname")
    if address.get("nodeName") is not None:
        yield from subdomain(address["nodeName"], f"{path}.nodeName")
    if read_ip(text) is None:
        yield say.invalid(f"{path}.ip", text, "must be a valid IP address")
    yield from external(text, f"{path}.ip")


class EndpointSliceRules(KindRules):
    generation = True

    def defaults(self, obj: Obj) -> None:
        for item in obj.get("ports") or []:
            item.setdefault("protocol", "TCP")
            if item.get("name") is None:
                item["name"] = ""

    def prepare_create(self, obj: Obj) -> None:
        super().prepare_create(obj)
        for endpoint in obj.get("endpoints") or []:
            endpoint.pop("deprecatedTopology", None)

    def spec_changed(self, new: Obj, old: Obj) -> bool:
        return any(new.get(name) != old.get(name) for name in ("endpoints", "ports", "addressType")) or (
            new["metadata"].get("labels") != old["metadata"].get("labels")
        )

    def validate(self, obj: Obj) -> list[Problem]:
        return [*_slice(obj)]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        return [*immutable(new.get("addressType"), old.get("addressType"), "addressType")] or [*_slice(new)]

    def warnings(self, obj: Obj, old: Obj | None = None) -> list[str]:
        return (
            ["spec.addressType: FQDN endpoints are deprecated"]
            if old is None and obj.get("addressType") == "FQDN"
            else []
        )


def _slice(obj: Obj) -> Problems:
    kind = obj.get("addressType") or ""
    if not kind:
        yield say.required("addressType")
    else:
        yield from one_of(kind, ("FQDN", "IPv4", "IPv6"), "addressType")
    if len(obj.get("endpoints") or []) > 1000:
        yield say.too_many("endpoints", len(obj["endpoints"]), 1000)
    for where, endpoint in with_paths(obj.get("endpoints"), "endpoints"):
        yield from _endpoint(endpoint, kind, where)
    names: set[Any] = set()
    for where, item in with_paths(obj.get("ports"), "ports"):
        if item.get("name"):
            yield from label(item["name"], f"{where}.name")
        if item.get("name") in names:
            yield say.duplicate(f"{where}.name", item.get("name"))
        names.add(item.get("name"))
        yield from one_of(item.get("protocol"), PROTOCOLS, f"{where}.protocol", required=True)
        if item.get("appProtocol") is not None:
            yield from qualified(item["appProtocol"], f"{where}.appProtocol")


def _endpoint(endpoint: Obj, kind: str, path: str) -> Problems:
    addresses = endpoint.get("addresses") or []
    if not addresses:
        yield say.required(f"{path}.addresses", "must contain at least 1 address")
    elif len(addresses) > 100:
        yield say.too_many(f"{path}.addresses", len(addresses), 100)
    for where, address in with_paths(addresses, f"{path}.addresses"):
        if kind == "FQDN":
            yield from named(address, subdomain_problems, where)
        elif kind in _VERSIONS:
            yield from _address_of(address, kind, where, f"{path}.addresses")
    if endpoint.get("nodeName") is not None:
        yield from subdomain(endpoint["nodeName"], f"{path}.nodeName")
    if endpoint.get("hostname") is not None:
        yield from label(endpoint["hostname"], f"{path}.hostname")
    yield from _hints(endpoint.get("hints") or {}, f"{path}.hints")


def _address_of(address: str, kind: str, path: str, all_of_them: str) -> Problems:
    yield from legacy_ip(address, path)
    parsed = read_ip(address)
    if parsed is not None and parsed.version != _VERSIONS[kind]:
        yield say.invalid(all_of_them, address, f"must be an {kind} address")
    yield from external(address, path)


def _hints(hints: Obj, path: str) -> Problems:
    for part in ("forZones", "forNodes"):
        seen: set[str] = set()
        for where, item in with_paths(hints.get(part), f"{path}.{part}"):
            name = item.get("name") or ""
            if name in seen:
                yield say.duplicate(f"{where}.name", name)
            seen.add(name)
