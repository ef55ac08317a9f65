"""What pods demand of nodes and of each other: selectors, taints and tolerations, as plain records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

Amounts: TypeAlias = Mapping[str, float]
"""Resource name → amount, in the units above. The names "cpu", "memory", "gpu" and "pods" are the fixed ones."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """One line of a selector; operators as in Kubernetes: In NotIn Exists DoesNotExist Gt Lt."""

    key: str
    operator: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeTerm:
    """All label and field requirements must hold; a pod's required terms are alternatives."""

    labels: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()


@dataclass(frozen=True, slots=True)
class PodTerm:
    """One inter-pod (anti-)affinity term. `namespaces` empty and no namespace selector: the pod's own namespace.

    `every_namespace` stands for an empty namespace selector. `weight` is 0 for required terms."""

    topology_key: str
    selector: tuple[Requirement, ...] | None = ()
    namespaces: tuple[str, ...] = ()
    every_namespace: bool = False
    weight: int = 0


@dataclass(frozen=True, slots=True)
class SpreadTerm:
    """One topologySpreadConstraint. `selector`: which pods of the pod's namespace are counted, with what matchLabelKeys
    adds for this pod; None: none. `hard`: DoNotSchedule. `honours_affinity`, `honours_taints`: nodes that the pod's
    node selector and affinity, or its tolerations, keep it from do not count."""

    topology_key: str
    max_skew: int = 1
    selector: tuple[Requirement, ...] | None = None
    hard: bool = True
    min_domains: int = 1
    honours_affinity: bool = True
    honours_taints: bool = False


@dataclass(frozen=True, slots=True)
class TaintRecord:
    key: str
    effect: str
    value: str = ""


@dataclass(frozen=True, slots=True)
class TolerationRecord:
    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""
