"""What reading an object depends on besides the object itself.

Handed to every reader of this folder by the service (from its settings, its clock and its caches) and by
`snapshots/whole.py` (from a saved cluster).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gangline.api import names
from gangline.errors import GanglineError, Problem
from gangline.rules.schedulers import SERVED


@dataclass(frozen=True, slots=True)
class ObjectReading:
    """`now` decides which terminating pods count as stuck; `namespaces` are labels by namespace, for namespace
    selectors. `counts_succeeded`: pods that have succeeded are part of their gang's minimum."""

    now: float = 0.0
    scheduler_names: tuple[str, ...] = SERVED
    node_pool_key: str = names.NODE_POOL
    node_pool: str = ""
    stuck_releasing: float = 120.0
    reservation_app: str = names.RESERVATION_NAMESPACE
    scaling_app: str = "scaling-pod"
    mig_label: str = "node-role.kubernetes.io/mig-enabled"
    namespaces: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    counts_succeeded: bool = False


DEFAULTS = ObjectReading()


class ObjectUnreadable(GanglineError):
    """One object makes no sense; `problem` says which part and why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


def refuse(path: str, message: str) -> ObjectUnreadable:
    return ObjectUnreadable(Problem(path, message))


def not_negative(path: str, amounts: Mapping[str, float]) -> None:
    """A negative amount would hand out what does not exist."""
    for name, value in amounts.items():
        if value < 0:
            raise refuse(f"{path}[{name}]", "must not be negative")
