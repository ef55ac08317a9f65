"""Secrets and ConfigMaps that a pod names, by variables of its containers and by volumes, each with the key asked for.

Read by the kubelet of simulated nodes, which starts no container without them, and by `why/`, which says where a pod
names what it lacks. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gangline.api.core import Container, Pod
from gangline.api.kinds import CONFIG_MAP, SECRET, Kind
from gangline.api.meta import Raw

STEMS: tuple[tuple[Kind[Any], str], ...] = ((SECRET, "secret"), (CONFIG_MAP, "configMap"))
"""How fields of a pod that name an object of this kind begin."""


@dataclass(frozen=True, slots=True)
class NamedObject:
    """`key`: of its data; empty: the whole of it. `where`: the field in words, which is one of a container or of a
    volume."""

    kind: Kind[Any]
    name: str
    key: str
    where: str
    container: str = ""
    volume: str = ""
    optional: bool = False


def named_objects(pod: Pod) -> Iterator[NamedObject]:
    for container in (*pod.spec.init_containers, *pod.spec.containers):
        yield from _by_variables(container)
    for volume in pod.spec.volumes:
        yield from _by_volume(volume)


def needed_objects(pod: Pod) -> Iterator[NamedObject]:
    """Those without which a kubelet does not start the pod: volumes that no container mounts do not count."""
    containers = (*pod.spec.init_containers, *pod.spec.containers)
    mounted = {str(mount.get("name")) for container in containers for mount in container.volume_mounts}
    for named_object in named_objects(pod):
        if (
            named_object.name
            and not named_object.optional
            and (not named_object.volume or named_object.volume in mounted)
        ):
            yield named_object


def _by_variables(container: Container) -> Iterator[NamedObject]:
    for kind, stem in STEMS:
        for entry in container.env:
            source = (entry.get("valueFrom") or {}).get(f"{stem}KeyRef")
            if source:
                where = f"container {container.name}, env {entry.get('name')}"
                yield _named(kind, source, str(source.get("key") or ""), where, container=container.name)
        for entry in container.env_from:
            source = entry.get(f"{stem}Ref")
            if source:
                yield _named(kind, source, "", f"container {container.name}, envFrom", container=container.name)


def _by_volume(volume: Raw) -> Iterator[NamedObject]:
    label = str(volume.get("name"))
    for source in (volume, *((volume.get("projected") or {}).get("sources") or ())):
        for kind, stem in STEMS:
            given = source.get(stem)
            if isinstance(given, dict):
                for key in [str(item.get("key") or "") for item in given.get("items") or ()] or [""]:
                    yield _named(kind, given, key, f"volume {label}", volume=label)


def _named(kind: Kind[Any], source: Raw, key: str, where: str, container: str = "", volume: str = "") -> NamedObject:
    name = str(source.get("secretName") or source.get("name") or "")
    return NamedObject(kind, name, key, where, container, volume, bool(source.get("optional")))
