"""What a scheduler writes on the pods that it could not place; some say it nowhere else. Pure."""

from __future__ import annotations

from gangline.api.meta import condition
from gangline.operator.backends.contract import PodGangInfo


def said_of_a_pod(gang: PodGangInfo) -> str:
    """The first pod that was refused a place, and why; empty if none was."""
    for group in gang.groups:
        for pod in sorted(group.pods, key=lambda pod: pod.name):
            found = condition(pod.status.conditions, "PodScheduled")
            if found is not None and found.status == "False" and found.reason == "Unschedulable" and not pod.metadata.deleting:
                return f"pod {pod.name}: {found.message}"
    return ""
