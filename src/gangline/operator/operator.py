"""One operator as its controllers share it: the settings, the backends, and what is remembered between two looks.

Built by component.py, handed to every controller. It holds no object of the cluster.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from gangline.api import names
from gangline.api.grove import ClusterTopologyBinding, PodCliqueSet
from gangline.api.kinds import (
    HPA,
    POD,
    RESOURCE_CLAIM,
    ROLE,
    ROLE_BINDING,
    SERVICE,
    SERVICE_ACCOUNT,
    TOPOLOGY_BINDING,
    Kind,
)
from gangline.errors import NotFound, Problem
from gangline.operator import measures
from gangline.operator.act import WriteFailure
from gangline.operator.backends import ALIASES, NoBackend, Registry
from gangline.operator.backends.contract import Backend, Facts
from gangline.operator.desired import topology
from gangline.operator.memory.outside_backends import OutsideBackends
from gangline.operator.memory.pace import SetPace
from gangline.operator.memory.probes import Probes
from gangline.operator.memory.scheduler_timeout import SchedulerSilence
from gangline.operator.memory.settled import SettledChildren
from gangline.operator.memory.tokens import TokenSecrets
from gangline.operator.plan import Apply
from gangline.operator.watches import revision, served
from gangline.rules.sets import OperatorSettings
from gangline.runtime import Cache, Context, Reader
from gangline.runtime.running_controller import RunningController

log = logging.getLogger(__name__)
OURS = f"{names.MANAGED_BY}={names.GROVE_OPERATOR}"
_MADE_HERE = (POD, SERVICE, SERVICE_ACCOUNT, ROLE, ROLE_BINDING, HPA, RESOURCE_CLAIM)
SELECTORS: dict[Kind[Any], tuple[str, str]] = dict.fromkeys(_MADE_HERE, (OURS, ""))
"""What the operator makes, and only that."""


@dataclass(slots=True)
class Operator:
    """One operator: its settings and its backends."""

    settings: OperatorSettings
    alone: str = ""
    """The one backend that this process serves; empty: all that run inside the operator."""
    registry: Registry = field(init=False)
    followed: tuple[Backend, ...] = field(init=False)
    """The backends whose kinds are in this process's memory: the operator prepares pods for all of them."""
    asked: tuple[Kind[Any], ...] = field(init=False)
    """Their kinds."""
    written: tuple[Kind[Any], ...] = field(init=False)
    """Those that they write."""
    settled: SettledChildren = field(default_factory=SettledChildren)
    pace: SetPace = field(default_factory=SetPace)
    probes: Probes = field(default_factory=Probes)
    tokens: TokenSecrets = field(default_factory=TokenSecrets)
    silence: SchedulerSilence = field(default_factory=SchedulerSilence)
    outside: OutsideBackends = field(default_factory=OutsideBackends)
    faults: Callable[[PodCliqueSet], Sequence[Problem]] = lambda pcs: ()
    """What admission would refuse of a set today; handed in by the composition root."""
    running: list[RunningController] = field(default_factory=list)
    """Its controllers at work."""
    gone: dict[Kind[Any], int] = field(default_factory=dict)
    """Kinds that a write found to be served no more, and what was last seen of them: a watch may outlive its kind."""

    def __post_init__(self) -> None:
        self.configure(self.settings)

    def configure(self, settings: OperatorSettings) -> None:
        """What holds from now on; raises NoBackend where it names one that does not exist."""
        self.registry = Registry(settings, on_selection=measures.selected)
        for name, why in self.registry.unusable.items():
            log.error("backend %s is left out: %s", name, why)
        self.settings = settings
        self.followed = tuple(backend for backend in self.registry if not self.alone or backend.name == self.alone)
        self.written = tuple(dict.fromkeys(kind for backend in self.followed for kind in backend.writes))
        self.asked = tuple(
            dict.fromkeys((*self.written, *(kind for backend in self.followed for kind in backend.reads)))
        )

    @property
    def selectors(self) -> dict[Kind[Any], tuple[str, str]]:
        return SELECTORS if self.settings.narrow else {}

    def serves(self, backend: str) -> bool:
        """Whether gangs of this backend are translated here."""
        return (
            backend == self.alone
            if self.alone
            else backend not in {ALIASES.get(name, name) for name in self.settings.outside}
        )

    def facts(self, read: Reader) -> Facts:
        there = frozenset(
            kind for kind in self.asked if served(read, kind) and self.gone.get(kind) != revision(read, kind)
        )
        return Facts(there, self.settings.manner, {}, read, isinstance(read, Cache), self.probes.dropped)

    def note_gone(self, read: Reader, failures: Iterable[WriteFailure]) -> None:
        """A write that is answered with "no such kind" means that the kind is served no more, until its informer has
        seen it again."""
        for failure in failures:
            if isinstance(failure.error, NotFound) and isinstance(failure.step, Apply):
                self.gone[failure.step.kind] = revision(read, failure.step.kind)

    async def ask(self, ctx: Context, pcs: PodCliqueSet | None) -> None:
        """Find out what the API server really keeps of a backend's objects, before any is made."""
        try:
            backend = self.registry.for_set(pcs).backend if pcs is not None else None
        except NoBackend:
            return
        if pcs is not None and backend is not None:
            await self.probes.ask(ctx.client, ctx.clock, backend, self.facts(ctx.read), pcs.namespace)

    def binding(self, read: Reader, pcs: PodCliqueSet) -> ClusterTopologyBinding | None:
        name = topology.topology_name(pcs)
        return read.get(TOPOLOGY_BINDING, name) if name else None

    def levels(self, read: Reader, pcs: PodCliqueSet) -> topology.Levels | None:
        """Known domains, or None where topology-aware scheduling is off."""
        return topology.levels(self.binding(read, pcs)) if self.settings.topology_aware else None
