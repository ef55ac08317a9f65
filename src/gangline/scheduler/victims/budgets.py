"""PodDisruptionBudgets: which of them a pod has, and whether a set of victims leaves all of them kept.

Asked by the plugin `disruption` before anybody is chosen, and by the loop, which evicts such pods through the Eviction
API. A pod with several budgets cannot be evicted at all, as Kubernetes has it. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from gangline.scheduler.matching import all_match
from gangline.scheduler.model.cluster_state import ClusterState
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.records import BudgetRecord


def budgets_of(cluster: ClusterState, task: TaskInfo) -> list[BudgetRecord]:
    if not cluster.budgets:
        return []
    return [
        budget
        for budget in cluster.budgets.values()
        if budget.namespace == task.namespace
        and budget.selector is not None
        and all_match(budget.selector, task.record.labels)
    ]


def kept_by(cluster: ClusterState, tasks: Iterable[TaskInfo], gone: Iterable[TaskInfo] = ()) -> bool:
    """Whether every budget allows that these tasks go, beside those that go already."""
    if not cluster.budgets:
        return True
    counts: Counter[tuple[str, str]] = Counter()
    for task in (*tasks, *gone):
        mine = budgets_of(cluster, task)
        if len(mine) > 1:
            return False
        counts.update((budget.namespace, budget.name) for budget in mine)
    return all(number <= cluster.budgets[key].allowed for key, number in counts.items())
