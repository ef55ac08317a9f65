"""Rules of ResourceSlice: which devices a driver offers, and where."""

from __future__ import annotations

from typing import Any

from gangline.cluster.kinds.checks import Obj, Problems, immutable, label, subdomain, with_paths
from gangline.cluster.kinds.pods.placement import node_selector
from gangline.cluster.kinds.rules import KindRules
from gangline.cluster.kinds.scheduling.devices import VERSION, attribute_name, driver, identifier, pool_name
from gangline.errors import Problem
from gangline.rules.values import problems as say


class SliceRules(KindRules):
    """ResourceSlice."""

    generation = True

    def validate(self, obj: Obj) -> list[Problem]:
        return [*_slice(obj.get("spec") or {})]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        spec, before = new.get("spec") or {}, old.get("spec") or {}
        problems = [*_slice(spec)]
        for name in ("driver", "nodeName"):
            problems += immutable(spec.get(name), before.get(name), f"spec.{name}")
        return [
            *problems,
            *immutable((spec.get("pool") or {}).get("name"), (before.get("pool") or {}).get("name"), "spec.pool.name"),
        ]


def _slice(spec: Obj) -> Problems:
    yield from driver(spec.get("driver") or "", "spec.driver")
    pool = spec.get("pool") or {}
    yield from pool_name(pool.get("name") or "", "spec.pool.name")
    if pool.get("resourceSliceCount", 0) <= 0:
        yield say.invalid(
            "spec.pool.resourceSliceCount", pool.get("resourceSliceCount", 0), "must be greater than zero"
        )
    if pool.get("generation", 0) < 0:
        yield say.invalid("spec.pool.generation", pool["generation"], "must be greater than or equal to zero")
    yield from _slice_place(spec)
    if len(spec.get("devices") or []) > 128:
        yield say.too_many("spec.devices", len(spec["devices"]), 128)
    seen: set[Any] = set()
    for where, device in with_paths(spec.get("devices"), "spec.devices"):
        yield from _device(device, where)
        if device.get("name") in seen:
            yield say.duplicate(where, device.get("name"))
        seen.add(device.get("name"))


def _slice_place(spec: Obj) -> Problems:
    """Where the devices are: on one node, on nodes with some labels, or on all."""
    if spec.get("nodeName") == "":
        yield say.invalid("spec.nodeName", "", "must be either unset or set to a non-empty string")
    elif spec.get("nodeName"):
        yield from subdomain(spec["nodeName"], "spec.nodeName")
    if spec.get("nodeSelector") is not None:
        yield from node_selector(spec["nodeSelector"], "spec.nodeSelector")
        terms = spec["nodeSelector"].get("nodeSelectorTerms") or []
        if len(terms) != 1:
            yield say.invalid("spec.nodeSelector.nodeSelectorTerms", terms, "must have exactly one node selector term")
    if spec.get("allNodes") is False:
        yield say.invalid("spec.allNodes", False, "must be either unset or set to true")
    chosen = [
        name
        for name in ("nodeName", "nodeSelector", "allNodes")
        if spec.get(name) or (name == "nodeSelector" and name in spec)
    ]
    message = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
    if not chosen:
        yield say.required("spec", message)
    elif len(chosen) > 1:
        yield say.invalid(
            "spec", "{" + ", ".join(f"`{name}`" for name in chosen) + "}", f"{message}, but multiple fields are set"
        )


def _device(device: Obj, path: str) -> Problems:
    yield from label(device.get("name") or "", f"{path}.name")
    total = sum(len(device.get(part) or {}) for part in ("attributes", "capacity"))
    if total > 32:
        yield say.invalid(path, total, "the total number of attributes and capacities must not exceed 32")
    for name, value in sorted((device.get("attributes") or {}).items()):
        where = f"{path}.attributes[{name}]"
        yield from _device_field(name, where)
        yield from _attribute_value(value, where)
    for name in sorted(device.get("capacity") or {}):
        yield from _device_field(name, f"{path}.capacity[{name}]")


def _device_field(name: str, path: str) -> Problems:
    """The name of an attribute or a capacity: qualified by a domain, or the driver's own."""
    yield from attribute_name(name, path) if "/" in name else identifier(name, path)


def _attribute_value(value: Obj, path: str) -> Problems:
    chosen = [kind for kind in ("int", "bool", "string", "version") if value.get(kind) is not None]
    if len(chosen) != 1:
        yield say.invalid(path, value if chosen else "", "exactly one value must be specified")
    if value.get("version") is not None and not VERSION.fullmatch(value["version"]):
        yield say.invalid(f"{path}.version", value["version"], "must be a string compatible with semver.org spec 2.0.0")
    if len(value.get("string") or "") > 64:
        yield say.too_long(f"{path}.string", 64)
