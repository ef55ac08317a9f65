"""Rules of Service, Endpoints, EndpointSlice, NetworkPolicy and Ingress. Addresses and node ports are given out by the server."""

from __future__ import annotations

import ipaddress
from typing import Any

from gangline.apiserver.builtin.checks import (
    Obj,
    Problems,
    each,
    ip,
    label,
    label_selector,
    named,
    one_of,
    port,
    subdomain,
    within,
)
from gangline.apiserver.builtin.rules import KindRules
from gangline.errors import Problem
from gangline.schema import problems as say
from gangline.schema.labels import check_labels
from gangline.schema.names import dns1035_problems, label_problems, subdomain_problems

_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_PROTOCOLS = ("SCTP", "TCP", "UDP")


class ServiceRules(KindRules):
    has_status = True
    create_on_update = True

    def defaults(self, obj: Obj) -> None:
        spec = obj.setdefault("spec", {})
        spec.setdefault("sessionAffinity", "None")
        if spec["sessionAffinity"] == "ClientIP":
            config = spec.setdefault("sessionAffinityConfig", {})
            config.setdefault("clientIP", {}).setdefault("timeoutSeconds", 10800)
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
        return [*_service(obj["spec"])]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        if subresource == "status":
            return []
        found = [*_service(new["spec"])]
        before, after = old["spec"].get("clusterIP"), new["spec"].get("clusterIP")
        if before and after != before and old["spec"].get("type") != "ExternalName" and new["spec"].get("type") != "ExternalName":
            found.append(say.invalid("spec.clusterIPs[0]", new["spec"].get("clusterIPs"), "may not change once set"))
        return found

    def name_problems(self, name: str) -> list[str]:
        return dns1035_problems(name)


def families(spec: Obj) -> None:
    """IP families and the mirrored address fields."""
    if spec.get("type") == "ExternalName":
        for name in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy", "externalTrafficPolicy",
                     "allocateLoadBalancerNodePorts"):
            spec.pop(name, None)
        return
    if spec.get("clusterIP") and not spec.get("clusterIPs"):
        spec["clusterIPs"] = [spec["clusterIP"]]
    selectorless = spec.get("clusterIP") == "None" and not spec.get("selector")
    if not spec.get("ipFamilyPolicy"):
        spec["ipFamilyPolicy"] = "RequireDualStack" if selectorless else "SingleStack"
    if not spec.get("ipFamilies"):
        spec["ipFamilies"] = ["IPv4", "IPv6"] if selectorless else ["IPv4"]


def _carry_over(new: Obj, old: Obj) -> None:
    """An update that leaves addresses out means: as before."""
    if new.get("type") == "ExternalName" or old.get("type") == "ExternalName":
        return
    if new.get("clusterIP") != old.get("clusterIP") and new.get("clusterIPs") == old.get("clusterIPs"):
        new["clusterIPs"] = [new["clusterIP"]] if new.get("clusterIP") else []
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
    known = {(item.get("protocol", "TCP"), item.get("port")): item.get("nodePort") for item in old.get("ports") or []}
    for item in new.get("ports") or []:
        if not item.get("nodePort") and known.get((item.get("protocol", "TCP"), item.get("port"))):
            item["nodePort"] = known[item.get("protocol", "TCP"), item.get("port")]


def _service(spec: Obj) -> Problems:
    kind, items = spec.get("type"), spec.get("ports") or []
    headless = spec.get("clusterIP") == "None"
    if not items and not headless and kind != "ExternalName":
        yield say.required("spec.ports")
    if kind == "LoadBalancer" and headless:
        yield say.invalid("spec.clusterIPs[0]", "None", "may not be set to 'None' for LoadBalancer services")
    if kind == "NodePort" and headless:
        yield say.invalid("spec.clusterIPs[0]", "None", "may not be set to 'None' for NodePort services")
    if kind == "ExternalName":
        yield from _external_name(spec)
    names: set[str] = set()
    for where, item in each(items, "spec.ports"):
        yield from _port(item, len(items) > 1, where, names)
    yield from check_labels(spec.get("selector") or {}, "spec.selector")
    yield from one_of(spec.get("sessionAffinity"), ("ClientIP", "None"), "spec.sessionAffinity", required=True)
    yield from _affinity_time(spec)
    if kind not in _TYPES:
        yield say.unsupported("spec.type", kind or "", _TYPES)
    yield from _addresses(spec)
    yield from _duplicates(items)
    for name in ("internalTrafficPolicy", "externalTrafficPolicy"):
        if spec.get(name) is not None:
            yield from one_of(spec[name], ("Cluster", "Local"), f"spec.{name}")
    yield from one_of(spec.get("ipFamilyPolicy"), ("PreferDualStack", "RequireDualStack", "SingleStack"), "spec.ipFamilyPolicy")


def _external_name(spec: Obj) -> Problems:
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
    yield from one_of(item.get("protocol"), _PROTOCOLS, f"{path}.protocol", required=True)
    yield from port(item.get("targetPort"), f"{path}.targetPort")


def _affinity_time(spec: Obj) -> Problems:
    config = spec.get("sessionAffinityConfig")
    if spec.get("sessionAffinity") == "ClientIP":
        seconds = ((config or {}).get("clientIP") or {}).get("timeoutSeconds")
        if seconds is not None and not 0 < seconds <= 86400:
            yield say.invalid("spec.sessionAffinityConfig.clientIP.timeoutSeconds", seconds,
                              "must be greater than 0 and less than 86400")
    elif config is not None:
        yield say.forbidden("spec.sessionAffinityConfig", "must not be set when session affinity is None")


def _addresses(spec: Obj) -> Problems:
    for where, value in each(spec.get("clusterIPs"), "spec.clusterIPs"):
        if value != "None":
            yield from ip(value, where)
    for where, value in each(spec.get("externalIPs"), "spec.externalIPs"):
        yield from ip(value, where)
        try:
            address = ipaddress.ip_address(value)
        except ValueError:
            continue
        if address.is_loopback or address.is_unspecified or address.is_link_local:
            yield say.invalid(where, value, "may not be in the loopback range (127.0.0.0/8, ::1/128)")


def _duplicates(items: list[Obj]) -> Problems:
    seen: set[tuple[Any, Any]] = set()
    for where, item in each(items, "spec.ports"):
        key = (item.get("protocol"), item.get("port"))
        if key in seen:
            dumped = (f'{{"Name":"","Protocol":"{key[0]}","AppProtocol":null,"Port":{key[1]},"TargetPort":0,"NodePort":0}}')
            yield Problem(where, f"Duplicate value: {dumped}", "FieldValueDuplicate", None)
        seen.add(key)


class EndpointsRules(KindRules):
    create_on_update = True

    def defaults(self, obj: Obj) -> None:
        for subset in obj.get("subsets") or []:
            for item in subset.get("ports") or []:
                item.setdefault("protocol", "TCP")

    def validate(self, obj: Obj) -> list[Problem]:
        found: list[Problem] = []
        for where, subset in each(obj.get("subsets"), "subsets"):
            if not subset.get("addresses") and not subset.get("notReadyAddresses"):
                found.append(say.required(where, "must specify `addresses` or `notReadyAddresses`"))
            for name in ("addresses", "notReadyAddresses"):
                for at, address in each(subset.get(name), f"{where}.{name}"):
                    found += ip(address.get("ip"), f"{at}.ip")
            for at, item in each(subset.get("ports"), f"{where}.ports"):
                found += within(item.get("port", 0), 1, 65535, f"{at}.port")
                found += one_of(item.get("protocol"), _PROTOCOLS, f"{at}.protocol", required=True)
        return found


class EndpointSliceRules(KindRules):
    generation = True

    def defaults(self, obj: Obj) -> None:
        for item in obj.get("ports") or []:
            item.setdefault("protocol", "TCP")
            if item.get("name") is None:
                item["name"] = ""

    def spec_changed(self, new: Obj, old: Obj) -> bool:
        return any(new.get(name) != old.get(name) for name in ("endpoints", "ports", "addressType")) or (
            new["metadata"].get("labels") != old["metadata"].get("labels"))

    def validate(self, obj: Obj) -> list[Problem]:
        return [*_slice(obj)]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        found = [*_slice(new)]
        if new.get("addressType") != old.get("addressType"):
            found.append(say.invalid("addressType", new.get("addressType"), "field is immutable"))
        return found


def _slice(obj: Obj) -> Problems:
    kind = obj.get("addressType") or ""
    if not kind:
        yield say.required("addressType")
    else:
        yield from one_of(kind, ("FQDN", "IPv4", "IPv6"), "addressType")
    if len(obj.get("endpoints") or []) > 1000:
        yield say.too_many("endpoints", len(obj["endpoints"]), 1000)
    for where, endpoint in each(obj.get("endpoints"), "endpoints"):
        addresses = endpoint.get("addresses") or []
        if not addresses:
            yield say.required(f"{where}.addresses", "must contain at least 1 address")
        elif len(addresses) > 100:
            yield say.too_many(f"{where}.addresses", len(addresses), 100)
        for at, address in each(addresses, f"{where}.addresses"):
            yield from named(address, subdomain_problems, at) if kind == "FQDN" else ip(address, at)
        if endpoint.get("hostname") is not None:
            yield from label(endpoint["hostname"], f"{where}.hostname")
    names: set[Any] = set()
    for where, item in each(obj.get("ports"), "ports"):
        if item.get("name") in names:
            yield say.duplicate(f"{where}.name", item.get("name"))
        names.add(item.get("name"))
        yield from one_of(item.get("protocol"), _PROTOCOLS, f"{where}.protocol", required=True)


class NetworkPolicyRules(KindRules):
    generation = True

    def defaults(self, obj: Obj) -> None:
        spec = obj.setdefault("spec", {})
        if not spec.get("policyTypes"):
            spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]
        for part in ("ingress", "egress"):
            for rule in spec.get(part) or []:
                for item in rule.get("ports") or []:
                    item.setdefault("protocol", "TCP")

    def validate(self, obj: Obj) -> list[Problem]:
        spec = obj["spec"]
        found = [*label_selector(spec.get("podSelector"), "spec.podSelector")]
        for where, kind in each(spec.get("policyTypes"), "spec.policyTypes"):
            found += one_of(kind, ("Egress", "Ingress"), where)
        return found


class IngressClassRules(KindRules):
    generation = True


class IngressRules(KindRules):
    generation = True
    has_status = True

    def validate(self, obj: Obj) -> list[Problem]:
        return [*_ingress(obj.get("spec") or {})]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        return [] if subresource else self.validate(new)


def _ingress(spec: Obj) -> Problems:
    if not spec.get("rules") and spec.get("defaultBackend") is None:
        yield say.invalid("spec", spec.get("rules"), "either `defaultBackend` or `rules` must be specified")
    if spec.get("defaultBackend") is not None:
        yield from _backend(spec["defaultBackend"], "spec.defaultBackend")
    for where, rule in each(spec.get("rules"), "spec.rules"):
        host = rule.get("host") or ""
        if host and host.replace("*.", "", 1) == host:
            yield from subdomain(host, f"{where}.host")
        if rule.get("http") is not None and not rule["http"].get("paths"):
            yield say.required(f"{where}.http.paths")
        for at, item in each((rule.get("http") or {}).get("paths"), f"{where}.http.paths"):
            yield from _ingress_path(item, at)
    if spec.get("ingressClassName") is not None:
        yield from subdomain(spec["ingressClassName"], "spec.ingressClassName")


def _ingress_path(item: Obj, path: str) -> Problems:
    kind, value = item.get("pathType"), item.get("path") or ""
    if kind is None:
        yield say.required(f"{path}.pathType", "pathType must be specified")
    elif kind in ("Exact", "Prefix"):
        if not value.startswith("/"):
            yield say.invalid(f"{path}.path", value, "must be an absolute path")
    elif kind == "ImplementationSpecific":
        if value and not value.startswith("/"):
            yield say.invalid(f"{path}.path", value, "must be an absolute path")
    else:
        yield say.unsupported(f"{path}.pathType", kind, ("Exact", "ImplementationSpecific", "Prefix"))
    yield from _backend(item.get("backend") or {}, f"{path}.backend")


def _backend(backend: Obj, path: str) -> Problems:
    service, resource = backend.get("service"), backend.get("resource")
    if service is not None and resource is not None:
        yield say.invalid(path, "", "cannot set both resource and service backends")
    elif resource is None and service is None:
        yield say.required(path, "port name or number is required")
    elif service is not None:
        if not service.get("name"):
            yield say.required(f"{path}.service.name")
        else:
            yield from named(service["name"], dns1035_problems, f"{path}.service.name")
        target = service.get("port") or {}
        if target.get("name") and target.get("number"):
            yield say.invalid(path, "", "cannot set both port name & port number")
        elif target.get("name"):
            yield from port(target["name"], f"{path}.service.port.name")
        elif target.get("number"):
            yield from port(target["number"], f"{path}.service.port.number")
        else:
            yield say.required(path, "port name or number is required")
