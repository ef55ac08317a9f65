"""ResourceClaims made from templates: each pod that names a template gets a claim of its own, and gives it back when it
is done.

The claim is owned by the pod, and goes when that is done. Any claim is given back by the last pod that held it: its
reservation is taken away, and if a scheduler allocated it, which the finalizer `PROTECTION` tells, its allocation and
that finalizer too."""

from __future__ import annotations

from gangline.api.builtin import Untyped
from gangline.api.core import Pod
from gangline.api.kinds import POD, RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE
from gangline.api.meta import Raw
from gangline.client.wire import STRATEGIC_PATCH
from gangline.cluster.world.pods.pod_step import FINAL
from gangline.cluster.world.scheduling.claim_rules import (
    BY_TEMPLATE,
    PROTECTION,
    by_template,
    claim_name,
    done,
    made_from,
    missing,
    reservations,
    still_reserved,
    unneeded,
    unreserved,
)
from gangline.errors import NotFound
from gangline.rules.objects.finalizers import without_finalizer
from gangline.runtime import Again, Context, Controller, Key, Reader, Watch, itself, key_of

# --- doing ------------------------------------------------------------------------------------------------------------


async def reconcile_pod(ctx: Context, key: Key) -> Again | None:
    pod = ctx.read.get(POD, key.name, key.namespace)
    if pod is None or pod.metadata.deleting or pod.status.phase in FINAL:
        return None
    made: list[Raw] = []
    for claim, template_name in missing(pod):
        template = ctx.read.get(RESOURCE_CLAIM_TEMPLATE, template_name, key.namespace)
        if template is None:
            ctx.events.tell(
                POD,
                pod,
                "FailedResourceClaimCreation",
                f'PodResourceClaim {claim}: resourceclaimtemplate "{template_name}" not found',
                warning=True,
            )
            continue
        await ctx.writer.create_unless_there(RESOURCE_CLAIM, made_from(template, pod, claim))
        made.append({"name": claim, "resourceClaimName": claim_name(pod, claim)})
    if made:
        await ctx.client.patch(
            POD,
            key.name,
            key.namespace,
            {"status": {"resourceClaimStatuses": made}},
            subresource="status",
            content_type=STRATEGIC_PATCH,
        )
    return None


async def reconcile_claim(ctx: Context, key: Key) -> Again | None:
    claim = ctx.read.get(RESOURCE_CLAIM, key.name, key.namespace)
    if claim is None:
        return None
    rest = still_reserved(
        claim,
        [pod for reservation in reservations(claim) if (pod := await _holder(ctx, claim, reservation)) is not None],
    )
    if len(rest) < len(reservations(claim)):
        await _give_back(ctx, claim, unreserved(claim, rest))
    elif claim.metadata.deleting and PROTECTION in claim.metadata.finalizers and not rest:
        await _give_back(ctx, claim, {"allocation": None} if (claim.status or {}).get("allocation") else {})
    of = claim.metadata.controller
    if not rest and of is not None and unneeded(claim, ctx.read.get(POD, of.name, key.namespace)):
        await ctx.writer.delete_unless_gone(RESOURCE_CLAIM, claim)
    return None


async def _holder(ctx: Context, claim: Untyped, reservation: Raw) -> Pod | None:
    """The pod of a reservation; one that we have not seen may be new, so the server is asked before its devices are
    taken away."""
    name = str(reservation.get("name"))
    pod = ctx.read.get(POD, name, claim.namespace)
    if pod is None:
        try:
            pod = await ctx.client.get(POD, name, claim.namespace)
        except NotFound:
            return None
    return pod if pod.uid == reservation.get("uid") else None


async def _give_back(ctx: Context, claim: Untyped, status: Raw) -> None:
    """Writes the status, and lifts the protection where nothing is allocated any more; neither if somebody wrote
    meanwhile."""
    current, version = claim.status or {}, claim.metadata.resource_version
    if status:
        written = await ctx.client.patch(
            RESOURCE_CLAIM,
            claim.name,
            claim.namespace,
            {"metadata": {"resourceVersion": version}, "status": status},
            subresource="status",
        )
        current, version = written.status or {}, written.metadata.resource_version
    if PROTECTION in claim.metadata.finalizers and not current.get("allocation"):
        finalizers = without_finalizer(claim.metadata.finalizers, PROTECTION)
        await ctx.client.patch(
            RESOURCE_CLAIM,
            claim.name,
            claim.namespace,
            {"metadata": {"resourceVersion": version, "finalizers": finalizers or None}},
        )


def _pods_of(template: Untyped, read: Reader) -> list[Key]:
    return [key_of(pod) for pod in read.by(POD, BY_TEMPLATE, f"{template.namespace}/{template.name}")]


def _claims_of(pod: Pod, read: Reader) -> list[Key]:
    named = [
        resource_claim.resource_claim_name
        for resource_claim in pod.spec.resource_claims
        if resource_claim.resource_claim_name
    ]
    made = [
        str(resource_claim_status["resourceClaimName"])
        for resource_claim_status in pod.status.resource_claim_statuses
        if resource_claim_status.get("resourceClaimName")
    ]
    extended = (pod.status.extended_resource_claim_status or {}).get("resourceClaimName")
    return [Key(pod.namespace, name) for name in [*named, *made, *([str(extended)] if extended else [])]]


def claims() -> list[Controller]:
    return [
        Controller(
            "pod-claims",
            reconcile_pod,
            watches=(
                Watch(POD, itself, when=lambda before, after: after is not None and bool(missing(after))),
                Watch(RESOURCE_CLAIM_TEMPLATE, _pods_of),
            ),
            indexes=((POD, BY_TEMPLATE, by_template),),
            workers=4,
        ),
        Controller(
            "resource-claims",
            reconcile_claim,
            watches=(
                Watch(RESOURCE_CLAIM, itself),
                Watch(POD, _claims_of, when=lambda before, after: after is None or done(after)),
            ),
            workers=2,
        ),
    ]
