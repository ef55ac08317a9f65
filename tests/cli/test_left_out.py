"""Every part of the platform can be left out (`gangline up --without`): the others start, work, and come to rest."""

from __future__ import annotations

import pytest

from embedded import until
from gangline.api import names
from gangline.api.kinds import POD
from gangline.api.meta import Raw
from gangline.cli.local.up import _without
from gangline.components.left_out import LEAVABLE
from gangline.components.options import ComponentOptions
from gangline.local import Platform, PlatformSettings

NODE = "nodes:\n- {name: node, count: 1, gpus: 8, cpu: 16, memory: 64Gi, pods: 20}\n"
STARTS = ("grouper", "scheduler", "binder", "kubelet", "controller-manager")
"""Without one of these no pod of ours starts to run: the controller-manager takes the taint from nodes that are
ready."""


def pod() -> Raw:
    asks = {"cpu": "1", names.NVIDIA_GPU: "1"}
    container = {"name": "main", "image": "img", "resources": {"requests": asks, "limits": asks}}
    meta = {"name": "p", "namespace": "default", "labels": {names.QUEUE: names.DEFAULT_QUEUE}}
    return {"metadata": meta, "spec": {"schedulerName": names.KAI_SCHEDULER, "containers": [container]}}


@pytest.mark.parametrize("name", LEAVABLE)
async def test_what_is_left_works(name: str) -> None:
    settings = PlatformSettings(options=ComponentOptions(period=0.05, nodes=NODE), shards=True)
    platform = Platform(_without(settings, {name}))
    await platform.start()
    try:
        await platform.admin.create(POD, pod())
        if name not in STARTS:
            await until(lambda: runs(platform))
        await platform.settles(60)
        assert await runs(platform) == (name not in STARTS)
    finally:
        await platform.stop()


async def runs(platform: Platform) -> bool:
    return (await platform.admin.get(POD, "p", "default")).status.phase == "Running"
