"""Why a gang waits, read from what others wrote on its objects: the scheduler's verdict on the PodGroup, else the gang's own conditions.

Last in a verdict's journey: scheduler/why thinks it, the scheduler's shell writes it, and `gangline explain`, `gangline whatif` and the
dashboard read it here, so that all of them say the same. Never judges anything itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from gangline.api import names
from gangline.api.grove import PodGang
from gangline.api.kai import PodGroup

ORDER = ("Initialized", "Scheduled", "Ready")
"""Conditions of a PodGang, in the order in which it must meet them."""

HELD = ("BackendNotReady", "BackendNotRunning")
"""Reasons of a gang whose backend does not let its pods go: no scheduler has judged it, whatever one said before."""

_WORD = re.compile(r"[a-z0-9](?:[-.a-z0-9]*[a-z0-9])?")


class Answer(msgspec.Struct, frozen=True):
    """What is known of one gang."""

    text: str
    data: dict[str, Any]
    judged: bool
    """The scheduler has looked at it and says why it waits."""


def group_of(gang: PodGang, groups: Iterable[PodGroup]) -> PodGroup | None:
    """The PodGroup that stands for a PodGang."""
    return next((group for group in groups if any(owner.uid == gang.uid for owner in group.metadata.owner_references)), None)


def of_gang(gang: PodGang, group: PodGroup | None) -> Answer:
    conditions = {each.type: each for each in gang.status.conditions}
    failures = conditions.get("PodsFailed")
    more = f"\n{failures.message}" if failures is not None and failures.status == "True" else ""
    whole = conditions.get("Initialized")
    held = whole is not None and whole.status == "False" and whole.reason in HELD
    if group is not None and names.VERDICT in group.annotations and gang.status.phase in ("", "Pending") and not held:
        found = of_group(group, gang.name)
        return msgspec.structs.replace(found, text=found.text + more)
    phase = gang.status.phase or "Pending"
    ordered = [conditions[kind] for kind in ORDER if kind in conditions]
    blocking = next((each for each in ordered if each.status != "True"), None)
    why = f": {blocking.message or blocking.reason}" if blocking else ""
    data = {"gang": gang.name, "phase": phase, "conditions": {key: each.status for key, each in conditions.items()}}
    return Answer(f"{gang.name} is {phase}{why}{more}", data, False)


def of_group(group: PodGroup, name: str = "") -> Answer:
    """`name`: what users call its gang."""
    shown = name or group.name
    try:
        verdict = dict(json.loads(group.annotations[names.VERDICT]))
    except (KeyError, ValueError, TypeError):
        return Answer(f"{shown}: no verdict; the scheduler has not refused it", {"gang": shown}, False)
    text = str(verdict.get("text") or verdict.get("headline") or verdict.get("cause") or "").replace(group.name, shown)
    return Answer(text, verdict | {"gang": shown}, True)


def owner(group: PodGroup) -> str:
    """The name users know: of the gang, Job or pod that a PodGroup is made for."""
    return next((each.name for each in group.metadata.owner_references), group.name)


def renamed(text: str, titles: Mapping[str, str]) -> str:
    """A verdict's words with the names that users know in place of those of PodGroups."""
    return _WORD.sub(lambda word: titles.get(word[0], word[0]), text)


def reason(group: PodGroup) -> str:
    """Why the gang of a PodGroup waits, in the words of its verdict."""
    return of_group(group, owner(group)).text
