"""Every setting of the pod grouper, typed, with upstream's flag for each.

Read by the controller, by the groupers and by write.py. Nothing here reads a cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from gangline.api import names
from gangline.config import NATIVE, Manner
from gangline.errors import ConfigError


@dataclass(frozen=True, slots=True)
class GrouperSettings:
    manner: Manner = NATIVE
    scheduler_name: str = field(default=names.KAI_SCHEDULER, metadata={"flag": "scheduler-name"})
    """Only pods of this scheduler are grouped."""
    queue_label: str = field(default=names.QUEUE, metadata={"flag": "queue-label-key"})
    """The label that names the queue."""
    node_pool_label: str = field(default=names.NODE_POOL, metadata={"flag": "nodepool-label-key"})
    """The label that names the node pool; empty: there are no node pools."""
    search_legacy: bool = field(default=True, metadata={"flag": "search-legacy-pg"})
    """Go on with groups that older releases named differently."""
    knative_gangs: bool = field(default=True, metadata={"flag": "knative-gang-schedule"})
    """One group per Knative revision instead of one per pod."""
    karta: bool = field(default=True, metadata={"flag": "generic-karta-fallback"})
    """Kinds without a grouper may be described by a Karta object."""
    defaults_name: str = field(default="", metadata={"flag": "default-priorities-configmap-name"})
    """ConfigMap with default priority and preemptibility per kind; used only together with its namespace."""
    defaults_namespace: str = field(default="", metadata={"flag": "default-priorities-configmap-namespace"})
    pod_selector: Mapping[str, str] = field(default_factory=dict, metadata={"flag": "pod-label-selector"})
    """Only pods with these labels are grouped."""
    namespace_selector: Mapping[str, str] = field(default_factory=dict, metadata={"flag": "namespace-label-selector"})
    """Only pods in namespaces with these labels are grouped."""
    workers: int = field(default=32, metadata={"flag": "max-concurrent-reconciles"})
    """How many pods are looked at side by side."""

    @property
    def has_defaults(self) -> bool:
        return bool(self.defaults_name and self.defaults_namespace)


NO_EFFECT = ("metrics-bind-address", "health-probe-bind-address", "leader-elect", "qps", "burst", "namespace")
"""Upstream's flags about its own process; accepted, so that its command line can be kept."""

_BY_FLAG = {each.metadata["flag"]: each for each in fields(GrouperSettings) if "flag" in each.metadata}


def from_flags(flags: Iterable[str], manner: Manner = NATIVE) -> GrouperSettings:
    """Settings from upstream's command line: `--name=value`, or `--name` for a switch."""
    parts = [flag.lstrip("-").partition("=") for flag in flags]
    given = dict(_setting(*each) for each in parts if each[0] not in NO_EFFECT)
    return replace(GrouperSettings(manner=manner), **given)


def _setting(name: str, equals: str, text: str) -> tuple[str, Any]:
    known = _BY_FLAG.get(name)
    if known is None:
        raise ConfigError(f"the pod grouper has no flag --{name}; it knows {', '.join(sorted(_BY_FLAG))}")
    return known.name, _value(str(known.type), text if equals else "true")


def _value(form: str, text: str) -> Any:
    if form == "bool":
        return text.lower() in ("true", "1", "t")
    if form == "int":
        return int(text)
    if form.startswith("Mapping"):
        return dict(part.split("=", 1) for part in text.split(",") if "=" in part)
    return text
