"""Shared GPUs, the device's side: each GPU group of the request holds a real GPU, and the pod is put into the group.
For a pod with whole GPUs, no GPU may still be reserved for nobody.

What the cache shows of the pod may be old, so labels are written whatever it shows. First of all plugins, so that the
others know the devices. What a reservation is, and when it ends, is in ../reservations.py."""

from __future__ import annotations

import contextlib

from gangline.api import names
from gangline.api.kinds import POD
from gangline.binder import reservations
from gangline.binder.attempt import BindAttempt
from gangline.binder.plugins.plugin import BinderPlugin
from gangline.errors import NotFound
from gangline.rules import requests


class ReservationPlugin(BinderPlugin):
    name = "reservation"
    priority = 1000

    async def prepare(self, attempt: BindAttempt) -> None:
        if not attempt.shares_gpu:
            if reservations.on_node(attempt) and requests.request(attempt.pod).gpu.count:
                await reservations.free_unused(attempt, self.settings)
            return
        groups = attempt.order.selected_gpu_groups
        for group in groups:
            attempt.devices.append(await reservations.reserve(attempt, group, self.settings))
        patch = {"metadata": {"labels": group_labels(groups, requests.request(attempt.pod).gpu.count)}}
        attempt.pod = await attempt.ctx.client.patch(POD, attempt.pod.name, attempt.pod.namespace, patch)

    async def undo(self, attempt: BindAttempt) -> None:
        if not attempt.shares_gpu:
            return
        groups = attempt.order.selected_gpu_groups
        labels = dict.fromkeys([names.GPU_GROUP, *(f"{names.GPU_GROUP}/{group}" for group in groups)])
        with contextlib.suppress(NotFound):
            await attempt.ctx.client.patch(
                POD, attempt.pod.name, attempt.pod.namespace, {"metadata": {"labels": labels}}
            )


def group_labels(groups: tuple[str, ...], devices: int) -> dict[str, str]:
    """One label for a pod on one shared GPU; one per GPU for a pod on several."""
    if devices > 1:
        return {f"{names.GPU_GROUP}/{group}": group for group in groups}
    return {names.GPU_GROUP: groups[0]}
