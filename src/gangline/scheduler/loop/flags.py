"""Upstream's command line and config.yaml → our options, unchanged.

The operator of a cluster may pass the same flags (a SchedulingShard's `args`) and the same mounted file as to
kai-scheduler. An unknown flag is refused with the known ones; flags that only concern Go are accepted and do nothing,
and are named here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gangline.rules.flags import Table, positive, refuse_unknown, truth, values
from gangline.rules.schedulers import read_names
from gangline.rules.values.times import duration
from gangline.scheduler.settings import SchedulerSettings, read_config, shard_settings
from gangline.scheduler.thought.options import SchedulerOptions
from gangline.scheduler.usage.windows import UsageSettings, read_usage

WITHOUT_MEANING = (
    "version",
    "enable-profiler",
    "profiler-port",
    "pyroscope-address",
    "pyroscope-mutex-profiler-rate",
    "pyroscope-block-profiler-rate",
    "v",
    "log-json",
    "log-flush-frequency",
    "qps",
    "burst",
    "num-of-status-recording-workers",
)


@dataclass(frozen=True, slots=True)
class SchedulerStart:
    """Everything a scheduler is started with."""

    options: SchedulerOptions
    namespace: str = "kai-scheduler"
    listen: str = ":8080"
    plugin_port: int = 8081
    leader_elect: bool = True
    metrics_namespace: str = "kai"
    usage: UsageSettings = field(default_factory=UsageSettings)


OPTIONS: Table = {
    "scheduler-name": ("scheduler_names", read_names),
    "nodepool-label-key": ("node_pool_key", str),
    "partition-label-value": ("node_pool", str),
    "schedule-period": ("period", duration),
    "stuck-in-releasing-threshold": ("stuck_releasing", duration),
    "resource-reservation-app-label": ("reservation_app", str),
    "restrict-node-scheduling": ("restrict_nodes", truth),
    "cpu-worker-node-label-key": ("cpu_worker_label", str),
    "gpu-worker-node-label-key": ("gpu_worker_label", str),
    "mig-worker-node-label-key": ("mig_worker_label", str),
    "update-pod-eviction-condition": ("tell_disruption", truth),
    "singles-at-once": ("singles_at_once", truth),
    "recording": ("recording", truth),
    "recording-folder": ("recording_folder", str),
    "recording-hours": ("recording_hours", positive),
    "recording-megabytes": ("recording_megabytes", positive),
}
SETTINGS: Table = {
    "queue-label-key": ("queue_label", str),
    "max-consolidation-preemptees": ("max_consolidation_victims", int),
    "detailed-fit-errors": ("detailed_refusals", truth),
    "schedule-csi-storage": ("csi_storage", truth),
    "use-scheduling-signatures": ("signatures", truth),
    "full-hierarchy-fairness": ("full_hierarchy", truth),
    "allow-consolidating-reclaim": ("consolidating_reclaim", truth),
    "default-staleness-grace-period": ("staleness_grace", duration),
    "restrict-node-scheduling": ("restrict_nodes", truth),
}
OTHERS: Table = {
    "namespace": ("namespace", str),
    "listen-address": ("listen", str),
    "plugin-server-port": ("plugin_port", int),
    "leader-elect": ("leader_elect", truth),
    "metrics-namespace": ("metrics_namespace", str),
}
KNOWN = (*OPTIONS, *SETTINGS, *OTHERS, "scheduler-conf", *WITHOUT_MEANING)


def read_flags(
    flags: Mapping[str, str], config: Mapping[str, Any] | None = None, usual: SchedulerSettings | None = None
) -> SchedulerStart:
    """Flags without their dashes, and the parsed config.yaml. `usual`: what counts where neither says anything."""
    refuse_unknown("scheduler", flags, KNOWN)
    settings = replace(read_config(config or {}, usual or shard_settings()), **values(flags, SETTINGS))
    options = replace(SchedulerOptions(settings=settings), **values(flags, OPTIONS))
    usage = read_usage((config or {}).get("usageDBConfig") or {})
    return replace(SchedulerStart(options, usage=usage), **values(flags, OTHERS))
