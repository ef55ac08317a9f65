"""An answer as a note on the PodGroup of its gang, and which gangs lack one.

The scheduler's verdict is short and cheap; the note refines it: the cause, the facts and the remedies of
`gangline explain`. It counts as long as the verdict that it refines stands (rules/verdicts.py). Pure; component.py
writes it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from gangline.api import names
from gangline.api.kai import PodGroup
from gangline.rules.verdicts import GangAnswer, answer_of, verdict_of

TOLD = ("gang", "kind", "state", "cause", "headline", "text", "needs", "queue", "position", "waiting", "revision")
LONGEST = 8_000
"""Characters of the text that stand on an object; `gangline explain` has all of it."""


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
    told = _noted(group, answer)
    return any(told[key] != standing.get(key) for key in ("headline", "remedies", "refines"))


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
