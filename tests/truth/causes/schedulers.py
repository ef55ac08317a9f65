"""Schedulers and components that are absent or do not look. Data only."""

from __future__ import annotations

from gangline.api import names
from truth.causes.common import ONE
from truth.objects import job, lease, pod
from truth.player import TruthCase, flat

SCHEDULERS = [
    TruthCase(
        "a scheduler name with a slip of the pen",
        "job/x",
        ("kai-schedular", "did you mean kai-scheduler?"),
        flat(job("x", scheduler="kai-schedular")),
        ONE,
        runs=1,
    ),
    TruthCase(
        "pods of another scheduler",
        "job/x",
        ("another scheduler", "volcano"),
        flat(job("x", scheduler="volcano")),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a lone pod of an unknown scheduler",
        "pod/x",
        ("my-own-scheduler", "another scheduler"),
        flat(pod("x", scheduler="my-own-scheduler")),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a Deployment of the default scheduler that finds no room",
        "deployment/x",
        ("default-scheduler",),
        flat(
            {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": {"name": "x", "namespace": "default"},
                "spec": {
                    "replicas": 1,
                    "selector": {"matchLabels": {"app": "x"}},
                    "template": {
                        "metadata": {"labels": {"app": "x"}},
                        "spec": {
                            "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "100"}}}]
                        },
                    },
                },
            }
        ),
        ONE,
    ),
    TruthCase(
        "a node pool without a scheduler",
        "job/x",
        ("node pool blue", "no SchedulingShard"),
        flat(job("x", labels={names.NODE_POOL: "blue"})),
        ONE,
        runs=1,
    ),
    TruthCase(
        "no scheduler is running",
        "job/x",
        ("no scheduler", "Lease kai-scheduler/kai-scheduler", "renewed"),
        flat(lease("kai-scheduler", "2020-01-01T00:00:00.000000Z"), job("x", gpus=1)),
        ONE,
        without=("scheduler",),
    ),
    TruthCase(
        "no grouper is running",
        "job/x",
        ("in no PodGroup", "grouper"),
        flat(job("x", gpus=1)),
        ONE,
        without=("grouper",),
    ),
    TruthCase(
        "no binder is running", "job/x", ("wait", "binder", "n"), flat(job("x", gpus=1)), ONE, without=("binder",)
    ),
]
