"""One thing that keeps a pod off a node, as a value."""

from __future__ import annotations

from dataclasses import dataclass

from gangline.api.meta import Raw

HOSTNAME = "kubernetes.io/hostname"


OPENABLE = ("cordon", "taint", "label", "not-ready", "pressure")
"""Facts that a change of the node itself clears."""


@dataclass(frozen=True, slots=True)
class NodeObstacle:
    """`code` for machines; `text` completes "node n …"; `patch` is the merge patch of the node that clears it, if
    there is one.

    `lasting`: no eviction changes it."""

    code: str
    text: str
    patch: Raw | None = None
    lasting: bool = True
    resource: str = ""
