"""What the scheduler's loop can be told, beside the settings of the decision core: names, node pool, pace.

Flags and defaults are upstream's (kai-scheduler's `cmd/scheduler`); read by loop/.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gangline.api import names
from gangline.rules.schedulers import SERVED
from gangline.scheduler.settings import SchedulerSettings, shard_settings


@dataclass(frozen=True, slots=True)
class SchedulerOptions:
    settings: SchedulerSettings = field(default_factory=shard_settings)
    """Of the decision core."""
    scheduler_names: tuple[str, ...] = SERVED
    """Whose pods are ours."""
    node_pool_key: str = names.NODE_POOL
    node_pool: str = ""
    """Only nodes, queues and groups with this label value are ours; empty: those without the label."""
    period: float = 1.0
    """Seconds from the start of one cycle to the start of the next, at least."""
    bind_tries: int = 3
    """How often the binder tries one BindRequest before it is given back."""
    stuck_releasing: float = 120.0
    reservation_app: str = names.RESERVATION_NAMESPACE
    scaling_app: str = "scaling-pod"
    restrict_nodes: bool = False
    """Use only nodes with one of the worker labels."""
    cpu_worker_label: str = "node-role.kubernetes.io/cpu-worker"
    gpu_worker_label: str = "node-role.kubernetes.io/gpu-worker"
    mig_worker_label: str = "node-role.kubernetes.io/mig-enabled"
    request_per_pod: bool = False
    """Write a BindRequest and an event for each placed pod, as upstream does, instead of one for each gang."""
    tell_disruption: bool = True
    """Mark a pod with condition DisruptionTarget before it is evicted, so that a Job's podFailurePolicy can tell it
    from a failure."""
    note_evictions: bool = True
    """Write on the PodGroup who evicted pods of the gang last."""
    stamp_every_start: bool = False
    """Write when a gang started even if no minimum run time makes that matter."""
    one_line: bool = False
    """Conditions are told in one line, as a column of a table shows them; upstream's are of several."""
    signs_verdicts: bool = False
    """A verdict says up to which revision the cluster was seen, and with which settings it was judged."""
    honours_budgets: bool = False
    """PodDisruptionBudgets are read, and pods that have one are evicted through the Eviction API instead of being
    deleted."""
    memory_namespace: str = ""
    """Where learned runtimes are kept over restarts; empty: nowhere."""
    retell: float = 30.0
    """Seconds before the pods of a waiting gang are told a new reason; the gang itself is told at once."""
    recording: bool = True
    """Write down every cycle, where there is a folder for it."""
    recording_folder: str = ""
    recording_hours: float = 24.0
    """How far back the recording goes."""
    recording_megabytes: float = 1200.0
    """How much room it may take."""

    @property
    def pool_name(self) -> str:
        return self.node_pool or "default"

    @property
    def selector(self) -> str:
        """The label selector of this node pool."""
        if not self.node_pool_key:
            return ""
        return f"{self.node_pool_key}={self.node_pool}" if self.node_pool else f"!{self.node_pool_key}"
