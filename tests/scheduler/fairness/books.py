"""Words for the tests of this folder: a queue in one line, of which only GPUs matter unless said."""

from __future__ import annotations

from gangline.scheduler.fairness import UNLIMITED, Amounts, QueueAccount
from gangline.scheduler.fairness.reclaim import ReclaimChunk, ReclaimingGang


def gpus(number: float, elsewhere: float = 0.0) -> Amounts:
    return (elsewhere, elsewhere, number)


def queue(
    name: str,
    *,
    parent: str = "",
    quota: float = 0,
    limit: float = UNLIMITED,
    weight: float = 1,
    asks: float = 0,
    holds: float = 0,
    firm: float = 0,
    fair: float = 0,
    used: float = 0,
    priority: int = 100,
    born: float = 0,
) -> QueueAccount:
    """CPU and memory are unlimited and unused, so that they never decide."""
    return QueueAccount(
        name,
        parent=parent,
        priority=priority,
        created=born,
        deserved=gpus(quota, UNLIMITED),
        limit=gpus(limit, UNLIMITED),
        weight=gpus(weight, 1),
        allocated=gpus(holds),
        allocated_non_preemptible=gpus(firm),
        request=gpus(asks),
        usage=gpus(used),
        fair_share=gpus(fair),
    )


def books(*queues: QueueAccount) -> dict[str, QueueAccount]:
    return {item.uid: item for item in queues}


def taking(number: float) -> ReclaimChunk:
    return ReclaimChunk(0, 0, number, number)


def taker(queue: str, number: float, preemptible: bool = True) -> ReclaimingGang:
    return ReclaimingGang(queue, taking(number), preemptible)
