"""Writes why gangs wait: conditions, events, pod conditions, the verdict.

service.py hands in how each gang stands; thought/told_gang.py says what of it is new and worth writing. The writes go
out beside the cycle.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from functools import partial
from typing import Any

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kai import PodGroup
from gangline.api.kinds import POD, POD_GROUP
from gangline.api.meta import Raw
from gangline.client import Client
from gangline.client.wire import STRATEGIC_PATCH
from gangline.errors import Conflict
from gangline.rules.verdicts import answer_of
from gangline.runtime import Cache, Context
from gangline.runtime.events import Recorder
from gangline.scheduler.decisions import Refuse
from gangline.scheduler.loop.lookup import ModelObjects
from gangline.scheduler.refusals import one_stop
from gangline.scheduler.thought import decision_objects
from gangline.scheduler.thought.options import SchedulerOptions
from gangline.scheduler.thought.settings_note import settings_note
from gangline.scheduler.thought.standings import GangStanding
from gangline.scheduler.thought.told_gang import Members, ToldGang, knows, pause_before_retelling
from gangline.scheduler.why.verdict import Verdict

log = logging.getLogger(__name__)


class GangTeller:
    def __init__(self, ctx: Context, cache: Cache, options: SchedulerOptions) -> None:
        self._client: Client = ctx.client
        self._events: Recorder = ctx.events
        self._clock = ctx.clock
        self._cache, self._writer, self._options = cache, ctx.writer, options
        self._settings = settings_note(options.settings)
        self._memories: dict[str, ToldGang] = {}
        self._pause = 0.0

    def tell_all(self, standings: Iterable[GangStanding], refusals: Iterable[Refuse], objects: ModelObjects) -> None:
        """How every gang stands that a cycle looked at, and why it was refused."""
        refused = {refuse.gang: refuse for refuse in refusals}
        waiting = sum(len(memory.pods) for memory in self._memories.values())
        self._pause = pause_before_retelling(waiting, self._options.retell)
        for standing in standings:
            try:
                self.tell(standing, refused.get(standing.gang), partial(objects.members, standing.gang))
            except (
                Exception
            ):  # one gang that cannot be told keeps nobody else from being told, and no cycle from going on
                log.exception("the state of gang %s cannot be reported", standing.gang)

    def tell(self, standing: GangStanding, refuse: Refuse | None, members: Members) -> None:
        """`members`: finds the pods of the gang by uid, as far as they are known."""
        namespace, _, name = standing.gang.partition("/")
        group = self._cache.get(POD_GROUP, name, namespace)
        if group is None:
            self._tell_ungrouped(standing, refuse, members)
            return
        if standing.stale:
            self._once(group, standing.gang, "StaleJob", standing.stale)
        if standing.strays:
            self._tell_strays(standing, members())
        if standing.waiting and not standing.ready:
            self._once(group, standing.gang, "NotReady", standing.missing)
        elif standing.waiting and refuse is not None:
            self._refused(group, standing, refuse)
            self._tell_pods(standing, refuse, members, group.spec.mark_unschedulable is not False)
        elif not standing.waiting and not standing.awaiting:
            self._clear(group, standing.gang)

    def _tell_ungrouped(self, standing: GangStanding, refuse: Refuse | None, members: Members) -> None:
        """A single whose PodGroup is not written yet: its pod gets the condition, and then the grouper writes the
        group."""
        if refuse is None or not standing.waiting or not standing.ready:
            self._memories.pop(standing.gang, None)
            return
        self._tell_pods(standing, refuse, members, True)

    def next_due(self, now: float) -> float | None:
        """When pods get a reason that they do not have yet, though nothing happens until then."""
        moments = (memory.due for memory in self._memories.values())
        return min((moment for moment in moments if moment is not None and moment > now), default=None)

    def answered(self, group: PodGroup, gang: str) -> None:
        """An answer stands on the PodGroup that may not have been there at the last cycle."""
        memory = self._memories.get(gang)
        if memory is not None and memory.refused is not None and self._options.signs_verdicts:
            self._refused(group, *memory.refused)

    def forget(self, gang: str) -> None:
        self._memories.pop(gang, None)

    def _memory(self, gang: str) -> ToldGang:
        return self._memories.setdefault(gang, ToldGang())

    def _once(self, group: PodGroup, gang: str, reason: str, text: str) -> None:
        if self._memory(gang).is_news(reason, text):
            self._events.tell(POD_GROUP, group, reason, text)

    def _tell_strays(self, standing: GangStanding, pods: dict[str, Pod]) -> None:
        for uid in standing.strays:
            pod = pods.get(uid)
            if pod is not None:
                text = f"sub-group {pod.labels.get(names.SUB_GROUP)!r} does not exist in PodGroup {standing.gang}"
                self._tell_pod(pod, text, True, self._memory(standing.gang))

    def _refused(self, group: PodGroup, standing: GangStanding, refuse: Refuse) -> None:
        self._memory(standing.gang).refused = (standing, refuse)
        text = self._text(group, refuse)
        self._once(group, standing.gang, decision_objects.UNSCHEDULABLE, text)
        if not standing.running:
            self._write_condition(group, text, refuse)

    def _text(self, group: PodGroup, refuse: Refuse) -> str:
        """The words of `gangline explain` where they stand on the PodGroup, else those of the cycle."""
        answer = answer_of(group) if self._options.signs_verdicts else None
        return str(answer["headline"]) if answer is not None else self._said(refuse.text)

    def _said(self, text: str) -> str:
        """As upstream says it, or as people write."""
        return one_stop(text) if self._options.one_line else text

    def _tell_pods(self, standing: GangStanding, refuse: Refuse, members: Members, mark: bool) -> None:
        memory, now = self._memory(standing.gang), self._clock.now()
        for pod, text in memory.pods_to_tell(standing, refuse, members, now, self._pause):
            self._tell_pod(pod, self._said(text), mark, memory)

    def _tell_pod(self, pod: Pod, text: str, mark: bool, memory: ToldGang) -> None:
        if knows(pod, text):
            return
        self._events.tell(POD, pod, decision_objects.UNSCHEDULABLE, text, warning=True)
        if mark:
            self._mark(pod, decision_objects.pod_condition(text, self._clock.now()), memory)

    def _mark(self, pod: Pod, patch: Raw, memory: ToldGang) -> None:
        """The condition of a pod that still waits when the write goes out: one that has a node by then gets no
        condition that it has none."""

        async def write() -> None:
            now = self._cache.get(POD, pod.name, pod.namespace)
            while now is not None and now.uid == pod.uid and not now.spec.node_name:
                guarded = patch | {"metadata": {"uid": now.uid, "resourceVersion": now.metadata.resource_version}}
                try:
                    await self._client.patch_only(
                        POD, pod.name, pod.namespace, guarded, subresource="status", content_type=STRATEGIC_PATCH
                    )
                    return
                except Conflict:
                    now = await self._client.get(POD, pod.name, pod.namespace)

        self._writer.put((POD.kind, pod.namespace, pod.name, "condition"), write, lambda error: memory.not_told(pod))

    def _write_condition(self, group: PodGroup, text: str, refuse: Refuse) -> None:
        reasons = decision_objects.reasons_of(refuse)
        conditions = decision_objects.group_condition(group, text, reasons, self._options, self._clock.now())
        if conditions is not None:
            self._put(
                POD_GROUP, group, "conditions", {"status": {"schedulingConditions": conditions}}, subresource="status"
            )

    def judge(self, gang: str, verdict: Verdict, seen: int = 0) -> None:
        """Write a verdict, if it is new; `seen`: the newest revision of the cluster that it speaks of."""
        namespace, _, name = gang.partition("/")
        group = self._cache.get(POD_GROUP, name, namespace)
        now, retell = self._clock.now(), self._options.retell
        if group is not None and self._memory(gang).is_new_verdict(verdict, now, retell):
            signed = {"settings": self._settings} if self._options.signs_verdicts else {}
            data = verdict.as_dict() | signed
            text = json.dumps(data, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
            self._write_verdict(group, text, seen)

    def _write_verdict(self, group: PodGroup, text: str | None, seen: int = 0) -> None:
        if group.annotations.get(names.VERDICT) != text:
            notes: Raw = {names.VERDICT: text}
            if self._options.signs_verdicts:
                notes[names.VERDICT_REVISION] = str(seen) if text is not None else None
            self._put(POD_GROUP, group, "verdict", {"metadata": {"annotations": notes}})

    def _clear(self, group: PodGroup, gang: str) -> None:
        """Nothing waits any more: no condition, no verdict."""
        self._memories.pop(gang, None)
        if group.status.scheduling_conditions:
            self._put(POD_GROUP, group, "conditions", {"status": {"schedulingConditions": None}}, subresource="status")
        self._write_verdict(group, None)

    def _put(self, kind: Any, obj: PodGroup | Pod, what: str, patch: Raw, **how: str) -> None:
        async def write() -> None:
            await self._client.patch_only(kind, obj.name, obj.namespace, patch, **how)

        self._writer.put((kind.kind, obj.namespace, obj.name, what), write)
