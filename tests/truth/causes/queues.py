"""Queues: absent, limits, quotas. Data only."""

from __future__ import annotations

from gangline.api import names
from truth.causes.common import DEPARTMENT, ONE
from truth.objects import job, queue
from truth.player import TruthCase, flat

QUEUES = [
    TruthCase(
        "a queue that does not exist",
        "job/x",
        ("queue nowhere does not exist",),
        flat(job("x", gpus=1, queue="nowhere")),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a queue with a slip of the pen",
        "job/x",
        ("queue defualt-queue does not exist", "did you mean default-queue?"),
        flat(job("x", gpus=1, queue="defualt-queue")),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a queue that has queues below it",
        "job/x",
        ("queue team has child queues", "team-a"),
        flat(job("x", gpus=1, queue="team")),
        ONE,
        flat(queue("team", DEPARTMENT), queue("team-a", "team")),
        runs=1,
    ),
    TruthCase(
        "a limit of GPUs",
        "job/x",
        ("queue a", "limit of 4 GPUs", "Queue/a spec.resources.gpu.limit"),
        flat(job("x", gpus=8, queue="a")),
        ONE,
        flat(queue("a", DEPARTMENT, gpu={"limit": 4})),
        runs=1,
    ),
    TruthCase(
        "a limit of CPU in millicores",
        "job/x",
        ("limit of 2 cores", "spec.resources.cpu.limit", "4000"),
        flat(job("x", asks={"cpu": 4}, queue="a")),
        ONE,
        flat(queue("a", DEPARTMENT, cpu={"limit": 2000})),
        runs=1,
        remedy_says=("limit: 4000",),
    ),
    TruthCase(
        "a limit of memory in megabytes",
        "job/x",
        ("spec.resources.memory.limit",),
        flat(job("x", asks={"memory": "8Gi"}, queue="a")),
        ONE,
        flat(queue("a", DEPARTMENT, memory={"limit": 1000})),
        runs=1,
    ),
    TruthCase(
        "a limit of the parent",
        "job/x",
        ("queue org", "limit of 2 GPUs"),
        flat(job("x", gpus=4, queue="a")),
        ONE,
        flat(queue("org", gpu={"limit": 2}), queue("a", "org")),
        runs=1,
    ),
    TruthCase(
        "limits at every level, and of CPU too",
        "job/x",
        ("queue a", "queue org", "Queue/a spec.resources.cpu.limit", "Queue/org spec.resources.gpu.limit"),
        flat(job("x", gpus=4, asks={"cpu": 8}, queue="a")),
        ONE,
        flat(
            queue("org", gpu={"limit": 2}, cpu={"limit": 4000}),
            queue("a", "org", gpu={"limit": 1}, cpu={"limit": 2000}),
        ),
        runs=1,
    ),
    TruthCase(
        "a quota of work that cannot be preempted",
        "job/x",
        ("queue a", "quota of 2 GPUs", "cannot be preempted", "Queue/a spec.resources.gpu.quota"),
        flat(job("x", gpus=4, queue="a", labels={names.PREEMPTIBILITY: "non-preemptible"})),
        ONE,
        flat(queue("org", gpu={"quota": 8}), queue("a", "org", gpu={"quota": 2})),
        runs=1,
    ),
    TruthCase(
        "quotas at every level",
        "job/x",
        ("queue a", "queue org", "Queue/org spec.resources.gpu.quota"),
        flat(job("x", gpus=4, queue="a", labels={names.PREEMPTIBILITY: "non-preemptible"})),
        ONE,
        flat(queue("org", gpu={"quota": 2}), queue("a", "org", gpu={"quota": 2})),
        runs=1,
    ),
    TruthCase(
        "a limit that is partly used",
        "job/x",
        ("limit of 4 GPUs", "in use are 3", "2 more are asked"),
        flat(job("x", gpus=2, queue="a")),
        ONE,
        flat(queue("a", DEPARTMENT, gpu={"limit": 4}), job("old", gpus=3, queue="a")),
        runs=1,
    ),
]
