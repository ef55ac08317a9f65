"""PodGang → Herd of an imaginary scheduler (herd.example.com/v1), as a package outside gangline's tree.

A Herd lists its flocks, each with its own minimum. The one surprising rule: the scheduler pauses a Herd by itself, so
`paused` is set at creation and then left alone; while it is paused no pod of the gang is let go. Everything here is
pure: a gang in, plain objects out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gangline.api import names
from gangline.api.grove import PodCliqueSet
from gangline.api.kinds import foreign
from gangline.api.meta import Raw, spec_of, status_of
from gangline.errors import Problem
from gangline.operator.backends.contract import (
    Backend,
    Capabilities,
    Facts,
    GangObject,
    GangState,
    Kinds,
    PodGangInfo,
    first_condition,
    with_metadata,
)
from gangline.operator.backends.losses import demand, lost_wishes, refusals

HERD = foreign("herd.example.com/v1", "Herd", "herds")
MEMBER, FLOCK = "herd.example.com/herd", "herd.example.com/flock"
PAUSED = "herd.example.com/paused"
"""On a PodCliqueSet: its herds begin paused."""


class Herd(Backend):
    name = "herd"
    scheduler_name = "herd-scheduler"
    gate = "herd.example.com/gang"
    reads: Kinds = ()
    writes: Kinds = (HERD,)
    capabilities = Capabilities()

    def matches(self, scheduler_name: str) -> bool:
        return scheduler_name == self.scheduler_name

    def check(self, pcs: PodCliqueSet, facts: Facts) -> Iterable[Problem]:
        return refusals(pcs, self.name, self.capabilities)

    def gang_objects(self, gang: PodGangInfo, facts: Facts) -> Iterable[GangObject]:
        demand(gang, self.name, self.capabilities)
        flocks = [{"name": group.name, "atLeast": group.usual_minimum if gang.released else group.minimum} for group in gang.groups]
        yield GangObject(HERD, {"metadata": {"name": gang.name, "namespace": gang.namespace}, "spec": {"flocks": flocks}},
                         once={"spec": {"paused": gang.annotations.get(PAUSED) == "true"}}, owns=("flocks",))

    def prepare_pod(self, pod: Raw, gang: PodGangInfo) -> Raw:
        return with_metadata(pod, {MEMBER: gang.name, FLOCK: pod["metadata"]["labels"][names.POD_CLIQUE]}, {})

    def gang_status(self, gang: PodGangInfo, read: Any) -> GangState:
        lost = lost_wishes(gang, self.capabilities)
        for _, live in gang.live:
            if spec_of(live).get("paused"):
                return GangState(f"Herd {live.name} is paused: set spec.paused to false", "Paused", lost, ready=False)
            waiting = first_condition(status_of(live), "Gathered", "False")
            if waiting is not None:
                return GangState(str(waiting.get("message", "")), str(waiting.get("reason", "NotGathered")), lost)
        return GangState(lost=lost)
