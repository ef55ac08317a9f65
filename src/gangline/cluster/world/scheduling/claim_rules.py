"""ResourceClaims of pods: which are made from templates, who holds them, and when they are given back. Pure; claims.py
writes it."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy

from gangline.api.builtin import Untyped
from gangline.api.core import Pod
from gangline.api.kinds import POD, reference
from gangline.api.meta import Raw
from gangline.cluster.world.pods.pod_step import FINAL
from gangline.cluster.world.workloads.replicas import suffix

FOR_POD = "resource.kubernetes.io/pod-claim-name"
PROTECTION = "resource.kubernetes.io/delete-protection"
BY_TEMPLATE = "claim template"


def by_template(pod: Pod) -> list[str]:
    return [
        f"{pod.namespace}/{resource_claim.resource_claim_template_name}"
        for resource_claim in pod.spec.resource_claims
        if resource_claim.resource_claim_template_name
    ]


def claim_name(pod: Pod, claim: str) -> str:
    return f"{pod.name}-{claim}"[:57] + f"-{suffix(pod.uid, claim)}"


def missing(pod: Pod) -> list[tuple[str, str]]:
    """Claims of a pod (name in the pod, template) that its status does not know yet."""
    known = {str(resource_claim_status.get("name")) for resource_claim_status in pod.status.resource_claim_statuses}
    return [
        (resource_claim.name, resource_claim.resource_claim_template_name)
        for resource_claim in pod.spec.resource_claims
        if resource_claim.resource_claim_template_name and resource_claim.name not in known
    ]


def made_from(template: Untyped, pod: Pod, claim: str) -> Raw:
    body: Raw = deepcopy(template.spec or {})
    meta = dict(body.get("metadata") or {})
    meta |= {
        "name": claim_name(pod, claim),
        "namespace": pod.namespace,
        "ownerReferences": [reference(POD, pod)],
        "annotations": (meta.get("annotations") or {}) | {FOR_POD: claim},
    }
    return {"metadata": meta, "spec": body.get("spec") or {}}


def done(pod: Pod) -> bool:
    """It does not run any more, or never will."""
    return pod.status.phase in FINAL or (pod.metadata.deleting and not pod.spec.node_name)


def still_reserved(claim: Untyped, pods: Iterable[Pod]) -> list[Raw]:
    """The reservations of a claim whose pods still need it."""
    alive = {pod.uid for pod in pods if not done(pod)}
    return [
        reservation
        for reservation in reservations(claim)
        if reservation.get("resource") != "pods" or reservation.get("uid") in alive
    ]


def reservations(claim: Untyped) -> list[Raw]:
    return (claim.status or {}).get("reservedFor") or []


def unreserved(claim: Untyped, rest: list[Raw]) -> Raw:
    """The status of a claim that only these still hold: with the last of them goes what a scheduler allocated, and
    nothing else."""
    freed = {"allocation": None} if not rest and PROTECTION in claim.metadata.finalizers else {}
    return {"reservedFor": rest or None} | freed


def unneeded(claim: Untyped, owner: Pod | None) -> bool:
    """Made for a pod that is done or was replaced; where the pod is gone, the garbage collector sees to it."""
    of = claim.metadata.controller
    return (
        not claim.metadata.deleting
        and owner is not None
        and of is not None
        and of.kind == POD.kind
        and not of.group
        and (owner.uid != of.uid or done(owner))
    )
