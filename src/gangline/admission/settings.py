"""Every setting of the scheduler half's admission hooks, with upstream's flag for each.

Read by pods.py, podgroups.py, queues.py and topologies.py. Nothing here checks anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from gangline.api import names
from gangline.config import NATIVE, Manner
from gangline.errors import ConfigError

EXEMPT = ("kube-system", names.KAI_NAMESPACE, names.SYSTEM_NAMESPACE)
"""Namespaces whose pods are never touched."""
BOTH, WORKLOAD, SCHEDULER = "both", "workload", "scheduler"


@dataclass(frozen=True, slots=True)
class AdmissionSettings:
    manner: Manner = NATIVE
    scheduler_name: str = names.KAI_SCHEDULER
    """Only pods of this scheduler are looked at."""
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
    exempt: tuple[str, ...] = field(default=EXEMPT)
    half: str = BOTH
    """Whose objects are looked at: of both halves, or of one."""

    @property
    def halves(self) -> tuple[str, ...]:
        return (WORKLOAD, SCHEDULER) if self.half == BOTH else (self.half,)


_SWITCHES = {"gpu-sharing-enabled": "gpu_sharing", "hami-core-enabled": "hami_core",
             "block-nvidia-visible-devices": "block_visible_devices", "enable-quota-validation": "quota_checks"}
_TEXTS = {"scheduler-name": "scheduler_name", "gpu-fraction-runtime-class-name": "runtime_class"}
OLD_RUNTIME_CLASS = "gpu-pod-runtime-class-name"
NO_EFFECT = ("qps", "burst", "rate-limiter-base-delay", "rate-limiter-max-delay", "leader-elect", "metrics-bind-address",
             "health-probe-bind-address", "webhook-addr", "cert-dir", "fake-gpu-nodes", "feature-gates", "enable-webhook",
             "enable-podgroup-webhook", "skip-controller-name-validation")
"""Flags about the process, accepted here, so that upstream's command line can be kept; component.py reads two of them."""


UPSTREAMS = AdmissionSettings(gpu_sharing=False, runtime_class="nvidia")
"""What upstream's program does without a flag."""


def from_flags(flags: Iterable[str], manner: Manner = NATIVE, base: AdmissionSettings = UPSTREAMS) -> AdmissionSettings:
    """Settings from upstream's command line, on top of others."""
    given = [flag.lstrip("-").partition("=") for flag in flags]
    found: dict[str, Any] = {}
    named = [name for name, _, _ in given]
    for name, equals, text in given:
        if name in _SWITCHES:
            found[_SWITCHES[name]] = not equals or text.lower() in ("true", "1", "t")
        elif name in _TEXTS:
            found[_TEXTS[name]] = text
        elif name == "namespace":
            found["exempt"] = tuple(dict.fromkeys((*EXEMPT, text)))
        elif name == "half":
            found["half"] = _half(text)
        elif name not in (OLD_RUNTIME_CLASS, *NO_EFFECT):
            raise ConfigError(f"admission has no flag --{name}; it knows {', '.join(sorted([*_SWITCHES, *_TEXTS, OLD_RUNTIME_CLASS]))}")
        elif name == OLD_RUNTIME_CLASS and "gpu-fraction-runtime-class-name" not in named:
            found["runtime_class"] = text
    return replace(base, manner=manner, **found)


def _half(text: str) -> str:
    if text not in (BOTH, WORKLOAD, SCHEDULER):
        raise ConfigError(f"--half={text}: write {BOTH}, {WORKLOAD} or {SCHEDULER}")
    return text
