"""What the pages of the scheduler show: its configuration, how it was started, and in which order gangs would be tried.

Forms are those of the plugin server of KAI. Pure; loop/pages.py serves them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gangline.api.meta import Raw
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.placing.gang_queue import GangQueue
from gangline.scheduler.session import Session
from gangline.scheduler.settings import SchedulerSettings
from gangline.scheduler.thought.options import SchedulerOptions

SECOND = 10**9


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


def job_order(cluster: ClusterModel, settings: SchedulerSettings, now: float) -> Mapping[str, Any]:
    """Gangs that wait, in the order in which they would be tried."""
    session = Session(cluster, settings, now)
    try:
        line = GangQueue(session, depth=session.settings.queue_depth.get("allocate"))
        line.fill(session.waiting_gangs())
        entries: list[dict[str, Any]] = []
        queues: dict[str, list[dict[str, Any]]] = {}
        while line:
            gang = line.pop()
            entry = {"id": gang.full_name, "priority": gang.priority}
            entries.append(entry)
            queues.setdefault(gang.queue, []).append(entry)
        return {"global_order": entries, "queue_order": queues}
    finally:
        session.close()
