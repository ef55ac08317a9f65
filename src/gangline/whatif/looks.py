"""What is seen of the gangs of a cluster at one moment, as plain values: model.py makes them, compare.py compares
them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Disturbance:
    """Why a pod lost its node. `evicted`: the scheduler made room for somebody."""

    why: str
    evicted: bool = False


@dataclass(frozen=True, slots=True)
class GangLook:
    """`pods`: its living pods and the node of each ("": it waits). `runs`: every group has its minimum on nodes."""

    uid: str
    title: str
    namespace: str
    queue: str
    pods: Mapping[str, str] = field(default_factory=dict)
    runs: bool = False


@dataclass(frozen=True, slots=True)
class PoolLook:
    gangs: Mapping[str, GangLook]
    disturbed: Mapping[str, Disturbance] = field(default_factory=dict)
