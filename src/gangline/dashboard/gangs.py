"""Gangs: every PodGang, and every PodGroup that stands for no PodGang, with its pods counted and its verdict.

A gang waits while one of its groups has fewer pods on nodes than its minimum and more could come. The words of a
verdict come from rules/verdicts.py. Pods of no gang are left out here. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from gangline.api import names
from gangline.api.builtin import Job
from gangline.api.grove import PodGang
from gangline.api.kai import PodGroup
from gangline.api.meta import condition
from gangline.dashboard import evictions
from gangline.dashboard.evictions import EvictionStory
from gangline.dashboard.look import ClusterView, PodFact, first_owner
from gangline.dashboard.model import EvictedGang, GangLine, RemedyText, WaitingReason
from gangline.dashboard.nodes import natural
from gangline.rules import verdicts
from gangline.rules.gangs.evictions import failure_of, is_over, prospects
from gangline.rules.gangs.starts import start_text, start_times
from gangline.rules.values import times

WAITING, EVICTED, STARTING, RUNNING, ENDED, FAILED = "waiting", "evicted", "starting", "running", "ended", "failed"
USER = "user"
"""Label or annotation."""
Place: TypeAlias = tuple[str, str]
"""Namespace and name."""


class CountedGang:
    """One gang while its pods are counted."""

    __slots__ = (
        "asked",
        "ended",
        "eviction",
        "gang",
        "group",
        "held",
        "job",
        "name",
        "namespace",
        "nodes",
        "over",
        "parts",
        "placed",
        "pods",
        "running",
    )

    def __init__(self, namespace: str, name: str, gang: PodGang | None, group: PodGroup | None) -> None:
        self.namespace, self.name, self.gang, self.group = namespace, name, gang, group
        self.pods = self.placed = self.running = self.ended = 0
        self.held = self.asked = self.over = 0.0
        self.nodes: set[str] = set()
        self.eviction: EvictionStory | None = None
        """The last one, after which it has not started again."""
        self.job: Job | None = None
        """The Job that its PodGroup was made for."""
        self.parts: dict[str, int] = {}
        """Pods of each group that are on a node, or were and succeeded."""

    def add(self, fact: PodFact) -> None:
        self.pods += 1
        if fact.ended:
            self.ended += 1
            self.over += fact.gpus
            if fact.succeeded:
                self.parts[fact.part] = self.parts.get(fact.part, 0) + 1
            return
        self.asked += fact.gpus
        if fact.node:
            self.placed += 1
            self.running += fact.running
            self.held += fact.gpus
            self.nodes.add(fact.node)
            self.parts[fact.part] = self.parts.get(fact.part, 0) + 1

    @property
    def pending(self) -> int:
        return self.pods - self.ended - self.placed

    @property
    def minima(self) -> dict[str, int]:
        """Group → minimum; the empty name stands for the whole gang."""
        if self.gang is not None:
            return {podgroup.name: podgroup.min_replicas for podgroup in self.gang.spec.podgroups}
        spec = self.group.spec if self.group is not None else None
        if spec is None:
            return {}
        leaves = {
            sub_group.name: sub_group.min_member or 0
            for sub_group in spec.sub_groups
            if sub_group.min_member is not None
        }
        chosen = spec.min_sub_group is not None or any(
            sub_group.min_sub_group is not None for sub_group in spec.sub_groups
        )
        return leaves if leaves and not chosen else {"": spec.min_member or 1}

    @property
    def lacking(self) -> int:
        """Pods that must still find a node before the gang is whole."""
        there = sum(self.parts.values())
        return sum(max(least - (self.parts.get(part, 0) if part else there), 0) for part, least in self.minima.items())

    @property
    def state(self) -> str:
        if failure_of(self.job) is not None:
            return FAILED
        if self.pods == self.ended and (self.pods or self.gang is None):
            return self._without_pods()
        if self.lacking and (self.pending or not self.placed):
            return EVICTED if self.eviction is not None and not self.placed else WAITING
        return RUNNING if self.running and self.running >= min(self.placed, sum(self.minima.values())) else STARTING

    def _without_pods(self) -> str:
        """No pod of it is left that has not ended: its Job may make others, else it is over, well or badly."""
        over = self.job is not None and (is_over(self.job) or self.job.metadata.deleting)
        goes_on = self.job is not None and not over and bool(self.lacking or not self.pods)
        if self.eviction is not None and not over and (goes_on or not self.pods):
            return EVICTED
        if goes_on:
            return WAITING
        badly = self.ended and self.lacking and self.job is None
        return FAILED if badly or self._phase == FAILED else ENDED

    @property
    def _phase(self) -> str:
        """What the PodGroup controller noted last, which outlives the pods."""
        conditions = self.group.status.conditions if self.group is not None else ()
        return next((str(item.get("reason", "")).lower() for item in conditions if item.get("type") == "Phase"), "")

    @property
    def failure(self) -> str:
        """Why it failed for good; empty: it did not."""
        lost = failure_of(self.job)
        if lost is not None:
            return f"{lost.get('reason') or 'Failed'}: {lost.get('message') or 'its Job failed'}"
        if self.state != FAILED:
            return ""
        if not self.ended:
            return "its pods failed, and are gone"
        return f"{self.ended} of its pods ended, and fewer than its minimum of {sum(self.minima.values())} succeeded"

    @property
    def queue(self) -> str:
        return self.group.spec.queue if self.group is not None else self._label(names.QUEUE)

    @property
    def title(self) -> str:
        return self.name if self.gang is not None or self.group is None else verdicts.owner(self.group)

    @property
    def kind(self) -> str:
        if self.gang is not None or self.group is None:
            return "PodGang"
        owner = first_owner(self.group.metadata.owner_references)
        return owner.kind if owner is not None else "PodGroup"

    @property
    def set(self) -> str:
        return self._label(names.PART_OF)

    @property
    def priority(self) -> str:
        given = self.gang.spec.priority_class_name if self.gang is not None else ""
        return given or (self.group.spec.priority_class_name if self.group is not None else "")

    @property
    def user(self) -> str:
        """Whose it is, where its pods or its workload say so."""
        made = self.group or self.gang
        return (made.labels.get(USER) or made.annotations.get(USER, "")) if made is not None else ""

    def _label(self, name: str) -> str:
        return self.gang.labels.get(name, "") if self.gang is not None else ""

    @property
    def made(self) -> float | None:
        """When it was created."""
        first = self.gang or self.group
        return times.seconds(first.metadata.creation_timestamp) if first is not None else None

    @property
    def started(self) -> float | None:
        """When it got its place last, as its PodGroup or its PodGang says."""
        stamped = times.seconds(self.group.annotations.get(names.LAST_START)) if self.group is not None else None
        scheduled = condition(self.gang.status.conditions, "Scheduled") if self.gang is not None else None
        if stamped is None and scheduled is not None and scheduled.status == "True":
            return times.seconds(scheduled.last_transition_time)
        return stamped

    @property
    def since(self) -> float | None:
        """When it was made; for one that lost its place, when that was."""
        made = self.gang or self.group
        if self.eviction is not None and not self.placed:
            return self.eviction.at
        if (
            self.gang is not None
            and (scheduled := condition(self.gang.status.conditions, "Scheduled"))
            and scheduled.status == "False"
        ):
            return times.seconds(scheduled.last_transition_time) or times.seconds(self.gang.metadata.creation_timestamp)
        return times.seconds(made.metadata.creation_timestamp) if made is not None else None


class GangTable(dict[Place, CountedGang]):
    """Every gang by namespace and name."""

    def __init__(self, look: ClusterView) -> None:
        super().__init__(
            {(gang.namespace, gang.name): CountedGang(gang.namespace, gang.name, gang, None) for gang in look.gangs}
        )
        self.now = look.source.now
        self._by_group: dict[Place, CountedGang] = {}
        self._titles: dict[str, str] = {}
        by_uid = {gang.uid: gang for gang in look.gangs}
        jobs, evicted = {job.uid: job for job in look.jobs}, evictions.from_events(look.events)
        for group in look.groups:
            owner = next(
                (
                    by_uid[owner_reference.uid]
                    for owner_reference in group.metadata.owner_references
                    if owner_reference.uid in by_uid
                ),
                None,
            )
            gang = self._by_group[group.namespace, group.name] = self._stand_for(group, owner)
            self._titles[group.name] = gang.title
            gang.eviction = evictions.last(group, evicted)
            gang.job = next(
                (
                    jobs[owner_reference.uid]
                    for owner_reference in group.metadata.owner_references
                    if owner_reference.uid in jobs
                ),
                None,
            )
        for fact in look.pods:
            mine = self.of(fact)
            if mine is not None:
                mine.add(fact)

    def _stand_for(self, group: PodGroup, owner: PodGang | None) -> CountedGang:
        """The gang that a PodGroup is of: its PodGang's, or one of its own."""
        if owner is None:
            return self.setdefault((group.namespace, group.name), CountedGang(group.namespace, group.name, None, group))
        mine = self[owner.namespace, owner.name]
        mine.group = group
        return mine

    def of(self, fact: PodFact) -> CountedGang | None:
        """The gang that a pod belongs to."""
        return (self.get(fact.gang) if fact.gang[1] else None) or self._by_group.get(fact.group)

    def renamed(self, text: str) -> str:
        """With the names of PodGroups replaced by those that users know."""
        return verdicts.renamed(text, self._titles)

    def called(self, namespace: str, name: str) -> CountedGang | None:
        """By its own name, its PodGroup's, that of what it was made for, or that of a set which has no other gang."""
        gang = self.get((namespace, name)) or self._by_group.get((namespace, name))
        titled = (gang for gang in self.values() if gang.namespace == namespace and gang.title == name)
        return gang or next(titled, None) or self._only_one_of(namespace, name)

    def _only_one_of(self, namespace: str, name: str) -> CountedGang | None:
        of_set = self.of_set(namespace, name)
        return of_set[0] if len(of_set) == 1 else None

    def of_set(self, namespace: str, name: str) -> list[CountedGang]:
        """The gangs of a PodCliqueSet."""
        return [gang for gang in self.values() if name and gang.namespace == namespace and gang.set == name]


def line(gang: CountedGang, known: GangTable | None = None) -> GangLine:
    """A gang as a row; with all that are known, it says why it waits, too."""
    state = gang.state
    return GangLine(
        namespace=gang.namespace,
        name=gang.name,
        title=gang.title,
        kind=gang.kind,
        state=state,
        set=gang.set,
        queue=gang.queue,
        priority=gang.priority,
        user=gang.user,
        pods=gang.pods,
        minimum=sum(gang.minima.values()),
        placed=gang.placed,
        running=gang.running,
        pending=gang.pending,
        gpus_held=round(gang.held, 2),
        gpus_asked=round(gang.asked, 2),
        nodes=len(gang.nodes),
        since=gang.since,
        why=why(gang, known) if known is not None and (state in (WAITING, EVICTED) or gang.pending) else None,
        evicted=evicted(gang, known) if known is not None and state in (EVICTED, FAILED) else None,
        failure=gang.failure,
    )


def evicted(gang: CountedGang, known: GangTable) -> EvictedGang | None:
    """Who took its place, and whether it comes back."""
    if gang.eviction is None:
        return None
    other = known.called(*gang.eviction.other)
    title = f"{other.namespace}/{other.title}" if other is not None else "/".join(gang.eviction.other).strip("/")
    waits = bool(gang.pending) or gang.gang is not None
    return EvictedGang(
        at=gang.eviction.at,
        action=gang.eviction.action,
        by=evictions.by_whom(gang.eviction, title),
        other=title,
        back=prospects(gang.job, gang.kind, waits),
    )


def why(gang: CountedGang, known: GangTable) -> WaitingReason:
    if gang.gang is not None:
        answer = verdicts.of_gang(gang.gang, gang.group)
    elif gang.group is not None:
        answer = verdicts.of_group(gang.group, gang.title)
    else:
        return WaitingReason(headline=f"{gang.title} waits")
    first, *rest = answer.text.splitlines() or [""]
    data, proof = answer.data, tuple(known.renamed(text.strip()) for text in rest if not _way_out(text))
    ways = tuple(RemedyText(text=known.renamed(text)) for text in _remedies(data.get("remedies")))
    return WaitingReason(
        headline=known.renamed(first),
        proof=proof,
        remedies=ways,
        position=_count(data.get("position")),
        waiting=_count(data.get("waiting")),
        judged=answer.judged,
        starts=_promise(gang, known.now),
    )


def _promise(gang: CountedGang, now: float) -> str:
    """When it starts, as the scheduler promised it."""
    promised = start_times(gang.group.status.start) if gang.group is not None else None
    return start_text(promised, now) if promised is not None else ""


def _way_out(text: str) -> bool:
    return text.strip().startswith(("would start if ", "or "))


def _remedies(given: object) -> Iterable[str]:
    """What is there of them: an annotation may hold anything."""
    for item in given if isinstance(given, list) else ():
        if isinstance(item, dict) and item.get("text"):
            yield str(item["text"])


def _count(given: object) -> int:
    return given if isinstance(given, int) else 0


def longest_first(gangs: Iterable[CountedGang]) -> list[CountedGang]:
    """Who waits longest comes first."""
    return sorted(gangs, key=lambda gang: (gang.since or 0.0, gang.namespace, natural(gang.name)))


def largest_first(gangs: Iterable[CountedGang]) -> list[CountedGang]:
    """Who holds most GPUs comes first."""
    return sorted(gangs, key=lambda gang: (-gang.held, gang.namespace, natural(gang.name)))


def matches(gang: CountedGang, search: str) -> bool:
    if not search:
        return True
    return any(search in text.lower() for text in (gang.name, gang.namespace, gang.title, gang.queue, gang.set))
