"""One table: each hook of a plugin (`plugin.py`) and the way in which the answers are combined (`combine.py`).

Six ways: *key* (smallest first), *veto* (everybody is asked, one refusal is enough), *sum*, *pass on* (each works on
what the one before gave), *tell*, and *first* (a figure of which one is enough). Only plugins that override a hook are
asked; the others cost nothing. To add a hook: a method with a default in `Plugin`, and a line here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gangline.scheduler.combine import (
    compare,
    consent,
    exclusion,
    first,
    key,
    least,
    overriding,
    tell,
    total,
    total_or_none,
    veto,
    vetoes,
)
from gangline.scheduler.model.gang import GangInfo, Group, PodSet
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.plugin import Plugin


class Hooks:
    """What is asked of this cycle's plugins, by hook, in plugin order."""

    def __init__(self, plugins: Iterable[Plugin]) -> None:
        asked = self.plugins = list(plugins)

        # key
        self.gang_order = key(overriding(Plugin.gang_order, [item.gang_order for item in asked]))
        self.sub_group_order = key(overriding(Plugin.sub_group_order, [item.sub_group_order for item in asked]))
        self.task_order = key(overriding(Plugin.task_order, [item.task_order for item in asked]))
        self.queue_order = compare(overriding(Plugin.queue_order, [item.queue_order for item in asked]))

        # veto
        self.over_capacity = veto(overriding(Plugin.over_capacity, [item.over_capacity for item in asked]))
        self.firm_over_quota = veto(overriding(Plugin.firm_over_quota, [item.firm_over_quota for item in asked]))
        self.before_task = vetoes(overriding(Plugin.before_task, [item.before_task for item in asked]))
        self.victim_invariant = veto(overriding(Plugin.victim_invariant, [item.victim_invariant for item in asked]))
        self.task_over_capacity = veto(
            overriding(Plugin.task_over_capacity, [item.task_over_capacity for item in asked])
        )
        self.predicate = veto(overriding(Plugin.predicate, [item.predicate for item in asked]))
        self.never = exclusion(overriding(Plugin.never, [item.never for item in asked]))
        self.fails_alike = consent(overriding(Plugin.fails_alike, [item.fails_alike for item in asked]))
        self.before_bind = veto(overriding(Plugin.before_bind, [item.before_bind for item in asked]))
        self.can_reclaim = veto(overriding(Plugin.can_reclaim, [item.can_reclaim for item in asked]))
        self.reclaim_queue = consent(overriding(Plugin.reclaim_queue, [item.reclaim_queue for item in asked]))
        self.reclaim_victim = consent(overriding(Plugin.reclaim_victim, [item.reclaim_victim for item in asked]))
        self.preempt_victim = consent(overriding(Plugin.preempt_victim, [item.preempt_victim for item in asked]))
        self.consolidate_victim = consent(
            overriding(Plugin.consolidate_victim, [item.consolidate_victim for item in asked])
        )
        self.reclaim_scenario = consent(overriding(Plugin.reclaim_scenario, [item.reclaim_scenario for item in asked]))
        self.preempt_scenario = consent(overriding(Plugin.preempt_scenario, [item.preempt_scenario for item in asked]))
        self.consolidate_scenario = consent(
            overriding(Plugin.consolidate_scenario, [item.consolidate_scenario for item in asked])
        )
        self.reclaim_most = least(overriding(Plugin.reclaim_most, [item.reclaim_most for item in asked]))

        # sum
        self.node_score = total_or_none(overriding(Plugin.node_score, [item.node_score for item in asked]))
        self.shape_score = total(overriding(Plugin.shape_score, [item.shape_score for item in asked]))
        self.node_rank = total(overriding(Plugin.node_rank, [item.node_rank for item in asked]))
        self.victim_price = total(overriding(Plugin.victim_price, [item.victim_price for item in asked]))
        self.gpu_score = total(overriding(Plugin.gpu_score, [item.gpu_score for item in asked]))

        # pass on: `subset_nodes` and `bind_annotations` below
        self._subsets = overriding(Plugin.subset_nodes, [item.subset_nodes for item in asked])
        self._annotations = overriding(Plugin.bind_annotations, [item.bind_annotations for item in asked])

        # tell
        self.before_gang = tell(overriding(Plugin.before_gang, [item.before_gang for item in asked]))
        self.not_placed = tell(overriding(Plugin.not_placed, [item.not_placed for item in asked]))
        self.before_scoring = tell(overriding(Plugin.before_scoring, [item.before_scoring for item in asked]))
        self.before_solving = tell(overriding(Plugin.before_solving, [item.before_solving for item in asked]))
        self.allocated = tell(overriding(Plugin.allocated, [item.allocated for item in asked]))
        self.deallocated = tell(overriding(Plugin.deallocated, [item.deallocated for item in asked]))

        # first
        self.numa_placement = first(overriding(Plugin.numa_placement, [item.numa_placement for item in asked]))
        self.queue_allocated = first(overriding(Plugin.queue_allocated, [item.queue_allocated for item in asked]))
        self.queue_deserved = first(overriding(Plugin.queue_deserved, [item.queue_deserved for item in asked]))
        self.queue_fair_share = first(overriding(Plugin.queue_fair_share, [item.queue_fair_share for item in asked]))

        # one plugin after the other is asked by the caller
        self.somebody_reclaims = bool(overriding(Plugin.can_reclaim, [item.can_reclaim for item in asked]))
        self.somebody_prices = bool(overriding(Plugin.victim_price, [item.victim_price for item in asked]))
        self.generators = [item for item in asked if overriding(Plugin.scenario_generator, [item.scenario_generator])]
        self.beyond_shape = [item for item in asked if item.beyond_shape or _scores_only_nodes(item)]

    def subset_nodes(
        self,
        gang: GangInfo,
        member: Group | PodSet,
        pod_sets: Sequence[PodSet],
        tasks: Sequence[TaskInfo],
        nodes: Sequence[NodeInfo],
    ) -> list[Sequence[NodeInfo]]:
        """Node sets to try one after the other; each plugin splits the sets of the one before."""
        sets: list[Sequence[NodeInfo]] = [nodes]
        for split in self._subsets:
            sets = [subset for item in sets for subset in split(gang, member, pod_sets, tasks, item)]
        return sets

    def bind_annotations(self, task: TaskInfo, node: NodeInfo) -> dict[str, str]:
        annotations: dict[str, str] = {}
        for add in self._annotations:
            annotations = add(task, node, annotations)
        return annotations

    def scored_alone(self, task: TaskInfo) -> bool:
        """Whether some plugin's score of this task depends on more than its shape."""
        return any(item.scores(task) for item in self.beyond_shape)

    def refused_on(self, task: TaskInfo, node: NodeInfo) -> str | None:
        """Why the node will not do for the task, in words: too much for its queue, or what predicates say."""
        assert task.gang is not None
        refusal = self.task_over_capacity(task, task.gang, node) or self.predicate(task, node)
        return None if refusal is None else refusal.reason


def _scores_only_nodes(plugin: Plugin) -> bool:
    """A score that is given in no form that tasks of one shape may share."""
    by_shape = overriding(Plugin.shape_score, [plugin.shape_score]) or overriding(Plugin.node_rank, [plugin.node_rank])
    return bool(overriding(Plugin.node_score, [plugin.node_score])) and not by_shape


NO_HOOKS = Hooks(())
"""What a session has while its plugins are being built."""
