"""Whether a snapshot of ours is what upstream made: the README's section "How gangline is compared", as code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.grove.snapshot import Snapshot
from gangline.api.meta import Raw

STATUS_KINDS = ("PodCliqueSet", "PodCliqueScalingGroup", "PodClique", "ClusterTopologyBinding")
NOT_COMPARED = ("observedGeneration", "podGangStatuses")


def differences(
    recorded: Raw, ours: Snapshot, moved: Raw | None, unstable: list[str], *, names_only: bool
) -> Iterator[str]:
    if names_only:
        yield from _names(recorded, ours)
        return
    if recorded["counts"] != ours.counts:
        theirs, mine = _short(recorded["counts"], ours.counts), _short(ours.counts, recorded["counts"])
        yield f"counts: upstream {theirs}, ours {mine}"
    theirs = {f"{obj['kind']}/{obj['metadata']['name']}": obj for obj in recorded["objects"]}
    for name in sorted({*theirs, *ours.objects}):
        yield from _differ(theirs.get(name), ours.objects.get(name), f"/objects/{_escape(name)}", unstable)
    for name in sorted({*recorded["status"], *ours.status}):
        if name.split("/")[0] in STATUS_KINDS:
            path = f"/status/{_escape(name)}"
            yield from _differ(_status(recorded["status"].get(name)), _status(ours.status.get(name)), path, unstable)
    if moved is not None and "identity" in recorded and not any(path.startswith("/identity") for path in unstable):
        yield from _differ({key: recorded["identity"][key] for key in moved}, moved, "/identity", unstable)


def _names(recorded: Raw, ours: Snapshot) -> Iterator[str]:
    theirs = {f"{obj['kind']}/{obj['metadata']['name']}" for obj in recorded["objects"] if obj["kind"] != "Pod"}
    mine = {name for name in ours.objects if not name.startswith("Pod/")}
    if theirs != mine:
        yield f"names: only upstream {sorted(theirs - mine)}, only ours {sorted(mine - theirs)}"


def _short(one: Raw, other: Raw) -> Raw:
    return {key: value for key, value in one.items() if other.get(key) != value}


def _escape(text: str) -> str:
    return text.replace("~", "~0").replace("/", "~1")


def _status(status: Raw | None) -> Raw:
    """What counts of a status: no messages, no times of conditions, codes of errors."""
    found = {key: value for key, value in (status or {}).items() if key not in NOT_COMPARED and value != []}
    if "conditions" in found:
        found["conditions"] = sorted(
            [condition["type"], condition["status"], condition["reason"]] for condition in found["conditions"]
        )
    if "lastErrors" in found:
        found["lastErrors"] = sorted(last_error["code"] for last_error in found["lastErrors"])
    for scheduler_topology_status in found.get("schedulerTopologyStatuses", ()):
        scheduler_topology_status.pop("message", None)
        scheduler_topology_status.pop("schedulerBackendTopologyObservedGeneration", None)
    return {key: value for key, value in found.items() if value != 0}


def _differ(theirs: Any, ours: Any, path: str, unstable: list[str]) -> Iterator[str]:
    if theirs == ours or any(path == item or path.startswith(item + "/") for item in unstable):
        return
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key in sorted({*theirs, *ours}):
            if theirs.get(key) != ours.get(key):
                yield from _differ(theirs.get(key), ours.get(key), f"{path}/{_escape(key)}", unstable)
    elif isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        for index, (one, other) in enumerate(zip(theirs, ours, strict=True)):
            yield from _differ(one, other, f"{path}/{index}", unstable)
    else:
        yield f"{path}: upstream {_text(theirs)}, ours {_text(ours)}"


def _text(value: Any) -> str:
    text = str(value) if value is not None else "nothing"
    return text if len(text) < 160 else text[:160] + "…"


class Hashes:
    """Equal where upstream's are equal, different where they differ, over all states of a case."""

    def __init__(self) -> None:
        self._ours: dict[str, str] = {}
        self._theirs: dict[str, str] = {}

    def check(self, recorded: dict[str, str], ours: dict[str, str], unstable: list[str]) -> Iterator[str]:
        for path in sorted(recorded):
            if path not in ours or _unstable(path, unstable):
                continue
            theirs, mine = recorded[path], ours[path]
            if self._ours.setdefault(theirs, mine) != mine or self._theirs.setdefault(mine, theirs) != theirs:
                yield f"hash {path}: the same as another where upstream's differs, or the other way round"


def _unstable(path: str, unstable: list[str]) -> bool:
    where, is_status, rest = path.partition("#status")
    if not is_status:
        kind, name, *more = path.split("/")
        pointer = f"/objects/{kind}~1{name}/{'/'.join(more)}"
    else:
        pointer = f"/status/{_escape(where)}{rest}"
    return any(pointer == item or pointer.startswith(item + "/") for item in unstable)
