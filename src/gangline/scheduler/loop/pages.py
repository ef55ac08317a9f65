"""What the scheduler answers over HTTP: a snapshot of the cluster as it sees it, and in which order gangs would be
allocated.

Same addresses and forms as upstream's plugin server, which listens on the local machine only. Nothing here changes
anything."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
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
from gangline.scheduler.placing.order import GangQueue
from gangline.scheduler.session import Session
from gangline.scheduler.settings import SchedulerSettings
from gangline.scheduler.snapshots.whole import zipped
from gangline.scheduler.thought.options import SchedulerOptions

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
SECOND = 10**9


def pages(scheduler: SchedulerService, client: Client) -> Pages:
    async def snapshot() -> HttpPage:
        document = await dump(client, scheduler.options)
        body = await asyncio.to_thread(lambda: zipped(msgspec.json.encode(document)))
        return HttpPage(body, "application/zip", headers={"Content-Disposition": "attachment; filename=snapshot.zip"})

    async def order() -> HttpPage:
        if not scheduler.cycles:
            return HttpPage(b"no cycle has run yet", "text/plain", status=503)
        ordered = await scheduler.between_cycles(lambda: job_order(scheduler))
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


def config(settings: SchedulerSettings) -> Raw:
    """As config.yaml is written."""
    plugins = [
        {"name": plugin.name} | ({"arguments": dict(plugin.arguments)} if plugin.arguments else {})
        for plugin in settings.plugins
    ]
    written: Raw = {"actions": ", ".join(settings.actions), "tiers": [{"plugins": plugins}]}
    return written | ({"queueDepthPerAction": dict(settings.queue_depth)} if settings.queue_depth else {})


def parameters(options: SchedulerOptions) -> Raw:
    settings = options.settings
    return {
        "schedulerName": options.scheduler_names[0],
        "schedulerNames": list(options.scheduler_names),
        "restrictSchedulingNodes": options.restrict_nodes,
        "partitionParams": {"NodePoolLabelKey": options.node_pool_key, "NodePoolLabelValue": options.node_pool},
        "maxNumberConsolidationPreemptees": settings.max_consolidation_victims,
        "scheduleCSIStorage": settings.csi_storage,
        "useSchedulingSignatures": settings.signatures,
        "fullHierarchyFairness": settings.full_hierarchy,
        "allowConsolidatingReclaim": settings.consolidating_reclaim,
        "numOfStatusRecordingWorkers": 5,
        "globalDefaultStalenessGracePeriod": int(settings.staleness_grace * SECOND),
        "schedulePeriod": int(options.period * SECOND),
        "stuckInReleasingThreshold": int(options.stuck_releasing * SECOND),
        "detailedFitErrors": settings.detailed_refusals,
        "updatePodEvictionCondition": options.tell_disruption,
        "queueLabelKey": settings.queue_label,
    }


def job_order(scheduler: SchedulerService) -> Mapping[str, Any]:
    """Gangs that wait, in the order in which they would be tried."""
    session = Session(scheduler.cluster, scheduler.options.settings, scheduler.now)
    try:
        line = GangQueue(session, depth=session.settings.queue_depth.get("allocate"))
        line.fill(session.waiting_gangs())
        every: list[dict[str, Any]] = []
        queues: dict[str, list[dict[str, Any]]] = {}
        while line:
            gang = line.pop()
            entry = {"id": gang.full_name, "priority": gang.priority}
            every.append(entry)
            queues.setdefault(gang.queue, []).append(entry)
        return {"global_order": every, "queue_order": queues}
    finally:
        session.close()
