"""PersistentVolumeClaims find their volume: one that is there, or one made for them, at once or when their first
consumer has a node.

volume_choice.py says what a claim and a volume should do next. Claims and volumes in use are kept by their protection
finalizers, which go here when nobody uses them any more; volumes of claims that are gone are released or deleted, as
their policy says. Volumes on a node of ours are made by `provisioner`, which belongs to the simulated nodes: on a real
cluster it stands in for a storage driver."""

from __future__ import annotations

from gangline.api.builtin import Untyped
from gangline.api.core import PersistentVolumeClaim, Pod
from gangline.api.kinds import NODE, POD, PV, PVC, STORAGE_CLASS, reference
from gangline.api.meta import Object, Raw, as_raw
from gangline.cluster.world.nodes.nodes import simulated
from gangline.cluster.world.pods.pod_indexes import CLAIMS, by_claim
from gangline.cluster.world.pods.pod_step import FINAL
from gangline.cluster.world.upkeep.volume_choice import (
    CLAIM_PROTECTION,
    SELECTED_NODE,
    VOLUME_PROTECTION,
    MakeVolume,
    TakeVolume,
    WaitForVolume,
    choose,
    claim_named_by,
    claim_reference,
    in_use,
    volume_step,
)
from gangline.rules.volumes import class_of
from gangline.runtime import Again, Context, Controller, Key, Reader, Watch, itself, key_of

# --- thinking ---------------------------------------------------------------------------------------------------------


# --- claims -----------------------------------------------------------------------------------------------------------


async def reconcile_claim(ctx: Context, key: Key) -> Again | None:
    claim = ctx.read.get(PVC, key.name, key.namespace)
    if claim is None:
        return None
    if claim.metadata.deleting:
        if CLAIM_PROTECTION in claim.metadata.finalizers and not in_use(claim, ctx.read.by(POD, CLAIMS, str(key))):
            await ctx.writer.remove_finalizer(PVC, claim, CLAIM_PROTECTION)
        return None
    if claim.status.phase == "Bound":
        return None
    classes = {
        storage_class.name: await _class(ctx, storage_class)
        for storage_class in ctx.read.list(STORAGE_CLASS)
        if storage_class.name == class_of(claim)
    }
    node = ctx.read.get(NODE, claim.annotations.get(SELECTED_NODE, ""))
    match choose(claim, [as_raw(pv) for pv in ctx.read.list(PV)], classes, node):
        case TakeVolume(volume):
            await _bind(ctx, claim, volume)
        case MakeVolume(volume) if SELECTED_NODE not in claim.annotations:
            await _provide(ctx, claim, volume)
        case MakeVolume():
            ctx.events.tell(PVC, claim, "ExternalProvisioning", "Waiting for a volume to be created on the chosen node")
        case WaitForVolume(reason, message):
            ctx.events.tell(PVC, claim, reason, message)
            if not claim.status.phase:
                await ctx.client.patch(
                    PVC, key.name, key.namespace, {"status": {"phase": "Pending"}}, subresource="status"
                )
    return None


async def _provide(ctx: Context, claim: PersistentVolumeClaim, volume: Raw) -> None:
    await ctx.writer.create_unless_there(PV, volume)
    ctx.events.tell(
        PVC, claim, "ProvisioningSucceeded", f"Successfully provisioned volume {volume['metadata']['name']}"
    )


async def provision(ctx: Context, key: Key) -> Again | None:
    """A volume for a claim whose first consumer goes to a node of ours."""
    claim = ctx.read.get(PVC, key.name, key.namespace)
    if claim is None or claim.metadata.deleting or claim.status.phase == "Bound":
        return None
    node = ctx.read.get(NODE, claim.annotations.get(SELECTED_NODE, ""))
    klass = ctx.read.get(STORAGE_CLASS, class_of(claim))
    if node is None or klass is None or not simulated(node):
        return None
    made = choose(claim, (), {klass.name: await _class(ctx, klass)}, node)
    if isinstance(made, MakeVolume):
        await _provide(ctx, claim, made.volume)
    return None


async def _class(ctx: Context, klass: Object) -> Raw:
    """A StorageClass whole: what matters of it stands beside metadata, not in a spec."""
    return await ctx.client.get_raw(STORAGE_CLASS, klass.name)


async def _bind(ctx: Context, claim: PersistentVolumeClaim, volume: Raw) -> None:
    spec, name = volume["spec"], volume["metadata"]["name"]
    if (spec.get("claimRef") or {}).get("uid") != claim.uid:
        await ctx.client.patch(PV, name, "", {"spec": {"claimRef": claim_reference(claim)}})
    await ctx.client.patch(PV, name, "", {"status": {"phase": "Bound"}}, subresource="status")
    if claim.spec.volume_name != name:
        await ctx.client.patch(
            PVC,
            claim.name,
            claim.namespace,
            {"metadata": {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}}, "spec": {"volumeName": name}},
        )
    await ctx.client.patch(
        PVC,
        claim.name,
        claim.namespace,
        {"status": {"phase": "Bound", "accessModes": spec.get("accessModes"), "capacity": spec.get("capacity")}},
        subresource="status",
    )


# --- volumes ----------------------------------------------------------------------------------------------------------


async def reconcile_volume(ctx: Context, key: Key) -> Again | None:
    volume = ctx.read.get(PV, key.name)
    if volume is None:
        return None
    held = claim_named_by(volume)
    claim = ctx.read.get(PVC, str(held.get("name")), str(held.get("namespace"))) if held else None
    step = volume_step(volume, claim)
    if step.unprotect:
        await ctx.writer.remove_finalizer(PV, volume, VOLUME_PROTECTION)
    elif step.delete:
        await ctx.writer.delete_unless_gone(PV, volume)
    elif step.phase:
        await ctx.client.patch(PV, key.name, "", {"status": {"phase": step.phase}}, subresource="status")
    return None


# --- volumes that live as long as their pod ---------------------------------------------------------------------------


async def reconcile_pod(ctx: Context, key: Key) -> Again | None:
    """Generic ephemeral volumes get a claim of their own."""
    pod = ctx.read.get(POD, key.name, key.namespace)
    if pod is None or pod.metadata.deleting:
        return None
    for volume in pod.spec.volumes:
        template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate")
        if template and ctx.read.get(PVC, f"{pod.name}-{volume['name']}", pod.namespace) is None:
            meta = dict(template.get("metadata") or {}) | {
                "name": f"{pod.name}-{volume['name']}",
                "namespace": pod.namespace,
                "ownerReferences": [reference(POD, pod)],
            }
            await ctx.writer.create_unless_there(PVC, {"metadata": meta, "spec": template["spec"]})
    return None


def _claims_of(pod: Pod, read: Reader) -> list[Key]:
    return [Key(pod.namespace, value.partition("/")[2]) for value in by_claim(pod)]


def _claim_of(volume: Untyped, read: Reader) -> list[Key]:
    held = (volume.spec or {}).get("claimRef") or {}
    if held:
        return [Key(str(held.get("namespace")), str(held.get("name")))]
    return [key_of(claim) for claim in read.list(PVC) if claim.status.phase != "Bound"]


def _volume_of(claim: PersistentVolumeClaim, read: Reader) -> list[Key]:
    return [Key("", claim.spec.volume_name)] if claim.spec.volume_name else []


def _unbound(klass: Object, read: Reader) -> list[Key]:
    return [key_of(claim) for claim in read.list(PVC) if claim.status.phase != "Bound"]


def provisioner() -> Controller:
    return Controller(
        "provisioner",
        provision,
        workers=2,
        watches=(
            Watch(PVC, itself),
            Watch(STORAGE_CLASS, _unbound),
            Watch(NODE, _unbound, when=lambda before, after: before is None),
        ),
    )


def volumes() -> list[Controller]:
    return [
        Controller(
            "volume-claims",
            reconcile_claim,
            watches=(
                Watch(PVC, itself),
                Watch(PV, _claim_of),
                Watch(STORAGE_CLASS, _unbound),
                Watch(POD, _claims_of, when=lambda before, after: after is None or after.status.phase in FINAL),
            ),
            reads=(NODE,),
            indexes=((POD, CLAIMS, by_claim),),
            workers=2,
        ),
        Controller("volumes", reconcile_volume, watches=(Watch(PV, itself), Watch(PVC, _volume_of)), workers=2),
        Controller(
            "pod-volumes",
            reconcile_pod,
            watches=(
                Watch(
                    POD,
                    itself,
                    when=lambda before, after: (
                        before is None and any("ephemeral" in volume for volume in after.spec.volumes)
                    ),
                ),
            ),
            workers=2,
        ),
    ]
