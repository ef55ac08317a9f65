"""What share of a live cluster each queue has, as its schedulers divide it now: one division per node pool.

The objects become the scheduler's model (model.py), a session is opened on it as at the beginning of a cycle, and its
books are read. Pure; the objects are read elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gangline.api.meta import Raw
from gangline.scheduler.fairness.accounts import Amounts
from gangline.scheduler.fairness.figures import QueueFigureSet, figures_of
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.model.resources import CPU, GPU, MEMORY, at
from gangline.scheduler.session import Session
from gangline.scheduler.why.trial import Trials
from gangline.whatif.model import WhatifModel
from gangline.whatif.shards import of_pool, schedulers_of

UNITS: Amounts = (1000.0, 2.0**30, 1.0)
"""Millicores in a core, bytes in a GiB, GPUs: how people read them."""


@dataclass(frozen=True, slots=True)
class PoolShares:
    pool: str
    total: Amounts
    """What the top queues divide."""
    outside: Amounts
    """What pods of other schedulers hold, and nobody divides."""
    queues: list[QueueFigureSet]


def live_shares(objects: Sequence[Raw], now: float) -> list[PoolShares]:
    """Pools that have no queue are left out."""
    shares = []
    for options in schedulers_of(objects):
        model = WhatifModel(of_pool(objects, options), options, now)
        session = Session(model.cluster, options.settings, now)
        try:
            books = Trials(session, 0).books()
            if books is not None and books.accounts:
                figures = figures_of(books.accounts, books.total, UNITS)
                shares.append(PoolShares(options.pool_name, books.total, _outside(model.cluster), figures))
        finally:
            session.close()
    return shares


def _outside(cluster: ClusterModel) -> Amounts:
    held = [cluster.foreign_on(node) for node in cluster.nodes.values() if node.ready]
    cpu, memory, gpu = (sum(at(amounts, place) for amounts in held) for place in (CPU, MEMORY, GPU))
    return float(cpu), float(memory), float(gpu)
