"""Nobody makes room: priorities, shares, runtimes. Data only."""

from __future__ import annotations

from gangline.api import names
from truth.causes.common import DEPARTMENT, ONE
from truth.objects import job, priority_class, queue
from truth.player import TruthCase, flat

ROOM = [
    TruthCase(
        "a fair share that is used up",
        "job/x",
        ("fair share", "queue a", "old"),
        flat(job("x", gpus=4, queue="a")),
        ONE,
        flat(
            queue("org"),
            queue("a", "org", gpu={"quota": 0, "overQuotaWeight": 0}),
            queue("b", "org", gpu={"quota": 8}),
            job("old", gpus=8, queue="b"),
        ),
        runs=1,
    ),
    TruthCase(
        "a neighbour that cannot be preempted",
        "job/x",
        ("old", "cannot be preempted"),
        flat(job("x", gpus=8, queue="a")),
        ONE,
        flat(
            queue("org", gpu={"quota": 16}),
            queue("a", "org", gpu={"quota": 8}),
            queue("b", "org", gpu={"quota": 8}),
            job("old", gpus=8, queue="b", labels={names.PREEMPTIBILITY: "non-preemptible"}),
        ),
        runs=1,
    ),
    TruthCase(
        "a gang of the same priority in its queue",
        "job/x",
        ("old", "same priority (50, against 50)"),
        flat(job("x", gpus=8)),
        ONE,
        flat(job("old", gpus=8)),
        runs=1,
    ),
    TruthCase(
        "a gang of a higher priority in its queue",
        "job/x",
        ("old", "higher priority (90, against 50)"),
        flat(job("x", gpus=8)),
        ONE,
        flat(priority_class("high", 90), job("old", gpus=8, labels={names.PRIORITY_CLASS: "high"})),
        runs=1,
    ),
    TruthCase(
        "a minimum run time against preemption",
        "job/x",
        ("protected", "preemptMinRuntime", "Queue/a"),
        flat(job("x", gpus=8, queue="a", labels={names.PRIORITY_CLASS: "high"})),
        ONE,
        flat(priority_class("high", 90), queue("a", DEPARTMENT, preemptMinRuntime="1h"), job("old", gpus=8, queue="a")),
        runs=1,
    ),
    TruthCase(
        "a minimum run time against reclaim",
        "job/x",
        ("protected", "reclaimMinRuntime", "Queue/b"),
        flat(job("x", gpus=8, queue="a")),
        ONE,
        flat(
            queue("org", gpu={"quota": 8}),
            queue("a", "org", gpu={"quota": 8}),
            queue("b", "org", gpu={"quota": 0}, reclaimMinRuntime="1h"),
            job("old", gpus=8, queue="b"),
        ),
        runs=1,
    ),
    TruthCase(
        "an elastic gang of which the surplus waits",
        "job/x",
        ("x runs", "above its minimum of 2", "wait"),
        flat(job("x", 4, gpus=4, minimum=2)),
        ONE,
        runs=4,
    ),
]
