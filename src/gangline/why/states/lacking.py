"""What a pod on its node cannot start without: Secrets, ConfigMaps and their keys, as its kubelet said it, and volumes.

Read from the words of the kubelet (container states, events), because nobody who asks why should need the right to
read Secrets. Each comes with the object that would let the pod go on; what belongs into it only people know. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gangline.api import kinds
from gangline.api.core import Pod
from gangline.api.kinds import Kind
from gangline.rules.pods.needs import named_objects
from gangline.scheduler.objects.pods import volume_claims
from gangline.why.changes import ObjectChange
from gangline.why.needs.volumes import has_default_class, new_claim, new_volume, phase_of, unmet
from gangline.why.objects import ClusterObjects, dig

KINDS: dict[str, Kind[Any]] = {"secret": kinds.SECRET, "configmap": kinds.CONFIG_MAP}
NOT_FOUND = re.compile(r'\b(secret|configmap) "(?:[\w.-]+/)?([\w.-]+)" not found', re.IGNORECASE)
NO_KEY = re.compile(r"couldn't find key ([\w.-]+) in (Secret|ConfigMap) (?:[\w.-]+/)?([\w.-]+)", re.IGNORECASE)
NO_FILE = re.compile(r"references non-existent (secret|config) key: ([\w.-]+)")
PULL_SECRETS = re.compile(r"image pull secrets \(([\w., -]+)\)")
MOUNT_EVENTS, PULL_EVENT = ("FailedMount",), "FailedToRetrieveImagePullSecret"


@dataclass(frozen=True, slots=True)
class LackingObject:
    """`what`: the object, or its key, and where the pod names it; `fixes`: what makes it."""

    what: str
    fixes: tuple[ObjectChange, ...]


def lacking(objects: ClusterObjects, pod: Pod) -> LackingObject | None:
    """The first thing that the pod's kubelet waits for; None: it said nothing of the kind, and its claims are bound."""
    by_kubelet = next((lacks for words in _messages(objects, pod) if (lacks := _read(pod, words)) is not None), None)
    return by_kubelet or _unbound_claim(objects, pod)


def _unbound_claim(objects: ClusterObjects, pod: Pod) -> LackingObject | None:
    """A PersistentVolumeClaim that is missing or not bound, where a scheduler placed the pod all the same."""
    if objects.hidden(kinds.PVC):
        return None
    for name in volume_claims(pod):
        live = objects.raw(kinds.PVC, name, pod.namespace)
        if live is None:
            what = f"PersistentVolumeClaim {name}, which does not exist in namespace {pod.namespace}"
            made = new_claim(name, pod.namespace)
            by_hand = () if has_default_class(objects) else (new_volume(made.document()),)
            return LackingObject(what, (made, *by_hand))
        if phase_of(live) != "Bound":
            what = f"PersistentVolumeClaim {name}, which is not bound (status.phase: {phase_of(live)}): "
            return LackingObject(what + unmet(objects, live)[0], (new_volume(live),))
    return None


def pull_secrets(objects: ClusterObjects, pod: Pod) -> str:
    """Names of image pull secrets that the kubelet did not find."""
    messages = _events(objects, pod, (PULL_EVENT,))
    match = PULL_SECRETS.search(messages[-1]) if messages else None
    return match[1] if match is not None else ""


def _messages(objects: ClusterObjects, pod: Pod) -> Iterator[str]:
    for status in (*pod.status.init_container_statuses, *pod.status.container_statuses):
        waiting = dig(status.state, "waiting") or {}
        if waiting.get("reason") == "CreateContainerConfigError":
            yield str(waiting.get("message") or "")
    yield from _events(objects, pod, MOUNT_EVENTS)[-1:]


def _events(objects: ClusterObjects, pod: Pod, reasons: tuple[str, ...]) -> list[str]:
    mine = [
        event
        for event in objects.raws(kinds.EVENT, pod.namespace)
        if event.get("reason") in reasons and dig(event, "involvedObject", "uid") == pod.uid
    ]
    mine.sort(key=lambda event: str(event.get("lastTimestamp") or event.get("eventTime") or ""))
    return [str(event.get("message") or "") for event in mine]


def _read(pod: Pod, words: str) -> LackingObject | None:
    absent, key, file = NOT_FOUND.search(words), NO_KEY.search(words), NO_FILE.search(words)
    if absent is not None:
        kind, name = KINDS[absent[1].lower()], absent[2]
        keys = sorted({item for where, item in _references(pod, kind, name) if item})
        body = {_data_field(kind): dict.fromkeys(keys, "")}
        what = f"{kind.kind} {name}, which does not exist in namespace {pod.namespace}{_named(pod, kind, name)}"
        return LackingObject(what, (ObjectChange(kind, name, body, pod.namespace, "new"),))
    if key is not None:
        kind, name = KINDS[key[2].lower()], key[3]
        return _without_key(pod, kind, name, key[1])
    if file is not None:
        kind = kinds.SECRET if file[1] == "secret" else kinds.CONFIG_MAP
        name = next(
            (name for name in _mounted(pod, kind) if any(key == file[2] for _, key in _references(pod, kind, name))), ""
        )
        return _without_key(pod, kind, name, file[2]) if name else None
    return None


def _without_key(pod: Pod, kind: Kind[Any], name: str, key: str) -> LackingObject:
    what = f"key {key} of {kind.kind} {name}, which is not in it{_named(pod, kind, name)}"
    return LackingObject(what, (ObjectChange(kind, name, {_data_field(kind): {key: ""}}, pod.namespace),))


def _data_field(kind: Kind[Any]) -> str:
    return "stringData" if kind is kinds.SECRET else "data"


def _named(pod: Pod, kind: Kind[Any], name: str) -> str:
    where = next((where for where, _ in _references(pod, kind, name)), "")
    return f" ({where})" if where else ""


def _mounted(pod: Pod, kind: Kind[Any]) -> list[str]:
    return [item.name for item in named_objects(pod) if item.kind is kind and item.volume]


def _references(pod: Pod, kind: Kind[Any], name: str) -> list[tuple[str, str]]:
    """Fields of the pod that name the object, each with the key that it asks for, if it asks for one."""
    return [(item.where, item.key) for item in named_objects(pod) if item.kind is kind and item.name == name]
