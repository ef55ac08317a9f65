"""Machines and jobs of the lab as records of the decision core: nodes, queues, gangs and their pods.

`engine.py` applies them to the model. Nothing here keeps time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from gangline.errors import BadInput
from gangline.lab.jobs import Machine, TraceJob
from gangline.rules.requests import GpuRequest
from gangline.scheduler.model.status import Status
from gangline.scheduler.records import (
    GangRecord,
    NodeRecord,
    NodeTerm,
    QueueRecord,
    Requirement,
    Share,
    TaskRecord,
    TopologyRecord,
    TopologyRule,
    plain_gang,
)

MODEL_LABEL = "nvidia.com/gpu.product"
ONE_QUEUE = "all"
LARGE = Machine("", 0, 10_000_000.0, 2.0**50)
"""What a machine has of CPU and memory where the trace does not say: more than any job asks for."""
POD_SLOTS = 1000
DEVICE_MEMORY = 1000
"""MiB per GPU, so that a share in thousandths is a whole number."""
UNLIMITED = Share(-1, -1, 1)


def equal_machines(gpus: int, node_gpus: int) -> list[Machine]:
    """So many GPUs in nodes of one size; what is left over makes a smaller node."""
    sizes = [node_gpus] * (gpus // node_gpus) + ([gpus % node_gpus] if gpus % node_gpus else [])
    return [replace(LARGE, name=f"node-{place:05}", gpus=size) for place, size in enumerate(sizes)]


def node_record(machine: Machine) -> NodeRecord:
    labels = {
        "kubernetes.io/hostname": machine.name,
        **machine.labels,
        **({MODEL_LABEL: machine.model} if machine.model else {}),
    }
    offers = {"cpu": machine.cpu, "memory": machine.memory, "pods": POD_SLOTS, "gpu": machine.gpus}
    return NodeRecord(
        machine.name, offers, labels, gpu_memory=DEVICE_MEMORY, gpu_memory_synced=True, gpu_count=machine.gpus
    )


def topology_records(jobs: Iterable[TraceJob]) -> list[TopologyRecord]:
    """One topology per node label that a job names."""
    return [TopologyRecord(label, (label,)) for label in sorted({job.topology for job in jobs if job.topology})]


def gang_record(
    job: TraceJob, queue: str, stated: float | None, learned: float | None = None, overrun: float | None = None
) -> GangRecord:
    rule = TopologyRule(job.topology, job.topology) if job.topology else None
    return GangRecord(
        job.name,
        queue,
        job.name,
        "lab",
        job.priority,
        job.preemptible,
        job.arrival,
        plain_gang(job.pods, rule),
        expected_runtime=stated,
        checkpoint_interval=job.checkpoint,
        learned_runtime=learned,
        overrun=overrun,
    )


def pod_records(job: TraceJob) -> list[TaskRecord]:
    gpu = gpu_request(job.gpus)
    wanted = (NodeTerm((Requirement(MODEL_LABEL, "In", job.models),)),) if job.models else None
    return [
        TaskRecord(
            f"{job.name}/{number}",
            job.name,
            f"{job.name}-{number}",
            "lab",
            status=Status.PENDING,
            created=job.arrival,
            request={"cpu": job.cpu, "memory": job.memory},
            gpu=gpu,
            node_affinity=wanted,
        )
        for number in range(job.pods)
    ]


def gpu_request(gpus: float) -> GpuRequest:
    if 0 < gpus < 1:
        return GpuRequest("Fraction", 1, gpus)
    return GpuRequest("Regular", int(gpus), 1 if gpus else 0)


# ── queues ──


def one_queue() -> list[QueueRecord]:
    return [QueueRecord(ONE_QUEUE, cpu=UNLIMITED, memory=UNLIMITED, gpu=UNLIMITED)]


def queues_by_demand(jobs: Sequence[TraceJob], gpus: float) -> list[QueueRecord]:
    """A queue per name in the trace; quota and weight by its part of all GPU-seconds that are asked for."""
    demand: dict[str, float] = {}
    for job in jobs:
        seconds = job.duration if math.isfinite(job.duration) else 1.0
        demand[job.queue] = demand.get(job.queue, 0.0) + job.all_gpus * seconds
    total = sum(demand.values()) or 1.0
    return [
        QueueRecord(
            name,
            created=place,
            cpu=UNLIMITED,
            memory=UNLIMITED,
            gpu=Share(round(gpus * demand[name] / total, 2), -1, demand[name] / total),
        )
        for place, name in enumerate(sorted(demand))
    ]


def changed_queues(queues: Sequence[QueueRecord], changes: Mapping[str, str]) -> list[QueueRecord]:
    """Queues after changes such as `quota.team-a.gpu=64` (or `+64`: so many more; `limit` and `weight` likewise)."""
    by_name = {queue.name: queue for queue in queues}
    for path, value in changes.items():
        field, _, rest = path.partition(".")
        name, _, resource = rest.rpartition(".")
        if field not in ("quota", "limit", "weight") or resource not in ("gpu", "cpu", "memory"):
            raise BadInput(
                f"--change {path}={value}: write quota.QUEUE.gpu=64 (or =+64: so many more), limit.QUEUE.cpu=8000 or "
                "weight.QUEUE.gpu=2"
            )
        if name not in by_name:
            raise BadInput(
                f"--change {path}={value}: there is no queue {name!r}; there are {', '.join(sorted(by_name))}"
            )
        by_name[name] = _changed(by_name[name], field, resource, value)
    return [by_name[queue.name] for queue in queues]


def _changed(queue: QueueRecord, field: str, resource: str, value: str) -> QueueRecord:
    shares = {"gpu": queue.gpu, "cpu": queue.cpu, "memory": queue.memory}
    share = shares[resource]
    parts = {"quota": share.quota, "limit": share.limit, "weight": share.weight}
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise BadInput(f"--change {field}.{queue.name}.{resource}={value}: {value!r} is no number")
    parts[field] = _changed_number(parts[field], number, value, f"--change {field}.{queue.name}.{resource}={value}")
    shares[resource] = Share(parts["quota"], parts["limit"], parts["weight"], share.usage)
    return replace(queue, gpu=shares["gpu"], cpu=shares["cpu"], memory=shares["memory"])


def _changed_number(before: float, number: float, value: str, change: str) -> float:
    """A number with a sign is added; but -1 means that there is no bound, and nothing can be added to that."""
    if value == "-1" or value[:1] not in "+-":
        return number
    if before < 0:
        raise BadInput(f"{change}: there is no bound now; write a number without a sign")
    if before + number < 0:
        raise BadInput(f"{change}: it is {before:g} now, and no less than 0 can be left")
    return before + number
