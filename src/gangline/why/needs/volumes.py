"""Volume claims and config maps that pods name and that are missing, lost or unbound."""

from __future__ import annotations

from gangline.api import kinds
from gangline.api.meta import Raw
from gangline.rules.values.nearest import nearest
from gangline.rules.volumes import DEFAULT_CLASS, given_class
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.session import Session
from gangline.why.cause import Cause
from gangline.why.changes import ObjectChange
from gangline.why.fixes.anew import again
from gangline.why.objects import ClusterObjects, dig
from gangline.why.words.amounts import listed

CLASS_FIELDS = (
    "provisioner",
    "parameters",
    "reclaimPolicy",
    "volumeBindingMode",
    "allowVolumeExpansion",
    "mountOptions",
    "allowedTopologies",
)


def volume_cause(session: Session, objects: ClusterObjects, task: TaskInfo) -> Cause | None:
    for name in task.record.volumes:
        claim = session.cluster.volume_claims.get((task.namespace, name))
        live = objects.raw(kinds.PVC, name, task.namespace)
        if claim is None or live is None:
            made = ObjectChange(
                kinds.PVC,
                name,
                {"spec": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}}},
                task.namespace,
                "new",
            )
            return Cause(
                "volume",
                f"PersistentVolumeClaim {name}, which pod {task.name} names, does not exist in namespace "
                f"{task.namespace}",
                fixes=((made,),),
                pods_change=True,
            )
        if claim.deleted:
            state = "is lost" if dig(live, "status", "phase") == "Lost" else "is being deleted"
            return Cause("volume", f"PersistentVolumeClaim {name} of pod {task.name} {state}")
        if not claim.bound and (not claim.waits or claim.nodes == ()):
            return _unbound(objects, name, live, task)
    return None


def _unbound(objects: ClusterObjects, name: str, live: Raw, task: TaskInfo) -> Cause:
    why = (
        f"PersistentVolumeClaim {name} of pod {task.name} is not bound (status.phase: "
        f"{dig(live, 'status', 'phase') or 'Pending'})"
    )
    size = dig(live, "spec", "resources", "requests", "storage") or "1Gi"
    detail, fixes = _unmet(objects, live)
    return Cause(
        "volume", f"{why}: {detail}", (f"it asks for {size}",), (*fixes, (_new_volume(live, size),)), pods_change=True
    )


def _unmet(objects: ClusterObjects, live: Raw) -> tuple[str, tuple[tuple[ObjectChange, ...], ...]]:
    """Why nothing was found or made for a claim, and what would change that beside a volume made by hand."""
    named = str(dig(live, "spec", "volumeName") or "")
    if named:
        return f"PersistentVolume {named}, which it names (spec.volumeName), {_named_state(objects, named)}", ()
    storage = given_class(live)
    classes = {raw["metadata"]["name"]: raw for raw in objects.raws(kinds.STORAGE_CLASS)}
    if not storage:
        asked = dig(live, "spec", "storageClassName") is not None
        lacking = "it asks for no StorageClass" if asked else "it names no StorageClass, and there is no default one"
        return f"no PersistentVolume fits, and {lacking}", ()
    if storage in classes:
        return f"no PersistentVolume fits, and its StorageClass {storage} has made none", ()
    near = nearest(storage, classes)
    known = f"; there are {listed(sorted(classes))}" if classes else ""
    hint = f"; did you mean {near}?" if near else known
    fixes = [_claim_anew(live, near)] if near else []
    fixes += [_class_like(storage, classes[near or _default_class(classes)])] if classes else []
    return f"StorageClass {storage} does not exist{hint}", tuple(fix for fix in fixes if fix)


def _named_state(objects: ClusterObjects, volume: str) -> str:
    live = objects.raw(kinds.PV, volume)
    holder = dig(live, "spec", "claimRef")
    if live is None:
        return "does not exist"
    return (
        f"belongs to PersistentVolumeClaim {holder.get('namespace')}/{holder.get('name')}" if holder else "does not fit"
    )


def _default_class(classes: dict[str, Raw]) -> str:
    marked = [name for name, raw in classes.items() if dig(raw, "metadata", "annotations", DEFAULT_CLASS) == "true"]
    return min(marked or classes)


def _claim_anew(live: Raw, storage: str) -> tuple[ObjectChange, ...]:
    """The claim with another class, which cannot be changed in place; not one that was made for a single pod."""
    meta = live["metadata"]
    if any(owner.get("kind") == "Pod" for owner in meta.get("ownerReferences") or ()):
        return ()
    fresh = again(live)
    fresh["spec"] |= {"storageClassName": storage}
    return (ObjectChange(kinds.PVC, meta["name"], fresh, meta.get("namespace", ""), "replace"),)


def _class_like(name: str, other: Raw) -> tuple[ObjectChange, ...]:
    """A class of that name which makes volumes as another one does."""
    body = {key: other[key] for key in CLASS_FIELDS if other.get(key) is not None}
    return (ObjectChange(kinds.STORAGE_CLASS, name, body, how="new"),)


def _new_volume(live: Raw, size: str) -> ObjectChange:
    """A volume for this claim alone, under the name that it asks for."""
    name, namespace = live["metadata"]["name"], live["metadata"].get("namespace", "")
    storage = given_class(live)
    body: Raw = {
        "spec": {
            "capacity": {"storage": size},
            "accessModes": dig(live, "spec", "accessModes") or ["ReadWriteOnce"],
            "persistentVolumeReclaimPolicy": "Retain",
            "hostPath": {"path": f"/mnt/{name}"},
            "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "name": name, "namespace": namespace},
            **({"storageClassName": storage} if storage else {}),
        }
    }
    return ObjectChange(kinds.PV, str(dig(live, "spec", "volumeName") or f"{name}-volume"), body, how="new")


def config_map_cause(session: Session, task: TaskInfo) -> Cause | None:
    missing = [name for name in task.record.config_maps if (task.namespace, name) not in session.cluster.config_maps]
    if not missing:
        return None
    made = tuple(ObjectChange(kinds.CONFIG_MAP, name, {"data": {}}, task.namespace, "new") for name in missing)
    return Cause(
        "config-map",
        f"ConfigMap {listed(missing)}, which pod {task.name} needs, does not exist in namespace {task.namespace}",
        fixes=(made,),
    )
