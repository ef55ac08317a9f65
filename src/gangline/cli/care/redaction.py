"""Objects without what must not leave a cluster: values of environment variables, arguments, annotations that repeat
objects, and everything a Secret holds. Pure; bundle.py packs what is left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

HIDDEN = "(hidden)"
REPEATED = ("kubectl.kubernetes.io/last-applied-configuration",)
"""Annotations that hold a whole object once more."""
VALUED = ("env", "httpHeaders")
"""Lists whose entries have a name, which stays, and a value, which does not."""
WORDS = ("args", "command")
"""Of containers and probes: they may hold a token."""
PROGRAMS = ("containers", "initContainers", "ephemeralContainers", "exec")


def redacted(obj: Mapping[str, Any]) -> dict[str, Any]:
    """An object as it may be shown to a stranger."""
    if obj.get("kind") in ("Secret", "SecretList"):
        return {"kind": "Secret", "metadata": {"name": obj.get("metadata", {}).get("name", "")}, "data": HIDDEN}
    cleaned: dict[str, Any] = _cleaned(obj)
    meta = cleaned.get("metadata")
    if isinstance(meta, dict):
        meta.pop("managedFields", None)
        for name in REPEATED:
            (meta.get("annotations") or {}).pop(name, None)
    return cleaned


def _cleaned(value: Any, field: str = "") -> Any:
    if isinstance(value, Mapping):
        return {name: _value(name, below, field) for name, below in value.items()}
    if isinstance(value, list):
        return [_cleaned(item, field) for item in value]
    return value


def _value(name: str, value: Any, above: str) -> Any:
    if above in VALUED and name == "value":
        return HIDDEN
    if above in PROGRAMS and name in WORDS:
        return [HIDDEN]
    return _cleaned(value, name)
