"""Defaults of a pod's spec, in pods and in the templates of every workload."""

from __future__ import annotations

import re
from typing import Any

from gangline.cluster.kinds.checks import Obj

_MODE = 0o644
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_HOST = r"(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*(?::[0-9]+)?"
_PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_IMAGE = re.compile(
    rf"(?:{_HOST}/)?{_PART}(?:/{_PART})*(?::(?P<tag>[\w][\w.-]{{0,127}}))?"
    r"(?P<digest>@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?",
    re.ASCII,
)
_DIGEST = re.compile(r"[a-f0-9]{64}")


def default_template(template: Obj, restart: str = "Always") -> None:
    """A pod template; `restart` empty: the workload wants the user to choose."""
    default_pod_spec(template.setdefault("spec", {}), restart)


def default_pod_spec(spec: Obj, restart: str = "Always") -> None:
    spec.setdefault("dnsPolicy", "ClusterFirst")
    if restart:
        spec.setdefault("restartPolicy", restart)
    spec.setdefault("securityContext", {})
    spec.setdefault("terminationGracePeriodSeconds", 30)
    spec.setdefault("schedulerName", "default-scheduler")
    _default_account(spec)
    for container in all_containers(spec):
        default_container(container)
        if spec.get("hostNetwork"):
            for port in container.get("ports") or []:
                port.setdefault("hostPort", port.get("containerPort", 0))
    for volume in spec.get("volumes") or []:
        default_volume(volume)


def _default_account(spec: Obj) -> None:
    """The old name of a field mirrors the new one."""
    if spec.get("serviceAccountName"):
        spec["serviceAccount"] = spec["serviceAccountName"]
    elif spec.get("serviceAccount"):
        spec["serviceAccountName"] = spec["serviceAccount"]


def all_containers(spec: Obj) -> list[Obj]:
    return [
        *(spec.get("initContainers") or []),
        *(spec.get("containers") or []),
        *(spec.get("ephemeralContainers") or []),
    ]


def default_container(container: Obj) -> None:
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")
    container.setdefault("imagePullPolicy", pull_policy(container.get("image") or ""))
    for port in container.get("ports") or []:
        port.setdefault("protocol", "TCP")
    for variable in container.get("env") or []:
        default_field_ref(variable.get("valueFrom"))
    for name in _PROBES:
        _default_probe(container.get(name))
    for hook in (container.get("lifecycle") or {}).values():
        if isinstance(hook, dict):
            _default_http(hook.get("httpGet"))
    if "lifecycle" in container:
        _drop_gated(container)


def _drop_gated(container: Obj) -> None:
    """A signal to stop with is behind a gate that is off."""
    hooks = container["lifecycle"] or {}
    if hooks.pop("stopSignal", None) is not None and not hooks:
        del container["lifecycle"]


def pull_policy(image: str) -> str:
    """Always for `latest` and for no tag at all, unless the image is named by its digest or by no name at all."""
    named = _IMAGE.fullmatch(image)
    if named is None or _DIGEST.fullmatch(image):
        return "IfNotPresent"
    tag = named["tag"] or ("" if named["digest"] else "latest")
    return "Always" if tag == "latest" else "IfNotPresent"


def default_field_ref(source: Any) -> None:
    reference = (source or {}).get("fieldRef")
    if reference is not None:
        reference.setdefault("apiVersion", "v1")


def _default_probe(probe: Obj | None) -> None:
    if probe is None:
        return
    for name, value in (("timeoutSeconds", 1), ("periodSeconds", 10), ("successThreshold", 1), ("failureThreshold", 3)):
        probe.setdefault(name, value)
    _default_http(probe.get("httpGet"))
    if probe.get("grpc") is not None and probe["grpc"].get("service") is None:
        probe["grpc"]["service"] = ""


def _default_http(action: Obj | None) -> None:
    if action is not None:
        action.setdefault("path", "/")
        action.setdefault("scheme", "HTTP")


_VOLUME_DEFAULTS: dict[str, Obj] = {
    "secret": {"defaultMode": _MODE},
    "configMap": {"defaultMode": _MODE},
    "downwardAPI": {"defaultMode": _MODE},
    "projected": {"defaultMode": _MODE},
    "hostPath": {"type": ""},
    "iscsi": {"iscsiInterface": "default"},
    "rbd": {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"},
    "scaleIO": {"storageMode": "ThinProvisioned", "fsType": "xfs"},
    "azureDisk": {"cachingMode": "ReadWrite", "kind": "Shared", "fsType": "ext4", "readOnly": False},
}


def default_volume(volume: Obj) -> None:
    if not any(value is not None for name, value in volume.items() if name != "name"):
        volume["emptyDir"] = {}
    for name, defaults in _VOLUME_DEFAULTS.items():
        if volume.get(name) is not None:
            for field, value in defaults.items():
                volume[name].setdefault(field, value)
    _default_field_refs(volume)
    for source in (volume.get("projected") or {}).get("sources") or []:
        if source.get("serviceAccountToken") is not None:
            source["serviceAccountToken"].setdefault("expirationSeconds", 3600)
        _default_field_refs(source)
    claim = ((volume.get("ephemeral") or {}).get("volumeClaimTemplate") or {}).get("spec")
    if claim is not None:
        claim.setdefault("volumeMode", "Filesystem")
    if volume.get("image") is not None:
        volume["image"].setdefault("pullPolicy", pull_policy(volume["image"].get("reference") or ""))


def _default_field_refs(source: Obj) -> None:
    for item in (source.get("downwardAPI") or {}).get("items") or []:
        default_field_ref(item)


def default_requests(spec: Obj) -> None:
    """Pods only: what has a limit but no request requests its limit."""
    for asks in [*(spec.get("containers") or []), *(spec.get("initContainers") or []), spec]:
        needs = asks.get("resources") or {}
        limits = needs.get("limits")
        if limits:
            requests = needs.setdefault("requests", {})
            for name, amount in limits.items():
                if asks is not spec or "/" not in name:
                    requests.setdefault(name, amount)
