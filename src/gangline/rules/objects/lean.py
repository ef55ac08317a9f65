"""Pods and PodGroups as the scheduler, the binder and the controllers of statuses keep them: thousands of similar ones,
in little memory.

What none of them reads is dropped (statuses of containers), and parts and words that equal those of a sibling are the
same objects. Only what has come to rest is looked at: before that, the next event replaces it. Handed to informers as
trims. Pure."""

from __future__ import annotations

from collections.abc import Callable
from sys import intern
from typing import Any, TypeVar

import msgspec

from gangline.api.core import Pod
from gangline.api.kai import PodGroup
from gangline.api.meta import Metadata, Object

T = TypeVar("T")
Seen = TypeVar("Seen", bound=Object)
MOST, MADE = 1024, 512
"""Parts that are kept to compare with, and lean objects for other components of the process."""
_known: dict[tuple[type, str, bytes], Any] = {}
_made: dict[int, tuple[Any, Any]] = {}
_encoded = msgspec.msgpack.Encoder().encode


def lean_pod(pod: Pod) -> Pod:
    """A pod with a node, without statuses of containers and with parts that it shares with its siblings."""
    return pod if pod.status.phase == "Pending" else _once(pod, _lean_pod)


def lean_group(group: PodGroup) -> PodGroup:
    """A PodGroup whose status was written, with parts that it shares with its siblings."""
    return _once(group, _lean_group) if group.status.conditions else group


def _once(seen: Seen, make: Callable[[Seen], Seen]) -> Seen:
    """Components of one process are given the same object, one after the other: they keep one lean object of it."""
    known = _made.get(id(seen))
    if known is None:
        if len(_made) >= MADE:
            _made.clear()
        known = _made[id(seen)] = seen, make(seen)
    made: Seen = known[1]
    return made


def _lean_pod(pod: Pod) -> Pod:
    spec = msgspec.structs.replace(
        pod.spec,
        node_name=intern(pod.spec.node_name),
        scheduler_name=intern(pod.spec.scheduler_name),
        preemption_policy=intern(pod.spec.preemption_policy),
        restart_policy=intern(pod.spec.restart_policy),
        service_account_name=intern(pod.spec.service_account_name),
        containers=shared("containers", pod.spec.containers),
        init_containers=shared("init_containers", pod.spec.init_containers),
        tolerations=shared("tolerations", pod.spec.tolerations),
        volumes=shared("volumes", pod.spec.volumes),
    )
    status = msgspec.structs.replace(
        pod.status,
        phase=intern(pod.status.phase),
        qos_class=intern(pod.status.qos_class),
        start_time=_moment(pod.status.start_time),
        conditions=shared("conditions", pod.status.conditions),
        container_statuses=(),
        init_container_statuses=(),
        ephemeral_container_statuses=(),
    )
    return _whole(pod, spec, status)


def _lean_group(group: PodGroup) -> PodGroup:
    status = msgspec.structs.replace(
        group.status,
        conditions=shared("group conditions", group.status.conditions),
        resources_status=shared("resources_status", group.status.resources_status),
    )
    return _whole(group, shared("group spec", group.spec), status)


def shared(field: str, part: T) -> T:
    """An equal part under the same field of an object that was seen before, or this one."""
    if not part:
        return part
    key = type(part), field, _encoded(part)
    known = _known.get(key)
    if known is None:
        if len(_known) >= MOST:
            _known.clear()
        known = _known[key] = part
    kept: T = known
    return kept


def _whole(obj: Seen, spec: Any, status: Any) -> Seen:
    return msgspec.structs.replace(
        obj,
        api_version=intern(obj.api_version),
        kind=intern(obj.kind),
        metadata=_metadata(obj.metadata),
        spec=spec,
        status=status,
    )


def _metadata(metadata: Metadata) -> Metadata:
    return msgspec.structs.replace(
        metadata,
        namespace=intern(metadata.namespace),
        creation_timestamp=_moment(metadata.creation_timestamp),
        labels=shared("labels", metadata.labels),
    )


def _moment(text: str | None) -> str | None:
    """A time to the second, as many objects of a crowd have it."""
    return None if text is None else intern(text)
