"""Volume claims and config maps that pods name and that are missing, lost or unbound."""

from __future__ import annotations

from gangline.api import kinds
from gangline.api.meta import Raw
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.session import Session
from gangline.why.cause import Cause
from gangline.why.changes import ObjectChange
from gangline.why.objects import ClusterObjects, dig
from gangline.why.words.amounts import listed


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
    storage = str(dig(live, "spec", "storageClassName") or "")
    known = objects.raw(kinds.STORAGE_CLASS, storage) is not None
    why = (
        f"PersistentVolumeClaim {name} of pod {task.name} is not bound (status.phase: "
        f"{dig(live, 'status', 'phase') or 'Pending'})"
    )
    detail = (
        f"StorageClass {storage} does not exist"
        if storage and not known
        else f"no PersistentVolume fits, and its StorageClass {storage or '(none)'} has made none"
    )
    size = dig(live, "spec", "resources", "requests", "storage") or "1Gi"
    volume: Raw = {
        "spec": {
            "capacity": {"storage": size},
            "accessModes": dig(live, "spec", "accessModes") or ["ReadWriteOnce"],
            "persistentVolumeReclaimPolicy": "Retain",
            "hostPath": {"path": f"/mnt/{name}"},
            "claimRef": {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "name": name,
                "namespace": task.namespace,
            },
            **({"storageClassName": storage} if storage else {}),
        }
    }
    return Cause(
        "volume",
        f"{why}: {detail}",
        (f"it asks for {size}",),
        ((ObjectChange(kinds.PV, f"{name}-volume", volume, how="new"),),),
        pods_change=True,
    )


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
