"""PersistentVolumeClaims find their volume: one that is there, or one made for them, at once or when their first
consumer has a node.

`choose` is pure and says what a claim should do next. Claims and volumes in use are kept by their protection
finalizers, which go here when nobody uses them any more; volumes of claims that are gone are released or deleted, as
their policy says. Volumes on a node of ours are made by `provisioner`, which belongs to the simulated nodes: on a real
cluster it stands in for a storage driver."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from gangline.api.builtin import Untyped
from gangline.api.core import Node, PersistentVolumeClaim, Pod
from gangline.api.kinds import NODE, POD, PV, PVC, STORAGE_CLASS, reference
from gangline.api.meta import Object, Raw, as_raw
from gangline.cluster.world.nodes.nodes import simulated
from gangline.cluster.world.pods.kubelet import CLAIMS, by_claim
from gangline.cluster.world.pods.pod_life import FINAL
from gangline.cluster.world.scheduling.scheduler import SELECTED_NODE
from gangline.rules.volumes import best_fit, class_of, is_held, size_asked
from gangline.runtime import Again, Context, Controller, Key, Reader, Watch, itself, key_of

DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
CLAIM_PROTECTION, VOLUME_PROTECTION = "kubernetes.io/pvc-protection", "kubernetes.io/pv-protection"
LATE = "WaitForFirstConsumer"


# --- thinking
# ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Take:
    """Bind to a volume that is there."""

    volume: Raw


@dataclass(frozen=True, slots=True)
class Make:
    """Make a volume for the claim."""

    volume: Raw


@dataclass(frozen=True, slots=True)
class Wait:
    reason: str
    message: str


Choice: TypeAlias = Take | Make | Wait


def choose(
    claim: PersistentVolumeClaim, volumes: Iterable[Raw], classes: Mapping[str, Raw], node: Node | None = None
) -> Choice:
    """What a claim without a volume should do; volumes and StorageClasses are plain data, these by name. `node`: where
    it is used first."""
    name = class_of(claim)
    klass = classes.get(name)
    found = best_fit(claim, volumes) if node is None else best_fit(claim, volumes, node.labels, node.name)
    late = (klass or {}).get("volumeBindingMode") == LATE
    if found is not None and not (
        late and SELECTED_NODE not in claim.annotations and not is_held(found) and not claim.spec.volume_name
    ):
        return Take(found)
    if claim.spec.volume_name:
        return Wait("VolumeMissing", f"volume {claim.spec.volume_name} is not there or belongs to another claim")
    if klass is None:
        return Wait(
            "FailedBinding",
            f'storageclass.storage.k8s.io "{name}" not found'
            if name
            else "no persistent volumes available for this claim and no storage class is set",
        )
    if late and SELECTED_NODE not in claim.annotations:
        return Wait(LATE, "waiting for first consumer to be created before binding")
    if klass.get("provisioner") == NO_PROVISIONER:
        return Wait("ProvisioningFailed", "no volume plugin matched and no volume fits")
    return Make(made_for(claim, name, klass, claim.annotations.get(SELECTED_NODE, "") if late else ""))


def claim_reference(claim: PersistentVolumeClaim) -> Raw:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "namespace": claim.namespace,
        "name": claim.name,
        "uid": claim.uid,
    }


def made_for(claim: PersistentVolumeClaim, name: str, klass: Raw, node: str) -> Raw:
    """A volume as a provisioner makes it; with a node, usable there only."""
    spec: Raw = {
        "capacity": {"storage": str(size_asked(claim))},
        "accessModes": list(claim.spec.access_modes),
        "storageClassName": name,
        "volumeMode": claim.spec.volume_mode or "Filesystem",
        "claimRef": claim_reference(claim),
        "persistentVolumeReclaimPolicy": klass.get("reclaimPolicy") or "Delete",
        "csi": {"driver": str(klass.get("provisioner")).replace("/", "."), "volumeHandle": f"pvc-{claim.uid}"},
    }
    if node:
        spec["nodeAffinity"] = {
            "required": {
                "nodeSelectorTerms": [
                    {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}]}
                ]
            }
        }
    return {
        "metadata": {"name": f"pvc-{claim.uid}", "annotations": {PROVISIONED_BY: str(klass.get("provisioner"))}},
        "spec": spec,
    }


def in_use(claim: PersistentVolumeClaim, pods: Iterable[Pod]) -> bool:
    return any(pod.status.phase not in FINAL for pod in pods)


# --- claims
# ------------------------------------------------------------------------------------------------------------


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
        case Take(volume):
            await _bind(ctx, claim, volume)
        case Make(volume) if SELECTED_NODE not in claim.annotations:
            await _provide(ctx, claim, volume)
        case Make():
            ctx.events.tell(PVC, claim, "ExternalProvisioning", "Waiting for a volume to be created on the chosen node")
        case Wait(reason, message):
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
    made = choose(claim, (), {klass.name: await _class(ctx, klass)})
    if isinstance(made, Make):
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


# --- volumes
# -----------------------------------------------------------------------------------------------------------


async def reconcile_volume(ctx: Context, key: Key) -> Again | None:
    """A volume is available, bound, or released when its claim is gone; a released one that may be deleted is."""
    volume = ctx.read.get(PV, key.name)
    if volume is None:
        return None
    held: Raw = (volume.spec or {}).get("claimRef") or {}
    claim = ctx.read.get(PVC, str(held.get("name")), str(held.get("namespace"))) if held else None
    gone = bool(held.get("uid")) and (claim is None or claim.uid != held["uid"])
    if volume.metadata.deleting:
        if VOLUME_PROTECTION in volume.metadata.finalizers and (gone or not held):
            await ctx.writer.remove_finalizer(PV, volume, VOLUME_PROTECTION)
        return None
    phase = (
        "Released" if gone else "Bound" if claim is not None and claim.spec.volume_name == volume.name else "Available"
    )
    if gone and volume.spec.get("persistentVolumeReclaimPolicy") == "Delete":
        await ctx.writer.delete_unless_gone(PV, volume)
    elif (volume.status or {}).get("phase") not in (phase, "Bound" if held and not gone else phase):
        await ctx.client.patch(PV, key.name, "", {"status": {"phase": phase}}, subresource="status")
    return None


# --- volumes that live as long as their pod
# ----------------------------------------------------------------------------


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
