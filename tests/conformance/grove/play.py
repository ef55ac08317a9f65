"""The edits of a case: scale, patch, delete, and the kubelet that the recorder played."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from conformance.grove.lab import Lab, put
from gangline.api import kinds
from gangline.api.core import Pod
from gangline.api.kinds import POD, Kind
from gangline.api.meta import Raw
from gangline.client.wire import MERGE_PATCH
from gangline.errors import ApiError

JSON_PATCH = "application/json-patch+json"
BY_NAME: dict[str, Kind[Any]] = {
    kind.kind: kind
    for kind in (
        kinds.POD_CLIQUE_SET,
        kinds.POD_CLIQUE,
        kinds.SCALING_GROUP,
        kinds.TOPOLOGY_BINDING,
        kinds.TOPOLOGY,
        kinds.POD_GANG,
        kinds.SERVICE,
        kinds.SECRET,
        kinds.HPA,
        kinds.RESOURCE_CLAIM,
        kinds.RESOURCE_CLAIM_TEMPLATE,
        kinds.SERVICE_ACCOUNT,
        kinds.ROLE,
        kinds.ROLE_BINDING,
        kinds.COMPUTE_DOMAIN,
        kinds.POD,
    )
}


async def edit(lab: Lab, namespace: str, operations: list[Raw]) -> None:
    """Carry out the operations of one edit, then let everything settle."""
    play: Callable[[], Awaitable[None]] | None = None
    for operation in operations:
        if operation["op"] == "play-kubelet":
            play = _kubelet(lab, namespace, operation)
        elif operation["op"] == "sleep":
            await lab.settle(play)
            await lab.pass_time(operation["seconds"])
        else:
            await _operation(lab, namespace, operation)
            await lab.idle()
    await lab.settle(play)


async def _operation(lab: Lab, namespace: str, operation: Raw) -> None:
    client = lab.client
    if operation["op"] == "create":
        await put(client, operation["body"], namespace)
        return
    if operation["op"] == "delete-pod":
        await lab.settle()
        for pod in (await client.list(POD, namespace)).items:
            labels = pod.labels
            if (
                labels.get("grove.io/podclique") == operation["podclique"]
                and not pod.metadata.deleting
                and labels.get("grove.io/podclique-pod-index") == str(operation["index"])
            ):
                await client.delete(POD, pod.name, namespace, grace=0)
        return
    kind = BY_NAME[operation["kind"]]
    where = namespace if kind.namespaced else ""
    match operation["op"]:
        case "scale":
            await client.send(
                "PATCH",
                kind.path(where, operation["name"], "scale"),
                msgspec.json.encode({"spec": {"replicas": operation["replicas"]}}),
                content_type=MERGE_PATCH,
            )
        case "patch":
            await client.patch(kind, operation["name"], where, operation["body"])
        case "json-patch":
            await client.patch(kind, operation["name"], where, operation["body"], content_type=JSON_PATCH)
        case "delete":
            await client.delete(kind, operation["name"], where)
        case other:
            raise LookupError(f"the runner does not know the operation {other}")


def _kubelet(lab: Lab, namespace: str, operation: Raw) -> Callable[[], Awaitable[None]]:
    ready = bool(operation.get("ready", True))

    async def play() -> None:
        for pod in (await lab.client.list(POD, namespace)).items:
            if pod.metadata.deleting:
                await lab.client.delete(POD, pod.name, namespace, grace=0)
            elif not pod.spec.scheduling_gates and _selected(pod, operation.get("select")) and _state(pod) != ready:
                await _run(lab, pod, ready)

    return play


def _selected(pod: Pod, select: list[Raw] | None) -> bool:
    if select is None:
        return True
    clique, index = pod.labels.get("grove.io/podclique"), pod.labels.get("grove.io/podclique-pod-index", "")
    return any(
        (item.get("podclique") in (None, clique)) and ("indices" not in item or int(index) in item["indices"])
        for item in select
    )


def _state(pod: Pod) -> bool | None:
    """Whether a pod runs and is ready; None for one that does not run."""
    if not pod.spec.node_name or pod.status.phase != "Running":
        return None
    return any(condition.type == "Ready" and condition.status == "True" for condition in pod.status.conditions)


async def _run(lab: Lab, pod: Pod, ready: bool) -> None:
    if not pod.spec.node_name:
        await lab.client.bind(pod.name, pod.namespace, "node-1")
    state = "True" if ready else "False"
    conditions = [
        {"type": kind, "status": value}
        for kind, value in (
            ("PodScheduled", "True"),
            ("Initialized", "True"),
            ("ContainersReady", state),
            ("Ready", state),
        )
    ]
    containers = [
        {
            "name": container.name,
            "image": container.image,
            "imageID": "",
            "ready": ready,
            "started": True,
            "restartCount": 0,
            "state": {"running": {"startedAt": None}},
        }
        for container in pod.spec.containers
    ]
    try:
        await lab.client.patch(
            POD,
            pod.name,
            pod.namespace,
            {"status": {"phase": "Running", "conditions": conditions, "containerStatuses": containers}},
            subresource="status",
        )
    except ApiError as error:
        raise RuntimeError(f"the played kubelet cannot write the status of {pod.name}: {error}") from error
