"""PodGang → nothing: pods go to a scheduler that is named, and that knows gangs by its own means or not at all.

Serves profiles such as upstream's `lpx-scheduler`. A required domain would be lost, so a set that has one is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from gangline.api import names
from gangline.api.grove import PodCliqueSet
from gangline.api.meta import Raw
from gangline.errors import Problem
from gangline.operator.backends.contract import (
    NO_GANG,
    Backend,
    Capabilities,
    Facts,
    GangObject,
    GangState,
    Kinds,
    PodGangInfo,
)
from gangline.operator.backends.losses import demand, every_constraint, lost_wishes, refusals

if TYPE_CHECKING:
    from gangline.runtime import Reader


class PassthroughBackend(Backend):
    name = "passthrough"
    scheduler_name = ""
    gate = names.GATE_PASSTHROUGH
    reads: Kinds = ()
    writes: Kinds = ()
    capabilities = Capabilities(gang=False, groups=NO_GANG)

    def matches(self, scheduler_name: str) -> bool:
        return False

    def check(self, pcs: PodCliqueSet, facts: Facts) -> Iterable[Problem]:
        if facts.manner.topology_for_kai_only:
            return every_constraint(pcs, self.name)
        return refusals(pcs, self.name, self.capabilities)

    def gang_objects(self, gang: PodGangInfo, facts: Facts) -> Iterable[GangObject]:
        demand(gang, self.name, self.capabilities)
        return ()

    def prepare_pod(self, pod: Raw, gang: PodGangInfo) -> Raw:
        return pod

    def gang_status(self, gang: PodGangInfo, read: Reader) -> GangState:
        return GangState(lost=lost_wishes(gang, self.capabilities))
