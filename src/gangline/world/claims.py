"""ResourceClaims made from templates: each pod that names a template gets a claim of its own, and gives it back when it is done.

The claim is owned by the pod, so it goes with it. Any claim is given back by the last pod that held it: its reservation and its
allocation are taken away, and its deletion is no longer held up.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy

from gangline.api.builtin import Untyped
from gangline.api.core import Pod
from gangline.api.kinds import POD, RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE, reference
from gangline.api.meta import Raw
from gangline.client.wire import STRATEGIC_PATCH
from gangline.runtime import Again, Context, Controller, Key, Reader, Watch, itself, key_of
from gangline.world.life import FINAL
from gangline.world.replicas import suffix
from gangline.world.writes import create_quietly

FOR_POD = "resource.kubernetes.io/pod-claim-name"
PROTECTION = "resource.kubernetes.io/delete-protection"
BY_TEMPLATE = "claim template"


def by_template(pod: Pod) -> list[str]:
    return [f"{pod.namespace}/{each.resource_claim_template_name}" for each in pod.spec.resource_claims
            if each.resource_claim_template_name]


def claim_name(pod: Pod, claim: str) -> str:
    return f"{pod.name}-{claim}"[:57] + f"-{suffix(pod.uid, claim)}"


def missing(pod: Pod) -> list[tuple[str, str]]:
    """Claims of a pod (name in the pod, template) that its status does not know yet."""
    known = {str(each.get("name")) for each in pod.status.resource_claim_statuses}
    return [(each.name, each.resource_claim_template_name) for each in pod.spec.resource_claims
            if each.resource_claim_template_name and each.name not in known]


def made_from(template: Untyped, pod: Pod, claim: str) -> Raw:
    body: Raw = deepcopy(template.spec or {})
    meta = dict(body.get("metadata") or {})
    meta |= {"name": claim_name(pod, claim), "namespace": pod.namespace, "ownerReferences": [reference(POD, pod)],
             "annotations": (meta.get("annotations") or {}) | {FOR_POD: claim}}
    return {"metadata": meta, "spec": body.get("spec") or {}}


def still_reserved(claim: Untyped, pods: Iterable[Pod]) -> list[Raw]:
    """The reservations of a claim whose pods are still alive."""
    alive = {pod.uid for pod in pods if pod.status.phase not in FINAL}
    reserved: list[Raw] = (claim.status or {}).get("reservedFor") or []
    return [each for each in reserved if each.get("resource") != "pods" or each.get("uid") in alive]


# --- doing -------------------------------------------------------------------------------------------------------------


async def reconcile_pod(ctx: Context, key: Key) -> Again | None:
    pod = ctx.read.get(POD, key.name, key.namespace)
    if pod is None or pod.metadata.deleting or pod.status.phase in FINAL:
        return None
    made: list[Raw] = []
    for claim, template_name in missing(pod):
        template = ctx.read.get(RESOURCE_CLAIM_TEMPLATE, template_name, key.namespace)
        if template is None:
            ctx.events.tell(POD, pod, "FailedResourceClaimCreation",
                            f'PodResourceClaim {claim}: resourceclaimtemplate "{template_name}" not found', warning=True)
            continue
        await create_quietly(ctx, RESOURCE_CLAIM, made_from(template, pod, claim))
        made.append({"name": claim, "resourceClaimName": claim_name(pod, claim)})
    if made:
        await ctx.client.patch(POD, key.name, key.namespace, {"status": {"resourceClaimStatuses": made}}, subresource="status",
                               content_type=STRATEGIC_PATCH)
    return None


async def reconcile_claim(ctx: Context, key: Key) -> Again | None:
    claim = ctx.read.get(RESOURCE_CLAIM, key.name, key.namespace)
    if claim is None:
        return None
    holders = [pod for each in (claim.status or {}).get("reservedFor") or ()
               if (pod := ctx.read.get(POD, str(each.get("name")), key.namespace)) is not None and pod.uid == each.get("uid")]
    rest = still_reserved(claim, holders)
    status: Raw = claim.status or {}
    if len(rest) != len(status.get("reservedFor") or ()):
        freed = {} if rest else {"allocation": None}
        await ctx.client.patch(RESOURCE_CLAIM, key.name, key.namespace, {
            "metadata": {"resourceVersion": claim.metadata.resource_version}, "status": {"reservedFor": rest or None} | freed},
            subresource="status")
    elif claim.metadata.deleting and PROTECTION in claim.metadata.finalizers and not status.get("reservedFor"):
        if status.get("allocation"):
            await ctx.client.patch(RESOURCE_CLAIM, key.name, key.namespace, {"status": {"allocation": None}}, subresource="status")
        finalizers = [each for each in claim.metadata.finalizers if each != PROTECTION]
        await ctx.client.patch(RESOURCE_CLAIM, key.name, key.namespace, {"metadata": {"finalizers": finalizers or None}})
    return None


def _pods_of(template: Untyped, read: Reader) -> list[Key]:
    return [key_of(pod) for pod in read.by(POD, BY_TEMPLATE, f"{template.namespace}/{template.name}")]


def _claims_of(pod: Pod, read: Reader) -> list[Key]:
    named = [each.resource_claim_name for each in pod.spec.resource_claims if each.resource_claim_name]
    made = [str(each["resourceClaimName"]) for each in pod.status.resource_claim_statuses if each.get("resourceClaimName")]
    extended = (pod.status.extended_resource_claim_status or {}).get("resourceClaimName")
    return [Key(pod.namespace, name) for name in [*named, *made, *([str(extended)] if extended else [])]]


def claims() -> list[Controller]:
    return [
        Controller("pod-claims", reconcile_pod, watches=(
            Watch(POD, itself, when=lambda before, after: after is not None and bool(missing(after))),
            Watch(RESOURCE_CLAIM_TEMPLATE, _pods_of)), indexes=((POD, BY_TEMPLATE, by_template),), workers=4),
        Controller("resource-claims", reconcile_claim, watches=(
            Watch(RESOURCE_CLAIM, itself),
            Watch(POD, _claims_of, when=lambda before, after: after is None or after.status.phase in FINAL)), workers=2)]
