"""Rules of NetworkPolicy, Ingress and IngressClass."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gangline.cluster.kinds.checks import (
    Obj,
    Problems,
    domain_path,
    given,
    immutable,
    label_selector,
    named,
    one_of,
    port,
    subdomain,
    with_paths,
    within,
)
from gangline.cluster.kinds.networking.addresses import cidr_warnings, legacy_cidr, read_cidr, read_ip
from gangline.cluster.kinds.rules import KindRules
from gangline.errors import Problem
from gangline.rules.values import problems as say
from gangline.rules.values.names import dns1035_problems

_CLASS = "kubernetes.io/ingress.class"
_WILD = r"\*\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_WILD_TEXT = (
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of "
    "lower case "
    "alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for "
    f"validation is '{_WILD}')"
)
_BAD_PARTS = ("//", "/./", "/../", "%2f", "%2F")
_BAD_ENDS = ("/..", "/.")


class NetworkPolicyRules(KindRules):
    generation = True

    def defaults(self, obj: Obj) -> None:
        spec = obj.setdefault("spec", {})
        if not spec.get("policyTypes"):
            spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]
        for _, rule, _ in _rules(spec):
            for item in rule.get("ports") or []:
                item.setdefault("protocol", "TCP")

    def validate(self, obj: Obj) -> list[Problem]:
        return [*_policy(obj["spec"])]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        return self.validate(new) * 2  # as a policy, and as a change of one

    def warnings(self, obj: Obj, old: Obj | None = None) -> list[str]:
        return [
            warning
            for path, block in _blocks(obj["spec"])
            for warning in cidr_warnings(block.get("cidr") or "", f"{path}.cidr")
        ]


def _rules(spec: Obj) -> Iterator[tuple[str, Obj, str]]:
    """Every rule with its path and what its peers are called."""
    for part, peers in (("ingress", "from"), ("egress", "to")):
        for where, rule in with_paths(spec.get(part), f"spec.{part}"):
            yield where, rule, peers


def _blocks(spec: Obj) -> Iterator[tuple[str, Obj]]:
    for path, rule, peers in _rules(spec):
        for where, peer in with_paths(rule.get(peers), f"{path}.{peers}"):
            if peer.get("ipBlock") is not None:
                yield f"{where}.ipBlock", peer["ipBlock"]


def _policy(spec: Obj) -> Problems:
    yield from label_selector(spec.get("podSelector"), "spec.podSelector")
    for path, rule, peers in _rules(spec):
        for where, item in with_paths(rule.get("ports"), f"{path}.ports"):
            yield from _policy_port(item, where)
        for where, peer in with_paths(rule.get(peers), f"{path}.{peers}"):
            yield from _peer(peer, where)
    kinds = spec.get("policyTypes") or []
    if len(kinds) > 2:
        yield say.invalid("spec.policyTypes", kinds, "may not specify more than two policyTypes")
        return
    for where, kind in with_paths(kinds, "spec.policyTypes"):
        yield from one_of(kind, ("Ingress", "Egress"), where)


def _policy_port(item: Obj, path: str) -> Problems:
    yield from one_of(item.get("protocol"), ("TCP", "UDP", "SCTP"), f"{path}.protocol")
    start, end = item.get("port"), item.get("endPort")
    if start is not None:
        yield from port(start, f"{path}.port")
    if end is None:
        return
    if start is None:
        yield say.invalid(f"{path}.endPort", end, "may not be specified when `port` is not specified")
    elif isinstance(start, str):
        yield say.invalid(f"{path}.endPort", end, "may not be specified when `port` is non-numeric")
    else:
        if end < start:
            yield say.invalid(f"{path}.endPort", start, "must be greater than or equal to `port`")
        yield from within(end, 1, 65535, f"{path}.endPort")


def _peer(peer: Obj, path: str) -> Problems:
    given_peers = [name for name in ("podSelector", "namespaceSelector", "ipBlock") if peer.get(name) is not None]
    for name in ("podSelector", "namespaceSelector"):
        yield from label_selector(peer.get(name), f"{path}.{name}")
    if peer.get("ipBlock") is not None:
        yield from _block(peer["ipBlock"], f"{path}.ipBlock")
    if not given_peers:
        yield say.required(path, "must specify a peer")
    elif len(given_peers) > 1 and "ipBlock" in given_peers:
        yield say.forbidden(path, "may not specify both ipBlock and another peer")


def _block(block: Obj, path: str) -> Problems:
    if not block.get("cidr"):
        yield say.required(f"{path}.cidr")
        return
    yield from legacy_cidr(block["cidr"], f"{path}.cidr")
    whole = read_cidr(block["cidr"])
    for where, text in with_paths(block.get("except"), f"{path}.except"):
        yield from legacy_cidr(text, where)
        part = read_cidr(text)
        if part is not None and whole is not None and not _inside(part, whole):
            yield say.invalid(where, text, "must be a strict subset of `cidr`")


def _inside(part: object, whole: object) -> bool:
    if type(part) is not type(whole) or part == whole:
        return False
    return bool(part.subnet_of(whole))  # type: ignore[attr-defined]


class IngressClassRules(KindRules):
    generation = True

    def defaults(self, obj: Obj) -> None:
        given_to = (obj.get("spec") or {}).get("parameters")
        if given_to is not None and given_to.get("scope") is None:
            given_to["scope"] = "Cluster"

    def validate(self, obj: Obj) -> list[Problem]:
        spec = obj.get("spec") or {}
        problems = [*_controller(spec.get("controller") or "")]
        if spec.get("parameters") is not None:
            problems += _parameters(spec["parameters"], "spec.parameters")
        return problems

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        path = "spec.controller"
        return [
            *immutable((new.get("spec") or {}).get("controller"), (old.get("spec") or {}).get("controller"), path),
            *self.validate(new),
        ]


def _controller(name: str) -> Problems:
    if not name:
        yield say.required("spec.controller")
        return
    if len(name) > 250:
        yield say.too_long("spec.controller", 250)
    yield from domain_path(name, "spec.controller")


def _parameters(about: Obj, path: str) -> Problems:
    if about.get("apiGroup") is not None:
        yield from subdomain(about["apiGroup"], f"{path}.apiGroup")
    yield from given(about, path, "kind", "name")
    scope, namespace = about.get("scope"), about.get("namespace")
    yield from one_of(scope, ("Cluster", "Namespace"), f"{path}.scope", required=True)
    if scope == "Namespace" and not namespace:
        yield say.required(f"{path}.namespace", "`parameters.scope` is set to 'Namespace'")
    elif scope == "Cluster" and namespace is not None:
        yield say.forbidden(f"{path}.namespace", "`parameters.scope` is set to 'Cluster'")


class IngressRules(KindRules):
    generation = True
    has_status = True

    def validate(self, obj: Obj) -> list[Problem]:
        return [*_ingress(obj.get("spec") or {}, (obj["metadata"].get("annotations") or {}).get(_CLASS))]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        return [] if subresource else [*_ingress(new.get("spec") or {}, None)]


def _ingress(spec: Obj, annotated: str | None) -> Problems:
    chosen = spec.get("ingressClassName")
    if annotated is not None and chosen is not None and annotated != chosen:
        yield say.invalid(f"annotations.{_CLASS}", annotated, "must match `ingressClassName` when both are specified")
    if not spec.get("rules") and spec.get("defaultBackend") is None:
        yield say.invalid("spec", spec.get("rules") or None, "either `defaultBackend` or `rules` must be specified")
    if spec.get("defaultBackend") is not None:
        yield from _backend(spec["defaultBackend"], "spec.defaultBackend")
    for where, rule in with_paths(spec.get("rules"), "spec.rules"):
        yield from _rule(rule, where)
    for where, secured in with_paths(spec.get("tls"), "spec.tls"):
        for at, host in with_paths(secured.get("hosts"), f"{where}.hosts"):
            yield from _host(host, at)
        if secured.get("secretName"):
            yield from subdomain(secured["secretName"], f"{where}.secretName")
    if chosen is not None:
        yield from subdomain(chosen, "spec.ingressClassName")


def _rule(rule: Obj, path: str) -> Problems:
    host = rule.get("host") or ""
    if host:
        if read_ip(host) is not None:
            yield say.invalid(f"{path}.host", host, "must be a DNS name, not an IP address")
        yield from _host(host, f"{path}.host")
    if rule.get("http") is not None and not rule["http"].get("paths"):
        yield say.required(f"{path}.http.paths")
    for where, item in with_paths((rule.get("http") or {}).get("paths"), f"{path}.http.paths"):
        yield from _path(item, where)


def _host(host: str, path: str) -> Problems:
    if "*" not in host:
        yield from subdomain(host, path)
    elif not re.fullmatch(_WILD, host):
        yield say.invalid(path, host, _WILD_TEXT)


def _path(item: Obj, path: str) -> Problems:
    kind, value = item.get("pathType"), item.get("path") or ""
    if kind is None:
        yield say.required(f"{path}.pathType", "pathType must be specified")
    elif kind in ("Exact", "Prefix"):
        if not value.startswith("/"):
            yield say.invalid(f"{path}.path", value, "must be an absolute path")
        if value:
            yield from (
                say.invalid(f"{path}.path", value, f"must not contain '{part}'") for part in _BAD_PARTS if part in value
            )
            yield from (
                say.invalid(f"{path}.path", value, f"cannot end with '{end}'")
                for end in _BAD_ENDS
                if value.endswith(end)
            )
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
    elif resource is not None:
        yield from given(resource, f"{path}.resource", "kind", "name")
    elif service is None:
        yield say.invalid(path, "", "resource or service backend is required")
    else:
        yield from _service_backend(service, path)


def _service_backend(service: Obj, path: str) -> Problems:
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
