"""Rules of the plain kinds of core: ConfigMap, Secret, ServiceAccount, Namespace, Node."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

from gangline.api import resources
from gangline.cluster.kinds.checks import (
    NOT_NEGATIVE,
    Obj,
    Problems,
    immutable,
    label_key,
    named,
    one_of,
    repeated,
    with_paths,
)
from gangline.cluster.kinds.networking.addresses import legacy_cidr, read_cidr
from gangline.cluster.kinds.pods.environment import config_key_problems
from gangline.cluster.kinds.pods.placement import EFFECTS
from gangline.cluster.kinds.rules import KindRules
from gangline.errors import Problem
from gangline.rules.values import problems as say
from gangline.rules.values.names import label_problems, label_value_problems, qualified_name_problems

_FROZEN = "field is immutable when `immutable` is set"
_LARGEST = 1024 * 1024
_SECURITY, _LEVELS = "pod-security.kubernetes.io/", ("privileged", "baseline", "restricted")
_FINALIZERS = ("kubernetes", "orphan", "foregroundDeletion")


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
        yield say.too_long("[]", _LARGEST)


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

    def warnings(self, obj: Obj, old: Obj | None = None) -> list[str]:
        if obj.get("type") != "kubernetes.io/tls" or (old is not None and old.get("data") == obj.get("data")):
            return []
        certificate = base64.b64decode((obj.get("data") or {}).get("tls.crt") or "")
        return [] if b"-----BEGIN " in certificate else ["tls: failed to find any PEM data in certificate input"]


_SECRET_KEYS = {
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
}


def _secret(obj: Obj) -> Problems:
    data, kind = obj.get("data") or {}, obj.get("type") or ""
    size = 0
    for key, value in sorted(data.items()):
        yield from named(key, config_key_problems, f"data[{key}]")
        size += len(value) * 3 // 4
    if size > _LARGEST:
        yield say.too_long("data", _LARGEST)
    account = (obj["metadata"].get("annotations") or {}).get("kubernetes.io/service-account.name")
    if kind == "kubernetes.io/service-account-token" and not account:
        yield say.required("metadata.annotations[kubernetes.io/service-account.name]")
    yield from _secret_keys(kind, data)


def _secret_keys(kind: str, data: Obj) -> Problems:
    """What a Secret of a type must hold."""
    if kind == "kubernetes.io/basic-auth" and "username" not in data and "password" not in data:
        yield say.required("data[username]")
        yield say.required("data[password]")
    for key in _SECRET_KEYS.get(kind, ()):
        if key not in data or (not data[key] and key == "ssh-privatekey"):
            yield say.required(f"data[{key}]")
        elif key.startswith(".docker") and (why := _not_json(data[key])):
            yield say.invalid(f"data[{key}]", "<secret contents redacted>", why)


def _not_json(text: str) -> str:
    """Why an encoded text is no JSON; empty if it is."""
    plain = base64.b64decode(text).decode(errors="replace")
    try:
        json.loads(plain)
    except ValueError:
        start = plain.lstrip()
        return (
            f"invalid character '{start[0]}' looking for beginning of value"
            if start
            else "unexpected end of JSON input"
        )
    return ""


class NamespaceRules(KindRules):
    has_status = True

    def defaults(self, obj: Obj) -> None:
        labels = obj["metadata"].setdefault("labels", {}) if obj.get("metadata") is not None else {}
        if obj["metadata"].get("name"):
            labels["kubernetes.io/metadata.name"] = obj["metadata"]["name"]
        if not obj.setdefault("status", {}).get("phase"):
            obj["status"]["phase"] = "Active"

    def prepare_create(self, obj: Obj) -> None:
        obj["status"] = {"phase": "Active"}
        finalizers = obj.setdefault("spec", {}).setdefault("finalizers", None) or []
        obj["spec"]["finalizers"] = finalizers if "kubernetes" in finalizers else [*finalizers, "kubernetes"]

    def validate(self, obj: Obj) -> list[Problem]:
        problems = [
            say.invalid("spec.finalizers", name, why)
            for name in (obj.get("spec") or {}).get("finalizers") or []
            for why in qualified_name_problems(name)
        ]
        problems += [
            say.invalid("spec.finalizers", name, "name is neither a standard finalizer name nor is it fully qualified")
            for name in (obj.get("spec") or {}).get("finalizers") or []
            if "/" not in name and name not in _FINALIZERS
        ]
        return [*problems, *_security_labels(obj["metadata"].get("labels") or {})]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        if subresource == "finalize":
            return self.validate(new)
        labels = new["metadata"].get("labels") or {}
        return [*_security_labels(labels)] if not subresource and labels != old["metadata"].get("labels") else []

    def prepare_update(self, new: Obj, old: Obj, subresource: str = "") -> None:
        if subresource != "finalize":
            new["spec"] = old.get("spec") or {}
        if subresource != "status":
            new["status"] = old.get("status") or {}

    def name_problems(self, name: str) -> list[str]:
        return label_problems(name)

    def reset(self, subresource: str = "") -> Any:
        return (("status",),) if not subresource else (("spec",),)


def _security_labels(labels: Obj) -> Problems:
    for mode in ("enforce", "audit", "warn"):
        level, version = (labels.get(f"{_SECURITY}{mode}{part}") for part in ("", "-version"))
        if level is not None and level not in _LEVELS:
            yield say.invalid(f"metadata.labels[{_SECURITY}{mode}]", level, f"must be one of {', '.join(_LEVELS)}")
        if version is not None and version != "latest" and not re.fullmatch(r"v1\.(0|[1-9][0-9]*)", version):
            yield say.invalid(f"metadata.labels[{_SECURITY}{mode}-version]", version, 'must be "latest" or "v1.x"')


class NodeRules(KindRules):
    has_status = True

    def clear_status(self, obj: Obj) -> None:
        """A node may come with its status: the kubelet registers itself."""

    def defaults(self, obj: Obj) -> None:
        spec = obj.setdefault("spec", {})
        blocks = list(spec.get("podCIDRs") or [])
        if spec.get("podCIDR"):
            spec["podCIDRs"] = [spec["podCIDR"], *blocks[1:]] if not blocks or blocks[0] != spec["podCIDR"] else blocks
        elif blocks:
            spec["podCIDR"] = blocks[0]
        status = obj.setdefault("status", {})
        if status.get("capacity") and not status.get("allocatable"):
            status["allocatable"] = dict(status["capacity"])

    def prepare_create(self, obj: Obj) -> None:
        super().prepare_create(obj)
        (obj.get("spec") or {}).pop("configSource", None)

    def validate(self, obj: Obj) -> list[Problem]:
        spec = obj.get("spec") or {}
        return [
            *_taints(spec.get("taints") or []),
            *_capacity(obj.get("status") or {}),
            *_blocks(spec.get("podCIDRs") or []),
        ]

    def warnings(self, obj: Obj, old: Obj | None = None) -> list[str]:
        deprecated = ["spec.externalID: this field is deprecated, and is unused by Kubernetes"]
        return deprecated if (obj.get("spec") or {}).get("externalID") else []

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        taints = (new.get("spec") or {}).get("taints") or []
        problems = [
            *_taints(taints),
            *_taints(taints),
            *_capacity(new.get("status") or {}),
            *_addresses(new.get("status") or {}),
        ]
        spec, before = new.get("spec") or {}, old.get("spec") or {}
        if before.get("podCIDRs") and spec.get("podCIDRs") != before["podCIDRs"]:
            problems.append(
                say.forbidden("spec.podCIDRs", 'node updates may not change podCIDR except from "" to valid')
            )
        if before.get("providerID") and spec.get("providerID") != before["providerID"]:
            problems.append(
                say.forbidden("spec.providerID", 'node updates may not change providerID except from "" to valid')
            )
        return problems


def _blocks(blocks: list[str]) -> Problems:
    for where, block in with_paths(blocks, "spec.podCIDRs"):
        yield from legacy_cidr(block, where)
    versions = [network.version for block in blocks if (network := read_cidr(block)) is not None]
    if len(blocks) > 2 or len(versions) != len(set(versions)):
        yield say.invalid("spec.podCIDRs", blocks, "may specify no more than one CIDR for each IP family")


def _addresses(status: Obj) -> Problems:
    items = status.get("addresses") or []
    for index in repeated(items):
        item = items[index]
        dumped = json.dumps(
            {"Type": item.get("type") or "", "Address": item.get("address") or ""}, separators=(",", ":")
        )
        yield Problem(f"status.addresses[{index}]", f"Duplicate value: {dumped}", "FieldValueDuplicate", item)


def _taints(items: list[Obj]) -> Problems:
    seen: set[tuple[Any, Any]] = set()
    for where, taint in with_paths(items, "metadata.taints"):
        yield from label_key(taint.get("key") or "", f"{where}.key")
        if why := label_value_problems(taint.get("value") or ""):
            yield say.invalid(f"{where}.value", taint.get("value"), ";".join(why))
        yield from one_of(taint.get("effect"), EFFECTS, f"{where}.effect", required=True)
        key = (taint.get("key"), taint.get("effect"))
        if key in seen:
            shown = {
                "Key": taint.get("key") or "",
                "Value": taint.get("value") or "",
                "Effect": taint.get("effect") or "",
                "TimeAdded": taint.get("timeAdded"),
            }
            text = json.dumps(shown, separators=(",", ":"))
            yield Problem(
                where,
                f"Duplicate value: {text}: taints must be unique by key and effect pair",
                "FieldValueDuplicate",
                taint,
            )
        seen.add(key)


def _capacity(status: Obj) -> Problems:
    for part in ("capacity", "allocatable"):
        for name, amount in sorted((status.get(part) or {}).items()):
            if resources.nanos(amount) < 0:
                yield say.invalid(f"status.{part}.{name}", amount, NOT_NEGATIVE)
            elif resources.nanos(amount) % 10**9 and (name == "pods" or "/" in name):
                yield say.invalid(f"status.{part}.{name}", amount, "must be an integer")
