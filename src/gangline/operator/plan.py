"""What a reconcile decided to write, as data, and the comparison that keeps it from writing what is already so.

Steps are grouped in stages: a stage runs at once, the next only if the one before went well. `changed` compares a
wanted object with the live one in the form of its typed view, so that only fields we own count. Nothing here writes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from gangline.api.kinds import Kind
from gangline.api.meta import Condition, Object, Raw, as_raw, spec_of
from gangline.rules.objects.writes import Apply as Apply
from gangline.rules.objects.writes import Create as Create
from gangline.rules.objects.writes import Delete as Delete
from gangline.rules.objects.writes import Patch as Patch
from gangline.rules.objects.writes import Step as Step
from gangline.rules.values.merge_patch import patch_between


@dataclass(frozen=True, slots=True)
class EventNote:
    """An event about an object."""

    kind: Kind[Any]
    obj: Object
    reason: str
    message: str
    warning: bool = False


@dataclass(slots=True)
class WritePlan:
    stages: list[list[Step]] = field(default_factory=list)
    events: list[EventNote] = field(default_factory=list)
    errors: list[tuple[str, str]] = field(default_factory=list)
    """Code and description of what cannot be done; ends in lastErrors."""

    def stage(self, steps: list[Step]) -> None:
        if steps:
            self.stages.append(steps)

    @property
    def writes(self) -> int:
        return sum(len(stage) for stage in self.stages)


def delete(kind: Kind[Any], obj: Object, code: str = "") -> Delete:
    return Delete(kind, obj.name, obj.namespace, obj.uid, code)


def changed(kind: Kind[Any], live: Object, wanted: Raw) -> Raw | None:
    """The merge patch that makes a live object as wanted (spec, labels, annotations), or None."""
    view = msgspec.convert({"apiVersion": kind.api_version, "kind": kind.kind, **wanted}, kind.type, strict=False)
    patch: Raw = {}
    labels, annotations = patch_between(live.labels, view.labels), patch_between(live.annotations, view.annotations)
    metadata = {key: part for key, part in (("labels", labels), ("annotations", annotations)) if part}
    if metadata:
        patch["metadata"] = metadata
    spec = _spec_patch(spec_of(live), spec_of(view), wanted.get("spec") or {})
    if spec:
        patch["spec"] = spec
    return patch | _beside(live, view, wanted) or None


def _beside(live: Object, view: Object, wanted: Raw) -> Raw:
    """What differs outside of metadata and spec, where the kind's typed view knows it."""
    known = [key for key in wanted if key not in ("metadata", "spec")]
    have, want = (as_raw(live), as_raw(view)) if known else ({}, {})
    return {key: wanted[key] for key in known if key in want and have.get(key) != want[key]}


def _spec_patch(before: Raw, after: Raw, wanted: Raw) -> Raw:
    """What differs between two views, with the values as they were wanted (a view leaves out what is empty)."""
    patch: Raw = {key: None for key in before if key not in after and key not in wanted}
    for key, value in after.items():
        if before.get(key) != value:
            patch[key] = patch_between(before.get(key), wanted[key])
    return patch | {key: wanted[key] for key in before if key not in after and key in wanted}


def with_condition(before: tuple[Condition, ...], new: Condition, now: str) -> Raw:
    """A condition as it is written: the transition time moves only with the status, and equal ones stay as they are."""
    old = next((item for item in before if item.type == new.type), None)
    if old is not None and (old.status, old.reason, old.message) == (new.status, new.reason, new.message):
        return condition_raw(old)
    since = old.last_transition_time if old is not None and old.status == new.status else now
    return condition_raw(new) | {"lastTransitionTime": since}


def condition_raw(condition: Condition) -> Raw:
    """A condition with the fields that every condition must have."""
    return {
        "type": condition.type,
        "status": condition.status,
        "reason": condition.reason,
        "message": condition.message,
    } | {key: value for key, value in as_raw(condition).items() if key in ("observedGeneration", "lastTransitionTime")}
