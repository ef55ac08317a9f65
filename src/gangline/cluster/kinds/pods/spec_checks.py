"""Checks of a whole pod spec, in pods and in templates; the parts are judged by containers, volumes and placement."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from gangline.cluster.kinds.checks import (
    Obj,
    Problems,
    ip,
    label,
    named,
    one_of,
    qualified,
    subdomain,
    with_paths,
    within,
)
from gangline.cluster.kinds.pods import containers, placement
from gangline.cluster.kinds.pods.requirements import overhead, pod_requirements
from gangline.cluster.kinds.pods.volumes import volumes
from gangline.cluster.schema.labels import check_annotations, check_labels
from gangline.errors import Problem
from gangline.rules.values import problems as say
from gangline.rules.values.names import subdomain_problems

_DNS = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_SYSCTL = r"^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$"
RESTARTS = ("Always", "OnFailure", "Never")


def template(about: Obj, path: str) -> Problems:
    """A pod template: labels, annotations and spec."""
    meta = about.get("metadata") or {}
    yield from check_labels(meta.get("labels") or {}, f"{path}.labels")
    yield from check_annotations(meta.get("annotations") or {}, f"{path}.annotations")
    spec = about.get("spec") or {}
    yield from pod_spec(spec, f"{path}.spec")
    if spec.get("ephemeralContainers"):
        yield say.forbidden(f"{path}.spec.ephemeralContainers", "ephemeral containers not allowed in pod template")


def pod_spec(spec: Obj, path: str) -> Problems:
    yield from _of(spec, path, "volumes", volumes)
    yield from _of(spec, path, "resourceClaims", _resource_claims)
    known = containers.pod_names(spec)
    yield from containers.containers(spec.get("containers") or [], f"{path}.containers", spec, known)
    if spec.get("initContainers"):
        yield from containers.init_containers(spec["initContainers"], f"{path}.initContainers", spec, known)
    if spec.get("ephemeralContainers"):
        yield from _ephemeral(spec, f"{path}.ephemeralContainers", known)
    if spec.get("hostNetwork"):
        yield from containers.host_network_ports(spec.get("containers") or [], f"{path}.containers")
        yield from containers.host_network_ports(spec.get("initContainers") or [], f"{path}.initContainers")
    yield from one_of(spec.get("restartPolicy"), RESTARTS, f"{path}.restartPolicy", required=True)
    yield from one_of(spec.get("dnsPolicy"), _DNS, f"{path}.dnsPolicy", required=True)
    yield from _of(spec, path, "nodeSelector", check_labels)
    yield from _of(spec, path, "securityContext", _security)
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        yield say.invalid(
            f"{path}.shareProcessNamespace", True, "ShareProcessNamespace and HostPID cannot both be enabled"
        )
    yield from _of(spec, path, "affinity", placement.affinity)
    yield from _dns_config(spec, f"{path}.dnsConfig")
    for name, check in _LATER:
        yield from _of(spec, path, name, check)
    yield from _names(spec, path)
    yield from _of(spec, path, "tolerations", placement.tolerations)
    yield from _of(spec, path, "hostAliases", _aliases)
    yield from _rest(spec, path)


def _of(spec: Obj, path: str, name: str, check: Callable[[Any, str], Iterable[Problem]]) -> Iterable[Problem]:
    """What a check finds in a part, if the part is there."""
    part = spec.get(name)
    return check(part, f"{path}.{name}") if part else ()


def _readiness(items: list[Obj], path: str) -> Problems:
    for where, gate in with_paths(items, path):
        yield from qualified(gate.get("conditionType") or "", f"{where}.conditionType")


_LATER: tuple[tuple[str, Callable[[Any, str], Iterable[Problem]]], ...] = (
    ("readinessGates", _readiness),
    ("schedulingGates", placement.gates),
    ("topologySpreadConstraints", placement.spread),
)


def _names(spec: Obj, path: str) -> Problems:
    for name in ("serviceAccountName", "nodeName"):
        if spec.get(name):
            yield from subdomain(spec[name], f"{path}.{name}")
    if spec.get("activeDeadlineSeconds") is not None:
        yield from within(spec["activeDeadlineSeconds"], 1, 2147483647, f"{path}.activeDeadlineSeconds")
    for name in ("hostname", "subdomain"):
        if spec.get(name):
            yield from label(spec[name], f"{path}.{name}")


def _rest(spec: Obj, path: str) -> Problems:
    if spec.get("priorityClassName"):
        yield from subdomain(spec["priorityClassName"], f"{path}.priorityClassName")
    if spec.get("runtimeClassName") is not None:
        yield from subdomain(spec["runtimeClassName"], f"{path}.runtimeClassName")
    if spec.get("preemptionPolicy") is not None:
        yield from one_of(
            spec["preemptionPolicy"], ("PreemptLowerPriority", "Never"), f"{path}.preemptionPolicy", required=True
        )
    if spec.get("overhead"):
        yield from overhead(spec["overhead"], f"{path}.overhead")
    if spec.get("os") is not None:
        if not spec["os"].get("name"):
            yield say.required(f"{path}.os.name")
        yield from one_of(spec["os"].get("name"), ("linux", "windows"), f"{path}.os")
    if spec.get("resources"):
        yield from pod_requirements(spec["resources"], f"{path}.resources")
    if spec.get("workloadRef") is not None:
        yield from _workload(spec["workloadRef"], f"{path}.workloadRef")
    if spec.get("schedulingGroup") is not None:
        yield from _scheduling_group(spec["schedulingGroup"], f"{path}.schedulingGroup")


def _workload(reference: Obj, path: str) -> Problems:
    yield from named(reference.get("name") or "", subdomain_problems, f"{path}.name")
    yield from label(reference.get("podGroup") or "", f"{path}.podGroup")
    if reference.get("podGroupReplicaKey"):
        yield from label(reference["podGroupReplicaKey"], f"{path}.podGroupReplicaKey")


def _scheduling_group(reference: Obj, path: str) -> Problems:
    if reference.get("podGroupName") is None:
        yield say.invalid(f"{path}.podGroupName", None, "must specify one of: `podGroupName`")
    else:
        yield from subdomain(reference["podGroupName"], f"{path}.podGroupName")


def _resource_claims(items: list[Obj], path: str) -> Problems:
    seen: set[Any] = set()
    for where, claim in with_paths(items, path):
        name = claim.get("name") or ""
        if not name:
            yield say.required(f"{where}.name")
        elif name in seen:
            yield say.duplicate(f"{where}.name", name)
        else:
            yield from label(name, f"{where}.name")
        seen.add(name)
        sources = [
            each_name
            for each_name in ("resourceClaimName", "resourceClaimTemplateName")
            if claim.get(each_name) is not None
        ]
        if len(sources) > 1:
            yield say.invalid(
                where, claim, "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
            )
        if not sources:
            yield say.invalid(where, claim, "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`")
        for each_name in sources:
            yield from subdomain(claim[each_name], f"{where}.{each_name}")


def _ephemeral(spec: Obj, path: str, known: containers.PodNames) -> Problems:
    names = {
        each_one.get("name") for each_one in [*(spec.get("containers") or []), *(spec.get("initContainers") or [])]
    }
    for where, container in with_paths(spec.get("ephemeralContainers"), path):
        yield from containers.common(container, where, spec, known)
        if container.get("name") in names:
            yield say.duplicate(f"{where}.name", container.get("name"))
        names.add(container.get("name"))
        target = container.get("targetContainerName")
        if target and target not in names:
            yield say.not_found(f"{where}.targetContainerName", target)
        for name in ("ports", "livenessProbe", "readinessProbe", "startupProbe", "lifecycle", "resizePolicy"):
            if container.get(name):
                yield say.forbidden(f"{where}.{name}", "cannot be set for an Ephemeral Container")
        if container.get("resources"):
            yield say.forbidden(f"{where}.resources", "cannot be set for an Ephemeral Container")


def _security(context: Obj, path: str) -> Problems:
    for name in ("runAsUser", "runAsGroup", "fsGroup"):
        yield from within(context.get(name), 0, 2147483647, f"{path}.{name}")
    for where, group in with_paths(context.get("supplementalGroups"), f"{path}.supplementalGroups"):
        yield from within(group, 0, 2147483647, where)
    yield from _sysctls(context.get("sysctls") or [], f"{path}.sysctls")
    if context.get("fsGroupChangePolicy") is not None:
        yield from one_of(context["fsGroupChangePolicy"], ("Always", "OnRootMismatch"), f"{path}.fsGroupChangePolicy")
    if context.get("supplementalGroupsPolicy") is not None:
        yield from one_of(context["supplementalGroupsPolicy"], ("Merge", "Strict"), f"{path}.supplementalGroupsPolicy")
    yield from containers.seccomp(context.get("seccompProfile"), f"{path}.seccompProfile")
    yield from containers.app_armor(context.get("appArmorProfile"), f"{path}.appArmorProfile")


def _sysctls(items: list[Obj], path: str) -> Problems:
    seen: set[str] = set()
    for where, item in with_paths(items, path):
        name = item.get("name") or ""
        if not name:
            yield say.required(f"{where}.name")
        elif len(name) > 253 or not re.fullmatch(_SYSCTL, name):
            yield say.invalid(f"{where}.name", name, f"must have at most 253 characters and match regex {_SYSCTL}")
        elif name in seen:
            yield say.duplicate(f"{where}.name", name)
        seen.add(name)


def _dns_config(spec: Obj, path: str) -> Problems:
    config = spec.get("dnsConfig")
    if spec.get("dnsPolicy") == "None":
        if config is None:
            yield say.required(path, "must provide `dnsConfig` when `dnsPolicy` is None")
            return
        if not config.get("nameservers"):
            yield say.required(
                f"{path}.nameservers", "must provide at least one DNS nameserver when `dnsPolicy` is None"
            )
            return
    if config is None:
        return
    servers, searches = config.get("nameservers") or [], config.get("searches") or []
    if len(servers) > 3:
        yield say.invalid(f"{path}.nameservers", servers, "must not have more than 3 nameservers")
    for where, server in with_paths(servers, f"{path}.nameservers"):
        yield from ip(server, where)
    if len(searches) > 32:
        yield say.invalid(f"{path}.searches", searches, "must not have more than 32 search paths")
    for where, search in with_paths(searches, f"{path}.searches"):
        if search != ".":
            yield from named(search.rstrip(".").replace("_", "a"), subdomain_problems, where)
    for where, option in with_paths(config.get("options"), f"{path}.options"):
        if not option.get("name"):
            yield say.required(where, "must not be empty")


def _aliases(items: list[Obj], path: str) -> Problems:
    for where, alias in with_paths(items, path):
        yield from ip(alias.get("ip"), f"{where}.ip")
        for at, hostname in with_paths(alias.get("hostnames"), f"{where}.hostnames"):
            yield from named(hostname, subdomain_problems, at)
