"""Checks of a pod's volumes."""

from __future__ import annotations

from collections.abc import Callable

from gangline.api import resources
from gangline.cluster.kinds.checks import Obj, Problems, given, label, one_of, with_paths
from gangline.cluster.kinds.pods.environment import field_ref, resource_ref
from gangline.cluster.kinds.pods.mounts import descending_path
from gangline.cluster.kinds.storage.claims import claim_spec
from gangline.rules.values import problems as say

ORDER = (
    "emptyDir",
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "flocker",
    "persistentVolumeClaim",
    "rbd",
    "cinder",
    "cephfs",
    "quobyte",
    "downwardAPI",
    "fc",
    "flexVolume",
    "configMap",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "storageos",
    "projected",
    "scaleIO",
    "csi",
    "ephemeral",
    "image",
)
"""The order in which the real server looks at sources: the first one counts, the others are too many."""
_NEEDS: dict[str, tuple[str, ...]] = {
    "hostPath": ("path",),
    "gitRepo": ("repository",),
    "gcePersistentDisk": ("pdName",),
    "awsElasticBlockStore": ("volumeID",),
    "secret": ("secretName",),
    "nfs": ("server", "path"),
    "iscsi": ("targetPortal", "iqn"),
    "glusterfs": ("endpoints", "path"),
    "persistentVolumeClaim": ("claimName",),
    "rbd": ("monitors", "image"),
    "cinder": ("volumeID",),
    "cephfs": ("monitors",),
    "quobyte": ("registry", "volume"),
    "configMap": ("name",),
    "azureFile": ("secretName", "shareName"),
    "vsphereVolume": ("volumePath",),
    "photonPersistentDisk": ("pdID",),
    "portworxVolume": ("volumeID",),
    "azureDisk": ("diskName", "diskURI"),
    "scaleIO": ("gateway", "system", "volumeName"),
    "csi": ("driver",),
    "flexVolume": ("driver",),
    "ephemeral": ("volumeClaimTemplate",),
    "image": ("reference",),
}
_HOST_PATHS = ("", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket")
_MODE = "must be a number between 0 and 0777 (octal), both inclusive"


def volumes(items: list[Obj], path: str) -> Problems:
    names: set[str] = set()
    for where, volume in with_paths(items, path):
        name = volume.get("name") or ""
        problems = [*source(volume, where), *_volume_name(name, f"{where}.name", names)]
        yield from problems
        if not problems:
            names.add(name)


def _volume_name(name: str, path: str, taken: set[str]) -> Problems:
    """Only a volume that is sound takes its name."""
    if not name:
        yield say.required(path)
        return
    yield from label(name, path)
    if name in taken:
        yield say.duplicate(path, name)


def source(volume: Obj, path: str) -> Problems:
    chosen = [name for name in ORDER if volume.get(name) is not None]
    if not chosen:
        yield say.required(path, "must specify a volume type")
        return
    yield from _details(chosen[0], volume[chosen[0]], f"{path}.{chosen[0]}")
    for name in chosen[1:]:
        yield say.forbidden(f"{path}.{name}", "may not specify more than 1 volume type")


def _details(name: str, about: Obj, path: str) -> Problems:
    if name == "emptyDir":
        yield from _empty_dir(about, path)
    yield from given(about, path, *_NEEDS.get(name, ()))
    check = _DETAILS.get(name)
    if check is not None:
        yield from check(about, path)


def _empty_dir(about: Obj, path: str) -> Problems:
    if about.get("sizeLimit") is not None and resources.nanos(about["sizeLimit"]) < 0:
        yield say.forbidden(f"{path}.sizeLimit", "SizeLimit field must be a valid resource quantity")


def _nfs(about: Obj, path: str) -> Problems:
    if about.get("path") and not about["path"].startswith("/"):
        yield say.invalid(f"{path}.path", about["path"], "must be an absolute path")


def _key_source(about: Obj, path: str) -> Problems:
    """A secret or a config map."""
    yield from _mode(about.get("defaultMode"), f"{path}.defaultMode")
    yield from _keys(about.get("items") or [], f"{path}.items")


def _downward(about: Obj, path: str) -> Problems:
    yield from _mode(about.get("defaultMode"), f"{path}.defaultMode")
    yield from _files(about.get("items") or [], path)


def _ephemeral(about: Obj, path: str) -> Problems:
    claim = (about.get("volumeClaimTemplate") or {}).get("spec")
    if claim is not None:
        yield from claim_spec(claim, f"{path}.volumeClaimTemplate.spec")


def _image(about: Obj, path: str) -> Problems:
    if about.get("pullPolicy"):
        yield from one_of(about["pullPolicy"], ("Always", "IfNotPresent", "Never"), f"{path}.pullPolicy")


def host_path(about: Obj, path: str) -> Problems:
    if ".." in (about.get("path") or "").split("/"):
        yield say.invalid(f"{path}.path", about["path"], "must not contain '..'")
    if about.get("type"):
        yield from one_of(about["type"], _HOST_PATHS, f"{path}.type")


def _mode(value: int | None, path: str) -> Problems:
    if value is not None and not 0 <= value <= 0o777:
        yield say.invalid(path, value, _MODE)


def _keys(items: list[Obj], path: str) -> Problems:
    for where, item in with_paths(items, path):
        yield from given(item, where, "key", "path")
        if item.get("path"):
            yield from descending_path(item["path"], f"{where}.path")
        yield from _mode(item.get("mode"), f"{where}.mode")


def _files(items: list[Obj], path: str) -> Problems:
    for _, item in with_paths(items, path):
        if not item.get("path"):
            yield say.required(f"{path}.path")
        else:
            yield from descending_path(item["path"], f"{path}.path")
        both = item.get("fieldRef") is not None and item.get("resourceFieldRef") is not None
        if item.get("fieldRef") is not None:
            yield from field_ref(item["fieldRef"], f"{path}.fieldRef", files=True)
        elif item.get("resourceFieldRef") is not None:
            yield from resource_ref(item["resourceFieldRef"], f"{path}.resourceFieldRef", volume=True)
        else:
            yield say.required(path, "one of fieldRef and resourceFieldRef is required")
        if both:
            yield say.invalid(path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously")
        yield from _mode(item.get("mode"), f"{path}.mode")


def _projected(about: Obj, path: str) -> Problems:
    yield from _mode(about.get("defaultMode"), f"{path}.defaultMode")
    for where, item in with_paths(about.get("sources"), f"{path}.sources"):
        for name in ("secret", "configMap"):
            if item.get(name) is not None:
                yield from given(item[name], f"{where}.{name}", "name")
                yield from _keys(item[name].get("items") or [], f"{where}.{name}.items")
        if item.get("downwardAPI") is not None:
            yield from _files(item["downwardAPI"].get("items") or [], f"{where}.downwardAPI")
        if sum(value is not None for value in item.values()) > 1:
            yield say.forbidden(where, "may not specify more than 1 volume type per source")
        token = item.get("serviceAccountToken")
        if token is not None:
            yield from _token(token, f"{where}.serviceAccountToken", path)


def _token(token: Obj, path: str, above: str) -> Problems:
    seconds = token.get("expirationSeconds", 3600)
    if seconds < 600:
        yield say.invalid(f"{path}.expirationSeconds", seconds, "may not specify a duration less than 10 minutes")
    elif seconds > 2**32:
        yield say.invalid(f"{path}.expirationSeconds", seconds, "may not specify a duration larger than 2^32 seconds")
    if not token.get("path"):
        yield say.required(f"{above}.path")


_DETAILS: dict[str, Callable[[Obj, str], Problems]] = {
    "configMap": _key_source,
    "downwardAPI": _downward,
    "ephemeral": _ephemeral,
    "hostPath": host_path,
    "image": _image,
    "nfs": _nfs,
    "projected": _projected,
    "secret": _key_source,
}
"""What a source is checked for beyond the fields it needs."""
