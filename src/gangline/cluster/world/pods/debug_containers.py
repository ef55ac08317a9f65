"""The ephemeral containers of a simulated pod, which `kubectl debug` adds while the pod runs. They start at once, run
as long as the pod does, and never start again. Pure: told_status.py puts them into the pod's status."""

from __future__ import annotations

from gangline.api.core import ContainerStatus, Pod
from gangline.api.meta import Raw
from gangline.cluster.world.pods.pod_step import FINAL, Statuses
from gangline.runtime.clock import timestamp


def debug_statuses(pod: Pod, phase: str, now: float) -> Statuses:
    known = {status.name: status for status in pod.status.ephemeral_container_statuses}
    return [
        _debug_status(known.get(container.name) or ContainerStatus(name=container.name), phase, now)
        for container in pod.spec.ephemeral_containers
    ]


def _debug_status(status: ContainerStatus, phase: str, now: float) -> ContainerStatus:
    if "terminated" in status.state:
        return status
    if phase in FINAL:
        begun = (status.state.get("running") or {}).get("startedAt", timestamp(now))
        ended: Raw = {"exitCode": 0, "reason": "Completed", "startedAt": begun, "finishedAt": timestamp(now)}
        return ContainerStatus(name=status.name, state={"terminated": ended})
    if phase != "Running" or "running" in status.state:
        return status if status.state else ContainerStatus(name=status.name, state={"waiting": {}})
    return ContainerStatus(name=status.name, state={"running": {"startedAt": timestamp(now)}})
