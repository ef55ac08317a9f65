"""Rules of PersistentVolume, PersistentVolumeClaim, StorageClass and the CSI kinds."""

from __future__ import annotations

from gangline.api import resources
from gangline.apiserver.builtin.checks import (
    Obj,
    Problems,
    each,
    given,
    immutable,
    label_selector,
    one_of,
    quantity_not_negative,
    subdomain,
)
from gangline.apiserver.builtin.placement import node_selector
from gangline.apiserver.builtin.rules import KindRules
from gangline.apiserver.builtin.volumes import ORDER
from gangline.errors import Problem
from gangline.schema import problems as say

_ACCESS = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_RECLAIM = ("Delete", "Recycle", "Retain")
_SOURCES = (*(name for name in ORDER if name not in ("emptyDir", "gitRepo", "secret", "persistentVolumeClaim", "downwardAPI", "configMap",
                                                     "projected", "ephemeral", "image")), "local")
_NEEDS = {"hostPath": ("path",), "nfs": ("server", "path"), "local": ("path",), "csi": ("driver", "volumeHandle")}


class VolumeRules(KindRules):
    """PersistentVolume."""

    has_status = True

    def defaults(self, obj: Obj) -> None:
        spec = obj.setdefault("spec", {})
        spec.setdefault("persistentVolumeReclaimPolicy", "Retain")
        spec.setdefault("volumeMode", "Filesystem")
        if spec.get("hostPath") is not None and spec["hostPath"].get("type") is None:
            spec["hostPath"]["type"] = ""

    def prepare_create(self, obj: Obj) -> None:
        obj["status"] = {"phase": "Pending", "lastPhaseTransitionTime": obj["metadata"].get("creationTimestamp")}
        _protect(obj, "kubernetes.io/pv-protection")

    def validate(self, obj: Obj) -> list[Problem]:
        return [*_volume(obj["spec"])]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        if subresource:
            return []
        found = [*_volume(new["spec"])]
        if any(new["spec"].get(name) != old["spec"].get(name) for name in _SOURCES):
            found.append(say.forbidden("spec.persistentvolumesource", "spec.persistentvolumesource is immutable after creation\n"))
        return [*found, *immutable(new["spec"].get("volumeMode"), old["spec"].get("volumeMode"), "spec.volumeMode")]


def _protect(obj: Obj, finalizer: str) -> None:
    finalizers = obj["metadata"].setdefault("finalizers", [])
    if finalizer not in finalizers:
        finalizers.append(finalizer)


def _volume(spec: Obj) -> Problems:
    if not spec.get("accessModes"):
        yield say.required("spec.accessModes")
    for _, mode in each(spec.get("accessModes"), "spec.accessModes"):
        yield from one_of(mode, _ACCESS, "spec.accessModes")
    capacity = spec.get("capacity") or {}
    if not capacity:
        yield say.required("spec.capacity")
    if set(capacity) != {"storage"}:
        yield say.unsupported("spec.capacity", capacity, ("storage",))
    for name, amount in sorted(capacity.items()):
        if resources.nanos(amount) <= 0:
            yield say.invalid(f"spec.capacity[{name}]", amount, "must be greater than zero")
    yield from one_of(spec.get("persistentVolumeReclaimPolicy"), _RECLAIM, "spec.persistentVolumeReclaimPolicy")
    affinity = spec.get("nodeAffinity")
    if affinity is not None:
        if affinity.get("required") is None:
            yield say.required("spec.nodeAffinity.required", "must specify required node constraints")
        else:
            yield from node_selector(affinity["required"], "spec.nodeAffinity.required")
    yield from _volume_source(spec)
    yield from one_of(spec.get("volumeMode"), ("Block", "Filesystem"), "spec.volumeMode")


def _volume_source(spec: Obj) -> Problems:
    chosen = [name for name in _SOURCES if spec.get(name) is not None]
    if not chosen:
        yield say.required("spec", "must specify a volume type")
        return
    yield from given(spec[chosen[0]], f"spec.{chosen[0]}", *_NEEDS.get(chosen[0], ()))
    if chosen[0] == "local" and spec.get("nodeAffinity") is None:
        yield say.required("spec.nodeAffinity", "Local volume requires node affinity")
    for name in chosen[1:]:
        yield say.forbidden(f"spec.{name}", "may not specify more than 1 volume type")


class ClaimRules(KindRules):
    """PersistentVolumeClaim."""

    has_status = True

    def defaults(self, obj: Obj) -> None:
        spec = obj.setdefault("spec", {})
        spec.setdefault("volumeMode", "Filesystem")
        source = spec.get("dataSource")
        if source is not None and spec.get("dataSourceRef") is None:
            spec["dataSourceRef"] = dict(source)

    def prepare_create(self, obj: Obj) -> None:
        obj["status"] = {"phase": "Pending"}
        _protect(obj, "kubernetes.io/pvc-protection")

    def validate(self, obj: Obj) -> list[Problem]:
        return [*claim_spec(obj["spec"], "spec")]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        if subresource:
            return []
        return [*claim_spec(new["spec"], "spec"), *_claim_update(new["spec"], old)]


def claim_spec(spec: Obj, path: str) -> Problems:
    yield from label_selector(spec.get("selector"), f"{path}.selector")
    modes = spec.get("accessModes") or []
    if not modes:
        yield say.required(f"{path}.accessModes", "at least 1 access mode is required")
    for mode in modes:
        yield from one_of(mode, _ACCESS, f"{path}.accessModes")
    if "ReadWriteOncePod" in modes and len(modes) > 1:
        yield say.forbidden(f"{path}.accessModes", "may not use ReadWriteOncePod with other access modes")
    storage = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if storage is None:
        yield say.required(f"{path}.resources[storage]")
    elif resources.nanos(storage) <= 0:
        yield say.invalid(f"{path}.resources[storage]", storage, "must be greater than zero")
    if spec.get("storageClassName"):
        yield from subdomain(spec["storageClassName"], f"{path}.storageClassName")
    yield from one_of(spec.get("volumeMode"), ("Block", "Filesystem"), f"{path}.volumeMode")


def _claim_update(new: Obj, old: Obj) -> Problems:
    before = old["spec"]
    bound = (old.get("status") or {}).get("phase") == "Bound"
    free = ("resources", "volumeAttributesClassName") if bound else ("volumeAttributesClassName",)
    if not before.get("volumeName"):
        free = (*free, "volumeName")
    if before.get("storageClassName") is None:
        free = (*free, "storageClassName")
    fixed = [{name: value for name, value in spec.items() if name not in free} for spec in (new, before)]
    if fixed[0] != fixed[1]:
        yield say.forbidden("spec", "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound "
                            "claims\n")
        return
    amounts = [((spec.get("resources") or {}).get("requests") or {}).get("storage", "0") for spec in (new, before)]
    if resources.nanos(amounts[0]) < resources.nanos(amounts[1]):
        yield say.forbidden("spec.resources.requests.storage", "field can not be less than status.capacity")


class StorageClassRules(KindRules):
    def defaults(self, obj: Obj) -> None:
        obj.setdefault("reclaimPolicy", "Delete")
        obj.setdefault("volumeBindingMode", "Immediate")

    def validate(self, obj: Obj) -> list[Problem]:
        found = [*given(obj, "", "provisioner")]
        found += one_of(obj.get("reclaimPolicy"), ("Delete", "Retain"), "reclaimPolicy")
        return [*found, *one_of(obj.get("volumeBindingMode"), ("Immediate", "WaitForFirstConsumer"), "volumeBindingMode", required=True)]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        found = [say.forbidden(name, f"updates to {name} are forbidden.") for name in ("parameters", "provisioner", "reclaimPolicy")
                 if new.get(name) != old.get(name)]
        return [*found, *immutable(new.get("volumeBindingMode"), old.get("volumeBindingMode"), "volumeBindingMode")]


class CapacityRules(KindRules):
    """CSIStorageCapacity."""

    unconditional_update = False

    def validate(self, obj: Obj) -> list[Problem]:
        found = [*subdomain(obj.get("storageClassName") or "", "storageClassName")]
        found += label_selector(obj.get("nodeTopology"), "nodeTopology")
        for name in ("capacity", "maximumVolumeSize"):
            if obj.get(name) is not None:
                found += quantity_not_negative(obj[name], name)
        return found

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        found = self.validate(new)
        for name in ("nodeTopology", "storageClassName"):
            found += immutable(new.get(name), old.get(name), name)
        return found


class CsiDriverRules(KindRules):
    unconditional_update = False

    def defaults(self, obj: Obj) -> None:
        spec = obj.setdefault("spec", {})
        for name, value in (("attachRequired", True), ("podInfoOnMount", False), ("storageCapacity", False),
                            ("fsGroupPolicy", "ReadWriteOnceWithFSType"), ("volumeLifecycleModes", ["Persistent"]),
                            ("requiresRepublish", False), ("seLinuxMount", False)):
            if spec.get(name) is None:
                spec[name] = value


class CsiNodeRules(KindRules):
    unconditional_update = False

    def validate(self, obj: Obj) -> list[Problem]:
        found: list[Problem] = []
        seen: set[str] = set()
        for where, driver in each((obj.get("spec") or {}).get("drivers"), "spec.drivers"):
            found += given(driver, where, "name", "nodeID")
            if driver.get("name") in seen:
                found.append(say.duplicate(f"{where}.name", driver.get("name")))
            seen.add(driver.get("name") or "")
        return found
