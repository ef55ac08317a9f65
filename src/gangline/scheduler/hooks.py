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
        self.gang_order = key(overriding(Plugin.gang_order, [each.gang_order for each in asked]))
        self.sub_group_order = key(overriding(Plugin.sub_group_order, [each.sub_group_order for each in asked]))
        self.task_order = key(overriding(Plugin.task_order, [each.task_order for each in asked]))
        self.queue_order = compare(overriding(Plugin.queue_order, [each.queue_order for each in asked]))

        # veto
        self.over_capacity = veto(overriding(Plugin.over_capacity, [each.over_capacity for each in asked]))
        self.firm_over_quota = veto(overriding(Plugin.firm_over_quota, [each.firm_over_quota for each in asked]))
        self.before_task = vetoes(overriding(Plugin.before_task, [each.before_task for each in asked]))
        self.victim_invariant = veto(overriding(Plugin.victim_invariant, [each.victim_invariant for each in asked]))
        self.task_over_capacity = veto(
            overriding(Plugin.task_over_capacity, [each.task_over_capacity for each in asked])
        )
        self.predicate = veto(overriding(Plugin.predicate, [each.predicate for each in asked]))
        self.never = exclusion(overriding(Plugin.never, [each.never for each in asked]))
        self.before_bind = veto(overriding(Plugin.before_bind, [each.before_bind for each in asked]))
        self.can_reclaim = veto(overriding(Plugin.can_reclaim, [each.can_reclaim for each in asked]))
        self.reclaim_queue = consent(overriding(Plugin.reclaim_queue, [each.reclaim_queue for each in asked]))
        self.reclaim_victim = consent(overriding(Plugin.reclaim_victim, [each.reclaim_victim for each in asked]))
        self.preempt_victim = consent(overriding(Plugin.preempt_victim, [each.preempt_victim for each in asked]))
        self.reclaim_scenario = consent(overriding(Plugin.reclaim_scenario, [each.reclaim_scenario for each in asked]))
        self.preempt_scenario = consent(overriding(Plugin.preempt_scenario, [each.preempt_scenario for each in asked]))
        self.reclaim_most = least(overriding(Plugin.reclaim_most, [each.reclaim_most for each in asked]))

        # sum
        self.node_score = total_or_none(overriding(Plugin.node_score, [each.node_score for each in asked]))
        self.shape_score = total(overriding(Plugin.shape_score, [each.shape_score for each in asked]))
        self.node_rank = total(overriding(Plugin.node_rank, [each.node_rank for each in asked]))
        self.gpu_score = total(overriding(Plugin.gpu_score, [each.gpu_score for each in asked]))

        # pass on: `subset_nodes` and `bind_annotations` below
        self._subsets = overriding(Plugin.subset_nodes, [each.subset_nodes for each in asked])
        self._annotations = overriding(Plugin.bind_annotations, [each.bind_annotations for each in asked])

        # tell
        self.before_gang = tell(overriding(Plugin.before_gang, [each.before_gang for each in asked]))
        self.before_scoring = tell(overriding(Plugin.before_scoring, [each.before_scoring for each in asked]))
        self.before_solving = tell(overriding(Plugin.before_solving, [each.before_solving for each in asked]))
        self.allocated = tell(overriding(Plugin.allocated, [each.allocated for each in asked]))
        self.deallocated = tell(overriding(Plugin.deallocated, [each.deallocated for each in asked]))

        # first
        self.numa_placement = first(overriding(Plugin.numa_placement, [each.numa_placement for each in asked]))
        self.queue_allocated = first(overriding(Plugin.queue_allocated, [each.queue_allocated for each in asked]))
        self.queue_deserved = first(overriding(Plugin.queue_deserved, [each.queue_deserved for each in asked]))
        self.queue_fair_share = first(overriding(Plugin.queue_fair_share, [each.queue_fair_share for each in asked]))

        # one plugin after the other is asked by the caller
        self.somebody_reclaims = bool(overriding(Plugin.can_reclaim, [each.can_reclaim for each in asked]))
        self.generators = [each for each in asked if overriding(Plugin.scenario_generator, [each.scenario_generator])]
        self.beyond_shape = [each for each in asked if each.beyond_shape or _scores_only_nodes(each)]

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
            sets = [subset for each in sets for subset in split(gang, member, pod_sets, tasks, each)]
        return sets

    def bind_annotations(self, task: TaskInfo, node: NodeInfo) -> dict[str, str]:
        annotations: dict[str, str] = {}
        for add in self._annotations:
            annotations = add(task, node, annotations)
        return annotations

    def scored_alone(self, task: TaskInfo) -> bool:
        """Whether some plugin's score of this task depends on more than its shape."""
        return any(each.scores(task) for each in self.beyond_shape)

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
