"""Who holds connections to the server: how many an address may have, and all together.

http.py makes one `Callers` for a listener; every connection enters before its TLS handshake and leaves when it is
gone. Over the limit the one that has been silent the longest makes way, so that nobody can keep others out by saying
nothing; when all have asked something, the new one is turned away. One line a minute is logged of it, however many
there are. Nothing here reads, writes or waits.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Protocol

log = logging.getLogger(__name__)
QUIET_SECONDS = 60.0


class Caller(Protocol):
    """A connection, as seen here."""

    address: str

    def abort(self) -> None: ...


class Callers:
    def __init__(self, per_address: int, overall: int, time: Callable[[], float]) -> None:
        self._per_address, self._overall, self._time = per_address, overall, time
        self._silent: dict[str, dict[Caller, None]] = {}
        """By address, those who have not asked anything yet; the oldest first."""
        self._here: dict[str, set[Caller]] = {}
        self._total = self._untold = 0
        self._closed = False
        self._quiet_until = float("-inf")

    def __len__(self) -> int:
        return self._total

    def enter(self, caller: Caller) -> bool:
        """Whether it may stay; somebody else may have to go for it."""
        if self._closed:
            return False
        here = self._here.get(caller.address, ())
        if len(here) >= self._per_address:
            self._tell(
                f"{caller.address} has {len(here)} connections to the API server, as many as one address may "
                "have (--connections-per-address)"
            )
            if not self._dismiss(caller.address):
                return False
        elif self._total >= self._overall:
            self._tell(f"the API server has {self._total} connections, as many as this process can hold (ulimit -n)")
            if not self._dismiss(max(self._silent, key=lambda item: len(self._silent[item]), default="")):
                return False
        self._here.setdefault(caller.address, set()).add(caller)
        self._silent.setdefault(caller.address, {})[caller] = None
        self._total += 1
        return True

    def close(self) -> None:
        """No connection is taken any more, and those without a request are closed."""
        self._closed = True
        for caller in [caller for silent in self._silent.values() for caller in silent]:
            caller.abort()

    def spoke(self, caller: Caller) -> None:
        """It has asked something: it does not have to make way any more."""
        silent = self._silent.get(caller.address, {})
        silent.pop(caller, None)
        if not silent:
            self._silent.pop(caller.address, None)

    def leave(self, caller: Caller) -> None:
        """It is closed; calling this twice, or for one that was never opened, does not matter."""
        here = self._here.get(caller.address, set())
        if caller not in here:
            return
        self.spoke(caller)
        here.discard(caller)
        self._total -= 1
        if not here:
            del self._here[caller.address]

    def _dismiss(self, address: str) -> bool:
        """Hang up on the one of this address that has been silent the longest, if there is one."""
        oldest = next(iter(self._silent.get(address, ())), None)
        if oldest is None:
            return False
        oldest.abort()
        self.leave(oldest)
        return True

    def _tell(self, why: str) -> None:
        self._untold += 1
        now = self._time()
        if now < self._quiet_until:
            return
        log.warning(
            "%s: a connection that asked nothing makes way, or the new one is turned away%s",
            why,
            f"; this happened {self._untold} times since the last such line" if self._untold > 1 else "",
        )
        self._untold, self._quiet_until = 0, now + QUIET_SECONDS
