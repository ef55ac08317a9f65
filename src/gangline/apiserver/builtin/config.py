"""Rules of the plain kinds of core: ConfigMap, Secret, ServiceAccount, Namespace, Node, LimitRange, ResourceQuota, Event."""

from __future__ import annotations

import base64
import json
from typing import Any

from gangline.api import resources
from gangline.apiserver.builtin.checks import NOT_NEGATIVE, Obj, Problems, each, immutable, label_key, named, one_of
from gangline.apiserver.builtin.containers import config_key_problems
from gangline.apiserver.builtin.placement import EFFECTS, resource_name_problems
from gangline.apiserver.builtin.rules import KindRules
from gangline.errors import Problem
from gangline.schema import problems as say
from gangline.schema.names import label_problems, label_value_problems

_FROZEN = "field is immutable when `immutable` is set"
_LARGEST = 1024 * 1024


class ConfigMapRules(KindRules):
    def validate(self, obj: Obj) -> list[Problem]:
        return [*_keys(obj)]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        return [*_frozen(new, old, ("data", "binaryData")), *_keys(new)]


def _keys(obj: Obj) -> Problems:
    size = 0
    for part in ("data", "binaryData"):
        for key, value in sorted((obj.get(part) or {}).items()):
            yield from named(key, config_key_problems, f"{part}[{key}]")
            if part == "data" and key in (obj.get("binaryData") or {}):
                yield say.invalid(f"data[{key}]", key, "duplicate of key present in binaryData")
            size += len(value.encode()) if part == "data" else len(value) * 3 // 4
    if size > _LARGEST:
        yield say.too_long("", _LARGEST)


def _frozen(new: Obj, old: Obj, parts: tuple[str, ...]) -> Problems:
    if not old.get("immutable"):
        return
    if not new.get("immutable"):
        yield say.forbidden("immutable", _FROZEN)
    for part in parts:
        if (new.get(part) or {}) != (old.get(part) or {}):
            yield say.forbidden(part, _FROZEN)


class SecretRules(KindRules):
    def defaults(self, obj: Obj) -> None:
        if not obj.get("type"):
            obj["type"] = "Opaque"
        plain = obj.pop("stringData", None)
        if plain:
            data = obj.setdefault("data", {})
            data.update({key: base64.b64encode(value.encode()).decode() for key, value in plain.items()})

    def validate(self, obj: Obj) -> list[Problem]:
        return [*_secret(obj)]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        return [*immutable(new.get("type"), old.get("type"), "type"), *_frozen(new, old, ("data",)), *_secret(new)]


_SECRET_KEYS = {
    "kubernetes.io/dockercfg": (".dockercfg",), "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",), "kubernetes.io/tls": ("tls.crt", "tls.key"),
}


def _secret(obj: Obj) -> Problems:
    data, kind = obj.get("data") or {}, obj.get("type")
    size = 0
    for key, value in sorted(data.items()):
        yield from named(key, config_key_problems, f"data[{key}]")
        size += len(value) * 3 // 4
    if size > _LARGEST:
        yield say.too_long("data", _LARGEST)
    account = (obj["metadata"].get("annotations") or {}).get("kubernetes.io/service-account.name")
    if kind == "kubernetes.io/service-account-token" and not account:
        yield say.required("metadata.annotations[kubernetes.io/service-account.name]")
    if kind == "kubernetes.io/basic-auth" and "username" not in data and "password" not in data:
        yield say.required("data[username]")
        yield say.required("data[password]")
    for key in _SECRET_KEYS.get(kind or "", ()):
        if key not in data:
            yield say.required(f"data[{key}]")
        elif key.startswith(".docker") and not _is_json(data[key]):
            yield say.invalid(f"data[{key}]", "<secret contents redacted>", "invalid character")


def _is_json(text: str) -> bool:
    try:
        json.loads(base64.b64decode(text))
    except ValueError:
        return False
    return True


class NamespaceRules(KindRules):
    has_status = True

    def defaults(self, obj: Obj) -> None:
        labels = obj["metadata"].setdefault("labels", {}) if obj.get("metadata") is not None else {}
        if obj["metadata"].get("name"):
            labels["kubernetes.io/metadata.name"] = obj["metadata"]["name"]

    def prepare_create(self, obj: Obj) -> None:
        obj["status"] = {"phase": "Active"}
        finalizers = obj.setdefault("spec", {}).setdefault("finalizers", None) or []
        obj["spec"]["finalizers"] = finalizers if "kubernetes" in finalizers else [*finalizers, "kubernetes"]

    def prepare_update(self, new: Obj, old: Obj, subresource: str = "") -> None:
        if subresource != "finalize":
            new["spec"] = old.get("spec") or {}
        if subresource != "status":
            new["status"] = old.get("status") or {}

    def name_problems(self, name: str) -> list[str]:
        return label_problems(name)

    def reset(self, subresource: str = "") -> Any:
        return (("status",),) if not subresource else (("spec",),)


class NodeRules(KindRules):
    has_status = True

    def clear_status(self, obj: Obj) -> None:
        """A node may come with its status: the kubelet registers itself."""

    def defaults(self, obj: Obj) -> None:
        status = obj.setdefault("status", {})
        if status.get("capacity") and not status.get("allocatable"):
            status["allocatable"] = dict(status["capacity"])

    def validate(self, obj: Obj) -> list[Problem]:
        return [*_taints((obj.get("spec") or {}).get("taints") or []), *_capacity(obj.get("status") or {})]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        taints = (new.get("spec") or {}).get("taints") or []
        found = [*_taints(taints), *_taints(taints), *_capacity(new.get("status") or {})]
        spec, before = new.get("spec") or {}, old.get("spec") or {}
        if before.get("podCIDRs") and spec.get("podCIDRs") != before["podCIDRs"]:
            found.append(say.forbidden("spec.podCIDRs", "node updates may not change podCIDR except from \"\" to valid"))
        if before.get("providerID") and spec.get("providerID") != before["providerID"]:
            found.append(say.forbidden("spec.providerID", "node updates may not change providerID except from \"\" to valid"))
        return found


def _taints(items: list[Obj]) -> Problems:
    seen: set[tuple[Any, Any]] = set()
    for where, taint in each(items, "metadata.taints"):
        yield from label_key(taint.get("key") or "", f"{where}.key")
        if why := label_value_problems(taint.get("value") or ""):
            yield say.invalid(f"{where}.value", taint.get("value"), ";".join(why))
        yield from one_of(taint.get("effect"), EFFECTS, f"{where}.effect", required=True)
        key = (taint.get("key"), taint.get("effect"))
        if key in seen:
            shown = {"Key": taint.get("key") or "", "Value": taint.get("value") or "", "Effect": taint.get("effect") or "",
                     "TimeAdded": taint.get("timeAdded")}
            text = json.dumps(shown, separators=(",", ":"))
            yield Problem(where, f"Duplicate value: {text}: taints must be unique by key and effect pair", "FieldValueDuplicate", taint)
        seen.add(key)


def _capacity(status: Obj) -> Problems:
    for part in ("capacity", "allocatable"):
        for name, amount in sorted((status.get(part) or {}).items()):
            if resources.nanos(amount) < 0:
                yield say.invalid(f"status.{part}.{name}", amount, NOT_NEGATIVE)
            elif resources.nanos(amount) % 10**9 and (name == "pods" or "/" in name):
                yield say.invalid(f"status.{part}.{name}", amount, "must be an integer")


class LimitRangeRules(KindRules):
    create_on_update = True

    def defaults(self, obj: Obj) -> None:
        for item in (obj.get("spec") or {}).get("limits") or []:
            if item.get("type") == "Container":
                _container_limits(item)

    def validate(self, obj: Obj) -> list[Problem]:
        return [*_limits((obj.get("spec") or {}).get("limits") or [])]


def _container_limits(item: Obj) -> None:
    for target, source in (("default", "max"), ("defaultRequest", "default"), ("defaultRequest", "min")):
        for name, amount in (item.get(source) or {}).items():
            item.setdefault(target, {}).setdefault(name, amount)


def _limits(items: list[Obj]) -> Problems:
    seen: set[Any] = set()
    for where, item in each(items, "spec.limits"):
        kind = item.get("type") or ""
        yield from label_key(kind, f"{where}.type")
        if "/" not in kind and kind not in _LIMITED:
            yield say.invalid(f"{where}.type", kind, "must be a standard limit type or fully qualified")
        if kind in seen:
            yield say.duplicate(f"{where}.type", kind)
        seen.add(kind)
        for name in sorted({name for field, *_ in _ORDERED for name in item.get(field) or {}}):
            yield from _in_order(item, name, where)


_LIMITED = ("Pod", "Container", "PersistentVolumeClaim")
_ORDERED = (
    ("min", "max", "min", "min", "min value {} is greater than max value {}"),
    ("min", "defaultRequest", "defaultRequest", "defaultRequest", "min value {} is greater than default request value {}"),
    ("defaultRequest", "max", "defaultRequest", "defaultRequest", "default request value {} is greater than max value {}"),
    ("defaultRequest", "default", "defaultRequest", "defaultRequest", "default request value {} is greater than default limit value {}"),
    ("min", "default", "default", "min", "min value {} is greater than default value {}"),
    ("default", "max", "default", "max", "default value {} is greater than max value {}"),
)
"""What may not be greater than what; the field that is blamed, the field whose value is shown, and the words."""


def _in_order(item: Obj, name: str, where: str) -> Problems:
    for lower, higher, blamed, shown, words in _ORDERED:
        low, high = (item.get(lower) or {}).get(name), (item.get(higher) or {}).get(name)
        if low is not None and high is not None and resources.nanos(low) > resources.nanos(high):
            yield say.invalid(f"{where}.{blamed}[{name}]", item[shown][name], words.format(low, high))


_QUOTA = frozenset((
    "cpu", "memory", "ephemeral-storage", "requests.cpu", "requests.memory", "requests.storage", "requests.ephemeral-storage", "limits.cpu",
    "limits.memory", "limits.ephemeral-storage", "pods", "resourcequotas", "services", "replicationcontrollers", "secrets",
    "persistentvolumeclaims", "configmaps", "services.nodeports", "services.loadbalancers"))
_STANDARD = _QUOTA | {"storage"}


class QuotaRules(KindRules):
    has_status = True

    def validate(self, obj: Obj) -> list[Problem]:
        return [*_hard((obj.get("spec") or {}).get("hard") or {}, "spec.hard")]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        return [*_hard((new.get("status") or {}).get("hard") or {}, "status.hard")] if subresource == "status" else self.validate(new)


def _hard(amounts: Obj, path: str) -> Problems:
    for name, amount in sorted(amounts.items()):
        where = f"{path}[{name}]"
        yield from (say.invalid(where, name, why) for why in resource_name_problems(name))
        if "/" not in name and not name.startswith(("hugepages-", "requests.hugepages-")):
            if name not in _STANDARD:
                yield say.invalid(where, name, "must be a standard resource type or fully qualified")
            if name not in _QUOTA:
                yield say.invalid(where, name, "must be a standard resource for quota")
        if resources.nanos(amount) < 0:
            yield say.invalid(where, amount, NOT_NEGATIVE)
        elif name in ("pods", "services", "secrets", "configmaps") and resources.nanos(amount) % resources.NANO:
            yield say.invalid(where, amount, "must be an integer")


class EventRules(KindRules):
    """core/v1 Event: the older form, hardly checked."""

    create_on_update = True

    def validate(self, obj: Obj) -> list[Problem]:
        return [*event_namespace(obj["metadata"], obj.get("involvedObject") or {}, "involvedObject")]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        return self.validate(new)


def event_namespace(meta: Obj, subject: Obj, path: str) -> Problems:
    """An event lives where its subject does; events of cluster-scoped objects in `default`."""
    namespace, about = meta.get("namespace") or "", subject.get("namespace") or ""
    if about != namespace and not (not about and namespace in ("default", "kube-system")):
        yield say.invalid(f"{path}.namespace", about, "does not match event.namespace")


class NewEventRules(KindRules):
    """events.k8s.io/v1 Event: everything required, almost nothing changes."""

    create_on_update = True

    def validate(self, obj: Obj) -> list[Problem]:
        return [*event_namespace(obj["metadata"], obj.get("regarding") or {}, "involvedObject"), *_event(obj)]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        found = [*self.validate(new)]
        for name, told in (("regarding", "involvedObject"), ("reason", "reason"), ("note", "message"), ("type", "type"),
                           ("eventTime", "eventTime"), ("action", "action"), ("related", "related"),
                           ("reportingController", "reportingController"), ("reportingInstance", "reportingInstance")):
            found += immutable(new.get(name), old.get(name), told)
        return found


def _event(obj: Obj) -> Problems:
    if obj.get("eventTime") is None:
        yield say.required("eventTime")
    for name, told, limit in (("reportingController", "reportingController", 0), ("reportingInstance", "reportingInstance", 128),
                              ("action", "action", 128), ("reason", "reason", 128)):
        value = obj.get(name) or ""
        if not value:
            yield say.required(told)
        elif limit and len(value) > limit:
            yield say.invalid(told, "", f"can have at most {limit} characters")
    if len(obj.get("note") or "") > 1024:
        yield say.invalid("message", "", "can have at most 1024 characters")
    if obj.get("type") not in ("Normal", "Warning"):
        yield say.invalid("type", "", f"has invalid value: {obj.get('type') or ''}")
