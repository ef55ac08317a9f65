"""What the kubelet of a simulated node knows about a pod, and what it does next: data between look and act. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from gangline.api.core import ContainerStatus
from gangline.api.meta import Raw

Statuses: TypeAlias = list[ContainerStatus]
FINAL = ("Succeeded", "Failed")


@dataclass(frozen=True, slots=True)
class PodRejection:
    """A pod that its node does not admit, as a kubelet says it."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class LackedObject:
    """A Secret, a ConfigMap or a key of one, as a kubelet says it: of a container that cannot be made, or of a volume
    that cannot be mounted."""

    message: str
    container: str = ""


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """What the node adds to a pod."""

    now: float
    host_ip: str = ""
    pod_ip: str = ""
    held: str = ""
    """Why the pod cannot start yet although it is bound; empty: nothing holds it."""
    rejection: PodRejection | None = None
    """Why the node turns a pod away that has not started."""
    waiting: bool = False
    """Its init container that waits for other pods must wait on."""
    lacks: LackedObject | None = None
    """What it names and its node does not find."""


@dataclass(frozen=True, slots=True)
class Step:
    """What to write now (nothing, a status, or the end of the pod), and when to look again by itself."""

    status: Raw | None = None
    remove: bool = False
    again: float | None = None
