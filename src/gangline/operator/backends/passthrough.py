"""PodGang → nothing: pods go to a scheduler that is named, and that knows gangs by its own means or not at all.

Serves profiles such as upstream's `lpx-scheduler`. Topology constraints would be lost, so a set that has one is
refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from gangline.api import names
from gangline.api.grove import PodCliqueSet
from gangline.api.meta import Raw
from gangline.errors import Problem
from gangline.operator.backends.contract import NO_GANG, Capabilities, Facts, GangObject, GangState, Kinds, PodGangInfo
from gangline.operator.desired import topology

if TYPE_CHECKING:
    from gangline.runtime import Reader


class Passthrough:
    name = "passthrough"
    gate = names.GATE_PASSTHROUGH
    reads: Kinds = ()
    writes: Kinds = ()
    capabilities = Capabilities(gang=False, groups=NO_GANG)

    def matches(self, scheduler_name: str) -> bool:
        return False

    def check(self, pcs: PodCliqueSet, facts: Facts) -> Iterable[Problem]:
        for path, _ in topology.constraints(pcs):
            yield Problem("spec", f"{path} cannot be passed on to this scheduler", "FieldValueForbidden",
                          hint="remove it, or use a scheduler that knows topology: kai")

    def gang_objects(self, gang: PodGangInfo, facts: Facts) -> Iterable[GangObject]:
        return ()

    def prepare_pod(self, pod: Raw, gang: PodGangInfo) -> Raw:
        return pod

    def gang_status(self, gang: PodGangInfo, read: Reader) -> GangState:
        return GangState()
