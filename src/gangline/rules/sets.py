"""What the operator and admission must agree on about PodCliqueSets: the operator's settings.

Read from Grove's OperatorConfiguration by operator/settings.py; nothing here reads a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gangline.api import names
from gangline.config import NATIVE, Manner


@dataclass(frozen=True, slots=True)
class Profile:
    """One scheduler that sets may name, and the backend that serves it."""

    name: str
    backend: str = ""
    """Empty: whichever backend matches the name."""
    config: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Workers:
    pod_clique_set: int = 10
    pod_clique: int = 10
    scaling_group: int = 5
    pod_gang: int = 5


@dataclass(frozen=True, slots=True)
class OperatorSettings:
    profiles: tuple[Profile, ...] = (
        Profile(names.DEFAULT_SCHEDULER, "default"), Profile(names.KAI_SCHEDULER, "kai"), Profile(names.VOLCANO, "volcano"))
    backends: tuple[str, ...] = ()
    """The backends that are switched on; empty means all."""
    outside: tuple[str, ...] = ()
    """Backends whose gangs are translated by a process of their own (`gangline run backend NAME`)."""
    default_profile: str = names.DEFAULT_SCHEDULER
    """Serves cliques that name no scheduler."""
    topology_aware: bool = True
    auto_mnnvl: bool = False
    """Make a ComputeDomain per MNNVL group."""
    init_image: str = "gangline-initc"
    init_version: str = "v0.1.0-dev"
    workers: Workers = Workers()
    narrow: bool = False
    """Hold only the operator's own pods, services and the like in memory: for clusters with many others."""
    manner: Manner = NATIVE
    authorizer: bool = False
    exempt_users: tuple[str, ...] = ()
    operator_user: str = "system:serviceaccount:gangline-system:gangline-operator"

    def profile(self, scheduler_name: str) -> Profile | None:
        """The profile of a schedulerName; empty means the default one."""
        wanted = scheduler_name or self.default_profile
        return next((profile for profile in self.profiles if profile.name == wanted), None)
