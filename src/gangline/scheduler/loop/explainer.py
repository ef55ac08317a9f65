"""Verdicts on gangs that wait: worked out in a thread after a cycle, and handed to the teller. Acts.

Which gangs are explained is decided in thought/explaining.py, what a verdict says in why/.
"""

from __future__ import annotations

import asyncio

from gangline.rules.values import times
from gangline.runtime.clock import Clock
from gangline.scheduler.loop import metrics
from gangline.scheduler.loop.lookup import ModelObjects
from gangline.scheduler.loop.teller import GangTeller
from gangline.scheduler.settings import SchedulerSettings
from gangline.scheduler.thought.explaining import to_explain
from gangline.scheduler.thought.think import CycleThought
from gangline.scheduler.why.explain import explain_waiting
from gangline.scheduler.why.verdict import Verdict


class GangExplainer:
    def __init__(self, clock: Clock, settings: SchedulerSettings, objects: ModelObjects, teller: GangTeller) -> None:
        self._clock, self._settings, self._objects, self._teller = clock, settings, objects, teller
        self._verdicts: dict[str, Verdict] = {}
        self._explained: dict[str, int] = {}
        """The cycle in which each gang was explained last."""

    async def explain(
        self, thought: CycleThought, served: set[str], now: float, cycle: int, hurry: bool, seen: int = 0
    ) -> None:
        """`seen`: the newest revision of the cluster that the cycle knew."""
        gangs = to_explain(thought.standings, served, self._verdicts, self._explained, hurry)
        if not gangs:
            return
        refused = {refuse.gang: refuse for refuse in thought.decisions.refusals}
        cluster, known = self._objects.cluster, dict(self._verdicts)
        verdicts = await asyncio.to_thread(explain_waiting, cluster, self._settings, now, refused, gangs, known)
        for gang, verdict in verdicts.items():
            if (group := self._objects.group(gang)) is not None:
                if gang not in self._verdicts:
                    created = times.seconds(group.metadata.creation_timestamp) or now
                    metrics.VERDICT.observe(max(self._clock.now() - created, 0.0))
                self._verdicts[gang], self._explained[gang] = verdict, cycle
                self._teller.judge(gang, verdict, seen)

    def cause_of(self, gang: str) -> str:
        """The cause in its last verdict; "" where it has none."""
        verdict = self._verdicts.get(gang)
        return "" if verdict is None else verdict.cause

    def forget(self, gang: str) -> None:
        self._verdicts.pop(gang, None)
        self._explained.pop(gang, None)
