"""The binder's flags, as upstream's binary takes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gangline.binder.settings import DEFAULTS, BinderPluginSetting, BinderSettings
from gangline.rules.flags import COMMON, Table, refuse_unknown, truth, values
from gangline.rules.schedulers import read_names


def _object(text: str) -> dict[str, Any]:
    value = json.loads(text or "{}")
    if not isinstance(value, dict):
        raise ValueError("must be a JSON object")
    return value


def _words(text: str) -> tuple[str, ...]:
    values = json.loads(text or "[]")
    if not isinstance(values, list) or not all(isinstance(item, str) for item in values):
        raise ValueError("must be a JSON list of words")
    return tuple(values)


def read_plugins(text: str) -> dict[str, BinderPluginSetting]:
    """`{"gpusharing": {"enabled": true, "priority": 100, "arguments": {"cdiEnabled": "true"}}}`"""
    return {
        name: BinderPluginSetting(
            bool(given.get("enabled", True)), given.get("priority"), dict(given.get("arguments") or {})
        )
        for name, given in _object(text).items()
    }


FLAGS: Table = {
    "scheduler-name": ("scheduler_names", read_names),
    "plugins": ("plugins", read_plugins),
    "fake-gpu-nodes": ("fake_gpu_nodes", truth),
    "resource-reservation-namespace": ("reservation_namespace", str),
    "scale-adjust-namespace": ("scale_namespace", str),
    "resource-reservation-service-account": ("reservation_service_account", str),
    "rate-limiter-base-delay": ("first_delay", float),
    "resource-reservation-app-label": ("reservation_app", str),
    "rate-limiter-max-delay": ("longest_delay", float),
    "resource-reservation-pod-image": ("reservation_image", str),
    "runtime-class-name": ("reservation_runtime_class", str),
    "resource-reservation-pod-command": ("reservation_command", _words),
    "resource-reservation-allocation-timeout": ("reservation_timeout", float),
    "resource-reservation-pod-resources": ("reservation_resources", _object),
    "resource-reservation-pod-security-context": ("reservation_pod_security", _object),
    "resource-reservation-container-security-context": ("reservation_container_security", _object),
}


def read_flags(flags: Mapping[str, str], base: BinderSettings = DEFAULTS) -> BinderSettings:
    refuse_unknown("binder", flags, (*FLAGS, *COMMON))
    return replace(base, **values(flags, FLAGS))
