"""May this much more be handed to this queue? Limits for everyone, quota for what cannot be preempted.

Asked by plugins/capacity/proportion.py before a gang is placed and again for each task on its node. Answers with the
first queue on the way to the top that says no, in KAI's own words, because users and dashboards match on them.
"""

from __future__ import annotations

from dataclasses import dataclass

from gangline.scheduler.fairness.accounts import (
    CPU,
    DUST,
    EACH,
    GPU,
    MEMORY,
    RESOURCES,
    UNLIMITED,
    Accounts,
    Amounts,
    QueueAccount,
    line,
)

OVER_LIMIT = "OverLimit"
OVER_QUOTA = "NonPreemptibleOverQuota"

_PER_UNIT = {CPU: 1000.0, MEMORY: 1e9, GPU: 1.0}
_UNIT = {CPU: "cores", MEMORY: "GB", GPU: "GPUs"}
_ASKED = {CPU: "CPU cores", MEMORY: "GB memory", GPU: "GPUs"}
_KIND = {CPU: "CPU cores", MEMORY: "memory", GPU: "GPUs"}


@dataclass(frozen=True, slots=True)
class Overrun:
    """Which queue would hold too much of what, as a reason code and as a sentence."""

    reason: str
    message: str
    queue: str
    resource: str


def over_capacity(accounts: Accounts, queue: str, request: Amounts, preemptible: bool) -> Overrun | None:
    """Limits on the whole way up first, then quotas."""
    return over_limit(accounts, queue, request) or over_quota(accounts, queue, request, preemptible)


def over_limit(accounts: Accounts, queue: str, request: Amounts) -> Overrun | None:
    for account in line(accounts, queue):
        resource = _beyond(account.limit, account.allocated, request)
        if resource is not None:
            return Overrun(OVER_LIMIT, _limit_message(account, resource, request), account.uid, RESOURCES[resource])
    return None


def over_quota(accounts: Accounts, queue: str, request: Amounts, preemptible: bool) -> Overrun | None:
    if preemptible:
        return None
    for account in line(accounts, queue):
        resource = _beyond(account.deserved, account.allocated_non_preemptible, request)
        if resource is not None:
            return Overrun(OVER_QUOTA, _quota_message(account, resource, request), account.uid, RESOURCES[resource])
    return None


def _beyond(bound: Amounts, held: Amounts, request: Amounts) -> int | None:
    for i in EACH:
        if bound[i] != UNLIMITED and request[i] != 0 and bound[i] + DUST < held[i] + request[i]:
            return i
    return None


def _limit_message(account: QueueAccount, resource: int, request: Amounts) -> str:
    unit = _UNIT[resource]
    limit, held, asked = (_shown(a[resource], resource) for a in (account.limit, account.allocated, request))
    return (
        f"{account.name} quota has reached the allowable limit of {_KIND[resource]}. Limit is {limit} {unit}, "
        f"currently {held} {unit} allocated and workload requested {asked} {unit}"
    )


def _quota_message(account: QueueAccount, resource: int, request: Amounts) -> str:
    unit = _UNIT[resource]
    quota, held = (_shown(a[resource], resource) for a in (account.deserved, account.allocated_non_preemptible))
    asked = shortest(request[resource]) if resource == GPU else _shown(request[resource], resource)
    return (
        f"Non-preemptible workload is over quota. Workload requested {asked} {_ASKED[resource]}, "
        f"but {account.name} quota is {quota} {unit}, "
        f"while {held} {unit} are already allocated for non-preemptible pods. "
        "Use a preemptible workload to go over quota."
    )


def _shown(value: float, resource: int) -> str:
    return "Unlimited" if value == UNLIMITED else decimals(value / _PER_UNIT[resource])


def decimals(value: float, digits: int = 3) -> str:
    """At most three decimals, cut rather than rounded, without trailing zeros."""
    whole, _, fraction = f"{value:.6f}".partition(".")
    fraction = fraction[:digits].rstrip("0")
    return f"{whole}.{fraction}" if fraction else whole


def shortest(value: float) -> str:
    """The shortest digits that read back as the same number; whole numbers without a point."""
    return str(int(value)) if value == int(value) and abs(value) < 1e21 else repr(value)
