"""What runs inside a GPU reservation pod: find out which GPU the pod was given, say so on the pod, and stay alive to
keep it.

The binder waits for the annotation. On simulated nodes the kubelet of the world says it instead. The UUID comes from
the container's environment (the device plugin sets it) or from the driver's files; anything but exactly one GPU is an
error, and the pod is started again.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from gangline.api import names
from gangline.api.kinds import POD
from gangline.errors import ConfigError, GanglineError
from gangline.runtime import BackgroundService, Cache, Component, Context

VISIBLE_DEVICES = "NVIDIA_VISIBLE_DEVICES"
DRIVER_FILES = Path("/proc/driver/nvidia/gpus")
_UUID = re.compile(r"GPU-[0-9a-f-]{8,}", re.IGNORECASE)


class NotOneGpu(GanglineError):
    """The container sees no GPU, or several."""


def device(environment: Mapping[str, str], information: Iterable[str]) -> str:
    """The one GPU of this container, from its environment or the driver's texts."""
    named = _UUID.findall(environment.get(VISIBLE_DEVICES, ""))
    uuids = named or [match.group() for text in information if (match := _UUID.search(text))]
    if len(uuids) != 1:
        raise NotOneGpu(
            f"this container must see exactly one GPU and sees {len(uuids)}: check the device plugin of the node"
        )
    return str(uuids[0])


def driver_texts(folder: Path = DRIVER_FILES) -> list[str]:
    return [(path / "information").read_text() for path in sorted(folder.glob("*")) if (path / "information").is_file()]


def own_pod(environment: Mapping[str, str]) -> tuple[str, str]:
    """Name and namespace of the pod that this process runs in."""
    name, namespace = environment.get("POD_NAME", ""), environment.get("POD_NAMESPACE", "")
    if not name or not namespace:
        raise ConfigError("POD_NAME and POD_NAMESPACE must say which pod this is")
    return name, namespace


async def report(ctx: Context, environment: Mapping[str, str], information: Iterable[str]) -> str:
    """Write the GPU on our own pod, unless it stands there already."""
    name, namespace = own_pod(environment)
    known = (await ctx.client.get(POD, name, namespace)).annotations.get(names.RESERVED_GPU)
    if known:
        return known
    uuid = device(environment, information)
    await ctx.client.patch(POD, name, namespace, {"metadata": {"annotations": {names.RESERVED_GPU: uuid}}})
    return uuid


def component() -> Component:
    async def run(ctx: Context, cache: Cache) -> None:
        await report(ctx, os.environ, driver_texts())
        await asyncio.Event().wait()

    return Component("resource-reservation", services=(BackgroundService("resource-reservation", run),))
