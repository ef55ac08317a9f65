"""What a scheduler writes on the pods that it could not place; some say it nowhere else. Pure."""

from __future__ import annotations

import re

from gangline.api.meta import condition
from gangline.operator.backends.contract import PodGangInfo

_OF_NODES = re.compile(r"0/[0-9]+ nodes are available")


def refused_pod(gang: PodGangInfo) -> str:
    """The first pod that the scheduler could not place, with its message; a message about nodes comes first. Empty if
    there is none."""
    refused = [
        (pod.name, scheduled.message)
        for group in gang.groups
        for pod in sorted(group.pods, key=lambda pod: pod.name)
        if not pod.metadata.deleting
        and (scheduled := condition(pod.status.conditions, "PodScheduled")) is not None
        and scheduled.status == "False"
        and scheduled.reason == "Unschedulable"
    ]
    if not refused:
        return ""
    name, message = next((item for item in refused if _OF_NODES.match(item[1])), refused[0])
    return f"pod {name}: {message}"
