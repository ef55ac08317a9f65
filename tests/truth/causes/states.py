"""Workloads that do not wait: running, finished, failed, being deleted. Data only."""

from __future__ import annotations

from gangline.api import names
from truth.causes.common import ONE, TWO
from truth.objects import clique, job, pod, pod_clique_set, priority_class
from truth.player import TruthCase, flat

STATES = [
    TruthCase(
        "a gang that runs",
        "job/x",
        ("x runs: 2 pods on", "since", "queue default-queue"),
        flat(job("x", 2, gpus=1)),
        TWO,
    ),
    TruthCase("a set that runs", "x", ("x-0 runs: 2 pods on",), flat(pod_clique_set("x", clique("w", 2, gpus=1))), TWO),
    TruthCase(
        "a gang whose image is missing",
        "job/x",
        ("x is starting", "x-"),
        flat(job("x", pod_notes={names.START_SECONDS: "3600"})),
        ONE,
    ),
    TruthCase(
        "a gang that is not ready",
        "job/x",
        ("x is starting", "readiness"),
        flat(job("x", pod_notes={names.READY_SECONDS: "3600"})),
        ONE,
    ),
    TruthCase(
        "a Job that has finished",
        "job/x",
        ("x has finished", "completed"),
        flat(job("x", pod_notes={names.RUN_SECONDS: "0"})),
        ONE,
    ),
    TruthCase(
        "a Job that has failed",
        "job/x",
        ("x has failed", "exit code 3", "x-"),
        flat(job("x", pod_notes={names.RUN_SECONDS: "0", names.EXIT_CODE: "3"})),
        ONE,
    ),
    TruthCase(
        "a Job that is being deleted",
        "job/x",
        ("x is being deleted", "example.com/keep", "finalizer"),
        flat(job("x", gpus=1) | {"metadata": job("x")["metadata"] | {"finalizers": ["example.com/keep"]}}),
        ONE,
        delete=(job("x"),),
    ),
    TruthCase(
        "a gang that was evicted",
        "x",
        ("x waits", "last evicted", "by urgent", "preempt"),
        flat(job("urgent", gpus=8, labels={names.PRIORITY_CLASS: "high"})),
        ONE,
        flat(priority_class("high", 90), job("x", gpus=8, spec={"backoffLimit": 6})),
        runs=1,
    ),
    TruthCase("a lone pod that waits", "pod/x", ("x waits", "16 GPUs"), flat(pod("x", gpus=16)), ONE, runs=1),
]
