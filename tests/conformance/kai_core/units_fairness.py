"""The tables fair_share, queue_order, reclaim_rules and capacity."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from conformance.kai_core import pieces
from conformance.kai_core.rows import Row, differs, only
from gangline.scheduler.fairness import RESOURCES, Amounts, QueueAccount, divide, order, reclaim
from gangline.scheduler.fairness.capacity import Overrun, over_capacity, over_quota
from gangline.scheduler.fairness.reclaim import ReclaimChunk, ReclaimingGang
from gangline.scheduler.model.resources import CPU, MEMORY, ResourceNames
from gangline.scheduler.plugins.capacity.proportion import asked_of, gpus_on

FIELDS = ("deserved", "limit", "weight", "allocated", "allocated_non_preemptible", "request", "usage", "fair_share")


def account(record: Mapping[str, Any], uid: str = "") -> QueueAccount:
    only(record, "uid", "name", "parent", "priority", "created_rank", *RESOURCES)
    for resource in RESOURCES:
        only(record.get(resource, {}), *FIELDS)
    amounts: dict[str, Any] = {
        field: tuple(float(record.get(r, {}).get(field, 0)) for r in RESOURCES) for field in FIELDS
    }
    return QueueAccount(
        record.get("uid", uid),
        name=record.get("name", ""),
        parent=record.get("parent", ""),
        priority=record.get("priority", 0),
        created=record.get("created_rank", 0),
        **amounts,
    )


def accounts(records: Mapping[str, Any]) -> dict[str, QueueAccount]:
    return {key: account(record, key) for key, record in records.items()}


def amounts(record: Mapping[str, float] | None) -> Amounts:
    only(record or {}, *RESOURCES)
    cpu, memory, gpu = (float((record or {}).get(resource, 0)) for resource in RESOURCES)
    return (cpu, memory, gpu)


def chunk(record: Mapping[str, float]) -> ReclaimChunk:
    cpu, memory, gpu = amounts({key: value for key, value in record.items() if key != "pods"})
    return ReclaimChunk(cpu, memory, gpu, gpu)


def shares(queues: Mapping[str, QueueAccount]) -> dict[str, Any]:
    return {key: dict(zip(RESOURCES, queue.fair_share, strict=True)) for key, queue in queues.items()}


def divide_all(row: Row) -> str:
    total, k, records = row.read("total", "k", "queues")
    queues = accounts(records)
    divide.divide_all(queues.values(), amounts(total), k)
    return differs({"fair_share": shares(queues)}, row.out)


def divide_hierarchy(row: Row) -> str:
    total, k, records = row.read("total", "k", "queues")
    queues = accounts(records)
    divide.divide_hierarchy(queues, amounts(total), k)
    return differs({"fair_share": shares(queues)}, row.out)


def divide_single(row: Row, division: Callable[..., float]) -> str:
    total, k, resource, records = row.read("total", "k", "resource", "queues")
    queues, index = accounts(records), RESOURCES.index(resource)
    remaining = division(divide.in_order(queues.values()), index, float(total), k)
    given = {key: queue.fair_share[index] for key, queue in queues.items()}
    return differs({"fair_share": given, "remaining": remaining}, row.out)


def queue_order(row: Row) -> str:
    total, left, right, left_job, right_job, left_victims, right_victims, _ = row.read(
        "total",
        "left",
        "right",
        "left_job_request",
        "right_job_request",
        "left_victims",
        "right_victims",
        "min_node_gpu_memory_mib",
    )
    pair = account(left, "left"), account(right, "right")
    turns = [
        order.turn(queue, amounts(total), amounts(job), [amounts(victim) for victim in victims or ()])
        for queue, job, victims in zip(pair, (left_job, right_job), (left_victims, right_victims), strict=True)
    ]
    return differs(order.compare(pair[0], turns[0], pair[1], turns[1]), row.out)


def taker(record: Mapping[str, Any]) -> ReclaimingGang:
    only(record, "queue", "request", "preemptible", "name", "namespace")
    return ReclaimingGang(record["queue"], chunk(record.get("request") or {}), record["preemptible"])


def can_reclaim(row: Row) -> str:
    records, reclaimer = row.read("queues", "reclaimer")
    return differs(reclaim.can_reclaim(accounts(records), taker(reclaimer)), row.out)


def filter_victim(row: Row) -> str:
    records, reclaimer, victim = row.read("queues", "reclaimer", "victim_queue")
    return differs(reclaim.filter_victim(accounts(records), taker(reclaimer), victim), row.out)


def reclaimable(row: Row) -> str:
    records, reclaimer, victims, multiplier = row.read("queues", "reclaimer", "victims", "saturation_multiplier")
    plan = {queue: [chunk(part) for part in parts] for queue, parts in victims.items()}
    return differs(reclaim.reclaimable(accounts(records), taker(reclaimer), plan, multiplier), row.out)


def strategy(row: Row) -> tuple[QueueAccount, Amounts, QueueAccount, Amounts]:
    mine, request, theirs, remaining = row.read(
        "reclaimer_queue", "reclaimer_request", "reclaimee_queue", "reclaimee_remaining"
    )
    return account(mine), chunk(request or {}).amounts, account(theirs), amounts(remaining)


def maintain_fair_share(row: Row) -> str:
    _, _, theirs, remaining = strategy(row)
    return differs(reclaim.maintain_fair_share(theirs, remaining), row.out)


def guarantee_deserved_quota(row: Row) -> str:
    return differs(reclaim.guarantee_deserved_quota(*strategy(row)), row.out)


def verdict(overrun: Overrun | None) -> dict[str, Any]:
    if overrun is None:
        return {"schedulable": True}
    return {"schedulable": False, "reason": overrun.reason, "message": overrun.message}


CAPACITY_KEYS = ("queues", "job_queue", "preemptible", "tasks", "max_node_gpu_memory_mib", "node", "job", "namespace")


def job_capacity(row: Row, check: Callable[[dict[str, QueueAccount], str, Amounts, bool], Overrun | None]) -> str:
    records, queue, preemptible, asked, largest, *_ = row.read(*CAPACITY_KEYS)
    names = ResourceNames()
    request = asked_of([pieces.task(item, names) for item in asked], names, largest)
    return differs(verdict(check(accounts(records), queue, request, preemptible)), row.out)


def task_on_node_over_capacity(row: Row) -> str:
    records, queue, preemptible, asked, _, record, *_ = row.read(*CAPACITY_KEYS)
    names = ResourceNames()
    task, node = pieces.task(asked[0], names), pieces.node(record, names)
    request = (task.request[CPU], task.request[MEMORY], gpus_on(task, node.gpu_memory))
    return differs(verdict(over_capacity(accounts(records), queue, request, preemptible)), row.out)


TABLES: Mapping[str, Callable[[Row], str]] = {
    "fair_share/divide_all": divide_all,
    "fair_share/divide_hierarchy": divide_hierarchy,
    "fair_share/divide_one": lambda row: divide_single(row, divide.divide_one),
    "fair_share/divide_over_quota": lambda row: divide_single(row, divide.divide_over_quota),
    "queue_order/queue_order": queue_order,
    "reclaim_rules/can_reclaim": can_reclaim,
    "reclaim_rules/filter_victim": filter_victim,
    "reclaim_rules/reclaimable": reclaimable,
    "reclaim_rules/maintain_fair_share": maintain_fair_share,
    "reclaim_rules/guarantee_deserved_quota": guarantee_deserved_quota,
    "capacity/job_over_capacity": lambda row: job_capacity(row, over_capacity),
    "capacity/non_preemptible_over_quota": lambda row: job_capacity(row, over_quota),
    "capacity/task_on_node_over_capacity": task_on_node_over_capacity,
}
