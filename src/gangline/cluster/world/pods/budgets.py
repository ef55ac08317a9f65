"""PodDisruptionBudgets: how many of a budget's pods may be disturbed now, so that evictions can be allowed or refused.

Percentages are of the number of pods that the selected pods' controllers ask for; without such a controller, of the
pods themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gangline.api.builtin import Untyped
from gangline.api.core import Pod
from gangline.api.kinds import PDB, POD, REPLICA_SET, STATEFUL_SET
from gangline.api.meta import Raw
from gangline.api.selectors import from_selector
from gangline.cluster.world.conditions import merged
from gangline.cluster.world.pods.pod_step import FINAL
from gangline.cluster.world.workloads.replicas import MOST_REPLICAS, is_ready, share
from gangline.runtime import Again, Context, Controller, Key, Reader, Watch, itself, key_of
from gangline.runtime.clock import timestamp

SCALED = {"ReplicaSet": REPLICA_SET, "StatefulSet": STATEFUL_SET}


def expected(pods: Sequence[Pod], read: Reader) -> int:
    """How many pods there should be, by the controllers of those that are there."""
    controllers = [(pod.metadata.controller, pod.namespace) for pod in pods]
    owners = {owner.uid: (owner, namespace) for owner, namespace in controllers if owner is not None}
    counts = Counter(owner.uid for owner, _ in controllers if owner is not None)
    total = len(pods) - counts.total()
    for owner, namespace in owners.values():
        kind = SCALED.get(owner.kind)
        owning = read.get(kind, owner.name, namespace) if kind is not None else None
        total += counts[owner.uid] if owning is None or owning.spec.replicas is None else owning.spec.replicas
    return min(total, MOST_REPLICAS)


def healthy_needed(spec: Raw, count: int) -> int:
    if "maxUnavailable" in spec:
        return max(count - share(spec["maxUnavailable"], count, up=True), 0)
    return share(spec.get("minAvailable", 1), count, up=True)


def status(budget: Untyped, pods: Sequence[Pod], count: int, now: str) -> Raw | None:
    """What the budget should say, or None when it says it already."""
    before: Raw = budget.status or {}
    needed = healthy_needed(budget.spec or {}, count)
    healthy = sum(is_ready(pod) and not pod.metadata.deleting for pod in pods)
    allowed = max(healthy - needed, 0) if count else 0
    verdict = ("True", "SufficientPods") if allowed else ("False", "InsufficientPods")
    wanted = {
        "expectedPods": count,
        "currentHealthy": healthy,
        "desiredHealthy": needed,
        "disruptionsAllowed": allowed,
        "observedGeneration": budget.metadata.generation,
        "conditions": merged(before.get("conditions") or (), [("DisruptionAllowed", *verdict, "")], now),
    }
    for condition in wanted["conditions"] if isinstance(wanted["conditions"], list) else ():
        condition.setdefault("observedGeneration", budget.metadata.generation)
    return None if wanted == {name: before.get(name) for name in wanted} else wanted


async def reconcile(ctx: Context, key: Key) -> Again | None:
    budget = ctx.read.get(PDB, key.name, key.namespace)
    if budget is None or budget.metadata.deleting:
        return None
    selector = from_selector((budget.spec or {}).get("selector"))
    pods = [pod for pod in ctx.read.list(POD, key.namespace, selector) if pod.status.phase not in FINAL]
    wanted = status(budget, pods, expected(pods, ctx.read), timestamp(ctx.clock.now()))
    if wanted is not None:
        await ctx.client.patch(PDB, key.name, key.namespace, {"status": wanted}, subresource="status")
    return None


def _budgets_of(pod: Pod, read: Reader) -> list[Key]:
    return [
        key_of(budget)
        for budget in read.list(PDB, pod.namespace)
        if from_selector((budget.spec or {}).get("selector")).matches(pod.labels)
    ]


def _health_moved(before: Pod | None, after: Pod | None) -> bool:
    return _health(before) != _health(after)


def _health(pod: Pod | None) -> object:
    return None if pod is None else (is_ready(pod), pod.metadata.deleting, pod.status.phase in FINAL, pod.labels)


def budgets() -> Controller:
    return Controller(
        "budgets",
        reconcile,
        watches=(Watch(PDB, itself), Watch(POD, _budgets_of, when=_health_moved)),
        reads=(REPLICA_SET, STATEFUL_SET),
        workers=2,
    )
