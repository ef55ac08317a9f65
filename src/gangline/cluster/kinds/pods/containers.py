"""Checks of containers: names, images, ports, environment, mounts, probes, hooks, resources, security."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from gangline.api import resources
from gangline.cluster.kinds.checks import (
    Obj,
    Problems,
    given,
    label,
    named,
    not_negative,
    one_of,
    port,
    port_name_problems,
    quantity_not_negative,
    subdomain,
    with_paths,
    within,
)
from gangline.cluster.kinds.pods.mounts import devices, mounts
from gangline.cluster.kinds.pods.placement import resource_name_problems, resource_names
from gangline.errors import Problem
from gangline.rules.values import problems as say
from gangline.rules.values.names import qualified_name_problems

_FIELD_PATHS = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
_FILE_PATHS = ("metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid")
_KNOWN_PATHS = (
    *_FIELD_PATHS,
    "metadata.labels",
    "metadata.annotations",
    "spec.restartPolicy",
    "spec.schedulerName",
    "status.phase",
    "spec.hostNetwork",
)
_RESOURCE_FIELDS = (
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
)
_CPU_UNITS = ("1m", "1")
_BYTE_UNITS = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")
_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc", "sleep")
_PLAIN_RESOURCES = ("cpu", "memory", "ephemeral-storage")
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_NO_INIT = "may not be set for init containers without restartPolicy=Always"
_NO_VARIABLE = re.compile(r"[^\x20-\x7e]|=").search
Amounts = tuple[tuple[str, Any], ...]
PULL_POLICIES = ("Always", "IfNotPresent", "Never")


def containers(items: list[Obj], path: str, spec: Obj, volumes: Iterable[str]) -> Problems:
    """The main containers."""
    if not items:
        yield say.required(path)
        return
    names: set[str] = set()
    for where, container in with_paths(items, path):
        yield from common(container, where, spec, volumes)
        if container.get("name") in names:
            yield say.duplicate(f"{where}.name", container.get("name"))
        names.add(container.get("name") or "")
        yield from _life(container, where, spec)
        yield from restart_policy(container, where)
    yield from host_ports(items, path)


def init_containers(items: list[Obj], path: str, spec: Obj, volumes: Iterable[str]) -> Problems:
    names = {container.get("name") for container in spec.get("containers") or []}
    for where, container in with_paths(items, path):
        yield from common(container, where, spec, volumes)
        if container.get("name") in names:
            yield say.duplicate(f"{where}.name", container.get("name"))
        names.add(container.get("name"))
        yield from one_of(container.get("restartPolicy"), ("Always", "OnFailure", "Never"), f"{where}.restartPolicy")
        if container.get("restartPolicy") == "Always":
            yield from _life(container, where, spec)
        else:
            for name in ("lifecycle", *_PROBES):
                if container.get(name) is not None:
                    yield say.forbidden(f"{where}.{name}", _NO_INIT)


def restart_policy(container: Obj, path: str) -> Problems:
    yield from one_of(container.get("restartPolicy"), ("Always", "Never", "OnFailure"), f"{path}.restartPolicy")


def common(container: Obj, path: str, spec: Obj, volumes: Iterable[str]) -> Problems:
    """What holds for every container."""
    if not container.get("name"):
        yield say.required(f"{path}.name")
    else:
        yield from label(container["name"], f"{path}.name")
    image = container.get("image") or ""
    if not image:
        yield say.required(f"{path}.image")
    yield from one_of(
        container.get("terminationMessagePolicy"), ("File", "FallbackToLogsOnError"), f"{path}.terminationMessagePolicy"
    )
    if container.get("ports"):
        yield from ports(container["ports"], f"{path}.ports", bool(spec.get("hostNetwork")))
    if container.get("env"):
        yield from environment(container["env"], f"{path}.env")
    if container.get("envFrom"):
        yield from _env_from(container["envFrom"], f"{path}.envFrom")
    if container.get("volumeMounts"):
        yield from mounts(container, f"{path}.volumeMounts", volumes)
    if container.get("volumeDevices"):
        yield from devices(container, f"{path}.volumeDevices", [*volumes], _claimed(spec))
    yield from one_of(container.get("imagePullPolicy"), PULL_POLICIES, f"{path}.imagePullPolicy", required=True)
    if container.get("resources"):
        claims = [claim.get("name") for claim in spec.get("resourceClaims") or []]
        yield from requirements(container["resources"], f"{path}.resources", claims)
    if container.get("securityContext"):
        yield from security(container["securityContext"], f"{path}.securityContext")
    if container.get("resizePolicy"):
        yield from _resize_policy(container["resizePolicy"], f"{path}.resizePolicy")


def _claimed(spec: Obj) -> list[str]:
    return [
        volume.get("name") or ""
        for volume in spec.get("volumes") or []
        if volume.get("persistentVolumeClaim") is not None or volume.get("ephemeral") is not None
    ]


def _resize_policy(items: list[Obj], path: str) -> Problems:
    seen: set[str] = set()
    for where, item in with_paths(items, path):
        name = item.get("resourceName") or ""
        if name in seen:
            yield say.duplicate(where, name)
        seen.add(name)
        yield from one_of(name, ("cpu", "memory"), path, required=True)
        yield from one_of(item.get("restartPolicy"), ("NotRequired", "RestartContainer"), path, required=True)


def image_spaces(items: list[Obj], path: str) -> Problems:
    """Pods only; templates may still have them."""
    for where, container in with_paths(items, path):
        image = container.get("image") or ""
        if image != image.strip():
            yield say.invalid(f"{where}.image", image, "must not have leading or trailing whitespace")


def ports(items: list[Obj], path: str, host_network: bool) -> Problems:
    names: set[str] = set()
    for where, item in with_paths(items, path):
        name = item.get("name") or ""
        if name:
            if why := port_name_problems(name):
                yield from (say.invalid(f"{where}.name", name, each_why) for each_why in why)
            elif name in names:
                yield say.duplicate(f"{where}.name", name)
            names.add(name)
        if not item.get("containerPort"):
            yield say.required(f"{where}.containerPort")
        else:
            yield from within(item["containerPort"], 1, 65535, f"{where}.containerPort")
        if item.get("hostPort"):
            yield from within(item["hostPort"], 1, 65535, f"{where}.hostPort")
        yield from one_of(item.get("protocol"), ("SCTP", "TCP", "UDP"), f"{where}.protocol", required=True)


def host_network_ports(items: list[Obj], path: str) -> Problems:
    for where, container in with_paths(items, path):
        for at, item in with_paths(container.get("ports"), f"{where}.ports"):
            if item.get("hostPort", 0) != item.get("containerPort", 0):
                yield say.invalid(
                    f"{at}.hostPort", item.get("hostPort", 0), "must match `containerPort` when `hostNetwork` is true"
                )


def host_ports(items: list[Obj], path: str) -> Problems:
    seen: set[str] = set()
    for where, container in with_paths(items, path):
        for at, item in with_paths(container.get("ports"), f"{where}.ports"):
            if item.get("hostPort"):
                text = f"{item.get('protocol', 'TCP')}/{item.get('hostIP', '')}/{item['hostPort']}"
                if text in seen:
                    yield say.duplicate(f"{at}.hostPort", text)
                seen.add(text)


def environment(items: list[Obj], path: str) -> Problems:
    for index, item in enumerate(items):
        name = item.get("name") or ""
        if not name:
            yield say.required(f"{path}[{index}].name")
        elif _NO_VARIABLE(name):
            yield say.invalid(
                f"{path}[{index}].name",
                name,
                "a valid environment variable name must consist only of printable ASCII characters other than '='",
            )
        if item.get("valueFrom") is not None:
            yield from _source(item, f"{path}[{index}].valueFrom")


def _source(item: Obj, path: str) -> Problems:
    source = item["valueFrom"]
    if source.get("fieldRef") is not None:
        yield from field_ref(source["fieldRef"], f"{path}.fieldRef")
    if source.get("resourceFieldRef") is not None:
        yield from resource_ref(source["resourceFieldRef"], f"{path}.resourceFieldRef")
    for name in ("configMapKeyRef", "secretKeyRef"):
        if source.get(name) is not None:
            yield from key_ref(source[name], f"{path}.{name}")
    count = sum(
        source.get(name) is not None
        for name in ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")
    )
    if count == 0:
        yield say.invalid(
            path,
            "",
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`",
        )
    elif item.get("value"):
        yield say.invalid(path, "", "may not be specified when `value` is not empty")
    elif count > 1:
        yield say.invalid(path, "", "may not have more than one field specified at a time")


def field_ref(reference: Obj, path: str, files: bool = False) -> Problems:
    text = reference.get("fieldPath") or ""
    if not reference.get("apiVersion"):
        yield say.required(f"{path}.apiVersion")
        return
    if not text:
        yield say.required(f"{path}.fieldPath")
        return
    if reference["apiVersion"] != "v1":
        told = f"error converting fieldPath: unsupported pod version: {reference['apiVersion']}"
        yield say.invalid(f"{path}.fieldPath", text, told)
        return
    match = re.fullmatch(r"(metadata\.(?:labels|annotations))\['(.*)'\]", text)
    if match:
        yield from named(
            match.group(2).lower() if "annotations" in text else match.group(2), qualified_name_problems, path
        )
    elif text not in _KNOWN_PATHS:
        yield say.invalid(f"{path}.fieldPath", text, f"error converting fieldPath: field label not supported: {text}")
    elif text not in (_FILE_PATHS if files else _FIELD_PATHS):
        yield say.unsupported(f"{path}.fieldPath", text, sorted(_FILE_PATHS if files else _FIELD_PATHS))


def resource_ref(reference: Obj, path: str, volume: bool = False) -> Problems:
    if volume and not reference.get("containerName"):
        yield say.required(f"{path}.containerName")
    name = reference.get("resource") or ""
    if not name:
        yield say.required(f"{path}.resource")
    elif name not in _RESOURCE_FIELDS and not name.startswith(("limits.hugepages-", "requests.hugepages-")):
        yield say.unsupported(f"{path}.resource", name, _RESOURCE_FIELDS)
    else:
        yield from _divisor(reference.get("divisor"), name, f"{path}.divisor")


def _divisor(divisor: Any, name: str, path: str) -> Problems:
    kind = name.partition(".")[2].partition("-")[0]
    allowed = _CPU_UNITS if kind == "cpu" else _BYTE_UNITS
    told = {"cpu": "cpu", "memory": "memory", "ephemeral": "local ephemeral storage", "hugepages": "hugepages"}[kind]
    if divisor is not None and resources.nanos(divisor) and divisor not in allowed:
        shown = "1m and 1" if kind == "cpu" else ", ".join(_BYTE_UNITS)
        yield say.invalid(path, name, f"only divisor's values {shown} are supported with the {told} resource")


def key_ref(reference: Obj, path: str) -> Problems:
    yield from subdomain(reference.get("name") or "", f"{path}.name")
    if not reference.get("key"):
        yield say.required(f"{path}.key")
    else:
        yield from config_key(reference["key"], f"{path}.key")


def config_key_problems(key: str) -> list[str]:
    found = ["must be no more than 253 characters"] if len(key) > 253 else []
    if not re.fullmatch(r"[-._a-zA-Z0-9]+", key):
        found.append(
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or "
            "'KEY_NAME',  or "
            "'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
        )
    if key in (".", ".."):
        found.append(f"must not be '{key}'")
    elif key.startswith(".."):
        found.append("must not start with '..'")
    return found


def config_key(key: str, path: str) -> Problems:
    yield from named(key, config_key_problems, path)


def _env_from(items: list[Obj], path: str) -> Problems:
    for where, item in with_paths(items, path):
        sources = [name for name in ("configMapRef", "secretRef") if item.get(name) is not None]
        for name in sources:
            if not item[name].get("name"):
                yield say.required(f"{where}.{name}.name")
            yield from subdomain(item[name].get("name") or None, f"{where}.{name}.name")
        if not sources:
            yield say.invalid(path, "", "must specify one of: `configMapRef` or `secretRef`")
        elif len(sources) > 1:
            yield say.invalid(path, "", "may not have more than one field specified at a time")


def _life(container: Obj, path: str, spec: Obj) -> Problems:
    grace = spec.get("terminationGracePeriodSeconds")
    hooks = container.get("lifecycle") or {}
    for name in ("postStart", "preStop"):
        if hooks.get(name) is not None:
            yield from handler(hooks[name], f"{path}.lifecycle.{name}", grace)
    for name in _PROBES:
        probe = container.get(name)
        if probe is not None:
            yield from _probe(probe, f"{path}.{name}", name)


def _probe(probe: Obj, path: str, name: str) -> Problems:
    yield from handler(probe, path, None)
    for field in ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"):
        yield from not_negative(probe.get(field, 0), f"{path}.{field}")
    grace = probe.get("terminationGracePeriodSeconds")
    if grace is not None and grace <= 0:
        yield say.invalid(f"{path}.terminationGracePeriodSeconds", grace, "must be greater than 0")
    if name != "readinessProbe" and probe.get("successThreshold", 1) != 1:
        yield say.invalid(f"{path}.successThreshold", probe.get("successThreshold"), "must be 1")
    if name == "readinessProbe" and grace is not None:
        yield say.invalid(f"{path}.terminationGracePeriodSeconds", grace, "must not be set for readinessProbes")


def handler(about: Obj, path: str, grace: int | None) -> Problems:
    chosen = [name for name in _HANDLERS if about.get(name) is not None]
    if not chosen:
        yield say.required(path, "must specify a handler type")
        return
    yield from _action(chosen[0], about[chosen[0]], f"{path}.{chosen[0]}", grace)
    for name in chosen[1:]:
        yield say.forbidden(f"{path}.{name}", "may not specify more than 1 handler type")


def _action(name: str, action: Obj, path: str, grace: int | None) -> Problems:
    if name == "exec" and not action.get("command"):
        yield say.required(f"{path}.command")
    if name == "httpGet":
        yield from given(action, path, "path")
    if name in ("httpGet", "tcpSocket", "grpc"):
        yield from port(action.get("port"), f"{path}.port")
    if name == "httpGet":
        yield from one_of(action.get("scheme"), ("HTTP", "HTTPS"), f"{path}.scheme")
        for header in action.get("httpHeaders") or []:
            if not re.fullmatch(r"[-A-Za-z0-9]+", header.get("name") or ""):
                yield say.invalid(
                    f"{path}.httpHeaders",
                    header.get("name") or "",
                    "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex "
                    "used "
                    "for validation is '[-A-Za-z0-9]+')",
                )
    if name == "sleep" and not 0 <= action.get("seconds", 0) <= (grace if grace is not None else 0):
        yield say.invalid(
            path,
            action.get("seconds", 0),
            f"must be non-negative and less than terminationGracePeriodSeconds ({grace})",
        )


def requirements(about: Obj, path: str, claims: list[Any]) -> Problems:
    """Requests and limits, and the claims of a container."""
    yield from _amounts(tuple((about.get("limits") or {}).items()), tuple((about.get("requests") or {}).items()), path)
    if about.get("claims"):
        yield from _claims(about["claims"], f"{path}.claims", claims)


@lru_cache(maxsize=4096)
def _amounts(limited: Amounts, requested: Amounts, path: str) -> tuple[Problem, ...]:
    """The containers of a workload ask for the same again and again."""
    return (*_judged(dict(limited), dict(requested), path),)


def _judged(limits: Obj, requests: Obj, path: str) -> Problems:
    for name, amount in sorted(limits.items()):
        yield from _resource(name, amount, f"{path}.limits[{name}]")
    for name, amount in sorted(requests.items()):
        where = f"{path}.requests[{name}]"
        yield from _resource(name, amount, where)
        if name in limits:
            yield from _against_limit(name, amount, limits[name], f"{path}.requests")
        elif not overcommits(name):
            yield say.required(f"{path}.limits", "Limit must be set for non overcommitable resources")
    named_here = {*limits, *requests}
    if any(name.startswith("hugepages-") for name in named_here) and not {"cpu", "memory"} & named_here:
        yield say.forbidden(path, "HugePages require cpu or memory")


def overcommits(name: str) -> bool:
    """Native resources other than huge pages may be requested below their limit."""
    return (
        name in _PLAIN_RESOURCES
        or ("/" not in name and not name.startswith("hugepages-"))
        or name.startswith("kubernetes.io/")
    )


def _resource(name: str, amount: Any, path: str) -> Problems:
    yield from resource_names(name, path)
    yield from (say.invalid(path, name, why) for why in resource_name_problems(name, container=True) if "/" in name)
    yield from quantity_not_negative(amount, path)
    if name.startswith("hugepages-"):
        yield from _pages(name, amount, path)
    if _whole(name) and resources.nanos(amount) % resources.NANO:
        yield say.invalid(path, amount, "must be an integer")


def _pages(name: str, amount: Any, path: str) -> Problems:
    size, asked = resources.nanos(name.removeprefix("hugepages-")), resources.nanos(amount)
    if size > 0 and asked % size:
        yield say.invalid(path, amount, f"{amount} is not positive integer multiple of {name}")


def _whole(name: str) -> bool:
    """Extended resources are counted in whole units."""
    return "/" in name and not name.partition("/")[0].endswith("kubernetes.io")


def _against_limit(name: str, amount: Any, limit: Any, path: str) -> Problems:
    asked, most = resources.nanos(amount), resources.nanos(limit)
    if asked != most and not overcommits(name):
        yield say.invalid(path, amount, f"must be equal to {name} limit of {limit}")
    elif asked > most:
        yield say.invalid(path, amount, f"must be less than or equal to {name} limit of {limit}")


def _claims(items: list[Obj], path: str, known: list[Any]) -> Problems:
    seen: set[tuple[Any, Any]] = set()
    for where, item in with_paths(items, path):
        name = item.get("name") or ""
        if not name:
            yield say.required(where)
            continue
        if (name, item.get("request")) in seen:
            yield say.duplicate(where, name)
        seen.add((name, item.get("request")))
        if name not in known:
            told = "which is empty" if not known else "which are: " + ", ".join(map(str, known))
            yield Problem(
                where,
                f"Not found: {say.show(name)}: must be one of the names in pod.spec.resourceClaims {told}",
                "FieldValueNotFound",
                name,
            )


def security(context: Obj | None, path: str) -> Problems:
    if not context:
        return
    for name in ("runAsUser", "runAsGroup"):
        yield from within(context.get(name), 0, 2147483647, f"{path}.{name}")
    yield from one_of(context.get("procMount"), ("Default", "Unmasked"), f"{path}.procMount")
    if context.get("allowPrivilegeEscalation") is False:
        if context.get("privileged"):
            yield say.invalid(path, context, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true")
        if "CAP_SYS_ADMIN" in ((context.get("capabilities") or {}).get("add") or []):
            yield say.invalid(
                path, context, "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"
            )
    yield from seccomp(context.get("seccompProfile"), f"{path}.seccompProfile")
    yield from app_armor(context.get("appArmorProfile"), f"{path}.appArmorProfile")


def app_armor(profile: Obj | None, path: str) -> Problems:
    if profile is None:
        return
    yield from one_of(profile.get("type"), ("Localhost", "RuntimeDefault", "Unconfined"), f"{path}.type", required=True)
    local, given_one = profile.get("type") == "Localhost", profile.get("localhostProfile")
    if local and not given_one:
        yield say.required(f"{path}.localhostProfile", "must be set when AppArmor type is Localhost")
    if not local and given_one is not None:
        yield say.invalid(f"{path}.localhostProfile", given_one, "can only be set when AppArmor type is Localhost")


def seccomp(profile: Obj | None, path: str) -> Problems:
    if profile is None:
        return
    kind = profile.get("type") or ""
    yield from one_of(kind, ("Localhost", "RuntimeDefault", "Unconfined"), f"{path}.type", required=True)
    if kind == "Localhost" and not profile.get("localhostProfile"):
        yield say.required(f"{path}.localhostProfile", "must be set when seccomp type is Localhost")
    if kind != "Localhost" and profile.get("localhostProfile") is not None:
        yield say.invalid(f"{path}.localhostProfile", profile, "can only be set when seccomp type is Localhost")
