"""Every setting of the pod grouper, typed, with upstream's flag for each.

Read by the controller, by the groupers and by write.py. Nothing here reads a cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from gangline.api import names
from gangline.config import NATIVE, Manner
from gangline.rules.flags import COMMON, Table, pairs, parse, refuse_unknown, truth, values
from gangline.rules.schedulers import SERVED, read_names, served


@dataclass(frozen=True, slots=True)
class GrouperSettings:
    manner: Manner = NATIVE
    scheduler_names: tuple[str, ...] = field(default=SERVED, metadata={"flag": "scheduler-name"})
    """Only pods of these schedulers are grouped."""
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
    workers: int = field(default=64, metadata={"flag": "max-concurrent-reconciles"})
    """How many pods are looked at side by side."""

    mark_after: float = 30.0
    """Seconds before a pod that was neither placed nor refused is marked as a member of a group that is known
    without."""

    @property
    def has_defaults(self) -> bool:
        return bool(self.defaults_name and self.defaults_namespace)


_BY_FLAG = {item.metadata["flag"]: item for item in fields(GrouperSettings) if "flag" in item.metadata}
KNOWN = (*_BY_FLAG, *COMMON)
"""Upstream's flags about its own process are accepted too, so that its command line can be kept."""


def from_flags(flags: Iterable[str], manner: Manner = NATIVE) -> GrouperSettings:
    """Settings from upstream's command line."""
    given = parse(flags)
    refuse_unknown("pod grouper", given, KNOWN)
    table: Table = {flag: (item.name, _reader(str(item.type))) for flag, item in _BY_FLAG.items()}
    return replace(GrouperSettings(manner=manner, scheduler_names=served(manner)), **values(given, table))


def _reader(form: str) -> Callable[[str], Any]:
    """How a setting of this type is read."""
    plain: dict[str, Callable[[str], Any]] = {"bool": truth, "int": int, "str": str}
    return plain.get(form) or (read_names if form.startswith("tuple") else pairs)
