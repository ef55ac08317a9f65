"""Pod security standards, as a namespace's labels ask for them: pods that violate the enforced level are refused,
others are warned of.

    pod-security.kubernetes.io/enforce: baseline | restricted
    pod-security.kubernetes.io/warn:    baseline | restricted

Each check is one function from a pod's spec to what is wrong with it; the table at the end says at which level it
counts. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

Obj = dict[str, Any]
Check = Callable[[Obj], str | None]
PREFIX = "pod-security.kubernetes.io/"
_HARMLESS = {
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
}
_VOLUMES = {
    "name",
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "image",
    "persistentVolumeClaim",
    "projected",
    "secret",
}
_SECCOMP = ("RuntimeDefault", "Localhost")


def _containers(spec: Obj) -> Iterator[tuple[str, Obj, Obj]]:
    for part in ("initContainers", "containers", "ephemeralContainers"):
        for container in spec.get(part) or []:
            yield container.get("name", ""), container, container.get("securityContext") or {}


def _named(noun: str, names: list[str]) -> str:
    return f"{noun}{'' if len(names) == 1 else 's'} " + ", ".join(f'"{name}"' for name in names)


def _all_or(spec: Obj, title: str, wrong: Callable[[Obj, Obj], bool], must: str) -> str | None:
    names = [name for name, container, context in _containers(spec) if wrong(container, context)]
    return f"{title} ({_named('container', names)} {must})" if names else None


def _escalation(spec: Obj) -> str | None:
    return _all_or(
        spec,
        "allowPrivilegeEscalation != false",
        lambda container, context: context.get("allowPrivilegeEscalation") is not False,
        "must set securityContext.allowPrivilegeEscalation=false",
    )


def _capabilities(spec: Obj) -> str | None:
    dropped = _all_or(
        spec,
        "",
        lambda container, context: "ALL" not in ((context.get("capabilities") or {}).get("drop") or []),
        'must set securityContext.capabilities.drop=["ALL"]',
    )
    added = _added(spec, {"NET_BIND_SERVICE"})
    details = [text for text in (dropped and dropped.strip(" ()"), added) if text]
    return f"unrestricted capabilities ({'; '.join(details)})" if details else None


def _added(spec: Obj, allowed: set[str]) -> str | None:
    capabilities: dict[str, list[str]] = {}
    for name, _, context in _containers(spec):
        extra = [item for item in (context.get("capabilities") or {}).get("add") or [] if item not in allowed]
        if extra:
            capabilities[name] = extra
    if not capabilities:
        return None
    listed = ", ".join(f'"{item}"' for item in sorted({item for extra in capabilities.values() for item in extra}))
    return f"{_named('container', list(capabilities))} must not include {listed} in securityContext.capabilities.add"


def _common_capabilities(spec: Obj) -> str | None:
    details = _added(spec, _HARMLESS)
    return f"non-default capabilities ({details})" if details else None


def _host_namespaces(spec: Obj) -> str | None:
    namespaces = [f"{name}=true" for name in ("hostNetwork", "hostPID", "hostIPC") if spec.get(name)]
    return f"host namespaces ({', '.join(namespaces)})" if namespaces else None


def _host_paths(spec: Obj) -> str | None:
    names = [volume["name"] for volume in spec.get("volumes") or [] if "hostPath" in volume]
    return f"hostPath volumes ({_named('volume', names)})" if names else None


def _host_ports(spec: Obj) -> str | None:
    by_container = {
        name: [port["hostPort"] for port in container.get("ports") or [] if port.get("hostPort")]
        for name, container, _ in _containers(spec)
    }
    names = [name for name, ports in by_container.items() if ports]
    ports = sorted({port for numbers in by_container.values() for port in numbers})
    if not names:
        return None
    verb, noun = ("uses", "hostPort") if len(names) == 1 else ("use", "hostPorts")
    return (
        f"hostPort ({_named('container', names)} {verb} {noun if len(ports) == 1 else 'hostPorts'} "
        f"{', '.join(map(str, ports))})"
    )


def _privileged(spec: Obj) -> str | None:
    return _all_or(
        spec,
        "privileged",
        lambda container, context: bool(context.get("privileged")),
        "must not set securityContext.privileged=true",
    )


def _volume_types(spec: Obj) -> str | None:
    types = [
        (volume["name"], next((key for key in volume if key not in _VOLUMES), ""))
        for volume in spec.get("volumes") or []
    ]
    wrong = [(name, kind) for name, kind in types if kind]
    if not wrong:
        return None
    kinds = sorted({kind for _, kind in wrong})
    listed = ", ".join(f'"{kind}"' for kind in kinds)
    verb = "uses" if len(wrong) == 1 else "use"
    noun = "volume type" if len(kinds) == 1 else "volume types"
    return (
        f"restricted volume types ({_named('volume', [name for name, _ in wrong])} {verb} restricted {noun} {listed})"
    )


def _non_root(spec: Obj) -> str | None:
    pod = (spec.get("securityContext") or {}).get("runAsNonRoot")
    wrong = [name for name, _, context in _containers(spec) if context.get("runAsNonRoot") is False]
    unset = [name for name, _, context in _containers(spec) if context.get("runAsNonRoot") is None]
    if wrong:
        return f"runAsNonRoot != true ({_named('container', wrong)} must not set securityContext.runAsNonRoot=false)"
    if pod is True or not unset:
        return None
    if pod is False:
        return "runAsNonRoot != true (pod must not set securityContext.runAsNonRoot=false)"
    return f"runAsNonRoot != true (pod or {_named('container', unset)} must set securityContext.runAsNonRoot=true)"


def _user(spec: Obj) -> str | None:
    details = ["pod must not set runAsUser=0"] if (spec.get("securityContext") or {}).get("runAsUser") == 0 else []
    names = [name for name, _, context in _containers(spec) if context.get("runAsUser") == 0]
    details += [f"{_named('container', names)} must not set runAsUser=0"] if names else []
    return f"runAsUser=0 ({' and '.join(details)})" if details else None


def _seccomp(spec: Obj) -> str | None:
    must = 'must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"'
    pod = ((spec.get("securityContext") or {}).get("seccompProfile") or {}).get("type")
    unset = [name for name, _, context in _containers(spec) if not (context.get("seccompProfile") or {}).get("type")]
    wrong = [
        name
        for name, _, context in _containers(spec)
        if (context.get("seccompProfile") or {}).get("type") not in (None, *_SECCOMP)
    ]
    if wrong or pod not in (None, *_SECCOMP):
        who = (["pod"] if pod not in (None, *_SECCOMP) else []) + ([_named("container", wrong)] if wrong else [])
        return f'seccompProfile ({" and ".join(who)} must not set securityContext.seccompProfile.type to "Unconfined")'
    return f"seccompProfile (pod or {_named('container', unset)} {must})" if unset and pod is None else None


_BASELINE: tuple[Check, ...] = (_common_capabilities, _host_namespaces, _host_paths, _host_ports, _privileged)
_RESTRICTED: tuple[Check, ...] = (
    _escalation,
    _capabilities,
    _host_namespaces,
    _host_ports,
    _privileged,
    _volume_types,
    _non_root,
    _user,
    _seccomp,
)
LEVELS: dict[str, tuple[Check, ...]] = {"privileged": (), "baseline": _BASELINE, "restricted": _RESTRICTED}


def violations(labels: dict[str, str], mode: str, spec: Obj) -> str | None:
    """What a pod does that the namespace's `mode` (enforce, warn) does not like; None if nothing."""
    level = labels.get(PREFIX + mode, "privileged")
    tolds = [text for check in LEVELS.get(level, _RESTRICTED) if (text := check(spec))]
    if not tolds:
        return None
    version = labels.get(f"{PREFIX}{mode}-version", "latest")
    return f'violate PodSecurity "{level}:{version}": ' + ", ".join(tolds)
