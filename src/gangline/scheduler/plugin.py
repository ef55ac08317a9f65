"""`Plugin`: the points at which a scheduling policy is asked, each a typed method with a neutral default.

A policy inherits and overrides the methods it cares about; `plugins/` holds the built-in ones, other packages bring
theirs by entry point. How the answers of several plugins are combined stands in `hooks.py`, one line per method.
Nothing here calls a plugin.

A plugin is built once per cycle with `(session, arguments)`. State that follows `allocated` and `deallocated` is
written through `session.journal`, so that a what-if can be undone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gangline.errors import Refusal
from gangline.scheduler.model.gang import GangInfo, Group, PodSet
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.queue import NOTHING, QueueAmount, QueueInfo
from gangline.scheduler.model.task import TaskInfo, ZoneShare
from gangline.scheduler.refusals import GangRefusals, QueueTriple

if TYPE_CHECKING:
    from gangline.scheduler.session import Session
    from gangline.scheduler.victims.accumulate import Accumulation, Scenario


@dataclass(slots=True)
class QueueSide:
    """One side of a queue comparison: the queue, and the next gang in its subtree. Among victims there is no gang;
    `taken` is then what the victims popped so far and the next one hold together."""

    queue: QueueInfo
    gang: GangInfo | None = None
    taken: QueueAmount = NOTHING


class SubsetRefused(Exception):
    """A plugin says that no set of nodes can do; the refusal (if any) is for the gang."""

    def __init__(self, refusal: GangRefusals | None = None) -> None:
        super().__init__(refusal.reason if refusal else "no node set can do")
        self.refusal = refusal


class Plugin:
    """Scores are kept per task shape (`placing/rank.py`). A plugin that scores therefore overrides `shape_score` or
    `node_rank` as well. One that overrides `node_score` alone, or says `beyond_shape`, has its nodes scored one by one
    for every task for which `scores` holds: that is always right, and slower."""

    name: str = ""
    beyond_shape: bool = False
    generator: str = ""
    """What metrics and budgets call its scenarios; "": its name."""

    def __init__(self, session: Session, arguments: Mapping[str, str]) -> None:
        """`arguments` are the plugin's own, as the configuration gives them."""

    # ── order: smallest first ──

    def gang_order(self, gang: GangInfo) -> Any:
        """Anything that can be compared."""

    def sub_group_order(self, member: Group | PodSet) -> Any:
        """Anything that can be compared."""

    def task_order(self, task: TaskInfo) -> Any:
        """Anything that can be compared."""

    def queue_order(self, left: QueueSide, right: QueueSide) -> int:
        """Negative: left goes first; 0: no opinion."""
        return 0

    # ── may it be placed ──

    def over_capacity(self, gang: GangInfo, tasks: Sequence[TaskInfo]) -> GangRefusals | None:
        """Before these tasks of a gang are tried on any node, in every action."""
        return None

    def firm_over_quota(self, gang: GangInfo, tasks: Sequence[TaskInfo]) -> GangRefusals | None:
        """The same, about work that cannot be preempted; also before victims are searched for a preempting gang."""
        return None

    def before_task(self, task: TaskInfo, gang: GangInfo) -> Refusal | None:
        """Before any node is tried for a task."""
        return None

    def victim_invariant(self, task: TaskInfo, gang: GangInfo) -> Refusal | None:
        """Before victims are searched: what no eviction could change."""
        return None

    def task_over_capacity(self, task: TaskInfo, gang: GangInfo, node: NodeInfo) -> Refusal | None:
        """Whether this task on this node would be too much for its queue."""
        return None

    def predicate(self, task: TaskInfo, node: NodeInfo) -> Refusal | None:
        """Whether this node can do."""
        return None

    def never(self, task: TaskInfo, node: NodeInfo) -> bool:
        """True: this node refuses every task of this shape for good (labels, taints, kind of node). `predicate` says
        why."""
        return False

    def fails_alike(self, failed: GangInfo, other: GangInfo) -> bool:
        """Whether another gang that asks for the same as the one that just failed would fail too, as far as this plugin
        is concerned."""
        return True

    def before_bind(self, task: TaskInfo, node: NodeInfo) -> Refusal | None:
        """At commit: one refusal, and nothing of what was decided together is carried out."""
        return None

    # ── may it be evicted ──

    def can_reclaim(self, gang: GangInfo) -> Refusal | None:
        """Whether the gang may take back from other queues. If no plugin overrides this, nobody may."""
        return None

    def reclaim_queue(self, preemptor: GangInfo, victim: str) -> bool:
        """Whether gangs of this queue may be victims."""
        return True

    def reclaim_victim(self, preemptor: GangInfo, victim: GangInfo) -> bool:
        return True

    def preempt_victim(self, preemptor: GangInfo, victim: GangInfo) -> bool:
        return True

    def consolidate_victim(self, preemptor: GangInfo, victim: GangInfo) -> bool:
        return True

    def reclaim_scenario(self, scenario: Scenario) -> bool:
        """Whether a finished what-if is fair: who gains, and which tasks of whom were taken."""
        return True

    def preempt_scenario(self, scenario: Scenario) -> bool:
        return True

    def consolidate_scenario(self, scenario: Scenario) -> bool:
        return True

    def victim_price(self, victim: GangInfo, tasks: Sequence[TaskInfo]) -> float:
        """What taking these tasks of a gang costs; of several sets of victims the cheapest is tried first."""
        return 0.0

    def reclaim_most(self, preemptor: GangInfo, largest: Mapping[str, float]) -> float:
        """An upper bound of the GPUs that may be reclaimed, so that a hopeless search ends early. `largest`: queue →
        GPUs of its largest victim."""
        return math.inf

    def scenario_generator(self, state: Accumulation) -> Iterable[Scenario]:
        """Which of the accumulated victims to try together (see `victims/search.py`)."""
        return ()

    # ── which node is best ──

    def node_score(self, task: TaskInfo, node: NodeInfo) -> float | None:
        """None drops the node."""
        return 0.0

    def shape_score(self, task: TaskInfo, node: NodeInfo) -> float:
        """As `node_score`, for a score that depends only on the task's shape and the node's own state, in steps of at
        least 10."""
        return 0.0

    def node_rank(self, task: TaskInfo, node: NodeInfo) -> float:
        """For a score below 10 that is relative to the set of nodes: its order, smallest first."""
        return 0.0

    def scores(self, task: TaskInfo) -> bool:
        """Whether a score beyond the shape concerns this task at all."""
        return True

    def gpu_score(self, task: TaskInfo, node: NodeInfo, group: str) -> float:
        """Which device to share; `group` may be a whole one that is free."""
        return 0.0

    # ── how it is placed ──

    def subset_nodes(
        self,
        gang: GangInfo,
        member: Group | PodSet,
        pod_sets: Sequence[PodSet],
        tasks: Sequence[TaskInfo],
        nodes: Sequence[NodeInfo],
    ) -> Sequence[Sequence[NodeInfo]]:
        """Node sets to try one after the other. SubsetRefused ends the attempt."""
        return [nodes]

    def numa_placement(self, task: TaskInfo, node: NodeInfo) -> tuple[ZoneShare, ...] | None:
        """The NUMA zones that the task gets; None: no opinion."""
        return None

    def bind_annotations(self, task: TaskInfo, node: NodeInfo, annotations: dict[str, str]) -> dict[str, str]:
        """What the BindRequest says besides, given the answers of the plugins before this one."""
        return annotations

    # ── news ──

    def before_gang(self, gang: GangInfo) -> None:
        """A gang is about to be tried."""

    def not_placed(self, gang: GangInfo) -> None:
        """Allocate found no room for a gang; gangs come in their fair order."""

    def before_scoring(self, task: TaskInfo, nodes: Sequence[NodeInfo]) -> None:
        """Nodes are about to be scored one by one."""

    def before_solving(self, preemptor: GangInfo) -> None:
        """Victims are about to be searched for a reclaiming gang."""

    def not_solved(self, preemptor: GangInfo) -> None:
        """No victims were found that would make room for a gang."""

    def allocated(self, task: TaskInfo) -> None:
        """A task got a place, for good or in a what-if."""

    def deallocated(self, task: TaskInfo) -> None:
        """A task lost its place, for good or in a what-if."""

    # ── figures for messages ──

    def queue_allocated(self, queue: QueueInfo) -> QueueTriple | None:
        """What the queue holds."""
        return None

    def queue_deserved(self, queue: QueueInfo) -> QueueTriple | None:
        """Its quota."""
        return None

    def queue_fair_share(self, queue: QueueInfo) -> QueueTriple | None:
        return None


PluginClass = Callable[["Session", Mapping[str, str]], Plugin]


def adopted(given: type) -> type[Plugin]:
    """The class itself, or one that was written without `Plugin` above it, with the defaults put below."""
    return given if issubclass(given, Plugin) else type(given.__name__, (given, Plugin), {"__doc__": given.__doc__})
