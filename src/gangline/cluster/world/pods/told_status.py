"""The status of a simulated pod as a kubelet writes it: phase, conditions, and only what changed. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from gangline.api.core import Container, ContainerStatus, Pod
from gangline.api.meta import Condition, Raw, condition
from gangline.cluster.world.pods.debug_containers import debug_statuses
from gangline.cluster.world.pods.pod_step import FINAL, NodeFacts, Statuses, Step
from gangline.runtime.clock import timestamp


def told_status(
    pod: Pod,
    place: NodeFacts,
    began: float,
    inits: Statuses,
    mains: Statuses,
    *,
    phase: str = "Pending",
    again: float | None = None,
    initialized: bool = False,
) -> Step:
    """A step with the status that differs from what the pod already says; nothing to write when it says it all."""
    ready = phase == "Running" and all(status.ready for status in mains)
    conditions = changed_conditions(
        pod,
        place.now,
        initialized=initialized or phase in FINAL,
        ready=ready,
        done={"Succeeded": "PodCompleted", "Failed": "PodFailed"}.get(phase, ""),
    )
    debuggers = debug_statuses(pod, phase, place.now)
    if pod.status.phase == phase and pod.status.start_time and not conditions and _lists(pod, inits, mains, debuggers):
        return Step(again=again)
    status: Raw = {
        "phase": phase,
        "startTime": pod.status.start_time or timestamp(began),
        "containerStatuses": container_statuses(pod.spec.containers, mains),
    }
    if inits:
        status["initContainerStatuses"] = container_statuses(pod.spec.init_containers, inits)
    if debuggers:
        status["ephemeralContainerStatuses"] = container_statuses(pod.spec.ephemeral_containers, debuggers)
    if conditions:
        status["conditions"] = conditions
    if place.pod_ip and not pod.status.pod_ip:
        status |= {
            "hostIP": place.host_ip,
            "hostIPs": [{"ip": place.host_ip}],
            "podIP": place.pod_ip,
            "podIPs": [{"ip": place.pod_ip}],
        }
    return Step(status, again=again)


def _lists(pod: Pod, inits: Statuses, mains: Statuses, debuggers: Statuses) -> bool:
    """Whether a pod's status has just these containers, as they are."""
    stored = pod.status
    return (
        list(stored.container_statuses) == mains
        and list(stored.init_container_statuses) == inits
        and list(stored.ephemeral_container_statuses) == debuggers
    )


def changed_conditions(pod: Pod, now: float, *, initialized: bool, ready: bool, done: str) -> list[Raw]:
    """The conditions a kubelet owns, only those whose status changes."""
    gates = [str(gate.get("conditionType")) for gate in pod.spec.readiness_gates]
    open_gates = all((stored := condition(pod.status.conditions, gate)) and stored.status == "True" for gate in gates)
    unready = done or "ContainersNotReady"
    wanted = (
        ("PodReadyToStartContainers", not done, ""),
        ("Initialized", initialized, done or "ContainersNotInitialized"),
        ("Ready", ready and open_gates, unready if not ready else "ReadinessGatesNotReady"),
        ("ContainersReady", ready, unready),
        ("PodScheduled", True, ""),
    )
    standing = [(condition(pod.status.conditions, kind), kind, value, reason) for kind, value, reason in wanted]
    return [
        _condition(stored, kind, value, reason, now)
        for stored, kind, value, reason in standing
        if not _says(stored, value)
    ]


def _says(stored: Condition | None, value: bool) -> bool:
    return stored is not None and stored.status == str(value)


def _condition(stored: Condition | None, kind: str, value: bool, reason: str, now: float) -> Raw:
    """A condition as it is now; its earlier reason and message are removed."""
    written: Raw = {"type": kind, "status": str(value), "lastTransitionTime": timestamp(now)}
    if not value:
        written["reason"] = reason
    elif stored is not None and stored.reason:
        written["reason"] = ""
    if stored is not None and stored.message:
        written["message"] = ""
    return written


def container_statuses(containers: Iterable[Container], statuses: Iterable[ContainerStatus]) -> list[Raw]:
    images = {container.name: container.image for container in containers}
    return [
        {
            "name": status.name,
            "ready": status.ready,
            "started": bool(status.started),
            "restartCount": status.restart_count,
            "image": images.get(status.name, ""),
            "imageID": "",
            "state": status.state,
            "lastState": status.last_state,
        }
        for status in statuses
    ]
