"""May this queue take that much from those queues?

plugins/capacity/proportion.py asks three questions during a reclaim, from cheap to exact. `can_reclaim`, before any
search: may this queue grow at all? `filter_victim`, per candidate: could this queue ever have to give? `reclaimable`,
for a finished plan: is every step of it legal, and what comes out at each level of the tree?

A plan is legal if each queue that gives is over its share, or over its quota while the taker stays within its own
quota. And the taker must not end up fuller, against its share, than the queues beside it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gangline.scheduler.fairness.accounts import (
    CPU,
    EACH,
    GPU,
    MEMORY,
    UNLIMITED,
    Accounts,
    Amounts,
    QueueAccount,
    line,
    minus,
    plus,
    within,
)


class ReclaimChunk(NamedTuple):
    """What one step of a plan takes from a queue. `plain_gpu` leaves out MIG slices: alone, they do not involve
    GPUs."""

    cpu: float
    memory: float
    gpu: float
    plain_gpu: float

    @property
    def amounts(self) -> Amounts:
        return (self.cpu, self.memory, self.gpu)


class ReclaimingGang(NamedTuple):
    """The gang that wants to reclaim: its queue, what it asks for, and whether it could be preempted in turn."""

    queue: str
    request: ReclaimChunk
    preemptible: bool


def can_reclaim(accounts: Accounts, taker: ReclaimingGang) -> bool:
    """Its own queue stays within its fair share, and within quota with what cannot be preempted."""
    account, request = accounts[taker.queue], taker.request.amounts
    if not within(plus(account.allocated, request), account.fair_share):
        return False
    return taker.preemptible or within(plus(account.allocated_non_preemptible, request), account.deserved)


def filter_victim(accounts: Accounts, taker: ReclaimingGang, victim_queue: str) -> bool:
    """Could a gang of that queue ever be taken? Says yes in doubt; `reclaimable` has the last word. A queue whose line
    of parents is broken, or goes in a circle, has no place in the tree, and nothing is taken from it."""
    if victim_queue not in accounts:
        return False
    mine, theirs = where_they_part(accounts, taker.queue, victim_queue)
    request = taker.request.amounts
    if not stays_within_quota(mine, request):
        return not within(theirs.allocated, theirs.allocatable)
    under = False
    for i in EACH:
        if request[i] > 0 and theirs.deserved[i] != UNLIMITED:
            if theirs.allocated[i] > theirs.deserved[i]:
                return True
            under = under or theirs.allocated[i] < theirs.deserved[i]
    return not under


def where_they_part(accounts: Accounts, left: str, right: str) -> tuple[QueueAccount, QueueAccount]:
    """The two queues at the first level, from the top, where the lines differ; the last of the shorter line if they
    never do."""
    lefts, rights = list(line(accounts, left)), list(line(accounts, right))
    pair = (lefts[-1], rights[-1])
    while lefts and rights:
        pair = (lefts.pop(), rights.pop())
        if pair[0].uid != pair[1].uid:
            break
    return pair


def stays_within_quota(account: QueueAccount, request: Amounts) -> bool:
    return within(plus(account.allocated, request), account.deserved)


def maintain_fair_share(theirs: QueueAccount, remaining: Amounts) -> bool:
    """It still holds more than it may of something."""
    return not within(remaining, theirs.allocatable)


def guarantee_deserved_quota(mine: QueueAccount, request: Amounts, theirs: QueueAccount, remaining: Amounts) -> bool:
    """The taker stays within its quota while the other still holds more than its own."""
    return stays_within_quota(mine, request) and not within(remaining, theirs.deserved)


def reclaimable(
    accounts: Accounts, taker: ReclaimingGang, victims: Mapping[str, Sequence[ReclaimChunk]], multiplier: float = 1.0
) -> bool:
    """Is the whole plan legal? `victims` lists, per queue, what is taken in which order."""
    remaining: dict[str, Amounts] = {}
    involved: dict[str, set[int]] = {}
    for queue, chunks in victims.items():
        if not _take(accounts, taker, queue, chunks, remaining, involved):
            return False
    return _taker_stays_modest(accounts, taker, remaining, involved, multiplier)


def _take(
    accounts: Accounts,
    taker: ReclaimingGang,
    queue: str,
    chunks: Sequence[ReclaimChunk],
    remaining: dict[str, Amounts],
    involved: dict[str, set[int]],
) -> bool:
    mine, theirs = where_they_part(accounts, taker.queue, queue)
    touched = _involved(chunks)
    involved[queue] = touched
    remaining.setdefault(theirs.uid, theirs.allocated)
    request = taker.request.amounts
    givers = list(line(accounts, queue))
    for chunk in chunks:
        left = remaining[theirs.uid]
        if not (maintain_fair_share(theirs, left) or guarantee_deserved_quota(mine, request, theirs, left)):
            return False
        for account in givers:
            remaining[account.uid] = minus(remaining.get(account.uid, account.allocated), chunk.amounts)
            involved.setdefault(account.uid, set()).update(touched)
    return True


def _involved(chunks: Sequence[ReclaimChunk]) -> set[int]:
    resources: set[int] = set()
    for chunk in chunks:
        resources.update(
            i for i, value in ((CPU, chunk.cpu), (MEMORY, chunk.memory), (GPU, chunk.plain_gpu)) if value > 0
        )
    return resources


def _taker_stays_modest(
    accounts: Accounts,
    taker: ReclaimingGang,
    remaining: dict[str, Amounts],
    involved: dict[str, set[int]],
    multiplier: float,
) -> bool:
    request = taker.request.amounts
    asked = _involved([taker.request])
    for account in line(accounts, taker.queue):
        held = plus(remaining.get(account.uid, account.allocated), request)
        for uid, left in remaining.items():
            sibling = accounts[uid]
            if sibling.parent != account.parent or uid == account.uid:
                continue
            for i in involved.get(uid, set()) | asked:
                if _fuller(held[i], account.fair_share[i], left[i], sibling.fair_share[i], multiplier):
                    return False
        if not taker.preemptible and not within(plus(account.allocated_non_preemptible, request), account.deserved):
            return False
    return True


def _fuller(held: float, share: float, sibling_held: float, sibling_share: float, multiplier: float) -> bool:
    """Beyond its share, and at least as far beyond it as the sibling."""
    if sibling_share <= 0:
        return False
    mine = _saturation(held, share)
    return mine > 1 and mine * multiplier >= _saturation(sibling_held, sibling_share)


def _saturation(held: float, share: float) -> float:
    if share == UNLIMITED:
        return 0.0
    if share == 0:
        return math.inf if held > 0 else 0.0
    return held / share


def most_gpus(accounts: Accounts, taker: ReclaimingGang, largest: Mapping[str, float]) -> float:
    """No legal plan takes more GPUs than this from these queues (name → GPUs of its largest step); infinite when
    another resource decides.

    A step is legal only while the giver holds more than its share (or its quota); so at most one step goes beyond."""
    steps: dict[str, float] = {}
    lowest: dict[str, tuple[QueueAccount, Amounts]] = {}
    for queue, step in largest.items():
        mine, theirs = where_they_part(accounts, taker.queue, queue)
        steps[theirs.uid] = max(steps.get(theirs.uid, 0), step)
        may_have_quota = stays_within_quota(mine, taker.request.amounts)
        lowest[theirs.uid] = (
            theirs,
            _lower(theirs.allocatable, theirs.deserved) if may_have_quota else theirs.allocatable,
        )
    return sum(_surplus(account.allocated, keeps, steps[uid]) for uid, (account, keeps) in lowest.items())


def _lower(left: Amounts, right: Amounts) -> Amounts:
    cpu, memory, gpu = (_lower_amount(a, b) for a, b in zip(left, right, strict=True))
    return (cpu, memory, gpu)


def _lower_amount(left: float, right: float) -> float:
    if left == UNLIMITED:
        return right
    return left if right == UNLIMITED else min(left, right)


def _surplus(held: Amounts, keeps: Amounts, step: float) -> float:
    """GPUs above what the queue keeps, and what the last step may take beyond."""
    if any(keeps[i] != UNLIMITED and held[i] > keeps[i] for i in (CPU, MEMORY)):
        return math.inf
    if keeps[GPU] == UNLIMITED or held[GPU] <= keeps[GPU]:
        return 0.0
    return held[GPU] - keeps[GPU] + step - 0.005
