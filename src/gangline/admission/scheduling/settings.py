"""Every setting of the scheduler half's admission hooks, with upstream's flag for each.

Read by pods.py, podgroups.py, queues.py and topologies.py. Nothing here checks anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from gangline.api import names
from gangline.config import NATIVE, Manner
from gangline.rules.flags import COMMON, Table, parse, refuse_unknown, truth, values
from gangline.rules.schedulers import SERVED, read_names

EXEMPT = ("kube-system", names.KAI_NAMESPACE, names.SYSTEM_NAMESPACE)
"""Namespaces whose pods are never touched."""
BOTH, WORKLOAD, SCHEDULER = "both", "workload", "scheduler"


@dataclass(frozen=True, slots=True)
class AdmissionSettings:
    manner: Manner = NATIVE
    scheduler_names: tuple[str, ...] = SERVED
    """Only pods of these schedulers are looked at."""
    gpu_sharing: bool = True
    """Pods may ask for a part of a GPU."""
    hami_core: bool = False
    """Pods with a part of a GPU get HAMi's memory limit."""
    block_visible_devices: bool = False
    """Containers that ask for no GPU cannot see any."""
    runtime_class: str = ""
    """RuntimeClass given to pods with a part of a GPU that name none; empty: none."""
    quota_checks: bool = False
    """Warn when the quotas of queues do not fit into those of their parent."""
    queue_label: str = names.QUEUE
    """The label that names a pod's queue."""
    schedule_queued_pods: bool = False
    """Pods that name a queue and no scheduler are ours in every namespace; otherwise only where a namespace says so."""
    exempt: tuple[str, ...] = field(default=EXEMPT)
    half: str = BOTH
    """Whose objects are looked at: of both halves, or of one."""

    @property
    def halves(self) -> tuple[str, ...]:
        return (WORKLOAD, SCHEDULER) if self.half == BOTH else (self.half,)


def _half(text: str) -> str:
    if text not in (BOTH, WORKLOAD, SCHEDULER):
        raise ValueError(f"write {BOTH}, {WORKLOAD} or {SCHEDULER}")
    return text


_FLAGS: Table = {
    "scheduler-name": ("scheduler_names", read_names),
    "gpu-sharing-enabled": ("gpu_sharing", truth),
    "hami-core-enabled": ("hami_core", truth),
    "block-nvidia-visible-devices": ("block_visible_devices", truth),
    "enable-quota-validation": ("quota_checks", truth),
    "gpu-fraction-runtime-class-name": ("runtime_class", str),
    "half": ("half", _half),
    "queue-label-key": ("queue_label", str),
    "schedule-queued-pods": ("schedule_queued_pods", truth),
    "namespace": ("exempt", lambda text: tuple(dict.fromkeys((*EXEMPT, text)))),
}
OLD_RUNTIME_CLASS = "gpu-pod-runtime-class-name"
NO_EFFECT = (
    "rate-limiter-base-delay",
    "rate-limiter-max-delay",
    "webhook-addr",
    "cert-dir",
    "fake-gpu-nodes",
    "feature-gates",
    "enable-webhook",
    "enable-podgroup-webhook",
)
"""Flags about the process, accepted here, so that upstream's command line can be kept; component.py reads two of
them."""
KNOWN = (*_FLAGS, OLD_RUNTIME_CLASS, *NO_EFFECT, *COMMON)


UPSTREAMS = AdmissionSettings(gpu_sharing=False, runtime_class="nvidia")
"""What upstream's program does without a flag."""


def from_flags(flags: Iterable[str], manner: Manner = NATIVE, base: AdmissionSettings = UPSTREAMS) -> AdmissionSettings:
    """Settings from upstream's command line, on top of others."""
    given = parse(flags)
    refuse_unknown("admission server", given, KNOWN)
    older = {"runtime_class": given[OLD_RUNTIME_CLASS]} if OLD_RUNTIME_CLASS in given else {}
    return replace(base, manner=manner, **older | values(given, _FLAGS))
