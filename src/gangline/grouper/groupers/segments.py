"""Segments: a worker gang cut into equal pieces, each of which may ask to stand close together.

Shared by the groupers that know worker templates (PyTorch, LeaderWorkerSet): a pod's annotation counts before the
template's, the template's before the owner's.
"""

from __future__ import annotations

from typing import Any

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.meta import Raw
from gangline.grouper import fields, owners
from gangline.grouper.grouping import GroupTopology, Ungroupable

MOST = 10_000


def check_count(count: int) -> None:
    if count > MOST:
        raise Ungroupable(
            f"{count} segments are too many: at most {MOST} are allowed, choose a larger {names.SEGMENT_SIZE}"
        )


def annotation(template: Any, key: str) -> str:
    """An annotation of a pod template; empty when it is absent or unreadable."""
    try:
        return fields.text(template, "metadata", "annotations", key) or ""
    except Ungroupable:
        return ""


def placement(pod: Pod, template: Any, owner: Raw) -> GroupTopology | None:
    """Where one segment should stand; None when no topology or no level in it is named."""
    topology = _annotated(pod, template, names.TOPOLOGY) or owners.annotations_of(owner).get(names.TOPOLOGY, "")
    required = _annotated(pod, template, names.SEGMENT_REQUIRED)
    preferred = _annotated(pod, template, names.SEGMENT_PREFERRED)
    return GroupTopology(topology, required, preferred) if topology and (required or preferred) else None


def _annotated(pod: Pod, template: Any, key: str) -> str:
    return pod.annotations.get(key) or annotation(template, key)
