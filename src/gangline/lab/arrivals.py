"""Seeded chances of the lab: the order and copies of the arrival experiment, and how wrong expected runtimes are.

The same seed gives the same jobs, everywhere. Nothing else in the lab is left to chance.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace

from gangline.lab.jobs import TraceJob


def inflated(jobs: Sequence[TraceJob], gpus: float, load: float, seed: int) -> list[TraceJob]:
    """Jobs shuffled, and random copies appended until they ask for `load` times so many GPUs; one comes each second,
    none leaves."""
    chance = random.Random(seed)
    order = list(jobs)
    chance.shuffle(order)
    asked = sum(job.all_gpus for job in order)
    if not asked:
        return []
    copied = list(order)
    while asked < load * gpus:
        copied.append(chance.choice(order))
        asked += copied[-1].all_gpus
    return [
        replace(job, name=f"{job.name}-{place}", arrival=float(place), duration=math.inf)
        for place, job in enumerate(copied)
    ]


def noises(count: int, factor: float, seed: int) -> list[float]:
    """By how much each of so many expected runtimes is wrong: up to the factor, in both directions alike."""
    chance = random.Random(seed)
    return [factor ** chance.uniform(-1, 1) for _ in range(count)]
