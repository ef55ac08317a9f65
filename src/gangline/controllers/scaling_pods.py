"""Which scaling pods there should be: whole-GPU pods that ask a cluster autoscaler in place of pods that wait for a
part of a GPU. Pure; node_scale.py writes it."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.meta import Raw, as_raw, condition
from gangline.api.resources import units
from gangline.controllers.sums import amounts, printed, total
from gangline.rules import requests
from gangline.rules.schedulers import SERVED

POD_NAME, POD_NAMESPACE = "shared-gpu-pod-name", "shared-gpu-pod-namespace"
CONTAINER = "scaling-pod"
LABEL_LENGTH = 63


@dataclass(frozen=True, slots=True)
class NodeScaleSettings:
    scheduler_names: tuple[str, ...] = SERVED
    namespace: str = names.SCALE_NAMESPACE
    app: str = "scaling-pod"
    service_account: str = names.SCALE_NAMESPACE
    image: str = "gangline/scaling-pod"
    memory_as_fraction: float = 0.1
    """What a pod that asks for GPU memory is taken to need of a GPU."""
    cool_down: float = 60.0
    """Seconds without new scaling pods after one was removed: the node that came may still be settling."""


@dataclass(frozen=True, slots=True)
class ScalingPodPlan:
    delete: list[Pod] = field(default_factory=list)
    create: list[Pod] = field(default_factory=list)
    """The waiting pods that need a scaling pod."""


def scaling_name(pod: Pod) -> str:
    name = f"{pod.namespace}-{pod.name}"
    if len(name) <= LABEL_LENGTH:
        return name
    return f"{name[: LABEL_LENGTH - 9]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def waits(pod: Pod) -> bool | None:
    """Whether the scheduler found no node for the pod; None: it has not judged it."""
    scheduled = condition(pod.status.conditions, "PodScheduled")
    return None if scheduled is None else scheduled.status == "False" and scheduled.reason == "Unschedulable"


def concerns(pod: Pod, settings: NodeScaleSettings) -> bool:
    """A scaling pod, or one that may need one: of a crowd of others nobody here needs to know."""
    if pod.namespace == settings.namespace:
        return True
    return pod.spec.scheduler_name in settings.scheduler_names and requests.request(pod).gpu.shared


def plan(pods: Iterable[Pod], settings: NodeScaleSettings, cooling: bool) -> ScalingPodPlan:
    """Which scaling pods to remove, and for which waiting pods to make one."""
    all_pods = list(pods)
    scaling = [pod for pod in all_pods if pod.namespace == settings.namespace]
    ours = [
        pod
        for pod in all_pods
        if pod.namespace != settings.namespace and pod.spec.scheduler_name in settings.scheduler_names
    ]
    keep = {
        scaling_name(pod) for pod in ours if waits(pod) is not False and pod.status.phase not in ("Succeeded", "Failed")
    }
    unneeded = [pod for pod in scaling if pod.status.phase == "Succeeded" or pod.name not in keep]
    if cooling or unneeded:
        return ScalingPodPlan(unneeded)
    return ScalingPodPlan([], list(_missing(ours, [pod for pod in scaling if pod not in unneeded], settings)))


def _missing(ours: Iterable[Pod], scaling: list[Pod], settings: NodeScaleSettings) -> Iterable[Pod]:
    """Until there are as many whole GPUs as the waiting parts add up to, and one pod as large as the largest needs."""
    candidates = sorted((pod for pod in ours if _is_candidate(pod)), key=lambda pod: (pod.namespace, pod.name))
    needed = math.ceil(sum(_hundredths(pod, settings) for pod in candidates) / 100)
    present = {pod.name for pod in scaling}
    held = [units(pod.spec.containers[0].resources.requests.get(names.NVIDIA_GPU, 0)) for pod in scaling]
    for pod in candidates:
        devices = requests.request(pod).gpu.count
        if scaling_name(pod) not in present and (needed > sum(held) or devices > max(held, default=0)):
            held.append(devices)
            yield pod


def _is_candidate(pod: Pod) -> bool:
    return (
        not pod.spec.node_name
        and waits(pod) is True
        and pod.status.phase not in ("Succeeded", "Failed")
        and requests.request(pod).gpu.shared
    )


def _hundredths(pod: Pod, settings: NodeScaleSettings) -> int:
    gpu = requests.request(pod).gpu
    portion = gpu.portion if gpu.kind == requests.FRACTION else settings.memory_as_fraction
    return requests.whole_hundredths(portion) * gpu.count


def scaling_pod(pod: Pod, settings: NodeScaleSettings) -> Raw:
    gpu = {names.NVIDIA_GPU: str(requests.request(pod).gpu.count)}
    plain = total(
        amounts({name: value for name, value in container.resources.requests.items() if name in ("cpu", "memory")})
        for container in pod.spec.containers
    )
    spec: Raw = {
        "restartPolicy": "OnFailure",
        "serviceAccountName": settings.service_account,
        "tolerations": [as_raw(toleration) for toleration in pod.spec.tolerations],
        "nodeSelector": pod.spec.node_selector,
        "containers": [
            {
                "name": CONTAINER,
                "image": settings.image,
                "imagePullPolicy": "IfNotPresent",
                "resources": {"requests": printed(plain) | gpu, "limits": gpu},
            }
        ],
    }
    if pod.spec.affinity:
        spec["affinity"] = pod.spec.affinity
    labels = {"app": settings.app, POD_NAME: pod.name[:LABEL_LENGTH].rstrip("-."), POD_NAMESPACE: pod.namespace}
    ends_at_once = {names.RUN_SECONDS: "0"}
    return {
        "metadata": {
            "name": scaling_name(pod),
            "namespace": settings.namespace,
            "labels": labels,
            "annotations": ends_at_once,
        },
        "spec": spec,
    }
