"""Checks of environment variables: where their values come from, and which fields and resources may be named.

Pure; containers.py and volumes.py ask.
"""

from __future__ import annotations

import re
from typing import Any

from gangline.api import resources
from gangline.cluster.kinds.checks import Obj, Problems, named, subdomain, with_paths
from gangline.rules.values import problems as say
from gangline.rules.values.names import qualified_name_problems

_FIELD_PATHS = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)


_FILE_PATHS = ("metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid")


_KNOWN_PATHS = (
    *_FIELD_PATHS,
    "metadata.labels",
    "metadata.annotations",
    "spec.restartPolicy",
    "spec.schedulerName",
    "status.phase",
    "spec.hostNetwork",
)


_RESOURCE_FIELDS = (
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
)


_CPU_UNITS = ("1m", "1")


_BYTE_UNITS = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")


_NO_VARIABLE = re.compile(r"[^\x20-\x7e]|=").search


def environment(items: list[Obj], path: str) -> Problems:
    for index, item in enumerate(items):
        name = item.get("name") or ""
        if not name:
            yield say.required(f"{path}[{index}].name")
        elif _NO_VARIABLE(name):
            yield say.invalid(
                f"{path}[{index}].name",
                name,
                "a valid environment variable name must consist only of printable ASCII characters other than '='",
            )
        if item.get("valueFrom") is not None:
            yield from _source(item, f"{path}[{index}].valueFrom")


def _source(item: Obj, path: str) -> Problems:
    source = item["valueFrom"]
    if source.get("fieldRef") is not None:
        yield from field_ref(source["fieldRef"], f"{path}.fieldRef")
    if source.get("resourceFieldRef") is not None:
        yield from resource_ref(source["resourceFieldRef"], f"{path}.resourceFieldRef")
    for name in ("configMapKeyRef", "secretKeyRef"):
        if source.get(name) is not None:
            yield from key_ref(source[name], f"{path}.{name}")
    count = sum(
        source.get(name) is not None
        for name in ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")
    )
    if count == 0:
        yield say.invalid(
            path,
            "",
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`",
        )
    elif item.get("value"):
        yield say.invalid(path, "", "may not be specified when `value` is not empty")
    elif count > 1:
        yield say.invalid(path, "", "may not have more than one field specified at a time")


def field_ref(reference: Obj, path: str, files: bool = False) -> Problems:
    text = reference.get("fieldPath") or ""
    if not reference.get("apiVersion"):
        yield say.required(f"{path}.apiVersion")
        return
    if not text:
        yield say.required(f"{path}.fieldPath")
        return
    if reference["apiVersion"] != "v1":
        message = f"error converting fieldPath: unsupported pod version: {reference['apiVersion']}"
        yield say.invalid(f"{path}.fieldPath", text, message)
        return
    match = re.fullmatch(r"(metadata\.(?:labels|annotations))\['(.*)'\]", text)
    if match:
        yield from named(
            match.group(2).lower() if "annotations" in text else match.group(2), qualified_name_problems, path
        )
    elif text not in _KNOWN_PATHS:
        yield say.invalid(f"{path}.fieldPath", text, f"error converting fieldPath: field label not supported: {text}")
    elif text not in (_FILE_PATHS if files else _FIELD_PATHS):
        yield say.unsupported(f"{path}.fieldPath", text, sorted(_FILE_PATHS if files else _FIELD_PATHS))


def resource_ref(reference: Obj, path: str, volume: bool = False) -> Problems:
    if volume and not reference.get("containerName"):
        yield say.required(f"{path}.containerName")
    name = reference.get("resource") or ""
    if not name:
        yield say.required(f"{path}.resource")
    elif name not in _RESOURCE_FIELDS and not name.startswith(("limits.hugepages-", "requests.hugepages-")):
        yield say.unsupported(f"{path}.resource", name, _RESOURCE_FIELDS)
    else:
        yield from _divisor(reference.get("divisor"), name, f"{path}.divisor")


def _divisor(divisor: Any, name: str, path: str) -> Problems:
    kind = name.partition(".")[2].partition("-")[0]
    allowed = _CPU_UNITS if kind == "cpu" else _BYTE_UNITS
    noun = {"cpu": "cpu", "memory": "memory", "ephemeral": "local ephemeral storage", "hugepages": "hugepages"}[kind]
    if divisor is not None and resources.nanos(divisor) and divisor not in allowed:
        shown = "1m and 1" if kind == "cpu" else ", ".join(_BYTE_UNITS)
        yield say.invalid(path, name, f"only divisor's values {shown} are supported with the {noun} resource")


def key_ref(reference: Obj, path: str) -> Problems:
    yield from subdomain(reference.get("name") or "", f"{path}.name")
    if not reference.get("key"):
        yield say.required(f"{path}.key")
    else:
        yield from config_key(reference["key"], f"{path}.key")


def config_key_problems(key: str) -> list[str]:
    reasons = ["must be no more than 253 characters"] if len(key) > 253 else []
    if not re.fullmatch(r"[-._a-zA-Z0-9]+", key):
        reasons.append(
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or "
            "'KEY_NAME',  or "
            "'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
        )
    if key in (".", ".."):
        reasons.append(f"must not be '{key}'")
    elif key.startswith(".."):
        reasons.append("must not start with '..'")
    return reasons


def config_key(key: str, path: str) -> Problems:
    yield from named(key, config_key_problems, path)


def env_from(items: list[Obj], path: str) -> Problems:
    for where, item in with_paths(items, path):
        sources = [name for name in ("configMapRef", "secretRef") if item.get(name) is not None]
        for name in sources:
            if not item[name].get("name"):
                yield say.required(f"{where}.{name}.name")
            yield from subdomain(item[name].get("name") or None, f"{where}.{name}.name")
        if not sources:
            yield say.invalid(path, "", "must specify one of: `configMapRef` or `secretRef`")
        elif len(sources) > 1:
            yield say.invalid(path, "", "may not have more than one field specified at a time")
