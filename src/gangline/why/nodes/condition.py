"""Nodes that are closed by their own state: cordon, NotReady, pressure, taints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gangline.api import kinds, names
from gangline.api.meta import Raw
from gangline.rules.values import times
from gangline.rules.values.times import spoken
from gangline.scheduler.matching import untolerated
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.task import TaskInfo
from gangline.why.nodes.obstacles import NodeObstacle
from gangline.why.objects import ClusterObjects, dig


def state_facts(objects: ClusterObjects, node: NodeInfo) -> Iterator[NodeObstacle]:
    live = objects.raw(kinds.NODE, node.name) or {}
    if dig(live, "spec", "unschedulable"):
        yield NodeObstacle("cordon", "is cordoned (spec.unschedulable: true)", {"spec": {"unschedulable": False}})
    for text in not_ready(objects, live):
        yield NodeObstacle("not-ready", text, _healed(live))
    for condition in dig(live, "status", "conditions") or ():
        kind, status = condition.get("type"), condition.get("status")
        if kind in ("MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable") and status != "False":
            yield NodeObstacle("pressure", f"has condition {kind}{_since(objects, condition)}{_because(condition)}")


def not_ready(objects: ClusterObjects, live: Raw) -> list[str]:
    """`is NotReady since …: why`, of a node that is not."""
    return [
        f"is NotReady{_since(objects, condition)}{_because(condition)}"
        for condition in dig(live, "status", "conditions") or ()
        if condition.get("type") == "Ready" and condition.get("status") != "True"
    ]


def _healed(live: Raw) -> Raw | None:
    """A simulated node is as ready as its annotation lets it be."""
    noted = dig(live, "metadata", "annotations") or {}
    return {"metadata": {"annotations": {names.HEALTH: None}}} if names.HEALTH in noted else None


def _since(objects: ClusterObjects, condition: Mapping[str, str]) -> str:
    at_time = condition.get("lastTransitionTime")
    began = times.seconds(at_time)
    return "" if began is None else f" since {at_time} ({spoken(max(objects.now - began, 0))})"


def _because(condition: Mapping[str, str]) -> str:
    why = condition.get("message") or condition.get("reason")
    return f": {why}" if why else ""


def _tolerations_of(task: TaskInfo, key: str) -> str:
    """What the pod says of that key, in short."""
    mine = [item for item in task.record.tolerations if item.key == key]
    told = [
        f"{item.key}{f'={item.value}' if item.operator != 'Exists' else ''}{f':{item.effect}' if item.effect else ''}"
        for item in mine
    ]
    return f"spec.tolerations has {', '.join(told)}" if told else f"spec.tolerations has none of key {key}"


def taint_facts(objects: ClusterObjects, task: TaskInfo, node: NodeInfo) -> Iterator[NodeObstacle]:
    bad = [taint for taint in node.record.taints if untolerated((taint,), task.record.tolerations) is not None]
    live = objects.raw(kinds.NODE, node.name) or {}
    refused = {(taint.key, taint.effect) for taint in bad}
    kept = [item for item in dig(live, "spec", "taints") or () if (item.get("key"), item.get("effect")) not in refused]
    for taint in bad:
        lifecycle = taint.key.startswith("node.kubernetes.io/")
        cordon = taint.key == "node.kubernetes.io/unschedulable" and dig(live, "spec", "unschedulable")
        if cordon or (lifecycle and not node.ready):
            continue
        written = f"{taint.key}={taint.value}:{taint.effect}" if taint.value else f"{taint.key}:{taint.effect}"
        yield NodeObstacle(
            "lifecycle" if lifecycle else "taint",
            f"has taint {written}, which the pod does not tolerate ({_tolerations_of(task, taint.key)})",
            None if lifecycle else {"spec": {"taints": kept}},
        )
