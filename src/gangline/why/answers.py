"""A cause and its remedies in the words that people read, and as data. Internal names end here: users see the names
they gave."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from gangline.api import kinds, names
from gangline.api.meta import Raw, as_raw
from gangline.rules.evictions import last_eviction
from gangline.rules.starts import start_text, start_times
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
    told = [plain(remedy.text(objects)) for remedy in remedies]
    headline = plain(f"{subject.name} {cause.state}: {cause.why}").replace("\n", " ")
    behind = remedies[0].behind if remedies else ()
    facts = [plain(fact) for fact in (*cause.facts, *(f"and behind that: {why}" for why in behind)) if fact]
    place, waiting = line
    queue = subject.group.spec.queue if subject.group is not None else ""
    position = f"{ordinal(place)} of {waiting} in queue {queue}" if place else ""
    text = "\n".join(_lines(cause, headline, facts, told, position))
    failed = tuple(failure_lines(subject)) if cause.code != "failed" else ()
    data = _data(subject, cause, headline, facts)
    data |= {"text": text, "position": place, "waiting": waiting, "revision": objects.revision}
    data["remedies"] = [
        {"text": remedy_text, "tried": remedy.tried, "changes": remedy.documents()}
        for remedy_text, remedy in zip(told, remedies, strict=True)
    ]
    if failed:
        data["failed"] = list(failed)
    judged = subject.group is not None and names.VERDICT in subject.group.annotations and cause.state == WAITS
    evicted = plain(eviction_line(objects, subject, titles)) if cause.code != "evicted" else ""
    start = _start(subject, cause, plain, objects.now)
    return GangAnswer(text, data | start, judged, evicted, failed, _line(start))


def _start(subject: Subject, cause: Cause, plain: PlainWords, now: float) -> Raw:
    """When it starts, as it was promised, with the words for people; empty where no start is told."""
    told = subject.group.status.start if subject.group is not None and cause.state == WAITS else None
    times = start_times(told)
    return {} if told is None or times is None else {"start": {**as_raw(told), "text": plain(start_text(times, now))}}


def _line(start: Raw) -> str:
    return f"{INDENT}{start['start']['text']}" if start else ""


class PlainWords:
    """Texts without internal names."""

    def __init__(self, titles: Mapping[str, str]) -> None:
        self._words = {key.partition("/")[2]: title for key, title in titles.items()}

    def __call__(self, text: str) -> str:
        return RESERVATION.sub("a reservation of a shared GPU", renamed(text, self._words))


def _lines(cause: Cause, headline: str, facts: Sequence[str], told: Sequence[str], position: str) -> Iterator[str]:
    yield headline
    if cause.needs:
        yield f"{INDENT}needs     {cause.needs}"
    yield from (INDENT + fact for fact in facts)
    verb = "would start if" if cause.state in (WAITS, "runs") else "would go on if"
    for place, text in enumerate(told):
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
