"""Secrets, ConfigMaps and keys that a pod names and its simulated node does not find, in a kubelet's words. Pure."""

from __future__ import annotations

from gangline.api.core import Pod
from gangline.api.kinds import SECRET
from gangline.api.meta import Raw
from gangline.cluster.world.pods.pod_step import LackedObject
from gangline.rules.pods.needs import NamedObject


def has_begun(pod: Pod) -> bool:
    statuses = (*pod.status.init_container_statuses, *pod.status.container_statuses)
    return any(status.state.keys() & {"running", "terminated"} for status in statuses)


def has_key(live: Raw, need: NamedObject) -> bool:
    return not need.key or any(need.key in (live.get(field) or {}) for field in ("data", "binaryData"))


def not_found(need: NamedObject) -> LackedObject:
    return _lacked(need, f'{need.kind.kind.lower()} "{need.name}" not found')


def without_key(need: NamedObject, namespace: str) -> LackedObject:
    if need.volume:
        word = "secret" if need.kind is SECRET else "config"
        return _lacked(need, f"references non-existent {word} key: {need.key}")
    return _lacked(need, f"couldn't find key {need.key} in {need.kind.kind} {namespace}/{need.name}")


def _lacked(need: NamedObject, message: str) -> LackedObject:
    """For a volume an event says so, for a container its state."""
    if need.volume:
        return LackedObject(f'MountVolume.SetUp failed for volume "{need.volume}" : {message}')
    return LackedObject(message, need.container)
