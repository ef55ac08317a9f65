"""Checks of containers: names, images, ports, probes, hooks and security.

environment.py, mounts.py and requirements.py judge the parts that are named after them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from gangline.cluster.kinds.checks import (
    Obj,
    Problems,
    given,
    label,
    not_negative,
    one_of,
    port,
    port_name_problems,
    with_paths,
    within,
)
from gangline.cluster.kinds.pods.environment import env_from, environment
from gangline.cluster.kinds.pods.mounts import devices, mounts
from gangline.cluster.kinds.pods.requirements import requirements
from gangline.rules.values import problems as say

_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc", "sleep")
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_NO_INIT = "may not be set for init containers without restartPolicy=Always"
PULL_POLICIES = ("Always", "IfNotPresent", "Never")


class PodNames(NamedTuple):
    """What the containers of a pod may name: looked up once for all of them."""

    volumes: Mapping[str, bool]
    """Whether each comes from a claim, which alone can be raw."""
    claims: Mapping[str, None]


def pod_names(spec: Obj) -> PodNames:
    volumes: dict[str, bool] = {}
    for volume in spec.get("volumes") or []:
        name = volume.get("name") or ""
        is_claimed = volume.get("persistentVolumeClaim") is not None or volume.get("ephemeral") is not None
        volumes[name] = volumes.get(name, False) or is_claimed
    return PodNames(volumes, dict.fromkeys(claim.get("name") or "" for claim in spec.get("resourceClaims") or []))


def containers(items: list[Obj], path: str, spec: Obj, known: PodNames) -> Problems:
    """The main containers."""
    if not items:
        yield say.required(path)
        return
    names: set[str] = set()
    for where, container in with_paths(items, path):
        yield from common(container, where, spec, known)
        if container.get("name") in names:
            yield say.duplicate(f"{where}.name", container.get("name"))
        names.add(container.get("name") or "")
        yield from _life(container, where, spec)
        yield from restart_policy(container, where)
    yield from host_ports(items, path)


def init_containers(items: list[Obj], path: str, spec: Obj, known: PodNames) -> Problems:
    names = {container.get("name") for container in spec.get("containers") or []}
    for where, container in with_paths(items, path):
        yield from common(container, where, spec, known)
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


def common(container: Obj, path: str, spec: Obj, known: PodNames) -> Problems:
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
        yield from env_from(container["envFrom"], f"{path}.envFrom")
    if container.get("volumeMounts"):
        yield from mounts(container, f"{path}.volumeMounts", known.volumes)
    if container.get("volumeDevices"):
        yield from devices(container, f"{path}.volumeDevices", known.volumes)
    yield from one_of(container.get("imagePullPolicy"), PULL_POLICIES, f"{path}.imagePullPolicy", required=True)
    if container.get("resources"):
        yield from requirements(container["resources"], f"{path}.resources", known.claims)
    if container.get("securityContext"):
        yield from security(container["securityContext"], f"{path}.securityContext")
    if container.get("resizePolicy"):
        yield from _resize_policy(container["resizePolicy"], f"{path}.resizePolicy")


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
