"""Rules of Service: how it is reached, from where, on which ports. Addresses and node ports are given out by the
server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gangline.cluster.kinds.checks import Obj, Problems, named, one_of, port, qualified, subdomain, with_paths, within
from gangline.cluster.kinds.networking.addresses import external, legacy_cidr, legacy_ip, legacy_warnings
from gangline.cluster.kinds.rules import KindRules
from gangline.cluster.schema.labels import check_labels
from gangline.errors import Problem
from gangline.rules.values import problems as say
from gangline.rules.values.names import dns1035_problems, label_problems

PROTOCOLS = ("SCTP", "TCP", "UDP")
_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_REACHES = ("Cluster", "Local")
_RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges"
_NEAR = ("PreferClose", "PreferSameZone", "PreferSameNode")
_NO_NAME = "may not be set for ExternalName services"
_BALANCED = "may only be used when `type` is 'LoadBalancer'"


class ServiceRules(KindRules):
    has_status = True
    create_on_update = True

    def defaults(self, obj: Obj) -> None:
        spec = obj.setdefault("spec", {})
        spec.setdefault("sessionAffinity", "None")
        if spec["sessionAffinity"] == "ClientIP":
            config = spec.setdefault("sessionAffinityConfig", {})
            config.setdefault("clientIP", {}).setdefault("timeoutSeconds", 10800)
        elif spec["sessionAffinity"] == "None":
            spec.pop("sessionAffinityConfig", None)
        spec.setdefault("type", "ClusterIP")
        for item in spec.get("ports") or []:
            item.setdefault("protocol", "TCP")
            if not item.get("targetPort"):
                item["targetPort"] = item.get("port", 0)
        if spec["type"] in ("NodePort", "LoadBalancer") or spec.get("externalIPs"):
            spec.setdefault("externalTrafficPolicy", "Cluster")
        if spec["type"] in ("NodePort", "LoadBalancer", "ClusterIP"):
            spec.setdefault("internalTrafficPolicy", "Cluster")
        if spec["type"] == "LoadBalancer":
            spec.setdefault("allocateLoadBalancerNodePorts", True)
            for entry in ((obj.get("status") or {}).get("loadBalancer") or {}).get("ingress") or []:
                if entry.get("ip"):
                    entry.setdefault("ipMode", "VIP")

    def prepare_create(self, obj: Obj) -> None:
        super().prepare_create(obj)
        obj["status"] = {"loadBalancer": {}}
        families(obj["spec"])

    def prepare_update(self, new: Obj, old: Obj, subresource: str = "") -> None:
        super().prepare_update(new, old, subresource)
        if not subresource:
            _carry_over(new["spec"], old["spec"])
            families(new["spec"])

    def validate(self, obj: Obj) -> list[Problem]:
        return [*_service(obj["spec"], obj["metadata"].get("annotations") or {})]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        if subresource == "status":
            return [*_balancer_status((new.get("status") or {}).get("loadBalancer") or {}, new["spec"], old)]
        return [*_unchanged(new["spec"], old["spec"]), *_service(new["spec"], new["metadata"].get("annotations") or {})]

    def warnings(self, obj: Obj, old: Obj | None = None) -> list[str]:
        return [*_warnings(obj)] if old is None or self.spec_changed(obj, old) else []

    def name_problems(self, name: str) -> list[str]:
        return dns1035_problems(name)


def families(spec: Obj) -> None:
    """IP families and the mirrored address fields."""
    if spec.get("type") == "ExternalName":
        return
    selectorless = spec.get("clusterIP") == "None" and not spec.get("selector")
    if not spec.get("ipFamilyPolicy"):
        spec["ipFamilyPolicy"] = "RequireDualStack" if selectorless else "SingleStack"
    if not spec.get("ipFamilies"):
        spec["ipFamilies"] = ["IPv4", "IPv6"] if selectorless else ["IPv4"]


def _carry_over(new: Obj, old: Obj) -> None:
    """An update that leaves addresses out means: as before."""
    if new.get("type") == "ExternalName":
        for name in (
            "clusterIP",
            "clusterIPs",
            "ipFamilies",
            "ipFamilyPolicy",
            "internalTrafficPolicy",
            "externalTrafficPolicy",
            "allocateLoadBalancerNodePorts",
        ):
            if new.get(name) == old.get(name) or old.get("type") != "ExternalName":
                new.pop(name, None)
        return
    if old.get("type") == "ExternalName":
        return
    for name in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "healthCheckNodePort"):
        if not new.get(name) and old.get(name):
            new[name] = old[name]
    if new.get("type") not in ("NodePort", "LoadBalancer"):
        if old.get("type") in ("NodePort", "LoadBalancer"):
            for item in new.get("ports") or []:
                item.pop("nodePort", None)
            new.pop("externalTrafficPolicy", None)
            new.pop("allocateLoadBalancerNodePorts", None)
        return


def mirror_address(spec: Obj, old: Obj | None) -> None:
    """The one address and the list of addresses say the same, where only one of them was written."""
    before = old or {}
    if (
        not spec.get("clusterIP")
        and not spec.get("clusterIPs")
        and before.get("clusterIP")
        and spec.get("type") != "ExternalName"
    ):
        spec["clusterIP"], spec["clusterIPs"] = before["clusterIP"], before.get("clusterIPs")
    if spec.get("clusterIP") and (
        not spec.get("clusterIPs")
        or (spec["clusterIP"] != before.get("clusterIP") and spec["clusterIPs"] == before.get("clusterIPs"))
    ):
        spec["clusterIPs"] = [spec["clusterIP"]]


def _unchanged(new: Obj, old: Obj) -> Problems:
    kinds = (old.get("type"), new.get("type"))
    before = old.get("clusterIP")
    if before and new.get("clusterIP") != before and "ExternalName" not in kinds:
        yield say.invalid("spec.clusterIPs[0]", new.get("clusterIPs"), "may not change once set")
    if kinds == ("LoadBalancer", "LoadBalancer") and new.get("loadBalancerClass") != old.get("loadBalancerClass"):
        yield say.invalid("spec.loadBalancerClass", new.get("loadBalancerClass"), "may not change once set")


def _service(spec: Obj, annotations: Obj) -> Problems:
    kind, items = spec.get("type"), spec.get("ports") or []
    headless = spec.get("clusterIP") == "None"
    if not items and not headless and kind != "ExternalName":
        yield say.required("spec.ports")
    if kind in ("LoadBalancer", "NodePort") and headless:
        yield say.invalid("spec.clusterIPs[0]", "None", f"may not be set to 'None' for {kind} services")
    if kind == "ExternalName":
        yield from _external_name(spec)
    yield from _ports(items)
    yield from check_labels(spec.get("selector") or {}, "spec.selector")
    yield from one_of(spec.get("sessionAffinity"), ("ClientIP", "None"), "spec.sessionAffinity", required=True)
    yield from _affinity_time(spec)
    for where, value in with_paths(spec.get("externalIPs"), "spec.externalIPs"):
        yield from legacy_ip(value, where)
        yield from external(value, where)
    if kind not in _TYPES:
        yield say.unsupported("spec.type", kind or "", _TYPES)
    if kind == "ClusterIP":
        yield from (
            say.forbidden(f"{where}.nodePort", "may not be used when `type` is 'ClusterIP'")
            for where, item in with_paths(items, "spec.ports")
            if item.get("nodePort")
        )
    yield from _duplicates(items)
    yield from _balancer(spec, annotations)
    yield from _traffic(spec)


def _ports(items: list[Obj]) -> Problems:
    names: set[str] = set()
    for where, item in with_paths(items, "spec.ports"):
        yield from _port(item, len(items) > 1, where, names)


def _balancer(spec: Obj, annotations: Obj) -> Problems:
    """What only a load balancer has."""
    balanced = spec.get("type") == "LoadBalancer"
    ranges = spec.get("loadBalancerSourceRanges")
    if ranges:
        if not balanced:
            yield say.forbidden("spec.LoadBalancerSourceRanges", _BALANCED)
        for where, value in with_paths(ranges, "spec.LoadBalancerSourceRanges"):
            yield from legacy_cidr(value.strip(), where)
    elif annotations.get(_RANGES):
        path = f"metadata.annotations[{_RANGES}]"
        if not balanced:
            yield say.forbidden(path, _BALANCED)
        for value in annotations[_RANGES].strip().split(","):
            yield from legacy_cidr(value.strip(), path)
    if spec.get("allocateLoadBalancerNodePorts") is not None and not balanced:
        yield say.forbidden("spec.allocateLoadBalancerNodePorts", _BALANCED)
    if spec.get("loadBalancerClass") is not None:
        if balanced:
            yield from qualified(spec["loadBalancerClass"], "spec.loadBalancerClass")
        else:
            yield say.forbidden("spec.loadBalancerClass", _BALANCED)


def _traffic(spec: Obj) -> Problems:
    kind, outer, health = spec.get("type"), spec.get("externalTrafficPolicy"), spec.get("healthCheckNodePort") or 0
    reachable = kind in ("NodePort", "LoadBalancer") or (kind == "ClusterIP" and spec.get("externalIPs"))
    if not reachable:
        if outer:
            yield say.invalid("spec.externalTrafficPolicy", outer, "may only be set for externally-accessible services")
    elif not outer:
        yield say.required("spec.externalTrafficPolicy")
    else:
        yield from one_of(outer, _REACHES, "spec.externalTrafficPolicy")
    if health < 0:
        yield say.invalid("spec.healthCheckNodePort", health, "must be between 0 and 65535, inclusive")
    if health and (kind, outer) != ("LoadBalancer", "Local"):
        yield say.invalid(
            "spec.healthCheckNodePort",
            health,
            "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
        )
    inner = spec.get("internalTrafficPolicy")
    if inner is not None and inner not in _REACHES:
        yield say.unsupported("spec.internalTrafficPolicy", inner, _REACHES)
    if spec.get("trafficDistribution") is not None:
        yield from one_of(spec["trafficDistribution"], _NEAR, "spec.trafficDistribution")


def _external_name(spec: Obj) -> Problems:
    for name in ("clusterIPs", "ipFamilies", "ipFamilyPolicy"):
        if spec.get(name):
            yield say.forbidden(f"spec.{name}", _NO_NAME)
    name = (spec.get("externalName") or "").rstrip(".")
    if not name:
        yield say.required("spec.externalName")
    else:
        yield from subdomain(name, "spec.externalName")


def _port(item: Obj, many: bool, path: str, names: set[str]) -> Problems:
    name = item.get("name") or ""
    if many and not name:
        yield say.required(f"{path}.name")
    elif name:
        yield from named(name, label_problems, f"{path}.name")
        if name in names:
            yield say.duplicate(f"{path}.name", name)
        names.add(name)
    yield from within(item.get("port", 0), 1, 65535, f"{path}.port")
    yield from one_of(item.get("protocol"), PROTOCOLS, f"{path}.protocol", required=True)
    yield from port(item.get("targetPort"), f"{path}.targetPort")
    if item.get("appProtocol") is not None:
        yield from qualified(item["appProtocol"], f"{path}.appProtocol")


def _affinity_time(spec: Obj) -> Problems:
    config = spec.get("sessionAffinityConfig")
    if spec.get("sessionAffinity") == "ClientIP":
        seconds = ((config or {}).get("clientIP") or {}).get("timeoutSeconds")
        if seconds is not None and not 0 < seconds <= 86400:
            yield say.invalid(
                "spec.sessionAffinityConfig.clientIP.timeoutSeconds",
                seconds,
                "must be greater than 0 and less than 86400",
            )


def _balancer_status(balancer: Obj, spec: Obj, old: Obj) -> Problems:
    path, entries = "status.loadBalancer.ingress", balancer.get("ingress") or []
    if (
        entries
        and spec.get("type") != "LoadBalancer"
        and entries != ((old.get("status") or {}).get("loadBalancer") or {}).get("ingress")
    ):
        yield say.forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'")
        return
    for where, entry in with_paths(entries, path):
        if entry.get("ip"):
            yield from legacy_ip(entry["ip"], f"{where}.ip")
            if entry.get("ipMode") is None:
                yield say.required(f"{where}.ipMode", "must be specified when `ip` is set")
        elif entry.get("ipMode") is not None:
            yield say.forbidden(f"{where}.ipMode", "may not be specified when `ip` is not set")
        if entry.get("ipMode") is not None:
            yield from one_of(entry["ipMode"], ("Proxy", "VIP"), f"{where}.ipMode")
        if entry.get("hostname"):
            yield from subdomain(entry["hostname"], f"{where}.hostname")
            if legacy_ip(entry["hostname"], "") == ():
                yield say.invalid(f"{where}.hostname", entry["hostname"], "must be a DNS name, not an IP address")


def _duplicates(items: list[Obj]) -> Problems:
    taken: set[tuple[Any, Any, Any]] = set()
    for where, item in with_paths(items, "spec.ports"):
        wanted = (item.get("protocol"), item.get("port"), item.get("nodePort"))
        if wanted[2] and wanted in taken:
            yield say.duplicate(f"{where}.nodePort", wanted[2])
        taken.add(wanted)
    seen: set[tuple[Any, Any]] = set()
    for where, item in with_paths(items, "spec.ports"):
        key = (item.get("protocol"), item.get("port"))
        if key in seen:
            dumped = (
                f'{{"Name":"","Protocol":"{key[0]}","AppProtocol":null,"Port":{key[1]},"TargetPort":0,"NodePort":0}}'
            )
            yield Problem(where, f"Duplicate value: {dumped}", "FieldValueDuplicate", None)
        seen.add(key)


def _warnings(obj: Obj) -> Iterator[str]:
    spec, annotations = obj["spec"], obj["metadata"].get("annotations") or {}
    if "service.kubernetes.io/topology-aware-hints" in annotations:
        yield (
            "annotation service.kubernetes.io/topology-aware-hints is deprecated, please use "
            "service.kubernetes.io/topology-mode "
            "instead"
        )
    for where, value in with_paths(spec.get("clusterIPs"), "spec.clusterIPs"):
        yield from legacy_warnings(value, where)
    for where, value in with_paths(spec.get("externalIPs"), "spec.externalIPs"):
        yield from legacy_warnings(value, where)
    if spec.get("externalName") and spec.get("type") != "ExternalName":
        yield 'spec.externalName is ignored when spec.type is not "ExternalName"'
    if spec.get("trafficDistribution") == "PreferClose":
        yield 'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'
