"""GPU groups: a shared GPU is held by a reservation pod for as long as somebody uses it.

A reservation pod asks the kubelet for one whole GPU and says in an annotation which one it got. Its state is in the
cluster only, so a restart loses nothing. Who arrives first *touches* the reservation; who cleans up deletes it only at
the revision at which it saw nobody using it. So an arrival and a departure cannot miss each other, not even in two
processes.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kai import BindRequest
from gangline.api.kinds import BIND_REQUEST, POD
from gangline.binder.attempt import BindAttempt, CannotBind, NotYet
from gangline.binder.reservation_pods import (
    GROUP,
    ON_NODE,
    SINCE,
    TOUCHED,
    by_group,
    in_order,
    pod_name,
    reservation_pod,
    split,
    unscheduled,
    wants,
)
from gangline.binder.settings import BinderSettings
from gangline.client import Client
from gangline.errors import AlreadyExists, Conflict, NotFound
from gangline.rules.gangs.bind_requests import by_gpu_group
from gangline.rules.objects.lean import lean_pod
from gangline.rules.values import times
from gangline.runtime import Again, Context, Controller, Key, Reader, Watch

log = logging.getLogger(__name__)
LOOK_AGAIN, SOON = 5.0, 0.1
ENDED = ("Succeeded", "Failed")


async def reserve(attempt: BindAttempt, group: str, settings: BinderSettings) -> str:
    """The UUID of the group's GPU; raises NotYet until its reservation pod has it."""
    client, namespace, name = attempt.ctx.client, settings.reservation_namespace, pod_name(attempt.node.name, group)
    try:
        pod = await client.patch(POD, name, namespace, {"metadata": {"annotations": {TOUCHED: attempt.pod.uid}}})
    except NotFound:
        pod = await _create(attempt, group, settings)
    device = pod.annotations.get(names.RESERVED_GPU)
    if device and not pod.metadata.deleting:
        return device
    if pod.status.phase in ENDED and not pod.metadata.deleting:
        await _delete(client, pod)
        raise CannotBind(
            f"reservation pod {namespace}/{name} got no GPU of node {attempt.node.name}: "
            f"{pod.status.message or pod.status.reason or pod.status.phase}"
        )
    since = times.seconds(pod.annotations.get(SINCE) or pod.metadata.creation_timestamp)
    age = attempt.ctx.clock.now() - (attempt.ctx.clock.now() if since is None else since)
    if age < settings.reservation_timeout:
        raise NotYet(f"waiting for reservation pod {namespace}/{name} to say which GPU it holds", LOOK_AGAIN)
    await _delete(client, pod)
    raise CannotBind(
        f"reservation pod {namespace}/{name} did not get a GPU of node {attempt.node.name} in "
        f"{settings.reservation_timeout:g} s"
    )


def on_node(attempt: BindAttempt) -> list[Pod]:
    """Reservation pods on the node that a pod goes to."""
    return attempt.ctx.read.by(POD, ON_NODE, attempt.node.name)


async def free_unused(attempt: BindAttempt, settings: BinderSettings) -> None:
    """A pod for whole GPUs waits until reservations on its node that nobody uses any more have given theirs back."""
    read = attempt.ctx.read
    unused = [group for pod in on_node(attempt) for group in by_group(pod) if not in_order(read, group, settings)]
    for group in unused:
        await settle(attempt.ctx, group, settings)
    if unused:
        raise NotYet(f"waiting for the reservation of GPU group {unused[0]} on node {attempt.node.name} to end", SOON)


async def _create(attempt: BindAttempt, group: str, settings: BinderSettings) -> Pod:
    waiting = next((pod for pod in attempt.ctx.read.list(POD, settings.scale_namespace) if unscheduled(pod)), None)
    if waiting is not None:
        raise CannotBind(
            f"the cluster is growing (scaling pod {waiting.name} waits), so no GPU is reserved on "
            f"{attempt.node.name} now"
        )
    wanted = reservation_pod(attempt, group, settings)
    try:
        return await attempt.ctx.client.create(POD, wanted)
    except AlreadyExists:
        return await attempt.ctx.client.get(POD, wanted["metadata"]["name"], settings.reservation_namespace)


async def settle(ctx: Context, group: str, settings: BinderSettings) -> None:
    """Bring one group in order: a reservation nobody uses goes, a pod that shares a GPU nobody holds goes.

    Who arrives makes a request, touches the reservation, then labels its pod. So: note the reservation's revision, then
    look for requests, then for pods. Whoever arrived before that revision is seen as one of the two; whoever comes
    later changes the revision.
    """
    held, sharers = await _members(ctx.client, group, settings)
    if not held:
        await _delete_unheld(ctx, group, sharers)
    elif not sharers and not any(wants(item, group) for item in (await ctx.client.list(BIND_REQUEST)).items):
        _, late = await _members(ctx.client, group, settings)
        for pod in [] if late else held:
            await _delete(ctx.client, pod)


async def _members(client: Client, group: str, settings: BinderSettings) -> tuple[list[Pod], list[Pod]]:
    """Who reserves the group, and who shares it."""
    pods = (await client.list(POD, labels={names.GPU_GROUP: group})).items
    pods += (await client.list(POD, labels={f"{names.GPU_GROUP}/{group}": group})).items
    return split(pods, settings)


def clean_up(settings: BinderSettings) -> Controller:
    """Looks at a group when a pod or a request leaves it, and at all groups at start."""

    async def reconcile(ctx: Context, key: Key) -> Again | None:
        if not in_order(ctx.read, key.name, settings):
            await settle(ctx, key.name, settings)
        return None

    def of_pod(pod: Pod, read: Reader) -> Iterable[Key]:
        return [Key("", group) for group in by_group(pod)]

    def of_request(request: BindRequest, read: Reader) -> Iterable[Key]:
        return [Key("", group) for group in by_gpu_group(request)]

    return Controller(
        "reservations",
        reconcile,
        workers=4,
        watches=(Watch(POD, of_pod), Watch(BIND_REQUEST, of_request)),
        indexes=(
            (POD, GROUP, by_group),
            (BIND_REQUEST, GROUP, by_gpu_group),
            (POD, ON_NODE, lambda pod: [pod.spec.node_name] if pod.namespace == settings.reservation_namespace else []),
        ),
        trims={POD: lean_pod},
    )


async def _delete_unheld(ctx: Context, group: str, sharers: list[Pod]) -> None:
    for pod in sharers:
        if pod.status.phase == "Running" and not pod.metadata.deleting:
            text = f"nothing holds the GPU of group {group} any more, so the pod must stop"
            ctx.events.tell(POD, pod, "SharedGpuLost", text, warning=True)
            await ctx.client.delete(POD, pod.name, pod.namespace, uid=pod.uid)


async def _delete(client: Client, pod: Pod) -> None:
    """Only if nobody touched it since we looked."""
    try:
        await client.delete(POD, pod.name, pod.namespace, uid=pod.uid, revision=pod.metadata.resource_version, grace=0)
    except (NotFound, Conflict):
        log.debug("reservation %s is in use again or gone", pod.name)
