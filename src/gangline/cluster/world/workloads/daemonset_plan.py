"""What a DaemonSet needs now: one pod on every node that will have it. Pure; daemonsets.py writes it.

`plan` says which nodes lack a pod and which pods are too many or out of date; the default scheduler places each pod on
the node it is made for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from gangline.api.builtin import Untyped
from gangline.api.core import Node, Pod, PodSpec, Toleration
from gangline.api.kinds import DAEMON_SET
from gangline.api.meta import Raw
from gangline.cluster.world.scheduling.node_fit import selects, tolerates
from gangline.cluster.world.workloads.deployment_plan import template_hash
from gangline.cluster.world.workloads.replicas import BURST, NONE_WAIT, active, is_ready, pod_from, share, suffix

REVISION = "controller-revision-hash"
ALWAYS = tuple(
    Toleration(key=f"node.kubernetes.io/{name}", operator="Exists", effect=effect)
    for name, effect in (
        ("not-ready", "NoExecute"),
        ("unreachable", "NoExecute"),
        ("disk-pressure", "NoSchedule"),
        ("memory-pressure", "NoSchedule"),
        ("pid-pressure", "NoSchedule"),
        ("unschedulable", "NoSchedule"),
    )
)


@dataclass(frozen=True, slots=True)
class DaemonSetPlan:
    create: tuple[Raw, ...] = ()
    delete: tuple[Pod, ...] = ()
    status: Raw | None = None
    again: float | None = None


def wants(daemon: Untyped, node: Node) -> bool:
    """The template's selectors and tolerations let its pod run there."""
    spec = msgspec.convert(daemon.spec["template"].get("spec") or {}, PodSpec)
    pod = Pod(spec=spec)
    tolerations = spec.tolerations + ALWAYS
    return selects(pod, node) and all(
        tolerates(tolerations, taint) for taint in node.spec.taints if taint.effect in ("NoSchedule", "NoExecute")
    )


def node_of(pod: Pod) -> str:
    """The node a pod is on, or made for."""
    if pod.spec.node_name:
        return pod.spec.node_name
    affinity = ((pod.spec.affinity or {}).get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    ) or {}
    fields = [
        match_field for term in affinity.get("nodeSelectorTerms") or () for match_field in term.get("matchFields") or ()
    ]
    return str(fields[0]["values"][0]) if fields else ""


def plan(
    daemon: Untyped, nodes: Sequence[Node], pods: Iterable[Pod], waits: Mapping[str, float] = NONE_WAIT
) -> DaemonSetPlan:
    """`waits`: failed pods that stay for now, and until when (failed_pod_delay.py)."""
    revision = template_hash(daemon.spec["template"])
    wanted = [node.name for node in nodes if wants(daemon, node)]
    there: dict[str, list[Pod]] = {}
    for pod in sorted((pod for pod in pods if not pod.metadata.deleting), key=lambda pod: pod.name):
        there.setdefault(node_of(pod), []).append(pod)
    ended = [pod for held in there.values() for pod in held if not active(pod) and pod.uid not in waits]
    stray = [pod for name, held in there.items() for pod in (held if name not in wanted else held[1:]) if active(pod)]
    missing = [name for name in wanted if name not in there]
    outdated = _outdated(
        daemon, [there[name][0] for name in wanted if name in there], revision, len(wanted), len(missing)
    )
    create = tuple(_pod(daemon, name, revision) for name in missing[:BURST])
    return DaemonSetPlan(
        create,
        (*ended, *stray, *outdated)[:BURST],
        _status(daemon, wanted, there, revision),
        min(waits.values(), default=None),
    )


def _outdated(daemon: Untyped, pods: Sequence[Pod], revision: str, wanted: int, missing: int) -> list[Pod]:
    """Pods of an old template that may go now: no more at a time than may be unavailable."""
    strategy: Raw = daemon.spec.get("updateStrategy") or {}
    old = [pod for pod in pods if pod.labels.get(REVISION) != revision and active(pod)]
    if strategy.get("type") == "OnDelete":
        return []
    most = (strategy.get("rollingUpdate") or {}).get("maxUnavailable", 1)
    room = max(share(most, wanted, up=True) - missing - sum(not is_ready(pod) for pod in pods), 0)
    broken = [pod for pod in old if not is_ready(pod)]
    return broken + [pod for pod in old if is_ready(pod)][:room]


def _pod(daemon: Untyped, node: str, revision: str) -> Raw:
    pod = pod_from(
        daemon.spec["template"],
        DAEMON_SET,
        daemon,
        f"{daemon.name[:57]}-{suffix(daemon.uid, node, revision)}",
        {REVISION: revision},
    )
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]
    affinity = dict(pod["spec"].get("affinity") or {})
    affinity["nodeAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    given = list(pod["spec"].get("tolerations") or ())
    pod["spec"] |= {
        "affinity": affinity,
        "tolerations": given + [{"key": item.key, "operator": item.operator, "effect": item.effect} for item in ALWAYS],
    }
    return pod


def _status(daemon: Untyped, wanted: Sequence[str], there: dict[str, list[Pod]], revision: str) -> Raw | None:
    placed = [there[name][0] for name in wanted if name in there and there[name][0].spec.node_name]
    ready = sum(is_ready(pod) for pod in placed)
    status: Raw = {
        "desiredNumberScheduled": len(wanted),
        "currentNumberScheduled": len(placed),
        "numberReady": ready,
        "numberAvailable": ready or None,
        "numberUnavailable": len(wanted) - ready or None,
        "updatedNumberScheduled": sum(pod.labels.get(REVISION) == revision for pod in placed) or None,
        "numberMisscheduled": sum(len(held) for name, held in there.items() if name not in wanted),
        "observedGeneration": daemon.metadata.generation,
    }
    before: Raw = daemon.status or {}
    return None if status == {name: before.get(name) for name in status} else status
