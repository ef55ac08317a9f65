"""What a Deployment needs now: one ReplicaSet per template, and a step-by-step change from the old ones to the new.

Pure; deployments.py writes it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass

from gangline.api.builtin import Replicated
from gangline.api.kinds import DEPLOYMENT, reference
from gangline.api.meta import LabelSelector, Raw, as_raw
from gangline.cluster.world.conditions import merged
from gangline.cluster.world.workloads.replicas import share, suffix

HASH = "pod-template-hash"
REVISION = "deployment.kubernetes.io/revision"
DESIRED = "deployment.kubernetes.io/desired-replicas"


@dataclass(frozen=True, slots=True)
class DeploymentPlan:
    create: Raw | None = None
    scale: tuple[tuple[Replicated, int], ...] = ()
    """ReplicaSets and the number they should have now."""
    delete: tuple[Replicated, ...] = ()
    status: Raw | None = None


def template_hash(template: Raw) -> str:
    return suffix(json.dumps(template, sort_keys=True), length=10)


def plan(deployment: Replicated, sets: Sequence[Replicated], now: str) -> DeploymentPlan:
    wanted = 1 if deployment.spec.replicas is None else deployment.spec.replicas
    mark = template_hash(deployment.spec.template)
    new = next((item for item in sets if item.labels.get(HASH) == mark), None)
    old = sorted((item for item in sets if item is not new), key=lambda item: (_revision(item), item.name))
    status = _status(deployment, wanted, new, sets, now)
    if deployment.spec.paused:
        return DeploymentPlan(scale=_only_scale(wanted, new, old), status=status)
    if new is None:
        first = _replicas_to_begin_with(deployment, wanted, old)
        return DeploymentPlan(
            create=_replica_set(deployment, mark, first, max((_revision(item) for item in old), default=0) + 1),
            status=status,
        )
    steps = _recreate(wanted, new, old) if _recreates(deployment) else _roll(deployment, wanted, new, old)
    return DeploymentPlan(
        scale=tuple(step for step in steps if replicas_of(step[0]) != step[1]),
        delete=_outdated(deployment, wanted, new, old),
        status=status,
    )


def replicas_of(replicas: Replicated) -> int:
    return replicas.spec.replicas or 0


def _revision(replicas: Replicated) -> int:
    text = replicas.annotations.get(REVISION, "0")
    return int(text) if text.isdigit() else 0


def _recreates(deployment: Replicated) -> bool:
    return deployment.spec.strategy.get("type") == "Recreate"


def _only_scale(wanted: int, new: Replicated | None, old: Sequence[Replicated]) -> tuple[tuple[Replicated, int], ...]:
    """A paused Deployment changes no template, but follows its number as long as only one ReplicaSet has pods."""
    holders = [item for item in (*old, *([new] if new else [])) if replicas_of(item)]
    return ((holders[0], wanted),) if len(holders) == 1 and replicas_of(holders[0]) != wanted else ()


def _replicas_to_begin_with(deployment: Replicated, wanted: int, old: Sequence[Replicated]) -> int:
    """How many replicas a new ReplicaSet may begin with."""
    there = sum(replicas_of(item) for item in old)
    if _recreates(deployment):
        return 0 if there or any(item.status.replicas for item in old) else wanted
    return max(min(wanted, wanted + limits(deployment, wanted)[0] - there), 0)


def limits(deployment: Replicated, wanted: int) -> tuple[int, int]:
    """How many pods more and how many fewer than wanted there may be during a change."""
    rolling = deployment.spec.strategy.get("rollingUpdate") or {}
    surge = share(rolling.get("maxSurge", "25%"), wanted, up=True)
    missing = share(rolling.get("maxUnavailable", "25%"), wanted, up=False)
    return (surge, missing) if surge or missing else (0, 1)


def _recreate(wanted: int, new: Replicated, old: Sequence[Replicated]) -> list[tuple[Replicated, int]]:
    left = any(replicas_of(item) or item.status.replicas for item in old)
    return [*((item, 0) for item in old), *([] if left else [(new, wanted)])]


def _roll(
    deployment: Replicated, wanted: int, new: Replicated, old: Sequence[Replicated]
) -> list[tuple[Replicated, int]]:
    """Grow the new within the surge, shrink the old as far as enough stays available, the broken ones first."""
    surge, missing = limits(deployment, wanted)
    there = sum(replicas_of(item) for item in old)
    mine = replicas_of(new)
    if mine > wanted or not there:
        grown = wanted
    else:
        grown = max(mine, min(wanted, wanted + surge - there))
    spare = there + mine - (wanted - missing) - (mine - new.status.available_replicas)
    steps = [(new, grown)]
    broken_first = {item.name: replicas_of(item) - item.status.available_replicas for item in old}
    for item in old:
        drop = min(broken_first[item.name], replicas_of(item), max(spare, 0))
        spare -= drop
        rest = replicas_of(item) - drop
        further = min(rest, max(spare, 0))
        spare -= further
        steps.append((item, rest - further))
    return steps


def _outdated(
    deployment: Replicated, wanted: int, new: Replicated, old: Sequence[Replicated]
) -> tuple[Replicated, ...]:
    """Empty ReplicaSets beyond the history that is kept; none while a change is under way."""
    keep = 10 if deployment.spec.revision_history_limit is None else deployment.spec.revision_history_limit
    if new.status.available_replicas < wanted:
        return ()
    empty = [item for item in old if not replicas_of(item) and not item.status.replicas and not item.metadata.deleting]
    return tuple(empty[: max(len(empty) - keep, 0)])


def _replica_set(deployment: Replicated, mark: str, replicas: int, revision: int) -> Raw:
    template = deepcopy(deployment.spec.template)
    meta = template.setdefault("metadata", {})
    meta["labels"] = (meta.get("labels") or {}) | {HASH: mark}
    selector = as_raw(deployment.spec.selector or LabelSelector())
    selector["matchLabels"] = (selector.get("matchLabels") or {}) | {HASH: mark}
    return {
        "metadata": {
            "name": f"{deployment.name}-{mark}",
            "namespace": deployment.namespace,
            "labels": meta["labels"],
            "annotations": {REVISION: str(revision), DESIRED: str(deployment.spec.replicas or 0)},
            "ownerReferences": [reference(DEPLOYMENT, deployment)],
        },
        "spec": {
            "replicas": replicas,
            "minReadySeconds": deployment.spec.min_ready_seconds,
            "selector": selector,
            "template": template,
        },
    }


def _status(
    deployment: Replicated, wanted: int, new: Replicated | None, sets: Sequence[Replicated], now: str
) -> Raw | None:
    total, ready = sum(item.status.replicas for item in sets), sum(item.status.ready_replicas for item in sets)
    available, updated = sum(item.status.available_replicas for item in sets), new.status.replicas if new else 0
    enough = available >= wanted - limits(deployment, wanted)[1]
    complete = updated == total == available == wanted
    name = new.name if new else deployment.name
    conditions = merged(
        deployment.status.conditions,
        (
            ("Available", "True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
            if enough
            else ("Available", "False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability."),
            ("Progressing", "True", "NewReplicaSetAvailable", f'ReplicaSet "{name}" has successfully progressed.')
            if complete
            else ("Progressing", "True", "ReplicaSetUpdated", f'ReplicaSet "{name}" is progressing.'),
        ),
        now,
    )
    stored = deployment.status
    if (total, ready, available, updated, deployment.metadata.generation, conditions) == (
        stored.replicas,
        stored.ready_replicas,
        stored.available_replicas,
        stored.updated_replicas,
        stored.observed_generation,
        list(stored.conditions),
    ):
        return None
    return {
        "replicas": total or None,
        "readyReplicas": ready or None,
        "availableReplicas": available or None,
        "updatedReplicas": updated or None,
        "unavailableReplicas": max(wanted - available, 0) or None,
        "observedGeneration": deployment.metadata.generation,
        "conditions": conditions,
    }
