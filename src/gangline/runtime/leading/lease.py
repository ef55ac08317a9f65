"""A lease as a candidate for the lead sees it: its settings, what is written into it, and whether it is free.

Nobody reads the times in a lease. A candidate notes when it saw the lease change, by a clock of its own that nobody
sets, and takes the lease once it has not changed for its whole duration. election.py acts on it.
"""

from __future__ import annotations

import math
import os
import socket
import uuid
from dataclasses import dataclass, field

from gangline.api import names
from gangline.api.builtin import Lease
from gangline.api.meta import Raw
from gangline.errors import ConfigError, GanglineError
from gangline.runtime.clock import micro_timestamp


class LeadershipLost(GanglineError):
    """The lease could not be renewed in time, or another candidate holds it; the leader must stop at once."""


def identity() -> str:
    """Unlike that of any other process: `<host>_<uuid>`."""
    return f"{os.environ.get('POD_NAME') or socket.gethostname()}_{uuid.uuid4()}"


@dataclass(frozen=True, slots=True)
class ElectionSettings:
    name: str
    namespace: str = names.KAI_NAMESPACE
    identity: str = field(default_factory=identity)
    duration: float = 15.0
    """Seconds after which a lease that was not renewed is free."""
    deadline: float = 10.0
    """Seconds within which the holder must have renewed, or stop."""
    retry: float = 2.0
    """Seconds between two tries to take or renew it."""

    def __post_init__(self) -> None:
        if not 0 < self.retry < self.deadline < self.duration:
            raise ConfigError(
                f"lease {self.name}: a lease of {self.duration:g} s must be longer than the deadline for "
                f"renewing it ({self.deadline:g} s), and that longer than the wait between two tries "
                f"({self.retry:g} s)"
            )

    @property
    def patience(self) -> float:
        """Seconds for one request: when it hangs, there is time for another."""
        return self.deadline / 2


class LeaseSight:
    """What a candidate saw of a lease that somebody else holds."""

    def __init__(self, settings: ElectionSettings) -> None:
        self._settings = settings
        self._seen: tuple[str, str] | None = None
        self._looked = self._unchanged = 0.0

    @property
    def holder(self) -> str | None:
        """Who held it at the last look, empty for nobody; None: it is ours, or was never seen."""
        return None if self._seen is None else self._seen[0]

    def forget(self) -> None:
        self._seen = None

    def is_free(self, lease: Lease, asked: float, now: float) -> bool:
        """Whether it stayed as it is for its whole duration, from when we had seen it so until we asked again. Between
        two looks only the usual time counts: who was asleep cannot tell."""
        seen = (lease.spec.holder_identity or "", lease.spec.renew_time or "")
        if seen != self._seen:
            self._seen, self._looked, self._unchanged = seen, now, 0.0
        else:
            usual = self._settings.retry + self._settings.patience
            self._unchanged += max(0.0, min(asked - self._looked, usual))
            self._looked = asked
        return not seen[0] or self._unchanged > float(lease.spec.lease_duration_seconds or self._settings.duration)


def held_spec(settings: ElectionSettings, transitions: int, now: float) -> Raw:
    """What the holder writes."""
    return {
        "holderIdentity": settings.identity,
        "leaseDurationSeconds": math.ceil(settings.duration),
        "renewTime": micro_timestamp(now),
        "leaseTransitions": transitions,
    }


def taken_spec(settings: ElectionSettings, transitions: int, now: float) -> Raw:
    """What a candidate writes that takes it."""
    return held_spec(settings, transitions, now) | {"acquireTime": micro_timestamp(now)}
