"""KAI's own snapshot (`/get-snapshot` of its scheduler) → ours.

A dump is {config, schedulerParams, rawObjects, discovery}: lists of typed objects, the scheduler's configuration and
its command line. It does not say when it was made; the latest time stamp inside is taken, so that replaying it twice
decides the same. Read by `snapshot.load`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from gangline.api import names
from gangline.api.meta import Raw
from gangline.errors import BadInput
from gangline.rules.values import times
from gangline.scheduler.objects.reading import ObjectReading
from gangline.scheduler.settings import SchedulerSettings, read_config
from gangline.scheduler.snapshots.whole import Saved, records_from_objects

LISTS: Mapping[str, str] = {
    "pods": "Pod",
    "nodes": "Node",
    "queues": "Queue",
    "podGroups": "PodGroup",
    "bindRequests": "BindRequest",
    "priorityClasses": "PriorityClass",
    "configMaps": "ConfigMap",
    "persistentVolumes": "PersistentVolume",
    "persistentVolumeClaims": "PersistentVolumeClaim",
    "csiStorageCapacities": "CSIStorageCapacity",
    "storageClasses": "StorageClass",
    "csiDrivers": "CSIDriver",
    "resourceClaims": "ResourceClaim",
    "resourceSlices": "ResourceSlice",
    "deviceClasses": "DeviceClass",
    "topologies": "Topology",
    "nodeResourceTopologies": "NodeResourceTopology",
}
NANOSECONDS = 1e9


def read_dump(document: Mapping[str, Any]) -> Saved:
    listed = list(raw_objects(document["rawObjects"] or {}))
    params: Mapping[str, Any] = document.get("schedulerParams") or {}
    now = latest(listed)
    pool: Mapping[str, Any] = params.get("partitionParams") or {}
    reading = ObjectReading(
        now=now,
        scheduler_names=tuple(params.get("schedulerNames") or (params.get("schedulerName") or names.KAI_SCHEDULER,)),
        node_pool_key=pool.get("NodePoolLabelKey") or names.NODE_POOL,
        node_pool=pool.get("NodePoolLabelValue") or "",
        stuck_releasing=_seconds(params.get("stuckInReleasingThreshold"), 120.0),
    )
    read = records_from_objects(listed, reading)
    return Saved(read.records, settings_of(document.get("config") or {}, params), now, read.problems)


def raw_objects(lists: Mapping[str, Any]) -> Iterator[Raw]:
    """The objects of a dump, with the kind that their list implies."""
    for name, kind in LISTS.items():
        members = lists.get(name) or []
        if not isinstance(members, list):
            raise BadInput(f"this dump is damaged: rawObjects.{name} is not a list")
        yield from ({**member, "kind": kind} for member in members if isinstance(member, Mapping))


def settings_of(config: Mapping[str, Any], params: Mapping[str, Any]) -> SchedulerSettings:
    """What was left out of a dump was false or zero when it was made."""
    return replace(
        read_config(config),
        restrict_nodes=bool(params.get("restrictSchedulingNodes")),
        max_consolidation_victims=int(params.get("maxNumberConsolidationPreemptees") or 0),
        csi_storage=bool(params.get("scheduleCSIStorage")),
        signatures=bool(params.get("useSchedulingSignatures")),
        full_hierarchy=bool(params.get("fullHierarchyFairness")),
        consolidating_reclaim=bool(params.get("allowConsolidatingReclaim")),
        detailed_refusals=bool(params.get("detailedFitErrors")),
        staleness_grace=_seconds(params.get("globalDefaultStalenessGracePeriod"), 0.0),
        queue_label=params.get("queueLabelKey") or names.QUEUE,
    )


def _seconds(nanoseconds: Any, otherwise: float) -> float:
    return float(nanoseconds) / NANOSECONDS if nanoseconds else otherwise


def latest(listed: Iterable[Raw]) -> float:
    """The latest time stamp anywhere in the objects."""
    return max((moment for obj in listed for moment in _moments(obj)), default=0.0)


def _moments(value: Any) -> Iterator[float]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if isinstance(inner, str) and key.lower().endswith(("time", "timestamp")):
                moment = times.seconds(inner)
                if moment is not None:
                    yield moment
            else:
                yield from _moments(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _moments(inner)
