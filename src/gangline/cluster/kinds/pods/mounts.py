"""Checks of what a container mounts, as folders and as raw devices."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from gangline.cluster.kinds.checks import Obj, Problems, one_of, repeated, with_paths
from gangline.rules.values import problems as say

_RECURSIVE = ("Disabled", "Enabled", "IfPossible")


def mounts(container: Obj, path: str, volumes: Collection[str]) -> Problems:
    seen: set[Any] = set()
    devices = container.get("volumeDevices") or []
    taken, paths = {item.get("name") for item in devices}, {item.get("devicePath") for item in devices}
    for where, item in with_paths(container.get("volumeMounts"), path):
        if not item.get("name"):
            yield say.required(f"{where}.name")
        if item.get("name") not in volumes:
            yield say.not_found(f"{where}.name", item.get("name") or "")
        if not item.get("mountPath"):
            yield say.required(f"{where}.mountPath")
        if item.get("mountPath") in seen:
            yield say.invalid(f"{where}.mountPath", item.get("mountPath"), "must be unique")
        seen.add(item.get("mountPath"))
        if item.get("name") in taken:
            yield say.invalid(f"{where}.name", item["name"], "must not already exist in volumeDevices")
        if item.get("mountPath") in paths:
            yield say.invalid(
                f"{where}.mountPath", item["mountPath"], "must not already exist as a path in volumeDevices"
            )
        yield from _mount(item, container, where, path)


def _mount(item: Obj, container: Obj, path: str, all_of_them: str) -> Problems:
    for name in ("subPath", "subPathExpr"):
        if item.get(name):
            yield from descending_path(item[name], f"{all_of_them}.{name}")
    if item.get("subPath") and item.get("subPathExpr"):
        yield say.invalid(f"{path}.subPathExpr", item["subPathExpr"], "subPathExpr and subPath are mutually exclusive")
    propagation = item.get("mountPropagation")
    yield from one_of(propagation, ("Bidirectional", "HostToContainer", "None"), f"{all_of_them}.mountPropagation")
    if propagation == "Bidirectional" and not (container.get("securityContext") or {}).get("privileged"):
        yield say.forbidden(
            f"{all_of_them}.mountPropagation",
            "Bidirectional mount propagation is available only to privileged containers",
        )
    recursive = item.get("recursiveReadOnly")
    if recursive is not None:
        yield from one_of(recursive, _RECURSIVE, f"{all_of_them}.recursiveReadOnly")
        if recursive in ("Enabled", "IfPossible") and not item.get("readOnly"):
            yield say.forbidden(f"{all_of_them}.recursiveReadOnly", "may only be specified when readOnly is true")


def devices(container: Obj, path: str, volumes: Mapping[str, bool]) -> Problems:
    """`volumes` says of each whether it comes from a claim, which alone can be raw."""
    items, mounted = container.get("volumeDevices") or [], container.get("volumeMounts") or []
    again = set(repeated(item.get("name") or "" for item in items))
    names, paths = {item.get("name") for item in mounted}, {item.get("mountPath") for item in mounted}
    for index, (where, item) in enumerate(with_paths(items, path)):
        name, place = item.get("name") or "", item.get("devicePath") or ""
        if not name:
            yield say.required(f"{where}.name")
        if index in again:
            yield say.invalid(f"{where}.name", name, "must be unique")
        yield from _raw_volume(name, f"{where}.name", volumes)
        if not place:
            yield say.required(f"{where}.devicePath")
        if name in names:
            yield say.invalid(f"{where}.name", name, "must not already exist in volumeMounts")
        if place in paths:
            yield say.invalid(f"{where}.devicePath", place, "must not already exist as a path in volumeMounts")


def _raw_volume(name: str, path: str, volumes: Mapping[str, bool]) -> Problems:
    if name not in volumes:
        yield say.not_found(path, name)
    elif not volumes[name]:
        yield say.invalid(
            path, name, "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
        )


def descending_path(value: str, path: str) -> Problems:
    if value.startswith("/"):
        yield say.invalid(path, value, "must be a relative path")
    if ".." in value.split("/"):
        yield say.invalid(path, value, "must not contain '..'")
