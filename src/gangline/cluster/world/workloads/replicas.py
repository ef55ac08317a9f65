"""What controllers that make pods share: a pod from a template, names that cannot be made twice, which count, which go
first.

Names come from the owner's uid and a number, not from chance: a controller whose cache is late asks for the same name
again and gets AlreadyExists, so nothing is made twice. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from copy import deepcopy
from typing import Any, TypeVar

from gangline.api.core import Pod
from gangline.api.kinds import POD, Kind, reference
from gangline.api.meta import LabelSelector, Object, Raw, condition
from gangline.api.selectors import equals, from_selector
from gangline.rules.pods.beginning import waits_to_begin
from gangline.runtime import Reader
from gangline.runtime.clock import seconds_of

T = TypeVar("T", bound=Object)
BY_LABEL = "label"
LETTERS = "bcdfghjklmnpqrstvwxz2456789"
LONGEST_BASE = 57
LONGEST_SHARE = 19
MOST_REPLICAS = 2**31 - 1
NONE_WAIT: Mapping[str, float] = {}
DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
BURST = 500
"""Pods that a controller makes or deletes for one owner in one turn, as upstream's do."""
MOST_WAITING = 5000
"""Pods of one owner that wait to begin: when there are so many, further ones are made once some have begun. Upstream
goes on, at the pace of a client with a rate limit, until the cluster's store is full; here an owner that asks for
2,147,483,647 stops at this number, also where a node without a kubelet takes them all."""
WAITING_IN_ALL = 5000
"""Pods of all owners that wait to begin: when there are so many, an owner makes more only while few of its own wait."""
FEW_WAITING = 50
CROWD_SECONDS = 5.0
"""After which an owner that is held back looks whether fewer wait."""
WAITING = "waits to begin"
FIRST_WAIT, LONGEST_WAIT = 1.0, 900.0
"""Seconds before a pod that failed on its node is replaced: the first is at once, then doubling, as upstream's
DaemonSets do."""


def suffix(*seed: object, length: int = 5) -> str:
    """Letters that belong to a seed, as Kubernetes' random suffixes look."""
    number = int.from_bytes(hashlib.sha256(repr(seed).encode()).digest()[:16], "big")
    letters = []
    for _ in range(length):
        number, digit = divmod(number, len(LETTERS))
        letters.append(LETTERS[digit])
    return "".join(letters)


def fresh_names(base: str, seed: str, taken: Collection[str], count: int) -> list[str]:
    """The first names of an owner's own sequence that are not taken."""
    fresh: list[str] = []
    number = 0
    while len(fresh) < count:
        name = f"{base[:LONGEST_BASE]}-{suffix(seed, number)}"
        number += 1
        if name not in taken:
            fresh.append(name)
    return fresh


def allowed(missing: int, pods: Iterable[Pod], crowd: int) -> tuple[int, str]:
    """How many of the pods that an owner lacks may be made now; and, where none may because others wait to begin, which
    do. `crowd`: how many pods of the whole cluster wait.

    While some may be made, nothing is said: those that were made a moment ago may not be seen yet."""
    waiting = sum(waits_to_begin(pod) for pod in pods)
    of_its_own, of_all = MOST_WAITING - waiting, max(WAITING_IN_ALL - crowd, FEW_WAITING - waiting)
    room = max(min(of_its_own, of_all), 0)
    held_back = missing > 0 and room == 0
    limited_by = f"{waiting} of its pods" if of_its_own <= of_all else f"{crowd} pods of this cluster"
    return max(min(missing, BURST, room), 0), limited_by if held_back else ""


def waiting_to_begin(pod: Pod) -> list[str]:
    """Index of pods that wait to begin, whoever made them."""
    return [WAITING] if active(pod) and waits_to_begin(pod) else []


def crowd(read: Reader) -> int:
    """How many pods of the whole cluster wait to begin."""
    return read.count(POD, WAITING, WAITING)


def replaced_at(pods: Iterable[Pod]) -> float:
    """The moment from which pods that failed on their node are replaced: the more of them stand there, the later."""
    ends = sorted(ended_at(pod) for pod in pods if pod.status.phase == "Failed" and not pod.metadata.deleting)
    return 0.0 if len(ends) < 2 else ends[-1] + min(FIRST_WAIT * 2.0 ** min(len(ends) - 2, 10), LONGEST_WAIT)


def ended_at(pod: Pod) -> float:
    """When a pod that has ended did so, as far as it says."""
    times = [
        str(state["finishedAt"])
        for status in pod.status.container_statuses
        if (state := status.state.get("terminated"))
    ]
    return max(
        seconds_of(time)
        for time in times or [pod.status.start_time or pod.metadata.creation_timestamp or "1970-01-01T00:00:00Z"]
    )


def share(value: object, of: int, *, up: bool) -> int:
    """A number, or so many percent of another; exact, and no larger than a count of pods can be."""
    if isinstance(value, int):
        return value
    digits = str(value).rstrip("%")[:LONGEST_SHARE]
    amount = (int(digits) if digits.isascii() and digits.isdigit() else 0) * of
    return min(-(-amount // 100) if up else amount // 100, MOST_REPLICAS)


def pod_from(
    template: Raw,
    kind: Kind[Any],
    owner: Object,
    name: str,
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
) -> Raw:
    """A pod as an owner's template says, owned by it."""
    meta = deepcopy(template.get("metadata") or {})
    meta |= {"name": name, "namespace": owner.namespace, "ownerReferences": [reference(kind, owner)]}
    if labels:
        meta["labels"] = (meta.get("labels") or {}) | labels
    if annotations:
        meta["annotations"] = (meta.get("annotations") or {}) | annotations
    return {"metadata": meta, "spec": deepcopy(template.get("spec") or {})}


def orphans(selector: LabelSelector | None, objects: Iterable[T]) -> list[T]:
    """What a selector finds among objects that nobody controls."""
    if selector is None or not (selector.match_labels or selector.match_expressions):
        return []
    matches = from_selector(selector).matches
    return [
        item
        for item in objects
        if item.metadata.controller is None and not item.metadata.deleting and matches(item.labels)
    ]


def by_label(obj: Object) -> list[str]:
    """Index of objects by namespace and label."""
    return [f"{obj.namespace}/{key}={value}" for key, value in obj.labels.items()]


def found_by(labels: Mapping[str, str], namespace: str, kind: Kind[T], read: Reader) -> list[T]:
    """Objects of a namespace that carry all these labels, by way of the index."""
    buckets = [read.by(kind, BY_LABEL, f"{namespace}/{key}={value}") for key, value in labels.items()]
    matches = equals(labels).matches
    return [item for item in min(buckets, key=len, default=[]) if matches(item.labels)]


def active(pod: Pod) -> bool:
    """Counts as one of its owner's pods: neither finished nor on its way out."""
    return pod.status.phase not in ("Succeeded", "Failed") and not pod.metadata.deleting


def is_ready(pod: Pod) -> bool:
    ready = condition(pod.status.conditions, "Ready")
    return ready is not None and ready.status == "True"


def available_at(pod: Pod, seconds: int) -> float | None:
    """The moment from which a ready pod counts as available; None while it is not ready."""
    ready = condition(pod.status.conditions, "Ready")
    if ready is None or ready.status != "True":
        return None
    return seconds_of(ready.last_transition_time or "1970-01-01T00:00:00Z") + seconds


def by_worth(pods: Iterable[Pod]) -> list[Pod]:
    """The pods to delete first come first: unbound, pending, not ready, cheap, young."""

    def worth(pod: Pod) -> tuple[bool, bool, bool, int, str]:
        return (
            bool(pod.spec.node_name),
            pod.status.phase == "Running",
            is_ready(pod),
            _cost(pod),
            _inverted(pod.metadata.creation_timestamp or ""),
        )

    return sorted(pods, key=lambda pod: (worth(pod), pod.name))


def _cost(pod: Pod) -> int:
    try:
        return int(pod.annotations.get(DELETION_COST, "0"))
    except ValueError:
        return 0


def _inverted(text: str) -> str:
    """Sorts later times first."""
    return "".join(chr(255 - ord(letter)) for letter in text)
