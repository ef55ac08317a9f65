"""The options of the scheduler's loop, beside the settings of the decision core: names, node pool, pace.

Flags and defaults are upstream's (kai-scheduler's `cmd/scheduler`); read by loop/.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kai import PodGroup
from gangline.rules.schedulers import SERVED
from gangline.scheduler.settings import SchedulerSettings, shard_settings

LONGEST_BREATH = 0.5
"""A cycle that took long is followed by a pause as long, up to this: what it decided is written meanwhile, and news
gather."""
SOONEST, TIMES = 0.1, 3.0
"""An eager scheduler starts a cycle so many times later than the last one took, but not sooner than so many seconds."""
AT_ONCE = 0.02
"""The same, after a cycle that had nothing to decide."""
USUAL_PERIOD = 1.0
GroupOfSingle = Callable[[Pod, Any], PodGroup | None]
"""From a pod, and a Reader of what is known, to the group that a pod which stands for itself will have; None: it does
not stand for itself."""


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
    """Seconds from the start of one cycle to the start of the next, at least; where `eager`, after cycles that took
    long."""
    eager: bool = False
    """A cycle that took little is followed sooner than the period, where that is one second or less."""
    singles_at_once: bool = True
    """A pod that stands for itself is placed before its PodGroup is written; not where the grouper is told what the
    scheduler is not: which pods and namespaces it serves, or which priorities are usual."""
    group_of_single: GroupOfSingle | None = None
    """What such a pod is placed as; None: nobody is placed without a PodGroup."""
    gathering: float = 0.0
    """Seconds without a new pod after which an incomplete gang gets an event."""
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
    """Conditions are written in one line, as a column of a table shows them; upstream's are of several."""
    signs_verdicts: bool = False
    """A verdict says up to which revision the cluster was seen, and with which settings it was judged."""
    honours_budgets: bool = False
    """PodDisruptionBudgets are read, and pods that have one are evicted through the Eviction API instead of being
    deleted."""
    memory_namespace: str = ""
    """Where learned runtimes are kept over restarts; empty: nowhere."""
    retell: float = 30.0
    """Seconds before the pods of a waiting gang get a new reason, at most; where few pods wait they get it sooner
    (`told_gang.py`). The PodGroup gets it at once."""
    recording: bool = True
    """Write down every cycle, where there is a folder for it."""
    recording_folder: str = ""
    recording_hours: float = 24.0
    """How far back the recording goes."""
    recording_megabytes: float = 1200.0
    """How much room it may take."""

    def pause(self, busy: float, decided: bool = True) -> float:
        """Seconds from the start of a cycle that took `busy` to the start of the next, at least. `decided`: whether
        there was anything to decide; if not, an eager scheduler need not wait for others to join the next news."""
        eager = self.eager and self.period <= USUAL_PERIOD
        period = min(self.period, max(SOONEST if decided else AT_ONCE, TIMES * busy)) if eager else self.period
        return max(period, min(2 * busy, LONGEST_BREATH))

    @property
    def pool_name(self) -> str:
        return self.node_pool or "default"

    @property
    def selector(self) -> str:
        """The label selector of this node pool."""
        if not self.node_pool_key:
            return ""
        return f"{self.node_pool_key}={self.node_pool}" if self.node_pool else f"!{self.node_pool_key}"
