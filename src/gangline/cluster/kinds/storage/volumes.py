"""Rules of PersistentVolume and PersistentVolumeClaim."""

from __future__ import annotations

from gangline.api import resources
from gangline.cluster.kinds.checks import Obj, Problems, given, immutable, one_of, subdomain, with_paths
from gangline.cluster.kinds.pods.placement import node_selector
from gangline.cluster.kinds.pods.pod_warnings import claim_warnings, node_term_warnings
from gangline.cluster.kinds.pods.volumes import ORDER, host_path
from gangline.cluster.kinds.rules import KindRules
from gangline.cluster.kinds.storage.claims import access_modes, claim_spec
from gangline.errors import Problem
from gangline.rules.objects.finalizers import with_finalizer
from gangline.rules.values import problems as say
from gangline.rules.values.names import subdomain_problems

_RECLAIM = ("Delete", "Recycle", "Retain")
_SOURCES = (
    *(
        name
        for name in ORDER
        if name
        not in (
            "emptyDir",
            "gitRepo",
            "secret",
            "persistentVolumeClaim",
            "downwardAPI",
            "configMap",
            "projected",
            "ephemeral",
            "image",
        )
    ),
    "local",
)
_OLD_CLASS = "volume.beta.kubernetes.io/storage-class"
_OLD_NOTES = {
    _OLD_CLASS: 'deprecated since v1.8; use "storageClassName" attribute instead',
    "volume.beta.kubernetes.io/mount-options": 'deprecated since v1.31; use "mountOptions" attribute instead',
}
_OLD_SOURCES = {
    "cephfs": "deprecated in v1.28, non-functional in v1.31+",
    "photonPersistentDisk": "deprecated in v1.11, non-functional in v1.16+",
    "scaleIO": "deprecated in v1.16, non-functional in v1.22+",
    "storageos": "deprecated in v1.22, non-functional in v1.25+",
    "glusterfs": "deprecated in v1.25, non-functional in v1.26+",
    "rbd": "deprecated in v1.28, non-functional in v1.31+",
}
_FILLED_FROM = (("", "PersistentVolumeClaim"), ("snapshot.storage.k8s.io", "VolumeSnapshot"))
_RESIZING = (
    "ControllerResizeInProgress",
    "ControllerResizeInfeasible",
    "NodeResizeInProgress",
    "NodeResizeInfeasible",
    "NodeResizePending",
)
_NEEDS = {
    "hostPath": ("path",),
    "nfs": ("server", "path"),
    "local": ("path",),
    "csi": ("driver", "volumeHandle"),
    "iscsi": ("targetPortal",),
}


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

    def prepare_update(self, new: Obj, old: Obj, subresource: str = "") -> None:
        super().prepare_update(new, old, subresource)
        if subresource == "status":
            status, before = new.setdefault("status", {}), old.get("status") or {}
            status["phase"] = status.get("phase") or "Pending"
            kept = before.get("lastPhaseTransitionTime")
            status["lastPhaseTransitionTime"] = (
                kept if status["phase"] == before.get("phase") else status.get("lastPhaseTransitionTime") or kept
            )

    def warnings(self, obj: Obj, old: Obj | None = None) -> list[str]:
        spec, notes = obj["spec"], obj["metadata"].get("annotations") or {}
        deprecated = (
            "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended "
            "approach is to use dynamic provisioning."
        )
        terms = ((spec.get("nodeAffinity") or {}).get("required") or {}).get("nodeSelectorTerms")
        return [
            *(f"metadata.annotations[{key}]: {use}" for key, use in _OLD_NOTES.items() if key in notes),
            *([deprecated] if spec.get("persistentVolumeReclaimPolicy") == "Recycle" else ()),
            *(
                warning
                for where, term in with_paths(terms, "spec.nodeAffinity.required.nodeSelectorTerms")
                for warning in node_term_warnings(term, where)
            ),
            *(f"spec.{name}: {since}" for name, since in _OLD_SOURCES.items() if spec.get(name) is not None),
        ]

    def validate(self, obj: Obj) -> list[Problem]:
        return [*_volume(obj["spec"])]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        if subresource:
            return []
        judged = [*_volume(new["spec"])]
        problems = [*judged, *judged]  # as a volume, and as a change of one
        if any(new["spec"].get(name) != old["spec"].get(name) for name in _SOURCES):
            problems.append(
                say.forbidden(
                    "spec.persistentvolumesource", "spec.persistentvolumesource is immutable after creation\n"
                )
            )
        return [*problems, *immutable(new["spec"].get("volumeMode"), old["spec"].get("volumeMode"), "volumeMode")]


def _protect(obj: Obj, finalizer: str) -> None:
    obj["metadata"]["finalizers"] = with_finalizer(obj["metadata"].get("finalizers"), finalizer)


def _volume(spec: Obj) -> Problems:
    if not spec.get("accessModes"):
        yield say.required("spec.accessModes")
    yield from access_modes(spec.get("accessModes") or [], "spec.accessModes")
    capacity = spec.get("capacity") or {}
    if not capacity:
        yield say.required("spec.capacity")
    if set(capacity) != {"storage"}:
        yield say.unsupported("spec.capacity", capacity, ("storage",))
    for name, amount in sorted(capacity.items()):
        yield from _a_quantity(amount, f"spec.capacity[{name}]")
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
    if spec.get("storageClassName"):
        yield from subdomain(spec["storageClassName"], "spec.storageClassName")
    yield from one_of(spec.get("volumeMode"), ("Block", "Filesystem"), "spec.volumeMode")
    attributes = spec.get("volumeAttributesClassName")
    if attributes is not None:
        if not attributes:
            yield say.required("spec.volumeAttributesClassName", "an empty string is disallowed")
        else:
            yield from subdomain(attributes, "spec.volumeAttributesClassName")
        if spec.get("csi") is None:
            yield say.required("spec.csi", "has to be specified when using volumeAttributesClassName")


def _a_quantity(amount: str, path: str) -> Problems:
    if resources.nanos(amount) < 0:
        yield Problem(
            path,
            f"Invalid value: {resources.nanos(amount) // resources.NANO}: must be a valid resource quantity",
            "FieldValueInvalid",
            amount,
        )


def _volume_source(spec: Obj) -> Problems:
    chosen = [name for name in _SOURCES if spec.get(name) is not None]
    if not chosen:
        yield say.required("spec", "must specify a volume type")
        return
    about, path = spec[chosen[0]], f"spec.{chosen[0]}"
    yield from given(about, path, *_NEEDS.get(chosen[0], ()))
    if chosen[0] == "nfs" and not (about.get("path") or "").startswith("/"):
        yield say.invalid(f"{path}.path", about.get("path") or "", "must be an absolute path")
    if chosen[0] == "hostPath":
        yield from host_path(about, path)
    if chosen[0] == "csi" and about.get("driver"):
        yield from (
            say.invalid(f"{path}.driver", about["driver"], why) for why in subdomain_problems(about["driver"].lower())
        )
    if chosen[0] == "local" and spec.get("nodeAffinity") is None:
        yield say.required("spec.nodeAffinity", "Local volume requires node affinity")
    for name in chosen[1:]:
        yield say.forbidden(f"spec.{name}", "may not specify more than 1 volume type")


class VolumeClaimRules(KindRules):
    """PersistentVolumeClaim."""

    has_status = True

    def defaults(self, obj: Obj) -> None:
        obj.setdefault("spec", {}).setdefault("volumeMode", "Filesystem")

    def prepare_create(self, obj: Obj) -> None:
        obj["status"] = {"phase": "Pending"}
        _protect(obj, "kubernetes.io/pvc-protection")
        _agree_on_source(obj["spec"])

    def warnings(self, obj: Obj, old: Obj | None = None) -> list[str]:
        deprecated = f"metadata.annotations[{_OLD_CLASS}]: {_OLD_NOTES[_OLD_CLASS]}"
        old_class = _OLD_CLASS in (obj["metadata"].get("annotations") or {})
        return [*([deprecated] if old_class else ()), *claim_warnings(obj["spec"], "spec")]

    def validate(self, obj: Obj) -> list[Problem]:
        return [*claim_spec(obj["spec"], "spec")]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        if subresource:
            return [*_claim_status(new.get("status") or {})]
        return [*claim_spec(new["spec"], "spec"), *_claim_update(new["spec"], old)]


def _agree_on_source(spec: Obj) -> None:
    """The two ways to say what a volume is filled from say the same; what nothing fills is dropped."""
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    if source is not None and (source.get("apiGroup") or "", source.get("kind")) not in _FILLED_FROM:
        spec.pop("dataSource")
        source = None
    if reference is not None and reference.get("namespace"):
        spec.pop("dataSourceRef")
        reference = None
    if source is not None and reference is None:
        spec["dataSourceRef"] = dict(source)
    elif reference is not None and source is None:
        spec["dataSource"] = {name: value for name, value in reference.items() if name != "namespace"}


def _claim_status(status: Obj) -> Problems:
    for name, amount in sorted((status.get("capacity") or {}).items()):
        yield from _a_quantity(amount, f"status.capacity[{name}]")
    for name, state in sorted((status.get("allocatedResourceStatuses") or {}).items()):
        if state not in _RESIZING:
            yield say.unsupported("status.allocatedResourceStatuses", name, _RESIZING)
    for name in sorted(status.get("allocatedResources") or {}):
        if name != "storage" and "/" not in name:
            yield say.unsupported("status.allocatedResources", name, ("storage",))


def _claim_update(new: Obj, old: Obj) -> Problems:
    before = old["spec"]
    bound = (old.get("status") or {}).get("phase") == "Bound"
    free: tuple[str, ...] = ("resources", "volumeAttributesClassName") if bound else ()
    if not before.get("volumeName"):
        free = (*free, "volumeName")
    if before.get("storageClassName") is None:
        free = (*free, "storageClassName")
    fixed = [{name: value for name, value in spec.items() if name not in free} for spec in (new, before)]
    if fixed[0] != fixed[1]:
        yield say.forbidden(
            "spec",
            "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound "
            "claims\n",
        )
        yield from immutable(new.get("volumeMode"), before.get("volumeMode"), "volumeMode")
        return
    amounts = [((spec.get("resources") or {}).get("requests") or {}).get("storage", "0") for spec in (new, before)]
    if resources.nanos(amounts[0]) < resources.nanos(amounts[1]):
        yield say.forbidden("spec.resources.requests.storage", "field can not be less than status.capacity")
