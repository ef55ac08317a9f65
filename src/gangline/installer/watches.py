"""Which Config or shard a change of an object concerns, and which of the objects are not at work yet. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gangline.api.core import Pod
from gangline.api.kinds import DAEMON_SET, DEPLOYMENT, POD, SCHEDULING_SHARD, Kind
from gangline.api.meta import Object
from gangline.installer.contract import APP, CONFIG_NAME, WantedObject
from gangline.installer.plan import ObjectKey, WrittenObject, place_of
from gangline.installer.status import daemon_set_waits, deployment_waits
from gangline.runtime import Key, Reader, owner


def not_at_work(
    read: Reader, obj: Object, wanted: Iterable[WantedObject], written: dict[ObjectKey, WrittenObject]
) -> list[str]:
    """What is not at work yet. A view that is older than our last write tells nothing."""
    waiting: list[str] = []
    for item in wanted:
        if item.kind not in (DEPLOYMENT, DAEMON_SET):
            continue
        live: Any = read.get(item.kind, item.name, item.namespace)
        known = written.get(place_of(item))
        if live is not None and (known is None or int(live.metadata.resource_version or 0) < known.revision):
            live = None
        if item.kind == DAEMON_SET:
            waiting.append(daemon_set_waits(None if live is None else live.status or {}, item.name))
        else:
            waiting.append(deployment_waits(live, item.name, _pods(read, item)))
    return [text for text in waiting if text]


def _pods(read: Reader, deployment: WantedObject) -> list[Pod]:
    return read.list(POD, deployment.namespace, {APP: deployment.app})


def owner_of_pod(kind: Kind[Any]) -> Any:
    above = owner(kind)

    def keys(pod: Pod, read: Reader) -> Iterable[Key]:
        deployment = read.get(DEPLOYMENT, pod.labels.get(APP, ""), pod.namespace)
        return above(deployment, read) if deployment is not None else []

    return keys


def to_config(obj: Object, read: Reader) -> Iterable[Key]:
    return [Key("", CONFIG_NAME)]


def to_all_shards(obj: Object, read: Reader) -> Iterable[Key]:
    return [Key("", shard.name) for shard in read.list(SCHEDULING_SHARD)]


def spec_changed(before: Any, after: Any) -> bool:
    return (
        before is None
        or after is None
        or (before.spec, before.metadata.deleting) != (after.spec, after.metadata.deleting)
    )
