"""Does this volume fit this claim? Kubernetes' rule, once: for the controller that binds, for the binder and for the
scheduler.

A volume that is reserved for the claim comes first; it need only be large enough and of the same mode. Otherwise the
smallest available volume is taken that has the claim's class, labels and access modes and that the node can reach.
Volumes are plain data. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gangline.api import resources
from gangline.api.core import PersistentVolumeClaim
from gangline.api.meta import Raw
from gangline.api.selectors import from_selector

CLASS_NOTE = "volume.beta.kubernetes.io/storage-class"
"""Where the class stood before it had a field; it still counts first."""
DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
"""What marks the StorageClass of claims that name none."""
FILESYSTEM = "Filesystem"
AVAILABLE = "Available"


def class_of(claim: PersistentVolumeClaim) -> str:
    return claim.annotations.get(CLASS_NOTE) or claim.spec.storage_class_name or ""


def given_class(obj: Raw) -> str:
    """The class that a volume or a claim names, as plain data."""
    return (_meta(obj).get("annotations") or {}).get(CLASS_NOTE) or _spec(obj).get("storageClassName") or ""


def size_asked(claim: PersistentVolumeClaim) -> Any:
    return claim.spec.resources.requests.get("storage", "0")


def size_of(volume: Raw) -> int:
    return resources.nanos((_spec(volume).get("capacity") or {}).get("storage", "0"))


def is_held(volume: Raw) -> bool:
    """Reserved for some claim, or bound to it."""
    return bool(_spec(volume).get("claimRef"))


def belongs_to(volume: Raw, claim: PersistentVolumeClaim) -> bool:
    """Reserved for this claim: by name, or by name and uid."""
    held = _spec(volume).get("claimRef") or {}
    return (held.get("namespace") or "", held.get("name")) == (claim.namespace, claim.name) and (
        held.get("uid") or claim.uid
    ) == claim.uid


def fits(volume: Raw, claim: PersistentVolumeClaim) -> bool:
    """The claim could have this volume, wherever it is used."""
    if is_held(volume) and not belongs_to(volume, claim):
        return False
    if _is_leaving(volume) or not _holds(volume, claim):
        return False
    return is_held(volume) or (_is_free(volume) and _is_alike(volume, claim) and _is_chosen(volume, claim))


def suits_by_name(volume: Raw, claim: PersistentVolumeClaim) -> bool:
    """The claim, which names this volume, may have it."""
    if is_held(volume):
        return belongs_to(volume, claim)
    return _holds(volume, claim) and _is_alike(volume, claim)


def best_fit(
    claim: PersistentVolumeClaim, volumes: Iterable[Raw], node: Mapping[str, str] | None = None, name: str = ""
) -> Raw | None:
    """The volume a claim should have: the one it names, its own, or the smallest; with the labels and the name of a
    node, of those in reach."""
    if claim.spec.volume_name:
        named = (
            volume
            for volume in volumes
            if _meta(volume).get("name") == claim.spec.volume_name and suits_by_name(volume, claim)
        )
        return next((item for item in named if node is None or reaches(item, node, name)), None)
    fitting = [volume for volume in volumes if fits(volume, claim)]
    mine = next((item for item in fitting if is_held(item)), None)
    if mine is not None:
        return mine if node is None or reaches(mine, node, name) else None
    near = (item for item in fitting if node is None or reaches(item, node, name))
    return min(near, key=lambda item: (size_of(item), str(_meta(item).get("name"))), default=None)


def reaches(volume: Raw, labels: Mapping[str, str], name: str = "") -> bool:
    """The volume can be used on a node with these labels and this name; a term without requirements means no node."""
    required = (_spec(volume).get("nodeAffinity") or {}).get("required")
    return required is None or any(_term(term, labels, name) for term in required.get("nodeSelectorTerms") or ())


def _term(term: Raw, labels: Mapping[str, str], name: str) -> bool:
    expressions, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    return (
        bool(expressions or fields)
        and from_selector({"matchExpressions": expressions}).matches(labels)
        and from_selector({"matchExpressions": fields}).matches({"metadata.name": name})
    )


def _holds(volume: Raw, claim: PersistentVolumeClaim) -> bool:
    """Large enough, of the same mode and of the same class of attributes."""
    spec = _spec(volume)
    return (
        size_of(volume) >= resources.nanos(size_asked(claim))
        and (spec.get("volumeMode") or FILESYSTEM) == (claim.spec.volume_mode or FILESYSTEM)
        and (spec.get("volumeAttributesClassName") or "") == (claim.spec.volume_attributes_class_name or "")
    )


def _is_free(volume: Raw) -> bool:
    return (volume.get("status") or {}).get("phase") == AVAILABLE


def _is_alike(volume: Raw, claim: PersistentVolumeClaim) -> bool:
    return given_class(volume) == class_of(claim) and set(claim.spec.access_modes) <= set(
        _spec(volume).get("accessModes") or ()
    )


def _is_chosen(volume: Raw, claim: PersistentVolumeClaim) -> bool:
    return claim.spec.selector is None or from_selector(claim.spec.selector).matches(_meta(volume).get("labels") or {})


def _is_leaving(volume: Raw) -> bool:
    return bool(_meta(volume).get("deletionTimestamp"))


def _spec(volume: Raw) -> Raw:
    return volume.get("spec") or {}


def _meta(volume: Raw) -> Raw:
    return volume.get("metadata") or {}
