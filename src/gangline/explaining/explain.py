"""From a name to its answer: read the cluster, find the workload, say the cause, try the changes. The cluster itself is
only read.

A change that the scheduler's own cycle can judge is tried on the objects in memory. A change that makes new pods, or
must start several gangs one after the other, is tried on a copy of the whole platform (whatif/copy.py), where the same
controllers work."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from gangline.api import kinds
from gangline.api.kinds import Kind
from gangline.api.meta import Object
from gangline.client import Client
from gangline.errors import BadInput
from gangline.rules.verdicts import GangAnswer
from gangline.why.answers import answer, titles_of
from gangline.why.cause import WAITS, Cause
from gangline.why.causes import cause_of, line_of
from gangline.why.changes import ObjectChange, Remedy, squashed, touched
from gangline.why.objects import ClusterObjects, dig
from gangline.why.read import kinds_of, read_cluster
from gangline.why.remedies import remedies, unlike
from gangline.why.schedulers.unread import NOT_TOLD
from gangline.why.subjects import find, waiting
from gangline.why.workloads import Subject

LARGEST_COPY = 3000
"""Pods of a cluster up to which a change is tried on a copy of the platform without being asked to."""
TRIED_ON_COPY = 3
Explained = tuple[GangAnswer, list[Remedy]]


@dataclass(slots=True)
class JudgedWorkload:
    """A workload on its way to an answer."""

    subject: Subject
    cause: Cause
    remedies: list[Remedy]
    line: tuple[int, int] = (0, 0)
    """Its place among those that wait in its queue, and how many these are."""

    @property
    def waits(self) -> bool:
        return self.cause.state == WAITS and not self.cause.transient


async def explain_name(
    client: Client,
    name: str,
    namespace: str,
    *,
    everywhere: bool = False,
    served: Sequence[Kind[Object]] = (),
    now: float | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> list[Explained]:
    """One answer per gang that NAME stands for, with its remedies; without a name, one for each gang that waits.

    `served`: the kinds that a copy of the platform is made of; without them nothing is tried there. `tell` hears what
    of the cluster was not looked at. Raises BadInput where none can be explained."""
    read = kinds_of(served, name)
    objects = await read_cluster(client, time.time() if now is None else now, namespace, read)
    if everywhere and kinds.POD.resource in objects.unread:
        tell(f"only namespace {namespace} was looked at: you may not list pods of others")
    subjects = (
        find(objects, name, namespace, everywhere) if name else waiting(objects, None if everywhere else namespace)
    )
    judged = [_judged(objects, subject) for subject in subjects]
    _check_explained(judged)
    readable = not {"pods", "nodes"} & objects.unread.keys()
    if served and readable and objects.count_pods() <= LARGEST_COPY:
        for item in judged:
            await _try_on_copy(client, served, item)
        if name:
            await _start_together(client, served, judged)
            await _start_whole(client, served, judged)
    return [(answer(objects, item.subject, item.cause, item.remedies, item.line), item.remedies) for item in judged]


def _check_explained(judged: Sequence[JudgedWorkload]) -> None:
    """An answer that says of no workload more than that it may not be read is an error."""
    names: dict[str, list[str]] = {}
    for item in judged:
        if item.cause.code != NOT_TOLD:
            return
        names.setdefault(item.cause.why, []).append(item.subject.name)
    lines = [f"{', '.join(some)} {'waits' if len(some) == 1 else 'wait'}: {why}" for why, some in names.items()]
    if lines:
        raise BadInput("\n".join(lines))


def _judged(objects: ClusterObjects, subject: Subject) -> JudgedWorkload:
    titles = titles_of(objects)
    cause = cause_of(objects, subject, titles)
    line = line_of(objects, subject) if cause.state == WAITS else (0, 0)
    return JudgedWorkload(subject, cause, remedies(objects, subject, cause, titles), line)


async def _try_on_copy(client: Client, served: Sequence[Kind[Object]], workload: JudgedWorkload) -> None:
    """Keep what the platform was seen to start, with what else it needed."""
    if workload.cause.state not in (WAITS, "runs"):
        return
    seen = [remedy for remedy in workload.remedies if remedy.tried]
    for remedy in [remedy for remedy in workload.remedies if not remedy.tried][:TRIED_ON_COPY]:
        working = await _seen_to_start(client, served, [workload], remedy)
        if working is not None:
            seen.append(working)
            break
    workload.remedies = seen


async def _start_together(client: Client, served: Sequence[Kind[Object]], judged: list[JudgedWorkload]) -> None:
    """Where a name stands for several gangs that wait, the first remedy starts all of them."""
    waiting_ones = [item for item in judged if item.waits]
    if len(waiting_ones) < 2 or not any(item.remedies for item in waiting_ones):
        return
    working = await _seen_to_start(client, served, waiting_ones, Remedy(_of_each(waiting_ones)))
    first = next(item for item in waiting_ones if item.remedies or working)
    if working is not None and working.changes:
        behind = first.remedies[0].behind if first.remedies else ()
        others = [remedy for remedy in first.remedies if not touched(remedy.changes) <= touched(working.changes)]
        first.remedies = [replace(working, behind=unlike((*behind, *working.behind))), *others]


def _of_each(judged: Sequence[JudgedWorkload]) -> tuple[ObjectChange, ...]:
    """The first remedy of every one, where each changes its own PodGroup: the grouper, which looks at pods, would come
    to the others only when something happens to theirs."""
    firsts = [item.remedies[0].changes if item.remedies else () for item in judged]
    own = [{change.name for change in first if change.kind is kinds.POD_GROUP} for first in firsts]
    return squashed([change for first in firsts for change in first]) if all(own) else ()


async def _start_whole(client: Client, served: Sequence[Kind[Object]], judged: Sequence[JudgedWorkload]) -> None:
    """A StatefulSet makes its pods one after the other: the first remedy starts those that are not made yet, too."""
    for item in judged:
        first = item.remedies[0] if item.remedies and (item.waits or item.cause.code == "surplus") else None
        if first is None or first.tried != "cycle" or not _makes_more(item.subject):
            continue
        working = await _seen_to_start(client, served, [item], first)
        if working is not None:
            item.remedies[0] = working


def _makes_more(subject: Subject) -> bool:
    replicas = dig(subject.top, "spec", "replicas")
    one_by_one = dig(subject.top, "spec", "podManagementPolicy") != "Parallel"
    return subject.top_kind == "StatefulSet" and one_by_one and len(subject.pods) < int(replicas or 1)


async def _seen_to_start(
    client: Client, served: Sequence[Kind[Object]], judged: Sequence[JudgedWorkload], remedy: Remedy
) -> Remedy | None:
    """What platform_trial.py says. Few answers need a platform, which takes longer to import than they take."""
    from gangline.explaining.platform_trial import starts_on_copy

    return await starts_on_copy(
        client, served, [item.subject for item in judged], remedy, [item.cause for item in judged]
    )
