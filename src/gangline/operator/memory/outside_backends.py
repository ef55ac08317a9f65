"""Whether a backend that the operator leaves to another process has such a process: asked by its lease.

The controller of gangs leaves those of such a backend alone, and asks here whether another controller looks after them.
A lease that nobody holds, or that its holder has stopped renewing as seen by our own clock, means nobody does. Writes
nothing."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from gangline.api.kinds import LEASE
from gangline.errors import ApiError, NotFound
from gangline.runtime import Context

ASK = 5.0
"""Seconds between two looks at a lease, however many gangs ask."""
GRACE = 10.0
"""Seconds in which a process that just starts, or that takes over, may come to hold the lease."""
LONGEST = 20.0
"""Seconds without renewal that are waited for at most, whatever the lease says."""


def lease_of(backend: str) -> str:
    """The lease that the one process of a backend holds, as `gangline run backend NAME` names it."""
    return f"gangline-backend-{backend}"


@dataclass(slots=True)
class _Seen:
    state: tuple[str, str]
    """Holder and time of renewal, as they were last read; both empty: nobody holds it."""
    since: float
    patience: float
    asked: float


class OutsideBackends:
    def __init__(self) -> None:
        self._seen: dict[str, _Seen] = {}
        self._lock = asyncio.Lock()

    async def absent(self, ctx: Context, backend: str, namespace: str) -> str:
        """Why nobody looks after the gangs of a backend; empty: somebody does, or may in a moment."""
        async with self._lock:
            seen = await self._look(ctx, backend, namespace)
        if ctx.clock.now() - seen.since < seen.patience:
            return ""
        return (
            f"backend {backend} is left to a process of its own, and none runs: nobody holds lease "
            f"{lease_of(backend)} in namespace "
            f"{namespace}; start one (gangline run backend {backend}), or take {backend} out of scheduler.outside"
        )

    async def _look(self, ctx: Context, backend: str, namespace: str) -> _Seen:
        known, now = self._seen.get(backend), ctx.clock.now()
        if known is not None and now - known.asked < ASK:
            return known
        state, patience = await _read(ctx, backend, namespace)
        if known is None or known.state != state:
            known = self._seen[backend] = _Seen(state, now, patience, now)
        known.asked = now
        return known


async def _read(ctx: Context, backend: str, namespace: str) -> tuple[tuple[str, str], float]:
    """Who holds the lease and when it was renewed, and how long that is good for."""
    try:
        spec = (await ctx.client.get(LEASE, lease_of(backend), namespace)).spec
    except NotFound:
        return ("", ""), GRACE
    except ApiError:
        return ("unknown", ""), float("inf")  # without the right to look, or without an answer, it is unknown
    if not spec.holder_identity:
        return ("", ""), GRACE
    return (spec.holder_identity, spec.renew_time or ""), min(float(spec.lease_duration_seconds or 0) + 1.0, LONGEST)
