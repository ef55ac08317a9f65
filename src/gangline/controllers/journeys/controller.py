"""Watches PodGroups and their pods, and sends each gang's journey once, when its minimum is ready.

A gang that was ready before this process began was reported by the one before. It writes nothing to the API server."""

from __future__ import annotations

from collections.abc import Sequence

from gangline.api.kinds import POD, POD_GROUP
from gangline.controllers.journeys.exporter import JourneyExporter
from gangline.controllers.journeys.spans import gang_journey
from gangline.controllers.podgroup import groups_of
from gangline.rules.schedulers import SERVED, pod_fields
from gangline.runtime import Again, Context, Controller, Key, Watch, itself

MEMBERS = "journey-members"


class JourneyTeller:
    """The gangs that were reported, as long as they exist."""

    def __init__(self, exporter: JourneyExporter) -> None:
        self._exporter = exporter
        self._reported: set[Key] = set()
        self._began: int | None = None
        """Whole seconds, as objects have them."""

    async def reconcile(self, ctx: Context, key: Key) -> Again | None:
        if self._began is None:
            self._began = int(ctx.clock.now())
        group = ctx.read.get(POD_GROUP, key.name, key.namespace)
        if group is None:
            self._reported.discard(key)
        if group is None or key in self._reported:
            return None
        journey = gang_journey(group, ctx.read.by(POD, MEMBERS, str(key)))
        if journey is not None:
            self._reported.add(key)
            if journey.whole.end >= self._began:
                self._exporter.send(journey)
        return None


def controller(exporter: JourneyExporter, schedulers: Sequence[str] = SERVED) -> Controller:
    return Controller(
        "journeys",
        JourneyTeller(exporter).reconcile,
        watches=(Watch(POD_GROUP, itself), Watch(POD, lambda pod, read: groups_of(pod))),
        indexes=((POD, MEMBERS, lambda pod: [str(key) for key in groups_of(pod)]),),
        selectors={POD: ("", pod_fields(schedulers))},
    )
