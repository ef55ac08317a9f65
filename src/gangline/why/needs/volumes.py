"""Volume claims and config maps that pods name and that are missing, lost or unbound."""

from __future__ import annotations

from gangline.api import kinds, resources
from gangline.api.meta import Raw
from gangline.rules.values.nearest import nearest
from gangline.rules.volumes import DEFAULT_CLASS, given_class
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.session import Session
from gangline.why.cause import Cause
from gangline.why.changes import ObjectChange
from gangline.why.fixes.anew import again
from gangline.why.objects import ClusterObjects, dig, key_of
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
            return Cause(
                "volume",
                f"PersistentVolumeClaim {name}, which pod {task.name} names, does not exist in namespace "
                f"{task.namespace}",
                fixes=((new_claim(name, task.namespace),),),
                pods_change=True,
            )
        if claim.deleted:
            state = "is lost" if dig(live, "status", "phase") == "Lost" else "is being deleted"
            return Cause("volume", f"PersistentVolumeClaim {name} of pod {task.name} {state}")
        if not claim.bound and (not claim.waits or claim.nodes == ()):
            return _unbound(objects, name, live, task)
    return None


def new_claim(name: str, namespace: str) -> ObjectChange:
    wish: Raw = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}}
    return ObjectChange(kinds.PVC, name, {"spec": wish}, namespace, "new")


def _unbound(objects: ClusterObjects, name: str, live: Raw, task: TaskInfo) -> Cause:
    why = f"PersistentVolumeClaim {name} of pod {task.name} is not bound (status.phase: {phase_of(live)})"
    detail, fixes = unmet(objects, live)
    facts = (f"it asks for {_size(live)}",)
    if _is_reserved(objects, live):
        return Cause("volume", f"{why}: {detail}", facts, transient=True)
    return Cause("volume", f"{why}: {detail}", facts, (*fixes, (new_volume(live),)), pods_change=True)


def phase_of(claim: Raw) -> str:
    return dig(claim, "status", "phase") or "Pending"


def _size(claim: Raw) -> str:
    return dig(claim, "spec", "resources", "requests", "storage") or "1Gi"


def unmet(objects: ClusterObjects, live: Raw) -> tuple[str, tuple[tuple[ObjectChange, ...], ...]]:
    """Why nothing was found or made for a claim, and what would change that beside a volume made by hand."""
    named = str(dig(live, "spec", "volumeName") or "")
    if named:
        why = f"PersistentVolume {named}, which it names (spec.volumeName), {_named_state(objects, live, named)}"
        return why, tuple(fix for fix in _freed(objects, live, named) if fix)
    storage = given_class(live)
    classes = {raw["metadata"]["name"]: raw for raw in objects.raws(kinds.STORAGE_CLASS)}
    if not storage:
        asked = dig(live, "spec", "storageClassName") is not None
        lacking = "it asks for no StorageClass" if asked else "it names no StorageClass, and there is no default one"
        return f"no PersistentVolume fits{misfits(objects, live)}, and {lacking}", ()
    if storage in classes:
        return f"no PersistentVolume fits{misfits(objects, live)}, and its StorageClass {storage} has made none", ()
    near = nearest(storage, classes)
    known = f"; there are {listed(sorted(classes))}" if classes else ""
    hint = f"; did you mean {near}?" if near else known
    fixes = [_claim_anew(live, near)] if near else []
    fixes += [_class_like(storage, classes[near or _default_class(classes)])] if classes else []
    return f"StorageClass {storage} does not exist{hint}", tuple(fix for fix in fixes if fix)


def misfits(objects: ClusterObjects, claim: Raw) -> str:
    """Why volumes of its class do not fit, in brackets; "" where there is none."""
    volumes = [
        raw for raw in objects.raws(kinds.PV) if dig(raw, "spec", "storageClassName") == (given_class(claim) or None)
    ]
    told = [f"{raw['metadata']['name']} {text}" for raw in volumes if (text := _misfit(raw, claim))]
    return f" ({listed(told)})" if told else ""


def _misfit(volume: Raw, claim: Raw) -> str:
    """What of a volume does not fit a claim; "" where nothing is seen."""
    has, asked = dig(volume, "spec", "capacity", "storage"), _size(claim)
    modes = set(dig(claim, "spec", "accessModes") or ()) - set(dig(volume, "spec", "accessModes") or ())
    holder = dig(volume, "spec", "claimRef")
    if holder and (holder.get("namespace"), holder.get("name")) != key_of(claim):
        return f"belongs to PersistentVolumeClaim {holder.get('namespace')}/{holder.get('name')}"
    if has and resources.nanos(has) < resources.nanos(asked):
        return f"has {has}, {asked} asked"
    if modes:
        return f"has no access mode {listed(sorted(modes))}"
    labels, wanted = dig(volume, "metadata", "labels") or {}, dig(claim, "spec", "selector", "matchLabels") or {}
    missing = [f"{key}={value}" for key, value in wanted.items() if labels.get(key) != value]
    return f"has no label {listed(missing)}" if missing else ""


def _freed(objects: ClusterObjects, claim: Raw, named: str) -> list[tuple[ObjectChange, ...]]:
    """The volume given to this claim where a former one of its name held it; else the claim made anew with another
    volume."""
    volume = objects.raw(kinds.PV, named)
    holder = dig(volume, "spec", "claimRef")
    if volume is None or not holder:
        return []
    if (holder.get("namespace"), holder.get("name")) == key_of(claim):
        if not _is_former(holder, claim):
            return []
        forgotten: Raw = {"spec": {"claimRef": {"uid": None, "resourceVersion": None}}}
        return [(ObjectChange(kinds.PV, named, forgotten),)]
    fresh = {**claim, "spec": {key: value for key, value in claim["spec"].items() if key != "volumeName"}}
    anew = _claim_anew(fresh, given_class(claim))
    return [(*anew, new_volume(fresh))] if anew else []


def _named_state(objects: ClusterObjects, claim: Raw, volume: str) -> str:
    live = objects.raw(kinds.PV, volume)
    holder = dig(live, "spec", "claimRef")
    if live is None:
        return "does not exist"
    if not holder:
        return "does not fit"
    meta, of = claim["metadata"], f"{holder.get('namespace')}/{holder.get('name')}"
    if of != f"{meta.get('namespace')}/{meta['name']}":
        return f"belongs to PersistentVolumeClaim {of}"
    former = _is_former(holder, claim)
    return f"belongs to a former PersistentVolumeClaim {of}" if former else "is reserved for it, and not bound yet"


def _is_reserved(objects: ClusterObjects, claim: Raw) -> bool:
    """The volume that it names is held for it: the volume controller binds it in a moment."""
    holder = dig(objects.raw(kinds.PV, str(dig(claim, "spec", "volumeName") or "")), "spec", "claimRef")
    if not holder or (holder.get("namespace"), holder.get("name")) != key_of(claim):
        return False
    return not _is_former(holder, claim)


def _is_former(holder: Raw, claim: Raw) -> bool:
    """Whether a volume is held by another claim than this one of the same name."""
    return holder.get("uid") not in (None, "", claim["metadata"].get("uid"))


def _default_class(classes: dict[str, Raw]) -> str:
    return min([name for name, raw in classes.items() if _is_default(raw)] or classes)


def _is_default(storage_class: Raw) -> bool:
    return bool(dig(storage_class, "metadata", "annotations", DEFAULT_CLASS) == "true")


def has_default_class(objects: ClusterObjects) -> bool:
    """Claims that name no StorageClass get a volume from one."""
    return any(_is_default(raw) for raw in objects.raws(kinds.STORAGE_CLASS))


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


def new_volume(live: Raw) -> ObjectChange:
    """A volume for this claim alone, under the name that it asks for."""
    name, namespace = live["metadata"]["name"], live["metadata"].get("namespace", "")
    storage = given_class(live)
    body: Raw = {
        "spec": {
            "capacity": {"storage": _size(live)},
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
