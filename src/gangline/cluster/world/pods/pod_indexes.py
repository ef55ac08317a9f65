"""How the kubelet finds pods: by node, by clique, by what they start after and by what they mount; and which changes
concern it. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from gangline.api import names
from gangline.api.core import Node, PersistentVolumeClaim, Pod
from gangline.api.kinds import POD
from gangline.cluster.world.pods import pod_life
from gangline.cluster.world.pods.pod_step import FINAL
from gangline.runtime import Key, Reader, key_of

BY_NODE, READY_CLIQUE, AWAITS, CLAIMS = "node", "ready clique", "awaits", "volume claims"


def by_node(pod: Pod) -> Iterable[str]:
    return [pod.spec.node_name] if pod.spec.node_name else []


def clique_key(pod: Pod, clique: str) -> str:
    return f"{pod.namespace}/{pod.labels.get(names.POD_GANG, '')}/{clique}"


def by_ready_clique(pod: Pod) -> Iterable[str]:
    clique = pod.labels.get(names.POD_CLIQUE)
    return [clique_key(pod, clique)] if clique and pod_life.ready(pod) else []


def by_awaited(pod: Pod) -> Iterable[str]:
    if not pod.spec.node_name or pod_life.through(pod):
        return []
    return [clique_key(pod, clique) for clique in pod_life.awaited(pod)]


def volume_claims(pod: Pod) -> list[str]:
    """Names of the PersistentVolumeClaims a pod mounts."""
    mounts = [volume["persistentVolumeClaim"] for volume in pod.spec.volumes if "persistentVolumeClaim" in volume]
    made = [f"{pod.name}-{volume['name']}" for volume in pod.spec.volumes if "ephemeral" in volume]
    return [str(mount["claimName"]) for mount in mounts] + made


def by_claim(pod: Pod) -> Iterable[str]:
    return [f"{pod.namespace}/{name}" for name in volume_claims(pod)]


def pods_on(node: Node, read: Reader) -> list[Key]:
    return [key_of(pod) for pod in read.by(POD, BY_NODE, node.name)]


def pods_awaiting(pod: Pod, read: Reader) -> list[Key]:
    return [key_of(item) for value in by_ready_clique(pod) for item in read.by(POD, AWAITS, value)]


def pods_mounting(claim: PersistentVolumeClaim, read: Reader) -> list[Key]:
    return [key_of(pod) for pod in read.by(POD, CLAIMS, f"{claim.namespace}/{claim.name}")]


def concerns_kubelet(before: Pod | None, after: Pod | None) -> bool:
    """A bound pod's status is written by the kubelet itself: that it came back changes nothing, unless the pod's end
    did."""
    if before is None or after is None:
        return bool((after or before).spec.node_name)  # type: ignore[union-attr]
    if not after.spec.node_name:
        return False
    mine = (
        before.status.phase == after.status.phase or after.status.phase not in FINAL
    ) and not after.spec.readiness_gates
    return not mine or before.spec != after.spec or _asked(before) != _asked(after)


def _asked(pod: Pod) -> tuple[object, ...]:
    meta = pod.metadata
    return meta.uid, meta.deletion_timestamp, meta.deletion_grace_period_seconds, meta.finalizers, meta.annotations


def health_changed(before: Node | None, after: Node | None) -> bool:
    if before is None or after is None:
        return True
    return any(before.annotations.get(name) != after.annotations.get(name) for name in (names.HEALTH, names.FAILURES))


def readiness_changed(before: Pod | None, after: Pod | None) -> bool:
    return (before is not None and pod_life.ready(before)) != (after is not None and pod_life.ready(after))
