"""A cause and its remedies in the words that people read, and as data. Internal names end here: users see the names
they gave."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from gangline.api import kinds, names
from gangline.api.meta import Raw, as_raw
from gangline.rules.gangs.evictions import last_eviction
from gangline.rules.gangs.starts import start_text, start_times
from gangline.rules.verdicts import GangAnswer, owner, renamed
from gangline.why.cause import WAITS, Cause
from gangline.why.changes import Remedy
from gangline.why.objects import ClusterObjects
from gangline.why.states.ended import failure_lines
from gangline.why.states.evictions import eviction_line
from gangline.why.words.amounts import ordinal
from gangline.why.workloads import Subject

INDENT = "  "


RESERVATION = re.compile(r"\bgpu-reservation-[\w.-]+")


def titles_of(objects: ClusterObjects) -> dict[str, str]:
    """`namespace/name` of PodGroups → what users call them."""
    return {f"{group.namespace}/{group.name}": owner(group) for group in objects.all(kinds.POD_GROUP)}


def answer(
    objects: ClusterObjects, subject: Subject, cause: Cause, remedies: Sequence[Remedy], line: tuple[int, int] = (0, 0)
) -> GangAnswer:
    """`line`: its place among those that wait in its queue, and how many these are; (0, 0): it is in no line."""
    titles = titles_of(objects)
    plain = PlainWords(titles)
    fixes = [plain(remedy.text(objects)) for remedy in remedies]
    headline = plain(f"{subject.name} {cause.state}: {cause.why}").replace("\n", " ")
    behind = remedies[0].behind if remedies else ()
    facts = [plain(fact) for fact in (*cause.facts, *(f"and behind that: {why}" for why in behind)) if fact]
    place, waiting = line
    text = "\n".join(_lines(cause, headline, facts, fixes, _position(subject, place, waiting)))
    failed = tuple(failure_lines(subject)) if cause.code != "failed" else ()
    data = _data(subject, cause, headline, facts)
    data |= {"text": text, "position": place, "waiting": waiting, "revision": objects.revision}
    data["remedies"] = [
        {
            "text": remedy_text,
            "tried": remedy.tried,
            "how": [change.how for change in remedy.changes],
            "changes": remedy.documents(),
        }
        for remedy_text, remedy in zip(fixes, remedies, strict=True)
    ]
    if failed:
        data["failed"] = list(failed)
    judged = cause.state == WAITS and _has_verdict(subject)
    evicted = plain(eviction_line(objects, subject, titles)) if cause.code != "evicted" else ""
    starts = plain(_starts(subject, objects.now)) if cause.state == WAITS else ""
    data |= _start_data(subject, starts)
    return GangAnswer(text, data, judged, evicted, failed, f"{INDENT}{starts}" if starts else "")


def _start_data(subject: Subject, starts: str) -> Raw:
    start = subject.group.status.start if subject.group is not None else None
    return {"start": {**as_raw(start), "text": starts}} if starts and start is not None else {}


def _position(subject: Subject, place: int, waiting: int) -> str:
    queue = subject.group.spec.queue if subject.group is not None else ""
    return f"{ordinal(place)} of {waiting} in queue {queue}" if place else ""


def _has_verdict(subject: Subject) -> bool:
    return subject.group is not None and names.VERDICT in subject.group.annotations


def _starts(subject: Subject, now: float) -> str:
    times = start_times(subject.group.status.start) if subject.group is not None else None
    return start_text(times, now) if times is not None else ""


class PlainWords:
    """Texts without internal names."""

    def __init__(self, titles: Mapping[str, str]) -> None:
        self._words = {key.partition("/")[2]: title for key, title in titles.items()}

    def __call__(self, text: str) -> str:
        return RESERVATION.sub("a reservation of a shared GPU", renamed(text, self._words))


def _lines(cause: Cause, headline: str, facts: Sequence[str], fixes: Sequence[str], position: str) -> Iterator[str]:
    yield headline
    if cause.needs:
        yield f"{INDENT}needs     {cause.needs}"
    yield from (INDENT + fact for fact in facts)
    verb = "would start if" if cause.state in (WAITS, "runs") else "would go on if"
    for place, text in enumerate(fixes):
        yield f"{INDENT}{verb if place == 0 else '            or'}   {text}"
    if position:
        yield f"{INDENT}next try  when something changes; {position}"


def _data(subject: Subject, cause: Cause, headline: str, facts: Sequence[str]) -> Raw:
    group = subject.group
    eviction = last_eviction(group) if group is not None else None
    data: Raw = {
        "gang": subject.name,
        "kind": subject.kind,
        "namespace": subject.namespace,
        "state": cause.state,
        "cause": cause.code,
        "headline": headline,
        "text": "",
        "needs": cause.needs,
        "facts": list(facts),
        "proof": cause.proof,
        "queue": group.spec.queue if group is not None else "",
        "remedies": [],
    }
    return data if eviction is None else {**data, "lastEviction": msgspec.to_builtins(eviction)}
