"""What the operator and admission must agree on about PodCliqueSets: the operator's settings, and how its processes
run.

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
class LeaderElection:
    """One of several operators works; times in seconds."""

    enabled: bool = False
    name: str = "grove-operator-leader-election"
    duration: float = 15.0
    deadline: float = 10.0
    retry: float = 2.0


@dataclass(frozen=True, slots=True)
class WebhookServer:
    host: str = "0.0.0.0"
    port: int = 2750
    folder: str = "/etc/grove-operator/webhook-certs"
    """Where a certificate that somebody else provides is mounted: tls.crt, tls.key and ca.crt."""
    secret: str = "grove-webhook-server-cert"
    """Where our own certificate is kept."""
    manual: bool = False
    """The certificate is somebody else's: read, never made, and webhook configurations are not written."""


@dataclass(frozen=True, slots=True)
class OperatorProcess:
    """How a process of the operator runs, as Grove's OperatorConfiguration says it."""

    election: LeaderElection = LeaderElection()
    webhooks: WebhookServer = WebhookServer()
    health_port: int = 2751
    metrics_port: int = 2752
    log_level: str = "info"
    log_format: str = "json"


@dataclass(frozen=True, slots=True)
class OperatorSettings:
    profiles: tuple[Profile, ...] = (
        Profile(names.DEFAULT_SCHEDULER, "default"),
        Profile(names.KAI_SCHEDULER, "kai"),
        Profile(names.VOLCANO, "volcano"),
    )
    backends: tuple[str, ...] = ()
    """The backends that are switched on; empty means all."""
    outside: tuple[str, ...] = ()
    """Backends whose gangs are translated by a process of their own (`gangline run backend NAME`)."""
    namespace: str = names.SYSTEM_NAMESPACE
    """Where those processes hold their leases."""
    default_profile: str = names.DEFAULT_SCHEDULER
    """Serves cliques that name no scheduler."""
    topology_aware: bool = True
    auto_mnnvl: bool = False
    """Make a ComputeDomain per MNNVL group."""
    init_image: str = "gangline-initc"
    init_version: str = "v0.1.0-dev"
    init_command: tuple[str, ...] = ()
    """What the init container runs; empty: its image's own entry point."""
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
