"""Why a pod that has its node is not ready: startup order, image, Secret, exit code, readiness probe."""

from __future__ import annotations

from gangline.api import kinds, names
from gangline.api.core import ContainerStatus, Pod
from gangline.why.objects import ClusterObjects, dig
from gangline.why.states.lacking import lacking, pull_secrets
from gangline.why.states.members import is_ready

USUAL = ("PodInitializing", "ContainerCreating")
"""Reasons for which every container waits for a moment."""

IMAGE_REASONS = ("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError")


def starting(objects: ClusterObjects, pod: Pod) -> str:
    """Why a pod that has its node is not ready."""
    where = f"pod {pod.name} on {pod.spec.node_name}"
    inits, containers = pod.status.init_container_statuses, pod.status.container_statuses
    unfinished = [status for status in inits if not _done(status)]
    if any(status.name == names.INIT_CONTAINER for status in unfinished):
        return f"{where} waits, by startup order, for {_parents(objects, pod)}"
    lacks = lacking(objects, pod)
    if lacks is not None:
        return f"{where} waits for {lacks.what}"
    stuck = next((text for status in (*inits, *containers) if (text := _stuck(pod, status))), "")
    if stuck:
        return f"{where}{stuck}{_without_pull_secrets(objects, pod)}"
    if unfinished:
        return f"{where}: init container {unfinished[0].name} has not finished"
    unready = next((status for status in containers if not status.ready), None)
    if unready is None:
        return f"{where} has not been started by its kubelet yet (phase {pod.status.phase or 'Pending'})"
    if dig(unready.state, "running") is not None:
        return f"{where}: container {unready.name} runs, but its readiness probe has not succeeded yet"
    return (
        f"{where}: container {unready.name} is not ready ({dig(unready.state, 'waiting', 'reason') or 'not started'})"
    )


def _stuck(pod: Pod, status: ContainerStatus) -> str:
    """A container that waits for something that does not come by itself; "" for one that does not."""
    waiting = dig(status.state, "waiting") or {}
    if not waiting.get("reason") or waiting["reason"] in USUAL:
        return ""
    if waiting["reason"] in IMAGE_REASONS:
        why = f" ({waiting['message']})" if waiting.get("message") else ""
        return f" waits for image {_image(pod, status.name)} of container {status.name}: {waiting['reason']}{why}"
    over = dig(status.last_state, "terminated") or {}
    message = f": {waiting['message']}" if waiting.get("message") else ""
    last = f"; it ended with exit code {over['exitCode']}" if over.get("exitCode") else ""
    return (
        f": container {status.name} is waiting: {waiting['reason']}{message} (image {_image(pod, status.name)}){last}"
    )


def _without_pull_secrets(objects: ClusterObjects, pod: Pod) -> str:
    absent = pull_secrets(objects, pod)
    return f"; its node does not find Secret {absent} (spec.imagePullSecrets)" if absent else ""


def _done(status: ContainerStatus) -> bool:
    over = dig(status.state, "terminated")
    return over is not None and not over.get("exitCode")


def _image(pod: Pod, container: str) -> str:
    return next(
        (
            init_container.image
            for init_container in (*pod.spec.init_containers, *pod.spec.containers)
            if init_container.name == container
        ),
        "",
    )


def _parents(objects: ClusterObjects, pod: Pod) -> str:
    """Cliques that must be ready before this one, with how far they are."""
    init = next(
        (init_container for init_container in pod.spec.init_containers if init_container.name == names.INIT_CONTAINER),
        None,
    )
    parents = []
    for argument in init.args if init is not None else ():
        clique, _, minimum = argument.removeprefix("--podcliques=").rpartition(":")
        pods = [item for item in objects.all(kinds.POD, pod.namespace) if item.labels.get(names.POD_CLIQUE) == clique]
        ready = sum(is_ready(item) for item in pods)
        if ready < int(minimum or 1):
            late = next((item for item in pods if not is_ready(item)), None)
            parents.append(
                f"clique {clique}: {ready} of {minimum} pods ready"
                + (f", {late.name} is not" if late is not None else "")
            )
    return "; ".join(parents) or "the cliques it starts after"
