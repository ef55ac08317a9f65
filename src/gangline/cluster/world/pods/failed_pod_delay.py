"""How long a controller waits before it removes, and so replaces, a pod that failed on its node.

The first failure under a name is replaced at once, the next after a second, then after twice as long each time, as
upstream's DaemonSet controller does; a pod that fails again and again costs little. Kept in memory: after a restart the
first one is quick again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field

from gangline.api.core import Pod
from gangline.cluster.world.workloads.replicas import FIRST_WAIT, LONGEST_WAIT
from gangline.runtime import Key, key_of

REMEMBERED = 4096


@dataclass(frozen=True, slots=True)
class Failures:
    count: int
    last: str
    """The uid of the pod that failed last."""
    until: float


@dataclass(slots=True)
class FailedPodDelay:
    known: OrderedDict[Key, Failures] = field(default_factory=OrderedDict)

    def waits(self, pods: Iterable[Pod], now: float) -> dict[str, float]:
        """Failed pods that stay for now, by uid, and until when."""
        failed = {
            pod.uid: self._allowed_at(pod, now)
            for pod in pods
            if pod.status.phase == "Failed" and not pod.metadata.deleting
        }
        return {uid: until for uid, until in failed.items() if until > now}

    def _allowed_at(self, pod: Pod, now: float) -> float:
        before = self.known.pop(key_of(pod), None)
        if before is None or now - before.until > 2 * LONGEST_WAIT:
            before = Failures(0, "", 0.0)
        if before.last != pod.uid:
            wait = 0.0 if not before.count else min(FIRST_WAIT * 2.0 ** min(before.count - 1, 10), LONGEST_WAIT)
            before = Failures(before.count + 1, pod.uid, now + wait)
        self.known[key_of(pod)] = before
        if len(self.known) > REMEMBERED:
            self.known.popitem(last=False)
        return before.until
