"""One table: each hook of a plugin (`plugin.py`) and the way in which the answers are combined (`combine.py`).

Six ways: *key* (smallest first), *veto* (one refusal is enough), *sum*, *pass on* (each works on
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
    overrides,
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
        self.gang_order = key(overriding(Plugin.gang_order, asked, lambda plugin: plugin.gang_order))
        self.sub_group_order = key(overriding(Plugin.sub_group_order, asked, lambda plugin: plugin.sub_group_order))
        self.task_order = key(overriding(Plugin.task_order, asked, lambda plugin: plugin.task_order))
        self.queue_order = compare(overriding(Plugin.queue_order, asked, lambda plugin: plugin.queue_order))

        # veto
        self.over_capacity = veto(overriding(Plugin.over_capacity, asked, lambda plugin: plugin.over_capacity))
        self.firm_over_quota = veto(overriding(Plugin.firm_over_quota, asked, lambda plugin: plugin.firm_over_quota))
        self.before_task = vetoes(overriding(Plugin.before_task, asked, lambda plugin: plugin.before_task))
        self.victim_invariant = veto(overriding(Plugin.victim_invariant, asked, lambda plugin: plugin.victim_invariant))
        self.task_over_capacity = veto(
            overriding(Plugin.task_over_capacity, asked, lambda plugin: plugin.task_over_capacity)
        )
        self.predicate = veto(overriding(Plugin.predicate, asked, lambda plugin: plugin.predicate))
        self.never = exclusion(overriding(Plugin.never, asked, lambda plugin: plugin.never))
        self.fails_alike = consent(overriding(Plugin.fails_alike, asked, lambda plugin: plugin.fails_alike))
        self.before_bind = veto(overriding(Plugin.before_bind, asked, lambda plugin: plugin.before_bind))
        self.can_reclaim = veto(overriding(Plugin.can_reclaim, asked, lambda plugin: plugin.can_reclaim))
        self.reclaim_queue = consent(overriding(Plugin.reclaim_queue, asked, lambda plugin: plugin.reclaim_queue))
        self.reclaim_victim = consent(overriding(Plugin.reclaim_victim, asked, lambda plugin: plugin.reclaim_victim))
        self.preempt_victim = consent(overriding(Plugin.preempt_victim, asked, lambda plugin: plugin.preempt_victim))
        self.consolidate_victim = consent(
            overriding(Plugin.consolidate_victim, asked, lambda plugin: plugin.consolidate_victim)
        )
        self.reclaim_scenario = consent(
            overriding(Plugin.reclaim_scenario, asked, lambda plugin: plugin.reclaim_scenario)
        )
        self.preempt_scenario = consent(
            overriding(Plugin.preempt_scenario, asked, lambda plugin: plugin.preempt_scenario)
        )
        self.consolidate_scenario = consent(
            overriding(Plugin.consolidate_scenario, asked, lambda plugin: plugin.consolidate_scenario)
        )
        self.reclaim_most = least(overriding(Plugin.reclaim_most, asked, lambda plugin: plugin.reclaim_most))

        # sum
        self.node_score = total_or_none(overriding(Plugin.node_score, asked, lambda plugin: plugin.node_score))
        self.shape_score = total(overriding(Plugin.shape_score, asked, lambda plugin: plugin.shape_score))
        self.node_rank = total(overriding(Plugin.node_rank, asked, lambda plugin: plugin.node_rank))
        self.victim_price = total(overriding(Plugin.victim_price, asked, lambda plugin: plugin.victim_price))
        self.gpu_score = total(overriding(Plugin.gpu_score, asked, lambda plugin: plugin.gpu_score))

        # pass on: `subset_nodes` and `bind_annotations` below
        self._subsets = overriding(Plugin.subset_nodes, asked, lambda plugin: plugin.subset_nodes)
        self._annotations = overriding(Plugin.bind_annotations, asked, lambda plugin: plugin.bind_annotations)

        # tell
        self.before_gang = tell(overriding(Plugin.before_gang, asked, lambda plugin: plugin.before_gang))
        self.not_placed = tell(overriding(Plugin.not_placed, asked, lambda plugin: plugin.not_placed))
        self.before_scoring = tell(overriding(Plugin.before_scoring, asked, lambda plugin: plugin.before_scoring))
        self.before_solving = tell(overriding(Plugin.before_solving, asked, lambda plugin: plugin.before_solving))
        self.not_solved = tell(overriding(Plugin.not_solved, asked, lambda plugin: plugin.not_solved))
        self.allocated = tell(overriding(Plugin.allocated, asked, lambda plugin: plugin.allocated))
        self.deallocated = tell(overriding(Plugin.deallocated, asked, lambda plugin: plugin.deallocated))

        # first
        self.numa_placement = first(overriding(Plugin.numa_placement, asked, lambda plugin: plugin.numa_placement))
        self.queue_allocated = first(overriding(Plugin.queue_allocated, asked, lambda plugin: plugin.queue_allocated))
        self.queue_deserved = first(overriding(Plugin.queue_deserved, asked, lambda plugin: plugin.queue_deserved))
        self.queue_fair_share = first(
            overriding(Plugin.queue_fair_share, asked, lambda plugin: plugin.queue_fair_share)
        )

        # one plugin after the other is asked by the caller
        self.somebody_reclaims = bool(overriding(Plugin.can_reclaim, asked, lambda plugin: plugin.can_reclaim))
        self.somebody_prices = bool(overriding(Plugin.victim_price, asked, lambda plugin: plugin.victim_price))
        self.generators = [item for item in asked if overrides(Plugin.scenario_generator, item.scenario_generator)]
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
    by_shape = overrides(Plugin.shape_score, plugin.shape_score) or overrides(Plugin.node_rank, plugin.node_rank)
    return overrides(Plugin.node_score, plugin.node_score) and not by_shape


NO_HOOKS = Hooks(())
"""What a session has while its plugins are being built."""
