"""The pod that reserves a GPU for pods that share it: its name, its form, its group, and when that group needs nothing.

Pure; reservations.py writes it."""

from __future__ import annotations

import hashlib

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kai import BindRequest
from gangline.api.kinds import BIND_REQUEST, POD
from gangline.api.meta import Raw, as_raw, condition
from gangline.binder.attempt import BindAttempt
from gangline.binder.settings import BinderSettings
from gangline.rules.gangs.bind_requests import FAILED, SUCCEEDED, by_gpu_group, live
from gangline.runtime import Reader
from gangline.runtime.clock import timestamp

TOUCHED, SINCE = "gangline.io/reserved-for", "gangline.io/reserved-at"
"""Who asked last, and when the first did, by the binder's clock: the server's may go before or behind it."""
CONTAINER = "resource-reservation"
GROUP, ON_NODE = "group", "reserving on node"


def pod_name(node: str, group: str) -> str:
    """The same name for every binder, so that two can never reserve two GPUs for one group."""
    return f"gpu-reservation-{hashlib.sha256(f'{node}/{group}'.encode()).hexdigest()[:16]}"


def by_group(pod: Pod) -> list[str]:
    """Every GPU group a pod is in, or reserves."""
    prefix = names.GPU_GROUP + "/"
    return list(
        dict.fromkeys(value for key, value in pod.labels.items() if key == names.GPU_GROUP or key.startswith(prefix))
    )


def has_news(before: Pod | None, after: Pod | None) -> bool:
    """Whether those who wait for this reservation should look again; that one of them touched it concerns nobody."""
    return before is None or after is None or _news(before) != _news(after)


def _news(pod: Pod) -> tuple[str | None, str, bool]:
    return pod.annotations.get(names.RESERVED_GPU), pod.status.phase, pod.metadata.deleting


def unscheduled(pod: Pod) -> bool:
    scheduled = condition(pod.status.conditions, "PodScheduled")
    return scheduled is not None and scheduled.status != "True"


def reservation_pod(attempt: BindAttempt, group: str, settings: BinderSettings) -> Raw:
    gpu = {names.NVIDIA_GPU: "1"}
    given = settings.reservation_resources
    container: Raw = {
        "name": CONTAINER,
        "image": settings.reservation_image,
        "imagePullPolicy": "IfNotPresent",
        "resources": {part: {**(given.get(part) or {}), **gpu} for part in ("requests", "limits")},
        "env": [
            {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}
            for name, path in (("POD_NAME", "metadata.name"), ("POD_NAMESPACE", "metadata.namespace"))
        ],
    }
    if settings.reservation_command:
        container["command"] = list(settings.reservation_command)
    if settings.fake_gpu_nodes:
        container.pop("command", None)
        container |= {"image": "ubuntu", "args": ["sleep", "infinity"]}
    if settings.reservation_container_security is not None:
        container["securityContext"] = settings.reservation_container_security
    spec: Raw = {
        "nodeName": attempt.node.name,
        "serviceAccountName": settings.reservation_service_account,
        "containers": [container],
        "tolerations": [as_raw(toleration) for toleration in attempt.pod.spec.tolerations],
    }
    if settings.reservation_runtime_class:
        spec["runtimeClassName"] = settings.reservation_runtime_class
    if settings.reservation_pod_security is not None:
        spec["securityContext"] = settings.reservation_pod_security
    return {
        "metadata": {
            "name": pod_name(attempt.node.name, group),
            "namespace": settings.reservation_namespace,
            "labels": {"app": settings.reservation_app, names.GPU_GROUP: group},
            "annotations": {
                "karpenter.sh/do-not-disrupt": "true",
                TOUCHED: attempt.pod.uid,
                SINCE: timestamp(attempt.ctx.clock.now()),
            },
        },
        "spec": spec,
    }


def split(pods: list[Pod], settings: BinderSettings) -> tuple[list[Pod], list[Pod]]:
    held = [pod for pod in pods if pod.namespace == settings.reservation_namespace]
    others = [pod for pod in pods if pod.namespace != settings.reservation_namespace]
    return held, [pod for pod in others if pod.status.phase in ("Pending", "Running")]


def in_order(read: Reader, group: str, settings: BinderSettings) -> bool:
    """Whether, as far as the cache knows, the group needs nothing: spares the server most questions."""
    held, sharers = split(read.by(POD, GROUP, group), settings)
    if sharers or not held:
        return bool(held) or not any(pod.status.phase == "Running" for pod in sharers)
    return any(wants(item, group) for item in read.by(BIND_REQUEST, GROUP, group))


def wants(request: BindRequest, group: str) -> bool:
    if group not in by_gpu_group(request):
        return False
    return live(request) if request.spec.pods else request.status.phase not in (SUCCEEDED, FAILED)
