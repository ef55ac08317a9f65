"""When a node counts as silent, which conditions and taints it then has, and when pods leave it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gangline.api.core import Node, Pod, Taint
from gangline.api.meta import Raw, condition
from gangline.cluster.world.nodes.nodes import HEALTHY
from gangline.cluster.world.scheduling.node_fit import tolerates
from gangline.runtime.clock import seconds_of

NOT_READY, UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"
OURS = (NOT_READY, UNREACHABLE)
TAINT_OF_READY = {"True": "", "Unknown": UNREACHABLE}
"""What a node's readiness taints it with; anything else: not ready."""


@dataclass(slots=True)
class LeaseSilence:
    """When each node's lease was last seen to move, by our own clock."""

    period: float
    seen: dict[str, tuple[str, float]] = field(default_factory=dict)
    last: float | None = None

    def silent(self, renewals: Mapping[str, str], grace: Mapping[str, float], now: float) -> list[str]:
        """Nodes whose lease has stood still too long. If we slept ourselves, nobody is judged by what we missed."""
        overslept = self.last is not None and now - self.last > 3 * self.period
        self.last = now
        if overslept:
            self.seen = {name: (renewed, now) for name, (renewed, _) in self.seen.items()}
        for name, renewed in renewals.items():
            if self.seen.get(name, ("", 0.0))[0] != renewed:
                self.seen[name] = (renewed, now)
        for name in [name for name in self.seen if name not in renewals]:
            del self.seen[name]
        return sorted(name for name, (_, since) in self.seen.items() if now - since >= grace[name])


def unknown_conditions(now: str) -> list[Raw]:
    """What a node that stopped talking says from then on."""
    kinds = ["Ready", *(kind for kind, _, _ in HEALTHY)]
    return [
        {
            "type": kind,
            "status": "Unknown",
            "reason": "NodeStatusUnknown",
            "lastTransitionTime": now,
            "message": "Kubelet stopped posting node status.",
        }
        for kind in kinds
    ]


def wanted_taints(node: Node, now: str) -> list[Raw] | None:
    """The node's taints with those for its readiness; None when they are right already."""
    ready = condition(node.status.conditions, "Ready")
    key = "" if ready is None else TAINT_OF_READY.get(ready.status, NOT_READY)
    wanted = [(key, effect) for effect in ("NoSchedule", "NoExecute")] if key else []
    have = [(taint.key, taint.effect) for taint in node.spec.taints if taint.key in OURS]
    if sorted(have) == sorted(wanted):
        return None
    kept = [_raw_taint(taint) for taint in node.spec.taints if taint.key not in OURS]
    return kept + [{"key": key, "effect": effect, "timeAdded": now} for key, effect in wanted]


def _raw_taint(taint: Taint) -> Raw:
    raw: Raw = {"key": taint.key, "effect": taint.effect}
    return (
        raw
        | ({"value": taint.value} if taint.value else {})
        | ({"timeAdded": taint.time_added} if taint.time_added else {})
    )


def leaves_at(pod: Pod, node: Node, now: float) -> float | None:
    """When a pod must leave its node because of a taint; None: it may stay."""
    moments = []
    for taint in node.spec.taints:
        if taint.effect != "NoExecute":
            continue
        matching = [toleration for toleration in pod.spec.tolerations if tolerates((toleration,), taint)]
        if not matching:
            return now
        stays = [item.toleration_seconds for item in matching if item.toleration_seconds is not None]
        if stays:
            moments.append((seconds_of(taint.time_added) if taint.time_added else now) + max(min(stays), 0))
    return min(moments, default=None)
