"""Cells of pods and nodes, with the one word that sums up a pod.

Pure; table_cells.py lists them by kind.
"""

from __future__ import annotations

from typing import Any

from gangline.cluster.server.show.cell_parts import NONE, age_of, name_of, value_at
from gangline.cluster.server.show.tables import Obj
from gangline.rules.values.times import brief, seconds


def pod_status(pod: Obj) -> str:
    """The one word (or reason) that sums up a pod."""
    status = pod.get("status") or {}
    reason = status.get("reason") or status.get("phase") or ""
    for condition in status.get("conditions") or []:
        if condition.get("type") == "PodScheduled" and condition.get("reason") == "SchedulingGated":
            reason = "SchedulingGated"
    starting = _init_reason(pod)
    if starting is not None:
        reason = starting
    else:
        reason = _running_reason(status, reason)
    if value_at(pod, "metadata", "deletionTimestamp") and status.get("phase") not in ("Succeeded", "Failed"):
        return "Unknown" if status.get("reason") == "NodeLost" else "Terminating"
    return str(reason)


def _init_reason(pod: Obj) -> str | None:
    """Why a pod's init containers hold it up; None once they do not."""
    asked = value_at(pod, "spec", "initContainers") or []
    always = {item["name"] for item in asked if item.get("restartPolicy") == "Always"}
    for index, container in enumerate(value_at(pod, "status", "initContainerStatuses") or []):
        state = container.get("state") or {}
        ended, waiting = state.get("terminated"), state.get("waiting") or {}
        if ended is not None and not ended.get("exitCode"):
            continue
        if container.get("name") in always and container.get("started"):
            continue
        if ended is not None:
            return "Init:" + _ended(ended)
        if waiting.get("reason") and waiting["reason"] != "PodInitializing":
            return f"Init:{waiting['reason']}"
        return f"Init:{index}/{len(asked)}"
    return None


def _ended(ended: Obj) -> str:
    if ended.get("reason"):
        return str(ended["reason"])
    return f"Signal:{ended['signal']}" if ended.get("signal") else f"ExitCode:{ended.get('exitCode', 0)}"


def _running_reason(status: Obj, reason: str) -> str:
    has_running = False
    for container in reversed(status.get("containerStatuses") or []):
        state = container.get("state") or {}
        if (state.get("waiting") or {}).get("reason"):
            reason = state["waiting"]["reason"]
        elif state.get("terminated") is not None:
            reason = _ended(state["terminated"])
        elif container.get("ready") and state.get("running") is not None:
            has_running = True
    if reason == "Completed" and has_running:
        ready = any(
            condition.get("type") == "Ready" and condition.get("status") == "True"
            for condition in status.get("conditions") or []
        )
        return "Running" if ready else "NotReady"
    return reason


def _restarts(pod: Obj, now: float) -> str:
    status = pod.get("status") or {}
    always = {
        item["name"] for item in value_at(pod, "spec", "initContainers") or [] if item.get("restartPolicy") == "Always"
    }
    counted = [
        init_container_status
        for init_container_status in status.get("initContainerStatuses") or []
        if init_container_status.get("name") in always
    ]
    starting = _init_reason(pod) is not None
    counted = (
        (status.get("initContainerStatuses") or []) if starting else counted + (status.get("containerStatuses") or [])
    )
    total = sum(item.get("restartCount", 0) for item in counted)
    ends = [seconds(value_at(item, "lastState", "terminated", "finishedAt")) for item in counted]
    last = max((end for end in ends if end is not None), default=None)
    return f"{total} ({brief(now - last)} ago)" if total and last is not None else str(total)


def pod_cells(pod: Obj, now: float) -> list[Any]:
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    address = ((status.get("podIPs") or [{}])[0].get("ip")) or status.get("podIP") or NONE
    return [
        name_of(pod),
        f"{_ready_containers(status)}/{len(spec.get('containers') or [])}",
        pod_status(pod),
        _restarts(pod, now),
        age_of(pod, now),
        address,
        spec.get("nodeName") or NONE,
        status.get("nominatedNodeName") or NONE,
        _readiness_gates(spec.get("readinessGates") or [], status),
    ]


def _ready_containers(status: Obj) -> int:
    return sum(
        1
        for container_status in status.get("containerStatuses") or []
        if container_status.get("ready") and value_at(container_status, "state", "running") is not None
    )


def _readiness_gates(gates: list[Obj], status: Obj) -> str:
    met = sum(
        1
        for gate in gates
        for condition in status.get("conditions") or []
        if condition.get("type") == gate.get("conditionType") and condition.get("status") == "True"
    )
    return f"{met}/{len(gates)}" if gates else NONE


def node_cells(node: Obj, now: float) -> list[Any]:
    status = node.get("status") or {}
    info = status.get("nodeInfo") or {}
    address = {item.get("type"): item.get("address") for item in status.get("addresses") or []}
    return [
        name_of(node),
        ",".join(_node_states(node, status)),
        ",".join(role for role in _node_roles(node) if role) or NONE,
        age_of(node, now),
        info.get("kubeletVersion", ""),
        address.get("InternalIP") or NONE,
        address.get("ExternalIP") or NONE,
        *(info.get(key) or "<unknown>" for key in ("osImage", "kernelVersion", "containerRuntimeVersion")),
    ]


def _node_states(node: Obj, status: Obj) -> list[str]:
    ready = [item.get("status") for item in status.get("conditions") or [] if item.get("type") == "Ready"]
    state = "Unknown"
    if ready:
        state = "Ready" if ready[-1] == "True" else "NotReady"
    return [state, "SchedulingDisabled"] if value_at(node, "spec", "unschedulable") else [state]


def _node_roles(node: Obj) -> list[str]:
    labels = value_at(node, "metadata", "labels") or {}
    mark = "node-role.kubernetes.io/"
    roles = {key.removeprefix(mark) for key in labels if key.startswith(mark)}
    return sorted(roles | ({labels["kubernetes.io/role"]} if labels.get("kubernetes.io/role") else set()))
