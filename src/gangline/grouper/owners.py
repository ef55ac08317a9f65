"""From a pod up to the object that a person made: the walk along the first owner references.

Stands between the controller and the groupers: which grouper is asked depends on the top owner's kind. Asks
`GrouperView` for owners and never guesses: an owner that may not be read ends the walk, any other failure is an error.
"""

from __future__ import annotations

from dataclasses import dataclass

from gangline.api.core import Pod
from gangline.api.kinds import POD
from gangline.api.meta import OwnerReference, Raw
from gangline.errors import ApiError, Forbidden, NotFound
from gangline.grouper.grouping import OwnerGone, OwnerUnknown, Ungroupable, UnservedKind
from gangline.grouper.look import GrouperView

LONGEST_CHAIN = 64


@dataclass(frozen=True, slots=True)
class Chain:
    """The pod's owners, nearest first; `top` is the last of them, or the pod itself where there are none that we may
    read."""

    top: Raw
    owners: tuple[Raw, ...] = ()


def walk(pod: Pod, look: GrouperView) -> Chain:
    reference = pod.metadata.owner_references[0] if pod.metadata.owner_references else None
    owners: list[Raw] = []
    while reference is not None:
        try:
            owner = look.get(reference.api_version, reference.kind, pod.namespace, reference.name)
        except Forbidden:
            break
        except NotFound as error:
            gone = OwnerUnknown if isinstance(error, UnservedKind) else OwnerGone
            raise gone(f"failed to find {_where(reference, pod)}: {error}") from error
        except ApiError as error:
            raise Ungroupable(f"failed to find {_where(reference, pod)}: {error}") from error
        if uid_of(owner) != reference.uid:
            raise OwnerGone(
                f"failed to find {_where(reference, pod)}: an object of that name exists, but it is another one "
                f"(uid {uid_of(owner)}); the pod goes with its owner"
            )
        owners.append(owner)
        reference = _next(owner, reference, pod, len(owners))
    return Chain(owners[-1] if owners else as_owner(pod), tuple(owners))


def _next(owner: Raw, reference: OwnerReference, pod: Pod, steps: int) -> OwnerReference | None:
    above = owner["metadata"].get("ownerReferences") or []
    if len(above) > 1:
        kinds = ", ".join(f"{item.get('kind')} {item.get('name')}" for item in above)
        raise Ungroupable(
            f"{_where(reference, pod)} has several owners ({kinds}); a gang has one: remove the other references, "
            f"or group its pods yourself"
        )
    if steps >= LONGEST_CHAIN:
        raise Ungroupable(
            f"the owners of pod {pod.namespace}/{pod.name} do not end after {steps} steps; do they own each other?"
        )
    if not above:
        return None
    ref = above[0]
    return OwnerReference(api_version=ref["apiVersion"], kind=ref["kind"], name=ref["name"], uid=ref["uid"])


def _where(reference: OwnerReference, pod: Pod) -> str:
    return f"{reference.kind} {pod.namespace}/{reference.name} (uid {reference.uid})"


def as_owner(pod: Pod) -> Raw:
    """A pod in the form in which owners are handed around."""
    meta = pod.metadata
    return {
        "apiVersion": POD.api_version,
        "kind": POD.kind,
        "metadata": {
            "name": meta.name,
            "namespace": meta.namespace,
            "uid": meta.uid,
            "labels": dict(meta.labels),
            "annotations": dict(meta.annotations),
        },
    }


def name_of(obj: Raw) -> str:
    return str(obj["metadata"].get("name") or "")


def uid_of(obj: Raw) -> str:
    return str(obj["metadata"].get("uid") or "")


def labels_of(obj: Raw) -> dict[str, str]:
    return obj["metadata"].get("labels") or {}


def annotations_of(obj: Raw) -> dict[str, str]:
    return obj["metadata"].get("annotations") or {}


def group_kind(obj: Raw) -> tuple[str, str]:
    return str(obj["apiVersion"]).rpartition("/")[0], str(obj["kind"])


def title(obj: Raw) -> str:
    """How an owner is called in messages."""
    meta = obj["metadata"]
    return f"{obj['kind']} {meta.get('namespace') or ''}/{meta.get('name')}"


def reference_to(obj: Raw) -> Raw:
    """An ownerReference without controller and blocking flags, as a group carries it."""
    return {"apiVersion": obj["apiVersion"], "kind": obj["kind"], "name": name_of(obj), "uid": uid_of(obj)}


def with_labels(obj: Raw, labels: dict[str, str]) -> Raw:
    return {**obj, "metadata": {**obj["metadata"], "labels": labels}}


def with_missing(obj: Raw, above: Raw) -> Raw:
    """An owner with the labels and annotations of the one above it, where it has none of its own."""
    meta = {"labels": labels_of(above) | labels_of(obj), "annotations": annotations_of(above) | annotations_of(obj)}
    return {**obj, "metadata": {**obj["metadata"], **meta}}
