"""A cause and its remedies in the words that people read, and as data. Internal names end here: users see the names
they gave."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from gangline.api import kinds, names
from gangline.rules.evictions import last_eviction
from gangline.rules.verdicts import GangAnswer, owner, renamed
from gangline.why.cause import WAITS, Cause
from gangline.why.changes import Remedy
from gangline.why.objects import ClusterObjects
from gangline.why.states import eviction_line, failure_lines
from gangline.why.subjects import Subject

INDENT = "  "
RESERVATION = re.compile(r"\bgpu-reservation-[\w.-]+")


def titles_of(objects: ClusterObjects) -> dict[str, str]:
    """`namespace/name` of PodGroups → what users call them."""
    return {f"{group.namespace}/{group.name}": owner(group) for group in objects.all(kinds.POD_GROUP)}


def answer(objects: ClusterObjects, subject: Subject, cause: Cause, remedies: Sequence[Remedy]) -> GangAnswer:
    titles = titles_of(objects)
    words = {key.partition("/")[2]: title for key, title in titles.items()}

    def plain(text: str) -> str:
        return RESERVATION.sub("a reservation of a shared GPU", renamed(text, words))

    told = [plain(remedy.text(objects)) for remedy in remedies]
    headline = plain(f"{subject.name} {cause.state}: {cause.why}").replace("\n", " ")
    behind = remedies[0].behind if remedies else ()
    facts = [plain(fact) for fact in (*cause.facts, *(f"and behind that: {why}" for why in behind)) if fact]
    lines = [
        headline,
        *(f"{INDENT}needs     {cause.needs}" for _ in [0] if cause.needs),
        *(INDENT + fact for fact in facts),
    ]
    verb = "would start if" if cause.state in (WAITS, "runs") else "would go on if"
    lines += [f"{INDENT}{verb if place == 0 else '            or'}   {text}" for place, text in enumerate(told)]
    data: dict[str, Any] = {
        "gang": subject.name,
        "kind": subject.kind,
        "namespace": subject.namespace,
        "state": cause.state,
        "cause": cause.code,
        "headline": headline,
        "text": "\n".join(lines),
        "needs": cause.needs,
        "facts": facts,
        "proof": cause.proof,
        "queue": subject.group.spec.queue if subject.group is not None else "",
        "remedies": [
            {"text": text, "tried": remedy.tried, "changes": remedy.documents()}
            for text, remedy in zip(told, remedies, strict=True)
        ],
    }
    eviction = last_eviction(subject.group) if subject.group is not None else None
    if eviction is not None:
        data["lastEviction"] = msgspec.to_builtins(eviction)
    failed = tuple(failure_lines(subject)) if cause.code != "failed" else ()
    if failed:
        data["failed"] = list(failed)
    judged = subject.group is not None and names.VERDICT in subject.group.annotations and cause.state == WAITS
    return GangAnswer(
        "\n".join(lines),
        data,
        judged,
        plain(eviction_line(objects, subject, titles)) if cause.code != "evicted" else "",
        failed,
    )
