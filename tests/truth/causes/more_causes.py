"""More causes of the matrix, in the form of matrix.py: images that cannot be pulled, workloads that ask for no pods,
room that is reserved, pods that the server refuses. Data only."""

from __future__ import annotations

from typing import Any

from gangline.api import names
from gangline.api.meta import Raw
from truth.objects import affinity, clique, job, pod_clique_set, pod_spec, priority_class
from truth.player import TruthCase, flat

ONE = ({"name": "n", "gpus": 8},)
TWO = ({"name": "n", "count": 2, "gpus": 8},)


def workload(kind: str, name: str, replicas: int, gpus: int = 1, **spec: Any) -> Raw:
    template = {"metadata": {"labels": {"app": name}}, "spec": pod_spec(gpus)}
    selector = {"matchLabels": {"app": name}}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"replicas": replicas, "selector": selector, "template": template, **spec},
    }


def with_image(image: str, **more: Any) -> Raw:
    spec = pod_spec(1)
    spec["containers"][0]["image"] = image
    return {"containers": spec["containers"], **more}


MORE_CAUSES = [
    TruthCase(
        "room that is kept for a gang before it",
        "job/x",
        ("its room is reserved for big, which can start at",),
        flat(job("big", 2, gpus=8), job("x", gpus=8, notes={names.EXPECTED_RUNTIME: "50h"})),
        TWO,
        flat(job("old", gpus=8, notes={names.EXPECTED_RUNTIME: "1h"})),
        runs=1,
    ),
    TruthCase(
        "an image that does not exist",
        "job/x",
        ("x is starting", "waits for image team/trainer:does-not-exist", "ImagePullBackOff", "0 of 1 pod"),
        flat(job("x", **with_image("team/trainer:does-not-exist"))),
        ONE,
    ),
    TruthCase(
        "an image of one pod's second container that cannot be pulled",
        "job/x",
        ("x is starting", "waits for image busybox", "container main"),
        flat(job("x", pod_notes={names.UNPULLABLE: "busybox"})),
        ONE,
    ),
    TruthCase(
        "pods that must share a node and do not fit on one",
        "job/x",
        ("1 of 2 pods find a node", "no pod with app=x", "podAffinity"),
        flat(job("x", 2, gpus=8, **affinity("x"))),
        TWO,
        runs=1,
    ),
    TruthCase(
        "a paused Deployment",
        "deployment/x",
        ("Deployment/x is paused", "spec.paused: true"),
        flat(workload("Deployment", "x", 1, paused=True)),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a set without replicas",
        "set/x",
        ("PodCliqueSet/x asks for no pods", "spec.replicas: 0"),
        flat(pod_clique_set("x", clique("w", 1, gpus=1), replicas=0)),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a StatefulSet whose first pod is not ready",
        "statefulset/x",
        ("x is starting", "x-0", "readiness"),
        flat(
            workload(
                "StatefulSet",
                "x",
                2,
                template={
                    "metadata": {"labels": {"app": "x"}, "annotations": {names.READY_SECONDS: "3600"}},
                    "spec": pod_spec(1),
                },
            )
        ),
        ONE,
    ),
    TruthCase(
        "a part of a GPU that makes no sense",
        "job/x",
        ("the server refuses its pods", "gpu-fraction"),
        flat(job("x", pod_notes={"gpu-fraction": "1.5"})),
        ONE,
        never=("None", "pg-", "no verdict"),
    ),
    TruthCase(
        "room that is held by a gang of higher priority in another Job",
        "job/x",
        ("4 GPUs short", "old", "priority"),
        flat(priority_class("above", 60), job("x", gpus=4)),
        ONE,
        flat(
            {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "top"}, "value": 90},
            job("old", gpus=8, labels={names.PRIORITY_CLASS: "top"}),
        ),
        runs=1,
    ),
]
