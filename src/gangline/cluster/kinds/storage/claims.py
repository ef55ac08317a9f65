"""What a volume is asked to be: the spec of a PersistentVolumeClaim, and of the templates that make one."""

from __future__ import annotations

from gangline.api import resources
from gangline.cluster.kinds.checks import Obj, Problems, given, label_selector, one_of, subdomain
from gangline.rules.values import problems as say

ACCESS = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_SAME_SOURCE = ("apiGroup", "kind", "name")


def claim_spec(spec: Obj, path: str) -> Problems:
    yield from label_selector(spec.get("selector"), f"{path}.selector")
    modes = spec.get("accessModes") or []
    if not modes:
        yield say.required(f"{path}.accessModes", "at least 1 access mode is required")
    yield from access_modes(modes, f"{path}.accessModes")
    storage = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if storage is None:
        yield say.required(f"{path}.resources[storage]")
    elif resources.nanos(storage) <= 0:
        yield say.invalid(f"{path}.resources[storage]", storage, "must be greater than zero")
    if spec.get("storageClassName"):
        yield from subdomain(spec["storageClassName"], f"{path}.storageClassName")
    yield from one_of(spec.get("volumeMode"), ("Block", "Filesystem"), f"{path}.volumeMode")
    yield from _data_sources(spec, path)
    if spec.get("volumeAttributesClassName"):
        yield from subdomain(spec["volumeAttributesClassName"], f"{path}.volumeAttributesClassName")


def _data_sources(spec: Obj, path: str) -> Problems:
    """Where a claim's first content comes from; the two fields that may say it say the same."""
    for name in ("dataSource", "dataSourceRef"):
        if spec.get(name) is not None:
            yield from given(spec[name], f"{path}.{name}", "kind", "name")
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    if source is None or reference is None:
        return
    if any(source.get(name) != reference.get(name) for name in _SAME_SOURCE):
        yield say.invalid(path, {}, "must match dataSourceRef")


def access_modes(modes: list[str], path: str) -> Problems:
    """Each known, and one that wants to be alone is."""
    yield from (say.unsupported(path, mode, ACCESS) for mode in modes if mode not in ACCESS)
    if {"ReadWriteOncePod"} < set(modes) & set(ACCESS):
        yield say.forbidden(path, "may not use ReadWriteOncePod with other access modes")
