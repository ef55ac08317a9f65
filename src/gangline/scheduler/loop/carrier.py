"""Carries out the decisions of a cycle: BindRequests for placed pods (requests/writer.py), a delete per evicted one,
time stamps of gangs, events.

Each write goes to the writer, which sends it beside the next cycle; what is on its way is laid over what the watch
shows (overlay.py). A write that fails gives its pod back to the next cycle.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

from gangline.api.core import Pod
from gangline.api.kinds import POD, POD_GROUP, QUEUE
from gangline.rules.gangs.evictions import EvictionNote
from gangline.rules.gangs.memberships import goes_with_a_pod, is_collected
from gangline.runtime import Cache, Context, key_of
from gangline.scheduler.decisions import Decisions, Evict, GangUpdate, MoveRequest, Nominate
from gangline.scheduler.loop import decision_writes, metrics
from gangline.scheduler.loop.feed import Feed
from gangline.scheduler.loop.lookup import ModelObjects
from gangline.scheduler.loop.overlay import Overlay
from gangline.scheduler.loop.requests.writer import RequestWriter
from gangline.scheduler.thought import decision_objects
from gangline.scheduler.thought.deadlines import start_matters
from gangline.scheduler.thought.gang_requests import placing
from gangline.scheduler.thought.options import SchedulerOptions
from gangline.scheduler.victims.budgets import budgets_of
from gangline.scheduler.victims.ledger import ledger_of

LINGERS = 2.0
"""Seconds after which the group of an evicted single, if it still is there, says who evicted it: at the next cycle."""


class DecisionCarrier:
    def __init__(
        self, ctx: Context, cache: Cache, options: SchedulerOptions, objects: ModelObjects, feed: Feed, overlay: Overlay
    ) -> None:
        self._ctx, self._cache, self._options = ctx, cache, options
        self._objects, self._feed, self._overlay = objects, feed, overlay
        self._unwritten: dict[str, GangUpdate] = {}
        self._lingering: dict[str, tuple[GangUpdate, EvictionNote | None, float]] = {}
        """Stamps of groups that go with their pod, and since when: they are written if the group stays."""
        self._requests = RequestWriter(ctx, options, objects, feed, overlay)
        self.nominated: dict[str, float] = {}
        """Tasks that were nominated, and since when."""

    def carry_out(self, decisions: Decisions) -> None:
        self._requests.bind_all(decisions.binds)
        for commit in decisions.commits:
            if isinstance(commit, Evict):
                self._evict(commit)
        self._tell_nominations(decisions.nominations)
        for move in decisions.moves:
            self._ask_for_move(move)
        self._stamp_all(decisions.updates, self._tell_evictions(decisions))

    def forget(self, gang: str) -> None:
        """The gang is gone."""
        self._unwritten.pop(gang, None)
        self._lingering.pop(gang, None)
        self._overlay.forget_gang(gang)

    def forget_placed(self, decisions: Decisions) -> None:
        """Tasks that are gone wait for no node; looked for when there may be many."""
        if len(self.nominated) > 2 * len(decisions.nominations):
            for task in [task for task in self.nominated if task not in self._objects.cluster.tasks]:
                del self.nominated[task]

    # --- nominations --------------------------------------------------------------------------------------------------

    def _tell_nominations(self, nominations: Iterable[Nominate]) -> None:
        """Once only: the node may be another in every cycle. One event for a gang, or for each pod as upstream has
        it."""
        waiting: dict[str, list[Nominate]] = {}
        for nominate in nominations:
            task = self._objects.cluster.tasks.get(nominate.task)
            if task is not None and nominate.task not in self.nominated:
                self.nominated[nominate.task] = self._ctx.clock.now()
                waiting.setdefault(task.record.gang, []).append(nominate)
        for gang, members in waiting.items():
            group = self._objects.group(gang)
            if group is not None and len(members) > 1 and not self._options.request_per_pod:
                self._ctx.events.tell(POD_GROUP, group, "Pipelined", f"{placing(members)}, once others have left")
            else:
                for nominate in members:
                    self._tell_nomination(nominate)

    def _tell_nomination(self, nominate: Nominate) -> None:
        pod = self._objects.pod(nominate.task)
        if pod is not None:
            text = f"Pod {pod.namespace}/{pod.name} was pipelined to node {nominate.node}"
            self._ctx.events.tell(POD, pod, "Pipelined", text)

    # --- moves --------------------------------------------------------------------------------------------------------

    def _ask_for_move(self, move: MoveRequest) -> None:
        """The operator does the rest."""
        pod, gang = self._objects.pod(move.task), self._objects.cluster.gangs.get(move.preemptor)
        if pod is None or gang is None:
            return
        text = f"A replacement starts on node {move.node} before this pod goes, to make room for {gang.full_name}"
        self._ctx.events.tell(POD, pod, "Moving", text)
        self._ctx.writer.put(("move", pod.uid), partial(decision_writes.ask_for_move, self._ctx, pod, move.node))

    # --- evictions ----------------------------------------------------------------------------------------------------

    def _evict(self, evict: Evict) -> None:
        pod = self._objects.pod(evict.task)
        if pod is None:
            return
        self._overlay.evicting(pod.uid)
        if evict.preemptor and self._has_budget(evict.task):
            write = partial(decision_writes.evict_within_budget, self._ctx, pod)
        else:
            write = partial(decision_writes.evict, self._ctx, pod, evict, self._options)
        self._ctx.writer.put(("evict", pod.uid), write, lambda error: self._not_evicted(pod))

    def _has_budget(self, task: str) -> bool:
        """Whether a PodDisruptionBudget has a say; a gang that fell below its minimum is ended all the same."""
        cluster = self._objects.cluster
        return task in cluster.tasks and bool(budgets_of(cluster, cluster.tasks[task]))

    def _not_evicted(self, pod: Pod) -> None:
        self._overlay.forget(pod.uid)
        self._feed.note(POD, key_of(pod))

    def _tell_evictions(self, decisions: Decisions) -> dict[str, EvictionNote]:
        """One event per gang that lost pods, with the facts as annotations; the same facts are given back by gang."""
        lost: dict[str, list[Evict]] = {}
        for evict in decisions.evictions:
            task = self._objects.cluster.tasks.get(evict.task)
            if task is not None:
                lost.setdefault(task.record.gang, []).append(evict)
        for gang, evictions in lost.items():
            self._tell_eviction(gang, evictions)
        if not self._options.note_evictions:
            return {}
        now, ledger = self._ctx.clock.now(), ledger_of(self._objects.cluster)
        return {
            gang: decision_objects.eviction_of(evictions, now, ledger.of_gang(gang)) for gang, evictions in lost.items()
        }

    def _tell_eviction(self, gang: str, evictions: list[Evict]) -> None:
        group = self._objects.group(gang)
        if group is None:
            return
        first, pool = evictions[0], self._options.pool_name
        evicted = metrics.EVICTED.labels(group.name, group.namespace, group.uid, pool, first.action)
        evicted.inc(len(evictions))
        annotations = decision_objects.eviction_annotations(first, len(evictions))
        self._ctx.events.tell(POD_GROUP, group, "Evict", first.message, annotations=annotations)

    # --- time stamps --------------------------------------------------------------------------------------------------

    def _stamp_all(self, updates: Iterable[GangUpdate], evictions: Mapping[str, EvictionNote]) -> None:
        """Write time stamps; a mere start is kept in mind until somebody's minimum run time makes it matter."""
        options = self._options
        matters = options.stamp_every_start or start_matters(options.settings, self._cache.list(QUEUE))
        kept = [self._unwritten.pop(gang) for gang in list(self._unwritten)] if matters else []
        for update in (*kept, *updates):
            if update.gang not in self._objects.cluster.gangs:
                continue
            self._overlay.updating(update)
            written = matters and self._objects.group(update.gang) is not None
            if written or update.stale_since is not None or update.last_eviction is not None:
                self._unwritten.pop(update.gang, None)
                self._stamp_in_time(update, evictions.get(update.gang))
            else:
                self._unwritten[update.gang] = update
        self._stamp_lingering()

    def _stamp_in_time(self, update: GangUpdate, eviction: EvictionNote | None) -> None:
        """The group of an evicted single mostly goes with it, before anybody could read what is written on it."""
        group = self._objects.group(update.gang)
        if eviction is not None and group is not None and goes_with_a_pod(group):
            self._lingering[update.gang] = update, eviction, self._ctx.clock.now()
        else:
            self._lingering.pop(update.gang, None)
            self._stamp(update, eviction)

    def _stamp_lingering(self) -> None:
        now = self._ctx.clock.now()
        for gang, (update, eviction, since) in list(self._lingering.items()):
            if now - since >= LINGERS:
                del self._lingering[gang]
                if self._stays(gang):
                    self._stamp(update, eviction)
                else:
                    self._overlay.updated(update)

    def _stays(self, gang: str) -> bool:
        """Whether its group is there, and does not go with a pod that is gone."""
        group = self._objects.group(gang)
        return group is not None and not is_collected(group, lambda name: self._cache.get(POD, name, group.namespace))

    def _stamp(self, update: GangUpdate, eviction: EvictionNote | None) -> None:
        async def write() -> None:
            await decision_writes.stamp(self._ctx, update, eviction)
            self._overlay.updated(update)

        self._ctx.writer.put(("stamp", update.gang), write, lambda error: self._overlay.updated(update))
