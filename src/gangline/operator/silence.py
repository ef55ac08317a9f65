"""How long a scheduler has said nothing about a gang whose pods were let go.

Remembered per gang while this process runs; a sign from the scheduler, or pods that are held back again, ends it. Asked
by podgang.py, which has the clock. Nothing here reads or writes."""

from __future__ import annotations

from collections.abc import Iterable

from gangline.api.core import Pod
from gangline.api.meta import condition
from gangline.operator.backends.contract import GangState
from gangline.runtime import Key

PATIENCE = 120.0
"""Seconds after which a scheduler that says nothing is asked for."""


class SchedulerSilence:
    def __init__(self) -> None:
        self._since: dict[Key, tuple[str, float]] = {}

    def forget(self, key: Key) -> None:
        self._since.pop(key, None)

    def lasts(self, key: Key, uid: str, now: float) -> float:
        """Seconds since this gang was first found to wait without an answer."""
        known = self._since.get(key)
        if known is None or known[0] != uid:
            known = self._since[key] = (uid, now)
        return now - known[1]


def unanswered(pods: Iterable[Pod], says: GangState) -> bool:
    """Whether pods are there for the scheduler to take, and it has not given a sign on any of them, nor on its own
    object."""
    if says.reason and not says.blocked:
        return False
    living = [pod for pod in pods if not pod.metadata.deleting]
    return any(not pod.spec.scheduling_gates for pod in living) and not any(_seen(pod) for pod in living)


def _seen(pod: Pod) -> bool:
    """Bound, ended, or told why not; that a pod was gated is no word of its scheduler."""
    found = condition(pod.status.conditions, "PodScheduled")
    return (
        bool(pod.spec.node_name)
        or pod.status.phase == "Failed"
        or (found is not None and found.reason != "SchedulingGated")
    )
