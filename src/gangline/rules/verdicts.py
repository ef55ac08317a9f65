"""Why a gang waits, read from what others wrote on its objects: the answer on the PodGroup, else the scheduler's
verdict there, else the gang's own conditions.

Last in a verdict's journey: scheduler/why thinks it, the scheduler's shell writes it, the explainer refines it
(why/explainer), and `gangline whatif`, the scheduler's teller and the dashboard read it here. `gangline explain` asks
the cluster itself (gangline.why) and answers in the same form. Never judges anything itself."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from gangline.api import names
from gangline.api.grove import PodGang
from gangline.api.kai import PodGroup
from gangline.api.meta import Condition, Raw
from gangline.rules.gangs.evictions import last_eviction, sentence

ORDER = ("Initialized", "Scheduled", "Ready")
"""Conditions of a PodGang, in the order in which it must meet them."""

HELD = ("BackendNotReady", "BackendNotRunning")
"""Reasons of a gang whose backend does not let its pods go: no scheduler has judged it, whatever its conditions say."""

_WORD = re.compile(r"[a-z0-9](?:[-.a-z0-9]*[a-z0-9])?")


class GangAnswer(msgspec.Struct, frozen=True):
    """What is known of one gang."""

    text: str
    data: dict[str, Any]
    judged: bool
    """The scheduler has looked at it and says why it waits."""
    evicted: str = ""
    """When, by whom and why pods of it were evicted last, if they were."""
    failed: tuple[str, ...] = ()
    """Which of its pods failed, where and why, one line each."""
    starts: str = ""
    """When it starts, where the scheduler promised that."""


def group_of(gang: PodGang, groups: Iterable[PodGroup]) -> PodGroup | None:
    """The PodGroup that stands for a PodGang."""
    return next(
        (group for group in groups if any(owner.uid == gang.uid for owner in group.metadata.owner_references)), None
    )


def of_gang(gang: PodGang, group: PodGroup | None) -> GangAnswer:
    conditions = {condition.type: condition for condition in gang.status.conditions}
    failures = conditions.get("PodsFailed")
    more = f"\n{failures.message}" if failures is not None and failures.status == "True" else ""
    phase = gang.status.phase or "Pending"
    if group is not None and names.VERDICT in group.annotations and phase == "Pending" and not _held_back(conditions):
        answer = of_group(group, gang.name)
        return msgspec.structs.replace(answer, text=answer.text + more)
    why = _first_unmet(conditions)
    data = {
        "gang": gang.name,
        "phase": phase,
        "conditions": {key: condition.status for key, condition in conditions.items()},
    }
    return _with_eviction(GangAnswer(f"{gang.name} is {phase}{why}{more}", data, False), group)


def _held_back(conditions: Mapping[str, Condition]) -> bool:
    whole = conditions.get("Initialized")
    return whole is not None and whole.status == "False" and whole.reason in HELD


def _first_unmet(conditions: Mapping[str, Condition]) -> str:
    """ ": " and why, for the first condition that does not hold; nothing where all do."""
    ordered = [conditions[kind] for kind in ORDER if kind in conditions]
    blocking = next((condition for condition in ordered if condition.status != "True"), None)
    return f": {blocking.message or blocking.reason}" if blocking else ""


def of_group(group: PodGroup, name: str = "") -> GangAnswer:
    """`name`: what users call its gang."""
    shown = name or group.name
    verdict = verdict_of(group)
    if verdict is None:
        return _with_eviction(_without_verdict(group, shown), group)
    answer = answer_of(group)
    if answer is not None:
        return _with_eviction(GangAnswer(str(answer["text"]), verdict | answer | {"gang": shown}, True), group)
    text = str(verdict.get("text") or verdict.get("headline") or verdict.get("cause") or "").replace(group.name, shown)
    return _with_eviction(GangAnswer(text, verdict | {"gang": shown}, True), group)


def verdict_of(group: PodGroup) -> Raw | None:
    """The scheduler's verdict as data; None where there is none that can be read."""
    return _noted(group, names.VERDICT)


def answer_of(group: PodGroup) -> Raw | None:
    """The answer that refines the verdict which stands now."""
    answer, verdict = _noted(group, names.ANSWER), verdict_of(group)
    if answer is None or verdict is None or answer.get("refines") != verdict.get("headline"):
        return None
    return answer if answer.get("headline") and answer.get("text") else None


def _noted(group: PodGroup, annotation: str) -> Raw | None:
    try:
        return dict(json.loads(group.annotations[annotation]))
    except (KeyError, ValueError, TypeError):
        return None


def _without_verdict(group: PodGroup, shown: str) -> GangAnswer:
    """What the controller of PodGroups says of a gang that the scheduler has nothing against."""
    phase = phase_of(group)
    if phase is None:
        return GangAnswer(f"{shown}: no verdict of the scheduler yet", {"gang": shown}, False)
    return GangAnswer(
        f"{shown} is {phase['reason']}: {phase['message']}", {"gang": shown, "phase": phase["reason"]}, False
    )


def phase_of(group: PodGroup) -> Raw | None:
    """The condition that says how far a PodGroup has come, where one is written."""
    return next((condition for condition in group.status.conditions if condition.get("type") == "Phase"), None)


def _with_eviction(answer: GangAnswer, group: PodGroup | None) -> GangAnswer:
    eviction = last_eviction(group) if group is not None else None
    if eviction is None:
        return answer
    data = answer.data | {"lastEviction": msgspec.to_builtins(eviction)}
    return msgspec.structs.replace(answer, data=data, evicted=sentence(eviction))


def owner(group: PodGroup) -> str:
    """The name users know: of the gang, Job or pod that a PodGroup is made for."""
    return next((owner_reference.name for owner_reference in group.metadata.owner_references), group.name)


def renamed(text: str, titles: Mapping[str, str]) -> str:
    """A verdict's words with the names that users know in place of those of PodGroups."""
    return _WORD.sub(lambda word: titles.get(word[0], word[0]), text)


def reason(group: PodGroup) -> str:
    """Why the gang of a PodGroup waits, in the words of its verdict."""
    return of_group(group, owner(group)).text
