"""Fields that Kubernetes keeps only while a feature gate is on.

A gate that is off means: the field is dropped on its way in, unless the stored object already has it. Which gates are on is a setting of
the server (`ServerSettings.features`); the default is Kubernetes' own.
"""

from __future__ import annotations

from typing import Any

from gangline.apiserver.resources import Resource

EXTENDED_RESOURCES = "DRAExtendedResource"

GATED: dict[tuple[str, str], tuple[str, str, str]] = {
    ("resource.k8s.io", "deviceclasses"): (EXTENDED_RESOURCES, "spec", "extendedResourceName"),
}
"""Resource → the gate, and the field below its part of the object."""


def drop_disabled(enabled: frozenset[str], resource: Resource, new: dict[str, Any], old: dict[str, Any] | None) -> None:
    gate, part, field = GATED.get(resource.shelf, ("", "", ""))
    if gate and gate not in enabled and (old is None or field not in (old.get(part) or {})):
        (new.get(part) or {}).pop(field, None)
