"""What came of a request's orders, and what the request says about it.

pod_binder.py carries one order out and says how that ended; controller.py keeps in mind what is left of a request.
Pure but for what it keeps in mind."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, field

from gangline.api.core import Pod
from gangline.api.kai import BindOrder, BindRequest
from gangline.api.meta import Raw
from gangline.rules.gangs.bind_requests import FAILED, orders

SPELLED_OUT = 3
"""So many pods that were not bound are named in a status."""


class OrderEnd(enum.Enum):
    BOUND = "bound"
    SETTLED = "settled"
    """There was nothing to do, or nothing that can be done."""
    WAITS = "waits"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class OrderOutcome:
    order: BindOrder
    end: OrderEnd
    pod: Pod | None = None
    reason: str = ""
    """Why it failed, or cannot be carried out."""
    seconds: float = 0.0
    """When to look again, if it waits or failed."""
    final: bool = False
    """It failed, and trying again on this node is pointless."""

    @property
    def needs_another(self) -> bool:
        """Whether a pod is left that waits for a node."""
        pod = self.pod
        waits = pod is not None and not pod.spec.node_name and not pod.metadata.deleting
        return bool(self.reason) and waits and pod is not None and self.order.pod_uid in ("", pod.uid)


@dataclass(slots=True)
class OrderState:
    """What is kept in mind about one order while its request lives."""

    since: float
    due: float = 0.0
    failures: int = 0
    over: bool = False
    reason: str = ""
    """Why the pod was not bound, as far as it was not."""


@dataclass(slots=True)
class RequestWork:
    """What is left of one request."""

    uid: str
    limit: int
    """How often an order may fail."""
    states: dict[str, OrderState] = field(default_factory=dict)

    @classmethod
    def of(cls, request: BindRequest, now: float) -> RequestWork:
        states = {order.pod_name: OrderState(now, failures=request.status.failed_attempts) for order in orders(request)}
        return cls(request.uid, max(request.spec.backoff_limit or 0, 1), states)

    def left(self, request: BindRequest) -> list[BindOrder]:
        return [order for order in orders(request) if not self.states[order.pod_name].over]

    def note(self, outcome: OrderOutcome, now: float) -> None:
        state = self.states[outcome.order.pod_name]
        if outcome.end is OrderEnd.FAILED:
            state.failures += 1
            state.due, state.reason = now + outcome.seconds, outcome.reason
            state.over = outcome.final or state.failures >= self.limit
        elif outcome.end is not OrderEnd.WAITS:
            state.over, state.reason = True, outcome.reason if outcome.needs_another else ""

    @property
    def over(self) -> bool:
        return all(state.over for state in self.states.values())

    def status(self) -> Raw | None:
        """What the request of several pods says: nothing, as long as all goes well. It is given up when every order is
        over and some pod has no node."""
        unbound = {name: state for name, state in self.states.items() if state.reason}
        if not unbound:
            return None
        failures = max(state.failures for state in unbound.values())
        attempts = max(failures, self.limit) if self.over else min(failures, self.limit - 1)
        return {"phase": FAILED, "reason": _failure_text(unbound, len(self.states)), "failedAttempts": attempts}


def _failure_text(unbound: dict[str, OrderState], pods: int) -> str:
    named = [f"{name}: {state.reason}" for name, state in list(unbound.items())[:SPELLED_OUT]]
    more = f"; and {len(unbound) - SPELLED_OUT} more" if len(unbound) > SPELLED_OUT else ""
    return f"{len(unbound)} of {pods} pods not bound: {'; '.join(named)}{more}"


def soonest(outcomes: Sequence[OrderOutcome], work: RequestWork) -> float | None:
    """When to look again; None: there is nothing left to do."""
    left = [outcome.seconds for outcome in outcomes if not work.states[outcome.order.pod_name].over]
    return min(left, default=None)
