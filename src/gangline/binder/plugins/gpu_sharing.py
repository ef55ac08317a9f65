"""Shared GPUs, the container's side: which devices it may see, and its part of them.

Two ConfigMaps, named at admission and owned by the pod, carry the values into the container's environment; they must
exist before the pod is bound. The devices themselves are held by reservation.py.
"""

from __future__ import annotations

from dataclasses import dataclass

from gangline.api import names
from gangline.api.core import ConfigMap, Container, Pod
from gangline.api.kinds import CONFIG_MAP, POD, reference
from gangline.binder.attempt import BindAttempt, CannotBind
from gangline.binder.plugins.plugin import BinderPlugin
from gangline.errors import AlreadyExists, NotFound

VISIBLE_DEVICES = "NVIDIA_VISIBLE_DEVICES"
OLD_VISIBLE_DEVICES = "RUNAI-VISIBLE-DEVICES"
PORTION = "GPU_PORTION"
OLD_PORTION = "RUNAI_NUM_OF_GPUS"
CDI = "k8s.device-plugin.nvidia.com/gpu="


@dataclass(frozen=True, slots=True)
class GpuContainer:
    """The container that uses the GPU, and how ConfigMap names count it."""

    container: Container
    index: str


def container_of(pod: Pod) -> GpuContainer:
    """The one the pod names, else its first."""
    wanted = pod.annotations.get(names.GPU_FRACTION_CONTAINER)
    if wanted is None:
        return GpuContainer(pod.spec.containers[0], "0")
    containers = [(f"i{index}", init_container) for index, init_container in enumerate(pod.spec.init_containers)]
    containers += [(str(index), container) for index, container in enumerate(pod.spec.containers)]
    gpu_container = next((GpuContainer(item, index) for index, item in containers if item.name == wanted), None)
    if gpu_container is None:
        raise CannotBind(
            f"annotation {names.GPU_FRACTION_CONTAINER} names container {wanted}, which the pod does not have",
            final=True,
        )
    return gpu_container


def map_names(pod: Pod, place: GpuContainer) -> tuple[str, str]:
    """The ConfigMap of GPU capabilities, and the one whose keys all become environment variables."""
    prefix = pod.annotations.get(names.SHARED_GPU_CONFIG_MAP)
    if prefix is None:
        raise CannotBind(
            f"the pod shares a GPU but has no annotation {names.SHARED_GPU_CONFIG_MAP}: it was created while "
            "GPU-sharing admission was off; create it again",
            final=True,
        )
    return f"{prefix}-{place.index}", f"{prefix}-{place.index}-evar"


def map_data(place: GpuContainer, devices: list[str], portion: str) -> tuple[dict[str, str], dict[str, str]]:
    """What stands in the two ConfigMaps."""
    capabilities, direct = {OLD_PORTION: portion, PORTION: portion}, dict[str, str]()
    refers = any(
        item.get("name") == VISIBLE_DEVICES and (item.get("valueFrom") or {}).get("configMapKeyRef")
        for item in place.container.env
    )
    (capabilities if refers else direct)[VISIBLE_DEVICES] = ",".join(devices)
    return capabilities, direct


class GpuSharingPlugin(BinderPlugin):
    name = "gpusharing"
    priority = 100

    async def prepare(self, attempt: BindAttempt) -> None:
        if not attempt.shares_gpu:
            return
        place = container_of(attempt.pod)
        cdi = self.arguments.get("cdiEnabled", "false") == "true"
        devices = [f"{CDI}{device}" if cdi else device for device in attempt.devices]
        for name, data in zip(map_names(attempt.pod, place), map_data(place, devices, attempt.portion), strict=True):
            await self._put(attempt, name, data)

    async def undo(self, attempt: BindAttempt) -> None:
        if not attempt.shares_gpu or names.SHARED_GPU_CONFIG_MAP not in attempt.pod.annotations:
            return
        for name in map_names(attempt.pod, container_of(attempt.pod)):
            try:
                existing = await attempt.ctx.client.get(CONFIG_MAP, name, attempt.pod.namespace)
                if _owned(existing, attempt.pod):
                    await attempt.ctx.client.delete(CONFIG_MAP, name, attempt.pod.namespace, uid=existing.uid)
            except NotFound:
                continue

    async def _put(self, attempt: BindAttempt, name: str, data: dict[str, str]) -> None:
        client, pod = attempt.ctx.client, attempt.pod
        owner = reference(POD, pod, controller=False)
        try:
            await client.create(
                CONFIG_MAP,
                {"metadata": {"name": name, "namespace": pod.namespace, "ownerReferences": [owner]}, "data": data},
            )
        except AlreadyExists:
            existing = await client.get(CONFIG_MAP, name, pod.namespace)
            wanted = data | (
                {OLD_VISIBLE_DEVICES: data[VISIBLE_DEVICES]}
                if VISIBLE_DEVICES in data and OLD_VISIBLE_DEVICES in existing.data
                else {}
            )
            if not _owned(existing, pod) or any(existing.data.get(key) != value for key, value in wanted.items()):
                await client.patch(
                    CONFIG_MAP, name, pod.namespace, {"metadata": {"ownerReferences": [owner]}, "data": wanted}
                )


def _owned(existing: ConfigMap, pod: Pod) -> bool:
    return [owner_reference.uid for owner_reference in existing.metadata.owner_references] == [pod.uid]
