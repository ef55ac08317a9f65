"""What a StatefulSet needs now: pods with numbers, in order, each with claims of its own.

Pure; statefulsets.py writes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import islice

from gangline.api.builtin import Replicated
from gangline.api.core import Pod
from gangline.api.kinds import STATEFUL_SET, reference
from gangline.api.meta import Raw
from gangline.cluster.world.workloads.deployment_plan import template_hash
from gangline.cluster.world.workloads.replicas import (
    BURST,
    CROWD_SECONDS,
    NONE_WAIT,
    active,
    allowed,
    available_at,
    is_ready,
    pod_from,
)

REVISION = "controller-revision-hash"
LONGEST_ORDINAL = 19
POD_NAME, POD_INDEX = "statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index"


@dataclass(frozen=True, slots=True)
class StatefulSetPlan:
    claims: tuple[Raw, ...] = ()
    create: tuple[Raw, ...] = ()
    delete: tuple[Pod, ...] = ()
    status: Raw | None = None
    again: float | None = None
    held_back: str = ""


def plan(
    stateful: Replicated, pods: Sequence[Pod], now: float, waits: Mapping[str, float] = NONE_WAIT, crowd: int = 0
) -> StatefulSetPlan:
    """`waits`: failed pods that stay for now, and until when (failed_pod_delay.py). `crowd`: how many pods of the whole
    cluster wait for a node."""
    wanted = 1 if stateful.spec.replicas is None else stateful.spec.replicas
    first = int(stateful.spec.ordinals.get("start") or 0)
    numbers = range(first, first + wanted)
    revision = f"{stateful.name}-{template_hash(stateful.spec.template)}"
    by_number = {number: pod for pod in pods if (number := ordinal(pod.name)) is not None}
    status = _status(stateful, pods, revision, now)
    moments = [
        moment
        for pod in pods
        if (moment := available_at(pod, stateful.spec.min_ready_seconds)) is not None and moment > now
    ]
    room, held_back = allowed(
        wanted - sum(number in numbers for number in by_number), (pod for pod in pods if active(pod)), crowd
    )
    create, delete = _next(stateful, numbers, by_number, revision, now, room, waits)
    claims = tuple(claim for number in create for claim in _claims(stateful, number))
    return StatefulSetPlan(
        claims,
        tuple(_pod(stateful, number, revision) for number in create),
        tuple(delete[:BURST]),
        status,
        min((*moments, *waits.values(), *([now + CROWD_SECONDS] if held_back else ())), default=None),
        held_back,
    )


def ordinal(name: str) -> int | None:
    number = name.rpartition("-")[2]
    return int(number) if number.isascii() and number.isdigit() and len(number) <= LONGEST_ORDINAL else None


def _next(
    stateful: Replicated,
    numbers: range,
    pods: dict[int, Pod],
    revision: str,
    now: float,
    room: int,
    waits: Mapping[str, float],
) -> tuple[list[int], list[Pod]]:
    """Numbers to make, no more than there is room for, and pods to remove now."""
    ended = [pod for pod in pods.values() if _has_ended(pod) and pod.uid not in waits]
    if ended:
        return [], ended
    missing = list(islice((number for number in numbers if number not in pods), max(room, 0)))
    surplus = sorted((number for number in pods if number not in numbers and active(pods[number])), reverse=True)
    unsteady = _unsteady(stateful, numbers, pods, now)
    if stateful.spec.pod_management_policy == "Parallel":
        step = (missing, [pods[number] for number in surplus]) if missing or surplus else None
    else:
        stuck = _stuck(stateful, pods, unsteady, revision)
        step = _next_in_order(pods, missing, surplus, [] if stuck and not missing else unsteady)
    return step or ([], _outdated(stateful, numbers, pods, revision, unsteady))


def _next_in_order(
    pods: dict[int, Pod], missing: Sequence[int], surplus: Sequence[int], unsteady: Sequence[int]
) -> tuple[list[int], list[Pod]] | None:
    """One at a time: the lowest is made when those below it are steady, the highest goes when all are. None: their
    number is right."""
    if missing:
        return ([] if any(number < missing[0] for number in unsteady) else [missing[0]]), []
    if unsteady:
        return [], []
    if surplus:
        leaving = any(pod.metadata.deleting for pod in pods.values())
        return [], [] if leaving else [pods[surplus[0]]]
    return None


def _unsteady(stateful: Replicated, numbers: range, pods: dict[int, Pod], now: float) -> list[int]:
    return [number for number in sorted(pods) if number in numbers and not _steady(stateful, pods[number], now)]


def _has_ended(pod: Pod) -> bool:
    return pod.status.phase in ("Succeeded", "Failed") and not pod.metadata.deleting


def _steady(stateful: Replicated, pod: Pod, now: float) -> bool:
    moment = available_at(pod, stateful.spec.min_ready_seconds)
    return moment is not None and moment <= now and not pod.metadata.deleting


def _stuck(stateful: Replicated, pods: dict[int, Pod], unsteady: Sequence[int], revision: str) -> bool:
    """All that is not ready belongs to an old template: changing it is the way out."""
    return all(
        pods[number].labels.get(REVISION) != revision and not pods[number].metadata.deleting for number in unsteady
    )


def _outdated(
    stateful: Replicated, numbers: range, pods: dict[int, Pod], revision: str, unsteady: Sequence[int]
) -> list[Pod]:
    """The highest pod that still has an old template, when the ones above it are ready."""
    strategy = stateful.spec.update_strategy
    if strategy.get("type") == "OnDelete":
        return []
    partition = int((strategy.get("rollingUpdate") or {}).get("partition") or 0)
    for number in reversed(range(max(numbers.start, partition), numbers.stop)):
        pod = pods.get(number)
        if pod is None or pod.metadata.deleting:
            return []
        if pod.labels.get(REVISION) != revision:
            return [pod]
        if number in unsteady:
            return []
    return []


def _pod(stateful: Replicated, number: int, revision: str) -> Raw:
    name = f"{stateful.name}-{number}"
    pod = pod_from(
        stateful.spec.template,
        STATEFUL_SET,
        stateful,
        name,
        {POD_NAME: name, POD_INDEX: str(number), REVISION: revision},
    )
    pod["spec"] |= {"hostname": name, "subdomain": stateful.spec.service_name}
    own = {
        template["metadata"]["name"]: f"{template['metadata']['name']}-{name}"
        for template in stateful.spec.volume_claim_templates
    }
    others = [volume for volume in pod["spec"].get("volumes") or () if volume["name"] not in own]
    if own:
        pod["spec"]["volumes"] = others + [
            {"name": volume, "persistentVolumeClaim": {"claimName": claim}} for volume, claim in own.items()
        ]
    return pod


def _claims(stateful: Replicated, number: int) -> list[Raw]:
    """The volumes of one pod; they outlive it, unless the retention policy gives them to the set."""
    dies = stateful.spec.persistent_volume_claim_retention_policy.get("whenDeleted") == "Delete"
    claims = []
    for template in stateful.spec.volume_claim_templates:
        claim = deepcopy(template)
        meta = claim["metadata"]
        labels = stateful.spec.selector.match_labels if stateful.spec.selector else {}
        meta |= {
            "name": f"{meta['name']}-{stateful.name}-{number}",
            "namespace": stateful.namespace,
            "labels": (meta.get("labels") or {}) | labels,
        }
        if dies:
            meta["ownerReferences"] = [reference(STATEFUL_SET, stateful)]
        claims.append({"metadata": meta, "spec": claim["spec"]})
    return claims


def _status(stateful: Replicated, pods: Sequence[Pod], revision: str, now: float) -> Raw | None:
    live = [pod for pod in pods if active(pod)]
    updated = sum(pod.labels.get(REVISION) == revision for pod in live)
    stored = stateful.status
    current = revision if updated == len(live) or not stored.current_revision else stored.current_revision
    wanted: Raw = {
        "replicas": len(live),
        "readyReplicas": sum(is_ready(pod) for pod in live) or None,
        "availableReplicas": sum(_steady(stateful, pod, now) for pod in live),
        "updatedReplicas": updated or None,
        "currentReplicas": sum(pod.labels.get(REVISION) == current for pod in live) or None,
        "currentRevision": current,
        "updateRevision": revision,
        "observedGeneration": stateful.metadata.generation,
    }
    before = {
        "replicas": stored.replicas,
        "readyReplicas": stored.ready_replicas or None,
        "availableReplicas": stored.available_replicas,
        "updatedReplicas": stored.updated_replicas or None,
        "currentReplicas": stored.current_replicas or None,
        "currentRevision": stored.current_revision,
        "updateRevision": stored.update_revision,
        "observedGeneration": stored.observed_generation,
    }
    return None if wanted == before else wanted
