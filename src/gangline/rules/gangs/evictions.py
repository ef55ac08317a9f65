"""Who evicted a gang last, why and when, and whether it comes back: a note on its PodGroup, written by the scheduler,
read by `gangline explain` and others.

The note is one JSON value under the annotation `gangline.io/last-eviction`. It stays when the gang runs again: it is
history, and says when. Nothing here evicts."""

from __future__ import annotations

import json

import msgspec

from gangline.api import names
from gangline.api.builtin import Job
from gangline.api.kai import PodGroup
from gangline.api.meta import Raw

BACKOFF = "BackoffLimitExceeded"
HINT = "a podFailurePolicy that ignores DisruptionTarget keeps evictions from counting as failures"


class EvictionCharge(msgspec.Struct, frozen=True):
    """What one eviction cost: when, by which action, GPU-seconds lost, and whether the gang fell below its minimum."""

    moment: float
    action: str
    lost: float
    broken: bool


class EvictionNote(msgspec.Struct, frozen=True, omit_defaults=True):
    """`by`: namespace/name of the PodGroup that room was made for, "" where a gang below its minimum gave back what it
    held."""

    action: str = ""
    """What the scheduler did: reclaim, preempt, consolidation, stalegangeviction."""
    at: str = ""
    by: str = ""
    pods: int = 0
    """How many pods lost their place."""
    of: int = 0
    """How many pods the gang had."""
    message: str = ""
    """Of the first of them."""
    lately: tuple[EvictionCharge, ...] = ()
    """This and the others of the last day, oldest first: what graces and budgets count, also after a restart."""


def note(eviction: EvictionNote) -> str:
    """The value of the annotation."""
    return json.dumps(msgspec.to_builtins(eviction), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def last_eviction(group: PodGroup) -> EvictionNote | None:
    """None where nobody was evicted, or where the note cannot be read."""
    try:
        return msgspec.json.decode(group.annotations[names.EVICTION], type=EvictionNote)
    except (KeyError, msgspec.DecodeError):
        return None


REASONS = {
    "reclaim": "its queue gave back what it had borrowed",
    "preempt": "higher priority in the same queue",
    "consolidation": "to move closer together",
    "stalegangeviction": "it was below its minimum for too long",
}


def reason_of(action: str) -> str:
    """What the scheduler did, and what for."""
    return f"{action}: {REASONS[action]}" if action in REASONS else action


def sentence(eviction: EvictionNote) -> str:
    """One line for people."""
    by = f" by {eviction.by}" if eviction.by else ""
    return f"last evicted {eviction.at}{by} ({reason_of(eviction.action)}): {eviction.pods} of {eviction.of} pods"


# --- whether it comes back --------------------------------------------------------------------------------------------


def failure_of(job: Job | None) -> Raw | None:
    """The condition of a Job that failed."""
    conditions = job.status.conditions if job is not None else ()
    return next(
        (
            condition
            for condition in conditions
            if condition.get("type") == "Failed" and condition.get("status") == "True"
        ),
        None,
    )


def is_over(job: Job) -> bool:
    return any(
        condition.get("type") in ("Complete", "Failed") and condition.get("status") == "True"
        for condition in job.status.conditions
    )


def prospects(job: Job | None, kind: str, waits: bool) -> str:
    """Whether a gang that lost its place comes back."""
    lost = failure_of(job)
    if lost is not None:
        why = str(lost.get("reason") or "")
        return f"it does not come back: its Job failed ({why})" + (f"; {HINT}" if why == BACKOFF else "")
    if waits or (job is not None and not is_over(job)):
        return "it comes back by itself when there is room for it"
    return f"it comes back when its {kind} makes its pods again"
