"""Queues and gangs with their groups, as plain records."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

MoveWish: TypeAlias = Literal["", "start-first", "never"]
"""How consolidation may move work: as it likes, only by starting the replacement first, or not at all."""


@dataclass(frozen=True, slots=True)
class Share:
    """What a queue is promised of one resource. Memory here is in bytes."""

    quota: float = 0
    limit: float = 0
    weight: float = 0
    usage: float = 0


@dataclass(frozen=True, slots=True)
class QueueRecord:
    """`lost_per_hour`: the most GPU-hours that its gangs may lose by evictions in an hour; `evictions_per_day`: how
    often a gang of it may be evicted; None: as the settings say."""

    name: str
    parent: str = ""
    priority: int = 100
    created: float = 0
    cpu: Share = Share()
    memory: Share = Share()
    gpu: Share = Share()
    display_name: str = ""
    preempt_min_runtime: float | None = None
    reclaim_min_runtime: float | None = None
    lost_per_hour: float | None = None
    evictions_per_day: float | None = None


@dataclass(frozen=True, slots=True)
class TopologyRule:
    """The topology constraint of a gang, group or pod set. Levels are node label keys; "" is not given."""

    topology: str = ""
    required: str = ""
    preferred: str = ""


@dataclass(frozen=True, slots=True)
class PodSetRecord:
    name: str
    min_available: int = 0
    topology: TopologyRule | None = None


@dataclass(frozen=True, slots=True)
class GroupRecord:
    """An inner node of a gang's tree; the root is named "". `min_groups` None: every direct member is needed."""

    name: str = ""
    min_groups: int | None = None
    topology: TopologyRule | None = None
    groups: tuple[GroupRecord, ...] = ()
    pod_sets: tuple[PodSetRecord, ...] = ()


DEFAULT_POD_SET = "default"


def plain_gang(min_available: int = 1, topology: TopologyRule | None = None) -> GroupRecord:
    """The tree of a gang without sub-groups."""
    return GroupRecord(topology=topology, pod_sets=(PodSetRecord(DEFAULT_POD_SET, min_available),))


@dataclass(frozen=True, slots=True)
class GangRecord:
    """A PodGroup. `preemptible` None: decided by the priority (< 100). `expected_runtime`: seconds from its start to
    its end, where it was declared. What it did before `last_checkpoint` is safe; `checkpoint_interval`: seconds from
    one to the next where they come regularly, 0 where they do not. `workload`: what users call it, for runtimes that
    are learned by name; `learned_runtime`: what gangs like it took, for one of which nobody says how long it runs.
    `overrun`: for one of which somebody says so, how many times longer than they say nearly all gangs run at most.
    `counts_succeeded`: pods that have succeeded are part of its minimum. `move`: how consolidation may move it."""

    uid: str
    queue: str
    name: str = ""
    namespace: str = ""
    priority: int = 50
    preemptible: bool | None = None
    created: float = 0
    tree: GroupRecord = field(default_factory=plain_gang)
    preemption_delay: float = 0
    staleness_grace: float | None = None
    stale_since: float | None = None
    last_start: float | None = None
    last_eviction: float | None = None
    skipped: bool = False
    problems: tuple[str, ...] = ()
    expected_runtime: float | None = None
    last_checkpoint: float | None = None
    checkpoint_interval: float = 0
    workload: str = ""
    learned_runtime: float | None = None
    overrun: float | None = None
    counts_succeeded: bool = False
    move: MoveWish = ""
