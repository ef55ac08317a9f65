"""Images that a simulated node cannot pull: a tag `does-not-exist`, or one that the pod's annotation names.

Part of a pod's life (pod_life.py): a container without its image waits, and its pod stays Pending. Pure."""

from __future__ import annotations

from gangline.api import names
from gangline.api.core import Container, ContainerStatus, Pod

MISSING_TAG = ":does-not-exist"
BACK_OFF = "ImagePullBackOff"


def unpullable(pod: Pod, container: Container) -> bool:
    named = pod.annotations.get(names.UNPULLABLE, "").replace(" ", "").split(",")
    return container.image.endswith(MISSING_TAG) or (container.image != "" and container.image in named)


def without_image(container: Container, status: ContainerStatus) -> ContainerStatus:
    message = f'Back-off pulling image "{container.image}": not found'
    return ContainerStatus(
        name=status.name,
        started=False,
        restart_count=status.restart_count,
        state={"waiting": {"reason": BACK_OFF, "message": message}},
        last_state=status.last_state,
    )


def lacks_image(status: ContainerStatus) -> bool:
    return (status.state.get("waiting") or {}).get("reason") == BACK_OFF
