"""Rules of storage.k8s.io: classes, drivers, what nodes and drivers say about themselves, and attachments."""

from __future__ import annotations

from gangline.cluster.kinds.checks import (
    Obj,
    Problems,
    given,
    immutable,
    label_key,
    label_selector,
    not_negative,
    one_of,
    qualified,
    quantity_not_negative,
    repeated,
    subdomain,
    with_paths,
)
from gangline.cluster.kinds.rules import WHOLE_METADATA, KindRules
from gangline.errors import Problem
from gangline.rules.objects.finalizers import with_finalizer
from gangline.rules.values import problems as say
from gangline.rules.values.names import subdomain_problems

_LARGEST_PARAMETERS = 256 * 1024
_EXACTLY_ONE = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"


class StorageClassRules(KindRules):
    def defaults(self, obj: Obj) -> None:
        obj.setdefault("reclaimPolicy", "Delete")
        obj.setdefault("volumeBindingMode", "Immediate")

    def validate(self, obj: Obj) -> list[Problem]:
        problems = [
            *_provisioner(obj.get("provisioner") or "", "provisioner"),
            *_parameters(obj.get("parameters") or {}),
        ]
        problems += one_of(obj.get("reclaimPolicy"), ("Delete", "Retain"), "reclaimPolicy")
        problems += one_of(
            obj.get("volumeBindingMode"), ("Immediate", "WaitForFirstConsumer"), "volumeBindingMode", required=True
        )
        for where, term in with_paths(obj.get("allowedTopologies"), "allowedTopologies"):
            problems += _topology(term, f"{where}.matchLabelExpressions")
        return problems

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        problems = self.validate(new)
        problems += [
            say.forbidden(name, f"updates to {name} are forbidden.")
            for name in ("parameters", "provisioner", "reclaimPolicy")
            if new.get(name) != old.get(name)
        ]
        return [*problems, *immutable(new.get("volumeBindingMode"), old.get("volumeBindingMode"), "volumeBindingMode")]


def _provisioner(name: str, path: str) -> Problems:
    if not name:
        yield say.required(path)
    else:
        yield from qualified(name.lower(), path)


def _parameters(parameters: Obj) -> Problems:
    if len(parameters) > 512:
        yield say.too_long("parameters", 512)
        return
    for name in sorted(parameters):
        if not name:
            yield say.invalid("parameters", name, "field can not be empty.")
    if sum(len(name) + len(value) for name, value in parameters.items()) > _LARGEST_PARAMETERS:
        yield say.too_long("parameters", _LARGEST_PARAMETERS)


def _topology(term: Obj, path: str) -> Problems:
    keys: set[str] = set()
    for where, expression in with_paths(term.get("matchLabelExpressions"), path):
        key, values = expression.get("key") or "", expression.get("values") or []
        if not values:
            yield say.required(f"{where}.values")
        yield from (say.duplicate(f"{where}.values[{at}]", values[at]) for at in repeated(values))
        yield from label_key(key, f"{where}.key")
        if key in keys:
            yield say.duplicate(f"{where}.key", key)
        keys.add(key)


class CapacityRules(KindRules):
    """CSIStorageCapacity."""

    unconditional_update = False

    def validate(self, obj: Obj) -> list[Problem]:
        problems = [*subdomain(obj.get("storageClassName") or "", "storageClassName")]
        problems += label_selector(obj.get("nodeTopology"), "nodeTopology")
        return [
            *problems,
            *(quantity_not_negative(obj["capacity"], "capacity") if obj.get("capacity") is not None else ()),
        ]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        problems = self.validate(new)
        for name in ("nodeTopology", "storageClassName"):
            problems += immutable(new.get(name), old.get(name), name)
        return problems


class CsiDriverRules(KindRules):
    unconditional_update = False

    def defaults(self, obj: Obj) -> None:
        spec = obj.setdefault("spec", {})
        for name, value in (
            ("attachRequired", True),
            ("podInfoOnMount", False),
            ("storageCapacity", False),
            ("fsGroupPolicy", "ReadWriteOnceWithFSType"),
            ("volumeLifecycleModes", ["Persistent"]),
            ("requiresRepublish", False),
            ("seLinuxMount", False),
        ):
            if spec.get(name) is None:
                spec[name] = value

    def validate(self, obj: Obj) -> list[Problem]:
        return [*_driver(obj.get("spec") or {})]


def _driver(spec: Obj) -> Problems:
    yield from one_of(spec.get("fsGroupPolicy"), ("File", "None", "ReadWriteOnceWithFSType"), "spec.fsGroupPolicy")
    audiences: set[str] = set()
    for where, asked in with_paths(spec.get("tokenRequests"), "spec.tokenRequests"):
        audience, seconds = asked.get("audience") or "", asked.get("expirationSeconds")
        if audience in audiences:
            yield say.duplicate(f"{where}.audience", audience)
        audiences.add(audience)
        if seconds is not None and seconds < 600:
            yield say.invalid(f"{where}.expirationSeconds", seconds, "may not specify a duration less than 10 minutes")
        elif seconds is not None and seconds > 2**32:
            yield say.invalid(
                f"{where}.expirationSeconds", seconds, "may not specify a duration larger than 2^32 seconds"
            )
    for mode in spec.get("volumeLifecycleModes") or []:
        yield from one_of(mode, ("Persistent", "Ephemeral"), "spec.volumeLifecycleModes")


class CsiNodeRules(KindRules):
    unconditional_update = False

    def validate(self, obj: Obj) -> list[Problem]:
        problems: list[Problem] = []
        seen: set[str] = set()
        for where, driver in with_paths((obj.get("spec") or {}).get("drivers"), "spec.drivers"):
            problems += _node_driver(driver, where)
            if driver.get("name") in seen:
                problems.append(say.duplicate(f"{where}.name", driver.get("name")))
            seen.add(driver.get("name") or "")
        return problems


def _node_driver(driver: Obj, path: str) -> Problems:
    name, identity = driver.get("name") or "", driver.get("nodeID") or ""
    yield from given(driver, path, "name")
    if len(name) > 63:
        yield say.too_long(f"{path}.name", 63)
    if name:
        yield from (say.invalid(f"{path}.name", name, why) for why in subdomain_problems(name.lower()))
    yield from given(driver, path, "nodeID")
    if len(identity) > 256:
        yield say.invalid(f"{path}.nodeID", identity, "must be 256 characters or less")
    yield from not_negative((driver.get("allocatable") or {}).get("count"), f"{path}.allocatable.count")
    keys = driver.get("topologyKeys") or []
    again = set(repeated(keys))
    for index, key in enumerate(keys):
        if index in again:
            yield say.duplicate(path, key)
        yield from label_key(key, path)


class AttachmentRules(KindRules):
    """VolumeAttachment."""

    has_status = True
    status_keeps = WHOLE_METADATA
    unconditional_update = False

    def validate(self, obj: Obj) -> list[Problem]:
        return [*_attachment(obj.get("spec") or {})]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        if subresource:
            return []
        return [*self.validate(new), *immutable(new.get("spec"), old.get("spec"), "spec")]


def _attachment(spec: Obj) -> Problems:
    attacher, source = spec.get("attacher") or "", spec.get("source") or {}
    if not attacher:
        yield say.required("spec.attacher")
    else:
        yield from (say.invalid("spec.attacher", attacher, why) for why in subdomain_problems(attacher.lower()))
    volume, inline = source.get("persistentVolumeName"), source.get("inlineVolumeSpec")
    if volume is None and inline is None:
        yield say.required("spec.source", _EXACTLY_ONE)
    elif volume is not None and inline is not None:
        yield say.forbidden("spec.source", _EXACTLY_ONE)
    elif volume is not None:
        yield from (
            (say.required("spec.source.persistentVolumeName"),)
            if not volume
            else subdomain(volume, "spec.source.persistentVolumeName")
        )
    yield from subdomain(spec.get("nodeName") or "", "spec.nodeName")


class AttributesRules(KindRules):
    """VolumeAttributesClass."""

    def prepare_create(self, obj: Obj) -> None:
        meta = obj["metadata"]
        meta["finalizers"] = with_finalizer(meta.get("finalizers"), "kubernetes.io/vac-protection")

    def validate(self, obj: Obj) -> list[Problem]:
        problems = [*_provisioner(obj.get("driverName") or "", "driverName")]
        if not obj.get("parameters"):
            problems.append(say.required("parameters", "must contain at least one key/value pair"))
        return [*problems, *_parameters(obj.get("parameters") or {})]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        return [
            say.forbidden(name, f"updates to {name} are forbidden.")
            for name in ("driverName", "parameters")
            if new.get(name) != old.get(name)
        ]
