"""The metadata that everything the operator makes has in common: labels, owner, name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gangline.api import names
from gangline.api.kinds import Kind, reference
from gangline.api.meta import Object, Raw


def default_labels(set_name: str) -> dict[str, str]:
    return {names.MANAGED_BY: names.GROVE_OPERATOR, names.PART_OF: set_name}


def labels(set_name: str, component: str, name: str = "", **more: str) -> dict[str, str]:
    common = default_labels(set_name) | {names.COMPONENT: component}
    return common | ({names.APP_NAME: name} if name else {}) | more


def metadata(
    name: str,
    kind: Kind[Any],
    owner: Object,
    labels: Mapping[str, str],
    *,
    annotations: Mapping[str, str] | None = None,
    finalizer: str = "",
) -> Raw:
    """Metadata of a child of `owner`, in its namespace, controlled by it."""
    meta: Raw = {
        "name": name,
        "namespace": owner.namespace,
        "labels": dict(labels),
        "ownerReferences": [reference(kind, owner)],
    }
    if annotations:
        meta["annotations"] = dict(annotations)
    if finalizer:
        meta["finalizers"] = [finalizer]
    return meta


def selector_text(labels: Mapping[str, str]) -> str:
    """Labels as the selector string of a scale subresource."""
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items()))
