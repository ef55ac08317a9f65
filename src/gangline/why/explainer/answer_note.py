"""An answer as a note on the PodGroup of its gang, and which gangs lack one.

The scheduler's verdict is short and cheap; the note refines it: the cause, the facts and the remedies of
`gangline explain`. It counts as long as the verdict that it refines stands (rules/verdicts.py). Pure; component.py
writes it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from gangline.api import kinds, names
from gangline.api.kai import PodGroup
from gangline.api.kinds import Kind
from gangline.api.meta import Object
from gangline.rules.verdicts import GangAnswer, answer_of, verdict_of
from gangline.why.objects import ClusterObjects
from gangline.why.workloads import of_group

TOLD = ("gang", "kind", "state", "cause", "headline", "text", "needs", "queue", "position", "waiting", "revision")
LONGEST = 8_000
"""Characters of the text that stand on an object; `gangline explain` has all of it."""

TOLD_PODS = 4
"""Pods of a gang that get the event, too: `kubectl describe` of any of a few should say it, and not of a thousand."""


def lacks_answer(group: PodGroup) -> bool:
    """The scheduler has judged it, and no answer refines that verdict yet."""
    return verdict_of(group) is not None and answer_of(group) is None


def is_left_over(group: PodGroup) -> bool:
    """An answer stands where no verdict stands any more."""
    return names.ANSWER in group.annotations and names.VERDICT not in group.annotations


def says_more(group: PodGroup, answer: GangAnswer) -> bool:
    """Other words than the answer that stands there; where it stands in its queue, and the revision, are no news."""
    standing = answer_of(group)
    if standing is None:
        return True
    noted = _noted(group, answer)
    return any(noted[key] != standing.get(key) for key in ("headline", "remedies", "refines"))


def note_of(group: PodGroup, answer: GangAnswer) -> str:
    """The note; `group` as it was when its gang was judged."""
    return json.dumps(_noted(group, answer), separators=(",", ":"), sort_keys=True, ensure_ascii=False)


def _noted(group: PodGroup, answer: GangAnswer) -> dict[str, object]:
    verdict = verdict_of(group) or {}
    data = {key: answer.data[key] for key in TOLD if key in answer.data}
    data["text"] = str(answer.text)[:LONGEST]
    data["remedies"] = [{"text": remedy["text"], "tried": remedy["tried"]} for remedy in answer.data["remedies"]]
    data["refines"] = str(verdict.get("headline") or "")
    return data


def event_text(data: Mapping[str, object]) -> str:
    """The cause, and the first remedy behind it."""
    remedies = data.get("remedies")
    first = remedies[0] if isinstance(remedies, list) and remedies else {}
    way_out = f"; would start if {first['text']}" if first.get("text") else ""
    return f"{data.get('headline')}{way_out}"


def described(objects: ClusterObjects, group: PodGroup) -> Iterator[tuple[Kind[Any], Object]]:
    """What a person describes who wants to know why it waits: the PodGroup, the object that they made, a few pods."""
    subject = of_group(objects, group)
    yield kinds.POD_GROUP, group
    top = subject.top or {}
    kind = objects.kind(top.get("apiVersion"), top.get("kind"))
    made = objects.get(kind, top["metadata"]["name"], subject.namespace) if kind is not None else None
    if kind is not None and made is not None and kind is not kinds.POD:
        yield kind, made
    yield from ((kinds.POD, pod) for pod in [item for item in subject.pods if not item.spec.node_name][:TOLD_PODS])
