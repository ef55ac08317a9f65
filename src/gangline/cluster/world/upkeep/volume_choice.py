"""Which PersistentVolume a claim gets, or which one is made for it. Pure; volumes.py writes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from gangline.api.builtin import Untyped
from gangline.api.core import Node, PersistentVolumeClaim, Pod
from gangline.api.meta import Raw
from gangline.cluster.world.pods.pod_step import FINAL
from gangline.rules.volumes import best_fit, class_of, is_held, size_asked

PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
LATE = "WaitForFirstConsumer"
CLAIM_PROTECTION, VOLUME_PROTECTION = "kubernetes.io/pvc-protection", "kubernetes.io/pv-protection"
HOSTNAME = "kubernetes.io/hostname"
SHARED_MODES = ("ReadWriteMany", "ReadOnlyMany")
SELECTED_NODE = "volume.kubernetes.io/selected-node"


@dataclass(frozen=True, slots=True)
class TakeVolume:
    """Bind to a volume that is there."""

    volume: Raw


@dataclass(frozen=True, slots=True)
class MakeVolume:
    """Make a volume for the claim."""

    volume: Raw


@dataclass(frozen=True, slots=True)
class WaitForVolume:
    reason: str
    message: str


Choice: TypeAlias = TakeVolume | MakeVolume | WaitForVolume


def choose(
    claim: PersistentVolumeClaim, volumes: Iterable[Raw], classes: Mapping[str, Raw], node: Node | None = None
) -> Choice:
    """What a claim without a volume should do; volumes and StorageClasses are plain data, these by name. `node`: where
    it is used first."""
    name = class_of(claim)
    klass = classes.get(name)
    volume = best_fit(claim, volumes) if node is None else best_fit(claim, volumes, node.labels, node.name)
    late = (klass or {}).get("volumeBindingMode") == LATE
    if volume is not None and not (
        late and SELECTED_NODE not in claim.annotations and not is_held(volume) and not claim.spec.volume_name
    ):
        return TakeVolume(volume)
    if claim.spec.volume_name:
        return WaitForVolume(
            "VolumeMissing", f"volume {claim.spec.volume_name} is not there or belongs to another claim"
        )
    if klass is None:
        return WaitForVolume(
            "FailedBinding",
            f'storageclass.storage.k8s.io "{name}" not found'
            if name
            else "no persistent volumes available for this claim and no storage class is set",
        )
    if late and SELECTED_NODE not in claim.annotations:
        return WaitForVolume(LATE, "waiting for first consumer to be created before binding")
    if klass.get("provisioner") == NO_PROVISIONER:
        return WaitForVolume("ProvisioningFailed", "no volume plugin matched and no volume fits")
    return MakeVolume(made_for(claim, name, klass, node if late else None))


def claim_reference(claim: PersistentVolumeClaim) -> Raw:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "namespace": claim.namespace,
        "name": claim.name,
        "uid": claim.uid,
    }


def made_for(claim: PersistentVolumeClaim, name: str, klass: Raw, node: Node | None) -> Raw:
    """A volume as a provisioner makes it, usable where `_reach` says."""
    spec: Raw = {
        "capacity": {"storage": str(size_asked(claim))},
        "accessModes": list(claim.spec.access_modes),
        "storageClassName": name,
        "volumeMode": claim.spec.volume_mode or "Filesystem",
        "claimRef": claim_reference(claim),
        "persistentVolumeReclaimPolicy": klass.get("reclaimPolicy") or "Delete",
        "csi": {"driver": str(klass.get("provisioner")).replace("/", "."), "volumeHandle": f"pvc-{claim.uid}"},
    }
    terms = _reach(claim, klass, node)
    if terms:
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": term} for term in terms]}}
    return {
        "metadata": {"name": f"pvc-{claim.uid}", "annotations": {PROVISIONED_BY: str(klass.get("provisioner"))}},
        "spec": spec,
    }


def _reach(claim: PersistentVolumeClaim, klass: Raw, node: Node | None) -> list[list[Raw]]:
    """Where a new volume can be used: within its class's allowedTopologies; one that a single node mounts, made for a
    node, in that node's part of them, and where the class names none on that node alone. Nothing: everywhere."""
    allowed = [
        [_within(str(item.get("key")), item.get("values") or ()) for item in term.get("matchLabelExpressions") or ()]
        for term in klass.get("allowedTopologies") or ()
    ]
    shared = any(mode in SHARED_MODES for mode in claim.spec.access_modes)
    if node is None or shared:
        return allowed
    keys = [str(item["key"]) for term in allowed for item in term if str(item["key"]) in node.labels]
    return [[_within(key, [node.labels[key]]) for key in dict.fromkeys(keys)] or [_within(HOSTNAME, [node.name])]]


def _within(key: str, values: Iterable[str]) -> Raw:
    return {"key": key, "operator": "In", "values": list(values)}


def in_use(claim: PersistentVolumeClaim, pods: Iterable[Pod]) -> bool:
    """A pod uses a claim from the moment at which it has a node."""
    return any(pod.spec.node_name and pod.status.phase not in FINAL for pod in pods)


@dataclass(frozen=True, slots=True)
class VolumeStep:
    """What becomes of a volume now."""

    unprotect: bool = False
    delete: bool = False
    phase: str = ""
    """To be written; empty: it says so."""


def volume_step(volume: Untyped, claim: PersistentVolumeClaim | None) -> VolumeStep:
    """A volume is available, bound, or released when its claim is gone; a released one that may be deleted is.
    `claim`: the one that it names."""
    held = claim_named_by(volume)
    gone = bool(held.get("uid")) and (claim is None or claim.uid != held["uid"])
    if volume.metadata.deleting:
        return VolumeStep(unprotect=VOLUME_PROTECTION in volume.metadata.finalizers and (gone or not held))
    if gone and volume.spec.get("persistentVolumeReclaimPolicy") == "Delete":
        return VolumeStep(delete=True)
    phase = "Released" if gone else _phase(volume, claim)
    written = (volume.status or {}).get("phase")
    known = written == phase or (written == "Bound" and bool(held) and not gone)
    return VolumeStep(phase="" if known else phase)


def claim_named_by(volume: Untyped) -> Raw:
    """The claim that a volume names, or nothing."""
    named: Raw = (volume.spec or {}).get("claimRef") or {}
    return named


def _phase(volume: Untyped, claim: PersistentVolumeClaim | None) -> str:
    return "Bound" if claim is not None and claim.spec.volume_name == volume.name else "Available"
