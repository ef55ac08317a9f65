"""HAMi: tell a container on a shared GPU how much of its memory it may use.

Runs after gpu_sharing, whose ConfigMap it adds to. Without a node label for GPU memory there is nothing to say, and the
pod is bound without.
"""

from __future__ import annotations

from gangline.api import names
from gangline.api.kinds import CONFIG_MAP
from gangline.binder.attempt import BindAttempt
from gangline.binder.plugins.gpu_sharing import container_of, map_names
from gangline.binder.plugins.plugin import BinderPlugin

LIMIT = "CUDA_DEVICE_MEMORY_LIMIT"


def memory_limit(memory_label: str, portion: str) -> str | None:
    """MiB of the part of a GPU, as CUDA's limit is written; None when either is no positive number."""
    try:
        limit = int(int(memory_label) * float(portion))
    except ValueError:
        return None
    return f"{limit}m" if limit > 0 else None


class HamiPlugin(BinderPlugin):
    name = "hamicore"
    priority = 50

    async def prepare(self, attempt: BindAttempt) -> None:
        limit = memory_limit(attempt.node.labels.get(names.GPU_MEMORY_LABEL, ""), attempt.portion)
        if attempt.shares_gpu and limit is not None:
            capabilities, _ = map_names(attempt.pod, container_of(attempt.pod))
            await attempt.ctx.client.patch(CONFIG_MAP, capabilities, attempt.pod.namespace, {"data": {LIMIT: limit}})
