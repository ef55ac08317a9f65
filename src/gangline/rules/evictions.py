"""Who evicted a gang last, why and when: a note on its PodGroup, written by the scheduler, read by `gangline explain`
and others.

The note is one JSON value under the annotation `gangline.io/last-eviction`. It stays when the gang runs again: it is
history, and says when. Nothing here evicts anybody."""

from __future__ import annotations

import json

import msgspec

from gangline.api import names
from gangline.api.kai import PodGroup


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


def note(eviction: EvictionNote) -> str:
    """The value of the annotation."""
    return json.dumps(msgspec.to_builtins(eviction), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def last_eviction(group: PodGroup) -> EvictionNote | None:
    """None where nobody was evicted, or where the note cannot be read."""
    try:
        return msgspec.json.decode(group.annotations[names.EVICTION], type=EvictionNote)
    except (KeyError, msgspec.DecodeError):
        return None


_ACTIONS = {
    "reclaim": "its queue gave back what it had borrowed",
    "preempt": "higher priority in the same queue",
    "consolidation": "to move closer together",
    "stalegangeviction": "it was below its minimum for too long",
}


def sentence(eviction: EvictionNote) -> str:
    """One line for people."""
    by = f" by {eviction.by}" if eviction.by else ""
    why = _ACTIONS.get(eviction.action, eviction.action)
    return f"last evicted {eviction.at}{by} ({eviction.action}: {why}): {eviction.pods} of {eviction.of} pods"
