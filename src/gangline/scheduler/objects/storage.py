"""PersistentVolumeClaim, CSIStorageCapacity and ConfigMap → their records.

Volumes and classes are read only as far as they say where a claim can be used, and whether it waits for its first
pod.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gangline.api import resources
from gangline.api.core import ConfigMap, PersistentVolumeClaim
from gangline.api.meta import Raw
from gangline.rules.volumes import class_of, fits, is_held
from gangline.scheduler.objects import affinity
from gangline.scheduler.records import ConfigMapRecord, NodeTerm, StorageCapacityRecord, VolumeClaimRecord

WAITS = "WaitForFirstConsumer"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
ONE_POD = "ReadWriteOncePod"


def volume_claim_record(
    claim: PersistentVolumeClaim, volumes: Mapping[str, Raw] | None = None, classes: Mapping[str, Raw] | None = None
) -> VolumeClaimRecord:
    """`volumes` and `classes` are PersistentVolumes and StorageClasses by name."""
    spec = claim.spec
    name = class_of(claim)
    storage = (classes or {}).get(name) or {}
    mode = storage.get("volumeBindingMode")
    by_name = volumes or {}
    if spec.volume_name:
        nodes = volume_nodes(by_name.get(spec.volume_name))
    elif storage.get("provisioner") == NO_PROVISIONER:
        nodes = free_nodes(claim, by_name.values())
    else:
        nodes = allowed_nodes(storage)
    owners = claim.metadata.owner_references
    return VolumeClaimRecord(
        name=claim.name,
        namespace=claim.namespace,
        bound=claim.status.phase == "Bound",
        waits=mode == WAITS,
        nodes=nodes,
        storage_class=name,
        size=float(resources.units(spec.resources.requests.get("storage", 0))),
        deleted=claim.metadata.deleting or claim.status.phase == "Lost",
        owner=owners[0].uid if len(owners) == 1 and owners[0].kind == "Pod" else "",
        single=ONE_POD in spec.access_modes,
    )


def free_nodes(claim: PersistentVolumeClaim, volumes: Iterable[Raw]) -> tuple[NodeTerm, ...] | None:
    """Where a claim for which nobody makes a volume finds one that is free; None: everywhere."""
    fitting = [volume for volume in volumes if fits(volume, claim)]
    own = [volume for volume in fitting if is_held(volume)]
    reached = [volume_nodes(volume) for volume in own or fitting]
    return None if None in reached else tuple(term for terms in reached for term in terms or ())


def allowed_nodes(storage: Raw) -> tuple[NodeTerm, ...] | None:
    """Where a class makes volumes (`allowedTopologies`); None: everywhere."""
    terms = [
        affinity.requirements({"matchExpressions": [{**item, "operator": "In"} for item in expressions]})
        for term in storage.get("allowedTopologies") or ()
        if (expressions := term.get("matchLabelExpressions") or ())
    ]
    return tuple(NodeTerm(labels=wanted) for wanted in terms) or None


def volume_nodes(volume: Raw | None) -> tuple[NodeTerm, ...] | None:
    """Where a volume can be mounted; None: everywhere."""
    bound = ((volume or {}).get("spec") or {}).get("nodeAffinity") or {}
    return affinity.node_terms(bound.get("required"))


def storage_capacity_record(capacity: Raw) -> StorageCapacityRecord:
    """CSIStorageCapacity; one without a node topology is usable nowhere."""
    meta = capacity.get("metadata") or {}
    topology = capacity.get("nodeTopology")
    nodes = () if topology is None else _terms(topology)
    return StorageCapacityRecord(
        name=f"{meta.get('namespace') or ''}/{meta.get('name') or ''}",
        storage_class=str(capacity.get("storageClassName") or ""),
        free=float(resources.units(capacity.get("capacity") or 0)),
        nodes=nodes,
    )


def _terms(selector: Raw) -> tuple[NodeTerm, ...] | None:
    wanted = affinity.requirements(selector)
    return (NodeTerm(labels=wanted),) if wanted else None


def config_map_record(config: ConfigMap) -> ConfigMapRecord:
    return ConfigMapRecord(config.name, config.namespace)
