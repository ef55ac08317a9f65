"""The tables gang, sub_group_order, elastic and minruntime."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from conformance.kai_core import pieces
from conformance.kai_core.rows import Row, differs, only
from gangline.rules.values import times
from gangline.scheduler.model.gang import GangInfo, Group, PodSet
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.placing import order
from gangline.scheduler.plugins.evict import minruntime
from gangline.scheduler.plugins.order.orders import ElasticPlugin, sub_group_key
from gangline.scheduler.records import QueueRecord

ORDERS: Mapping[str, Callable[[Group | PodSet], Any]] = {
    "name": lambda member: member.name,
    "ratio_then_name": lambda member: (sub_group_key(member.minimum, member.active_allocated), member.name),
}


def by_uid(task: TaskInfo) -> str:
    return task.uid


def compared(left: Any, right: Any) -> int:
    return int(left > right) - int(left < right)


def tasks_to_allocate(row: Row) -> str:
    tree, real = row.read("sub_groups", "real_allocation")
    tasks = order.tasks_to_allocate(pieces.gang(tree), not real, ORDERS[row.order], by_uid)
    return differs([task.uid for task in tasks], row.out)


def tasks_to_evict(row: Row) -> str:
    (tree,) = row.read("sub_groups")
    tasks, more = order.tasks_to_evict(pieces.gang(tree), ORDERS[row.order], by_uid)
    arrange: Callable[[list[str]], list[str]] = sorted if row.any_order else list
    theirs = {**row.out, "tasks": arrange(row.out["tasks"])}
    return differs({"tasks": arrange([task.uid for task in tasks]), "has_more": more}, theirs)


def of_gang(row: Row, question: Callable[[GangInfo], bool]) -> str:
    (tree,) = row.read("sub_groups")
    return differs(question(pieces.gang(tree)), row.out)


def member_key(record: Mapping[str, Any]) -> Any:
    only(record, "kind", "min_members", "satisfied_members", "tree")
    if record["kind"] == "pod_set":
        return sub_group_key(record["min_members"], record["satisfied_members"])
    root = pieces.gang(record["tree"]).root
    assert (root.minimum, root.active_allocated) == (record["min_members"], record["satisfied_members"])
    return sub_group_key(root.minimum, root.active_allocated)


def sub_group_order(row: Row) -> str:
    left, right = row.read("left", "right")
    return differs(compared(member_key(left), member_key(right)), row.out)


def elastic(row: Row) -> str:
    rule = ElasticPlugin.__new__(ElasticPlugin)
    keys = []
    for side in row.read("left", "right"):
        only(side, "name", "preemptibility", "sub_groups")
        keys.append(rule.gang_order(pieces.gang(side["sub_groups"])))
    return differs(compared(*keys), row.out)


def queues(records: Mapping[str, Any]) -> dict[str, QueueRecord]:
    made = {}
    for name, record in records.items():
        only(record, "parent", "preempt_min_runtime", "reclaim_min_runtime")
        preempt, reclaim = record.get("preempt_min_runtime"), record.get("reclaim_min_runtime")
        made[name] = QueueRecord(
            name,
            record.get("parent", ""),
            preempt_min_runtime=None if preempt is None else times.duration(preempt),
            reclaim_min_runtime=None if reclaim is None else times.duration(reclaim),
        )
    return made


def resolved(row: Row, duration: float, *asked: str | None) -> str:
    """Upstream complains about a queue that is not given at all; ours then uses the default, as upstream does in the
    end."""
    only(row.out, "duration", "error")
    if bool(row.out.get("error")) != (None in asked):
        return f"recorded error {row.out.get('error')!r}"
    return differs(duration, times.duration(row.out["duration"]))


def preempt_min_runtime(row: Row) -> str:
    records, default, _, queue = row.read("queues", "default_preempt", "default_reclaim", "queue")
    found = minruntime.preempt_min_runtime(queues(records), queue or "", times.duration(default))
    return resolved(row, found, queue)


def reclaim_min_runtime(row: Row) -> str:
    records, _, default, method, reclaimer, victim = row.read(
        "queues", "default_preempt", "default_reclaim", "method", "reclaimer_queue", "victim_queue"
    )
    found = minruntime.reclaim_min_runtime(
        queues(records), reclaimer or "", victim or "", method, times.duration(default)
    )
    return resolved(row, found, reclaimer, victim)


TABLES: Mapping[str, Callable[[Row], str]] = {
    "gang/tasks_to_allocate": tasks_to_allocate,
    "gang/tasks_to_evict": tasks_to_evict,
    "gang/ready_for_scheduling": lambda row: of_gang(row, lambda gang: gang.ready),
    "gang/is_stale": lambda row: of_gang(row, lambda gang: gang.is_stale),
    "sub_group_order/sub_group_order": sub_group_order,
    "elastic/job_order": elastic,
    "minruntime/preempt_min_runtime": preempt_min_runtime,
    "minruntime/reclaim_min_runtime": reclaim_min_runtime,
}
