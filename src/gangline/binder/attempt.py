"""One try to bind one pod: what is known, and what the steps before the bind found out.

Made by controller.py, handed from plugin to plugin. `NotYet` and `CannotBind` are how a plugin says wait or no.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gangline.api.core import Node, Pod
from gangline.api.kai import BindOrder
from gangline.errors import GanglineError
from gangline.rules.requests import FRACTION
from gangline.runtime import Context


class CannotBind(GanglineError):
    """This bind failed; everything done for it is undone. `final`: trying again on this node is pointless."""

    def __init__(self, reason: str, final: bool = False) -> None:
        super().__init__(reason)
        self.final = final


class NotYet(GanglineError):
    """Something was started and is not ready; nothing is undone. A watch or the time says when to look again."""

    def __init__(self, reason: str, seconds: float) -> None:
        super().__init__(reason)
        self.seconds = seconds


@dataclass(slots=True)
class BindAttempt:
    ctx: Context
    order: BindOrder
    pod: Pod
    node: Node
    waiting_since: float
    devices: list[str] = field(default_factory=list)
    """UUIDs of the shared GPUs the pod was given."""
    annotations: dict[str, str] = field(default_factory=dict)
    """Written onto the pod by the bind itself."""

    @property
    def shares_gpu(self) -> bool:
        return self.order.received_resource_type == FRACTION

    @property
    def portion(self) -> str:
        received = self.order.received_gpu
        return received.portion if received is not None else ""

    def waited(self) -> float:
        return self.ctx.clock.now() - self.waiting_since

    def __str__(self) -> str:
        return f"pod {self.pod.namespace}/{self.pod.name} to node {self.node.name}"
