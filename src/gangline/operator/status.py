"""Statuses in general: the conditions and updates that several kinds share, and a new status as a patch.

Only what differs is written, and errors keep the time at which they were first seen. What is true of one kind is in the
tell.py of its room. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

from gangline.api import names
from gangline.api.grove import LastError, PodClique, PodCliqueScalingGroup, PodCliqueSet
from gangline.api.kinds import Kind
from gangline.api.meta import Condition, Model, Raw, as_raw, condition
from gangline.operator.plan import EventNote
from gangline.rules.values.merge_patch import patch_between

BREACHED, SCHEDULED, TERMINATING = "MinAvailableBreached", "PodCliqueScheduled", "GangTerminationInProgress"
UPDATING = Condition(type=BREACHED, status="Unknown", reason="UpdateInProgress", message="an update is in progress")
LONGEST = 1024
HELD_BACK = "HeldBack"
"""The condition of a set, group or clique of which not all is made yet, because so much of it waits already."""


def is_true(conditions: tuple[Condition, ...], type: str) -> bool:
    known = condition(conditions, type)
    return known is not None and known.status == "True"


def is_reason(conditions: tuple[Condition, ...], type: str, reason: str) -> bool:
    known = condition(conditions, type)
    return known is not None and known.reason == reason


def since(obj: PodClique | PodCliqueScalingGroup, before: tuple[Condition, ...], new: Condition, now: str) -> str:
    """A first condition that says "not yet" has been so since the object was made."""
    first = condition(before, new.type) is None
    bad = (new.type, new.status) in ((BREACHED, "True"), (SCHEDULED, "False"))
    return obj.metadata.creation_timestamp or now if first and bad else now


def minimum(clique: PodClique) -> int:
    spec = clique.spec
    return spec.replicas if spec.min_available is None else spec.min_available


def clique_updated(clique: PodClique, expected_hash: str, set_hash: str | None) -> bool:
    """Whether a clique runs the set's present template."""
    status = clique.status
    return (
        clique.labels.get(names.TEMPLATE_HASH) == expected_hash == status.current_pod_template_hash
        and status.current_pod_clique_set_generation_hash == set_hash
        and status.ready_replicas >= minimum(clique)
        and status.updated_replicas >= minimum(clique)
    )


def on_delete(pcs: PodCliqueSet) -> bool:
    """Whether updates wait for the user to delete pods."""
    return pcs.spec.update_strategy is not None and pcs.spec.update_strategy.type == "OnDelete"


def update_open(progress: Raw | None) -> bool:
    return progress is not None and not progress.get("updateEndedAt")


def ended(progress: Raw, choice: str, now: str) -> Raw:
    """The progress of an update that is over: nothing is chosen any more."""
    return {key: value for key, value in progress.items() if key != choice} | {"updateEndedAt": now}


def current_replicas(progress: Raw | None) -> tuple[int, ...]:
    """The replicas of the set that are being updated."""
    return tuple(int(item.get("replicaIndex", 0)) for item in (progress or {}).get("currentlyUpdating") or ())


def update_target(pcs: PodCliqueSet) -> tuple[object, ...]:
    """What of a set decides how its children are updated, apart from the template."""
    progress = pcs.status.update_progress
    return update_open(progress), current_replicas(progress), pcs.annotations.get(names.MAX_UNAVAILABLE)


def chosen_so_far(selected: Raw | None) -> list[Any]:
    """What was given up so far, in order."""
    return [*(selected.get("completed") or ()), selected["current"]] if selected else []


def as_choice(chosen: Sequence[Any]) -> Raw:
    return {"current": chosen[-1]} | ({"completed": list(chosen[:-1])} if len(chosen) > 1 else {})


def lost_events(kind: Kind[Any], obj: PodClique | PodCliqueScalingGroup, new: Raw, message: str) -> list[EventNote]:
    """One warning, when nothing of an object is scheduled any more."""
    if obj.status.scheduled_replicas == 0 or new["scheduledReplicas"] > 0:
        return []
    return [EventNote(kind, obj, "AllScheduledReplicasLost", message, warning=True)]


class WithStatus(Protocol):
    """An object of a kind that has a status."""

    @property
    def status(self) -> Model: ...


def status_patch(live: WithStatus, new: Raw) -> Raw | None:
    """The merge patch of the status subresource, or None where nothing differs."""
    before = live.status
    after = msgspec.convert(new, type(before), strict=False)
    if before == after:
        return None
    known = as_raw(before)
    patch = patch_between(known, new)
    return {"status": {key: value for key, value in patch.items() if value is not None or key in known}}


def error_list(
    before: Sequence[LastError], errors: Sequence[tuple[str, str]], now: str, linger: bool = False
) -> list[Raw]:
    """status.lastErrors: an error that is still there keeps its time. `linger`: without a new one the old ones stay."""
    if linger and not errors:
        errors = [(item.code, item.description) for item in before]
    since = {(item.code, item.description): item.observed_at or now for item in before}
    distinct = dict.fromkeys((code, text[:LONGEST]) for code, text in errors if code)
    return [{"code": code, "description": text, "observedAt": since.get((code, text), now)} for code, text in distinct]
