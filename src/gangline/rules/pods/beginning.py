"""Whether a pod still waits to begin: who makes many pods counts those, and makes no more while there are too many.

Pure. Nothing here knows who makes them."""

from __future__ import annotations

from gangline.api.core import Pod


def waits_to_begin(pod: Pod) -> bool:
    """It has no node, or no kubelet has taken it up: on a node without one, a pod may be bound and never begin."""
    return not pod.spec.node_name or (pod.status.phase in ("", "Pending") and not pod.status.start_time)
