"""What the scheduler answers over HTTP: a snapshot of the cluster as it sees it, and in which order gangs would be
allocated.

Same addresses and forms as upstream's plugin server, which listens on the local machine only. Nothing here changes
anything."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import msgspec

from gangline.api.kinds import (
    BIND_REQUEST,
    CONFIG_MAP,
    CSI_DRIVER,
    CSI_STORAGE_CAPACITY,
    DEVICE_CLASS,
    NODE,
    NODE_RESOURCE_TOPOLOGY,
    POD,
    POD_GROUP,
    PRIORITY_CLASS,
    PV,
    PVC,
    QUEUE,
    RESOURCE_CLAIM,
    RESOURCE_SLICE,
    STORAGE_CLASS,
    TOPOLOGY,
    Kind,
)
from gangline.api.meta import Raw
from gangline.client import Client
from gangline.errors import ApiError
from gangline.runtime.health import HttpPage, Pages
from gangline.scheduler.loop.service import SchedulerService
from gangline.scheduler.snapshots.whole import zipped
from gangline.scheduler.thought.options import SchedulerOptions
from gangline.scheduler.thought.page_contents import config, job_order, parameters

LISTS: dict[str, Kind[Any]] = {
    "pods": POD,
    "nodes": NODE,
    "queues": QUEUE,
    "podGroups": POD_GROUP,
    "bindRequests": BIND_REQUEST,
    "priorityClasses": PRIORITY_CLASS,
    "configMaps": CONFIG_MAP,
    "persistentVolumes": PV,
    "persistentVolumeClaims": PVC,
    "csiStorageCapacities": CSI_STORAGE_CAPACITY,
    "storageClasses": STORAGE_CLASS,
    "csiDrivers": CSI_DRIVER,
    "resourceClaims": RESOURCE_CLAIM,
    "resourceSlices": RESOURCE_SLICE,
    "deviceClasses": DEVICE_CLASS,
    "topologies": TOPOLOGY,
    "nodeResourceTopologies": NODE_RESOURCE_TOPOLOGY,
}
POOLED = ("nodes", "queues", "podGroups")


def pages(scheduler: SchedulerService, client: Client) -> Pages:
    async def snapshot() -> HttpPage:
        document = await dump(client, scheduler.options)
        body = await asyncio.to_thread(lambda: zipped(msgspec.json.encode(document)))
        return HttpPage(body, "application/zip", headers={"Content-Disposition": "attachment; filename=snapshot.zip"})

    async def order() -> HttpPage:
        if not scheduler.cycles:
            return HttpPage(b"no cycle has run yet", "text/plain", status=503)
        ordered = await scheduler.between_cycles(
            lambda: job_order(scheduler.cluster, scheduler.options.settings, scheduler.now)
        )
        return HttpPage(json.dumps(ordered).encode())

    return {"/get-snapshot": snapshot, "/get-job-order": order}


async def dump(client: Client, options: SchedulerOptions) -> Raw:
    """Every object the scheduler reads, whole, with how it was started; a kind that cannot be listed is an empty
    list."""
    lists: dict[str, list[Raw]] = {}
    for name, kind in LISTS.items():
        try:
            listed = await client.list_raw(kind, labels=options.selector if name in POOLED else "")
        except ApiError:
            listed = []
        lists[name] = [
            {key: value for key, value in item.items() if key not in ("apiVersion", "kind")} for item in listed
        ]
    return {"config": config(options.settings), "schedulerParams": parameters(options), "rawObjects": lists}
