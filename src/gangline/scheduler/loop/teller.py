"""What people are told about gangs that wait: conditions, events, pod conditions, the verdict.

service.py hands in how each gang stands; here it is decided what is new and worth writing. The gang itself hears of a
new reason at once, its pods at most every so often, so that a thousand pods behind a busy cluster do not flood the
server.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kai import PodGroup
from gangline.api.kinds import POD, POD_GROUP
from gangline.api.meta import Raw, condition
from gangline.client import Client
from gangline.client.wire import STRATEGIC_PATCH
from gangline.errors import ApiError, Conflict
from gangline.runtime import Cache, Context
from gangline.runtime.events import Recorder
from gangline.scheduler.decisions import Refuse
from gangline.scheduler.thought import decision_objects
from gangline.scheduler.thought.options import SchedulerOptions
from gangline.scheduler.thought.standings import GangStanding
from gangline.scheduler.why.verdict import Verdict

NOT_PLACED = "Unable to schedule pod"
Members = Callable[[], dict[str, Pod]]


@dataclass(slots=True)
class _Told:
    texts: dict[str, str] = field(default_factory=dict)
    """By reason."""
    pods_at: float = float("-inf")
    version: int = -1
    pods: dict[str, str] = field(default_factory=dict)
    headline: str = ""
    verdict_at: float = float("-inf")


class GangTeller:
    def __init__(self, ctx: Context, cache: Cache, options: SchedulerOptions) -> None:
        self._client: Client = ctx.client
        self._events: Recorder = ctx.events
        self._clock = ctx.clock
        self._cache, self._writer, self._options = cache, ctx.writer, options
        self._told: dict[str, _Told] = {}

    def tell(self, standing: GangStanding, refuse: Refuse | None, members: Members) -> None:
        """`members`: finds the pods of the gang by uid, as far as they are known."""
        namespace, _, name = standing.gang.partition("/")
        group = self._cache.get(POD_GROUP, name, namespace)
        if group is None:
            self._told.pop(standing.gang, None)
            return
        if standing.stale:
            self._once(group, standing.gang, "StaleJob", standing.stale)
        if standing.strays:
            self._tell_strays(standing, members())
        if standing.waiting and not standing.ready:
            self._once(group, standing.gang, "NotReady", standing.missing)
        elif standing.waiting and refuse is not None:
            self._refused(group, standing, refuse)
            self._tell_pods(group, standing, refuse, members)
        elif not standing.waiting and not standing.awaiting:
            self._clear(group, standing.gang)

    def forget(self, gang: str) -> None:
        self._told.pop(gang, None)

    def _once(self, group: PodGroup, gang: str, reason: str, text: str) -> None:
        told = self._told.setdefault(gang, _Told())
        if told.texts.get(reason) != text:
            told.texts[reason] = text
            self._events.tell(POD_GROUP, group, reason, text)

    def _tell_strays(self, standing: GangStanding, pods: dict[str, Pod]) -> None:
        for uid in standing.strays:
            pod = pods.get(uid)
            if pod is not None:
                text = f"sub-group {pod.labels.get(names.SUB_GROUP)!r} does not exist in PodGroup {standing.gang}"
                self._tell_pod(pod, text, True, self._told.setdefault(standing.gang, _Told()))

    def _refused(self, group: PodGroup, standing: GangStanding, refuse: Refuse) -> None:
        self._once(group, standing.gang, decision_objects.UNSCHEDULABLE, refuse.text)
        if not standing.running:
            self._write_condition(group, refuse)

    def _tell_pods(self, group: PodGroup, standing: GangStanding, refuse: Refuse, members: Members) -> None:
        """New members at once, all of them when it is time to tell them again."""
        told, now = self._told[standing.gang], self._clock.now()
        again = now - told.pods_at >= self._options.retell
        if not again and told.version == standing.version:
            return
        pods = {uid: pod for uid, pod in members().items() if not pod.spec.node_name}
        texts = {uid: refuse.tasks.get(uid) or refuse.text or NOT_PLACED for uid in pods}
        mark = group.spec.mark_unschedulable is not False
        for uid, text in texts.items():
            if told.pods.get(uid) != text and (again or uid not in told.pods):
                self._tell_pod(pods[uid], text, mark, told)
        told.pods = texts if again else texts | {uid: text for uid, text in told.pods.items() if uid in texts}
        told.version = standing.version
        told.pods_at = now if again else told.pods_at

    def _tell_pod(self, pod: Pod, text: str, mark: bool, told: _Told) -> None:
        stands = condition(pod.status.conditions, "PodScheduled")
        if stands is not None and stands.status == "False" and stands.message == text:
            return
        self._events.tell(POD, pod, decision_objects.UNSCHEDULABLE, text, warning=True)
        if mark:
            self._mark(pod, decision_objects.pod_condition(text, self._clock.now()), told)

    def _mark(self, pod: Pod, patch: Raw, told: _Told) -> None:
        """The condition of a pod that still waits when the write goes out: one that has a node by then is not told that
        it has none."""

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

        def failed(error: ApiError) -> None:
            told.pods.pop(pod.uid, None)
            told.version = -1

        self._writer.put((POD.kind, pod.namespace, pod.name, "condition"), write, failed)

    def _write_condition(self, group: PodGroup, refuse: Refuse) -> None:
        reasons = decision_objects.reasons_of(refuse)
        conditions = decision_objects.group_condition(group, refuse.text, reasons, self._options, self._clock.now())
        if conditions is not None:
            self._put(
                POD_GROUP, group, "conditions", {"status": {"schedulingConditions": conditions}}, subresource="status"
            )

    def judge(self, gang: str, verdict: Verdict) -> None:
        """Write a verdict: a new cause at once, new figures at most every so often."""
        namespace, _, name = gang.partition("/")
        group = self._cache.get(POD_GROUP, name, namespace)
        told, now = self._told.setdefault(gang, _Told()), self._clock.now()
        if group is None or (told.headline == verdict.headline and now - told.verdict_at < self._options.retell):
            return
        told.headline, told.verdict_at = verdict.headline, now
        self._write_verdict(
            group, json.dumps(verdict.as_dict(), separators=(",", ":"), sort_keys=True, ensure_ascii=False)
        )

    def _write_verdict(self, group: PodGroup, text: str | None) -> None:
        if group.annotations.get(names.VERDICT) != text:
            self._put(POD_GROUP, group, "verdict", {"metadata": {"annotations": {names.VERDICT: text}}})

    def _clear(self, group: PodGroup, gang: str) -> None:
        """Nothing waits any more: no condition, no verdict."""
        self._told.pop(gang, None)
        if group.status.scheduling_conditions:
            self._put(POD_GROUP, group, "conditions", {"status": {"schedulingConditions": None}}, subresource="status")
        self._write_verdict(group, None)

    def _put(self, kind: Any, obj: PodGroup | Pod, what: str, patch: Raw, **how: str) -> None:
        async def write() -> None:
            await self._client.patch_only(kind, obj.name, obj.namespace, patch, **how)

        self._writer.put((kind.kind, obj.namespace, obj.name, what), write)
