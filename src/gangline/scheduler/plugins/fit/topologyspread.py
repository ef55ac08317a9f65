"""Pods stand evenly over domains, as their topologySpreadConstraints ask: DoNotSchedule is a filter, ScheduleAnyway a
wish.

Both as kube-scheduler reads them. Counted are the pods of the same namespace as the model places them at this moment:
those of the gang that were just placed count, leaving ones do not. Constraints are looked at when a pod is placed;
nobody is evicted for them. Upstream's scheduler knows none of this, so only the native list has the plugin. Where no
pod has a constraint, nothing is made and nobody is asked."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gangline.errors import Refusal
from gangline.scheduler.matching import counts, node_matches, untolerated
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.status import Status
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.plugin import Plugin
from gangline.scheduler.records import SpreadTerm
from gangline.scheduler.scores import SPREAD

if TYPE_CHECKING:
    from gangline.scheduler.model.cluster import ClusterModel
    from gangline.scheduler.session import Session

NAME = "topologyspread"
REFUSED = "node(s) didn't match pod topology spread constraints"
SKEWED = "the skew would be"
HOSTNAME = "kubernetes.io/hostname"
LEAVING = Status.RELEASING | Status.STUCK_RELEASING


def topology_spread(session: Session, arguments: Mapping[str, str]) -> Plugin:
    return TopologySpreadPlugin(session, arguments) if session.cluster.spreading else _NobodySpreads(session, arguments)


class _NobodySpreads(Plugin):
    """No pod of the cluster has a constraint."""

    name = NAME


@dataclass(frozen=True, slots=True)
class NodeSkew:
    """What one constraint says of one node: its domain (None: the node has no such label), how many counted pods stand
    there, whether the pod itself would count, and what stands in every domain, the emptiest first."""

    term: SpreadTerm
    domain: str | None
    there: int
    counts_itself: bool
    domains: tuple[tuple[str, int], ...]

    @property
    def fewest(self) -> int:
        """What the domains are compared with: none, where there are fewer of them than minDomains."""
        return self.domains[0][1] if self.domains and not self.lacks_domains else 0

    @property
    def lacks_domains(self) -> bool:
        return len(self.domains) < self.term.min_domains

    @property
    def value(self) -> int:
        """The skew with the pod on the node."""
        return self.there + self.counts_itself - self.fewest if self.domains else 0

    @property
    def too_much(self) -> bool:
        return self.domain is None or self.value > self.term.max_skew

    def text(self) -> str:
        key = self.term.topology_key
        if self.domain is None:
            return f"{REFUSED} (missing required label {key})"
        where = key if key == HOSTNAME else f"{key}={self.domain}"
        return f"{REFUSED} ({where} has {self.there}, {SKEWED} {self.value}, maxSkew is {self.term.max_skew})"


class DomainCounts:
    """How many pods stand in each domain of each of some constraints, for pods of one namespace that may use the same
    nodes. Follows the cluster's log of touched nodes."""

    def __init__(self, cluster: ClusterModel, task: TaskInfo, terms: Sequence[SpreadTerm]) -> None:
        self._cluster = cluster
        self._task = task
        self._terms = terms
        self._state: tuple[int, int] | None = None
        self._seen = 0
        self._domain_of: list[dict[int, str]] = []
        self._on_node: dict[int, tuple[int, ...]] = {}
        self.totals: list[dict[str, int]] = []
        self._least: list[int] | None = None

    def refresh(self) -> None:
        cluster = self._cluster
        state = (cluster.epoch, cluster.generation)
        if state != self._state:
            self._rebuild()
            self._state = state
        elif self._seen < len(cluster.touched):
            for number in set(cluster.touched[self._seen :]):
                self._count_again(number)
        self._seen = len(cluster.touched)

    def _rebuild(self) -> None:
        nodes = [node for node in self._cluster.by_number if node is not None]
        eligible = [node for node in nodes if all(term.topology_key in node.labels for term in self._terms)]
        self._domain_of = [
            {node.number: node.labels[term.topology_key] for node in eligible if self._included(term, node)}
            for term in self._terms
        ]
        self.totals = [dict.fromkeys(sorted(set(of.values())), 0) for of in self._domain_of]
        self._on_node = {}
        for node in eligible:
            self._count_again(node.number)
        self._least = None

    def _included(self, term: SpreadTerm, node: NodeInfo) -> bool:
        record = self._task.record
        if term.honours_affinity:
            if any(node.labels.get(key) != value for key, value in record.node_selector.items()):
                return False
            if record.node_affinity is not None and not node_matches(record.node_affinity, node):
                return False
        return not term.honours_taints or untolerated(node.record.taints, record.tolerations) is None

    def _count_again(self, number: int) -> None:
        before, now = self._on_node.get(number), self._held(number)
        if now == before:
            return
        self._on_node[number] = now
        self._least = None
        for place, of in enumerate(self._domain_of):
            domain = of.get(number)
            if domain is not None:
                self.totals[place][domain] += now[place] - (before[place] if before else 0)

    def _held(self, number: int) -> tuple[int, ...]:
        node, namespace = self._cluster.by_number[number], self._task.namespace
        pods = [
            placed.task
            for placed in (node.placed.values() if node is not None else ())
            if placed.task.namespace == namespace and not placed.task.status & LEAVING
        ]
        return tuple([sum([counts(term, pod.labels) for pod in pods]) for term in self._terms])

    def refuses(self, node: NodeInfo, itself: Sequence[bool]) -> int | None:
        """The place of the first constraint that would not hold with the pod on the node."""
        least = self._fewest()
        for place, term in enumerate(self._terms):
            domain, totals = node.labels.get(term.topology_key), self.totals[place]
            if domain is None:
                return place
            if totals and totals.get(domain, 0) + itself[place] - least[place] > term.max_skew:
                return place
        return None

    def _fewest(self) -> list[int]:
        if self._least is None:
            self._least = [
                min(totals.values()) if len(totals) >= max(term.min_domains, 1) else 0
                for term, totals in zip(self._terms, self.totals, strict=True)
            ]
        return self._least

    def skew(self, place: int, node: NodeInfo, itself: bool) -> NodeSkew:
        term, totals = self._terms[place], self.totals[place]
        domain = node.labels.get(term.topology_key)
        ordered = tuple(sorted(totals.items(), key=lambda item: (item[1], item[0])))
        return NodeSkew(term, domain, totals.get(domain or "", 0), itself, ordered)

    def crowd(self, node: NodeInfo) -> float:
        """How many pods are near already, each constraint weighed by how many domains it has; infinite where a label is
        missing."""
        crowd = 0.0
        for term, totals in zip(self._terms, self.totals, strict=True):
            domain = node.labels.get(term.topology_key)
            if domain is None:
                return math.inf
            crowd += totals.get(domain, 0) * math.log(len(totals) + 2)
        return crowd


@dataclass(slots=True)
class _Asked:
    """The constraints of one kind that tasks of a shape have."""

    counts: DomainCounts
    itself: tuple[bool, ...]


class TopologySpreadPlugin(Plugin):
    name = NAME
    beyond_shape = True

    def __init__(self, session: Session, arguments: Mapping[str, str]) -> None:
        self._cluster = session.cluster
        self._by_shape: dict[tuple[int, bool], _Asked | None] = {}
        self._shared: dict[Hashable, DomainCounts] = {}
        self._crowds: dict[str, float] = {}
        self._worst = 0.0

    def _asked(self, task: TaskInfo, hard: bool) -> _Asked | None:
        """Counts for the task's constraints of this kind, up to date; None: it has none."""
        if not task.record.spread:
            return None
        key = (task.shape.number, hard)
        if key not in self._by_shape:
            self._by_shape[key] = self._made(task, hard)
        asked = self._by_shape[key]
        if asked is not None:
            asked.counts.refresh()
        return asked

    def _made(self, task: TaskInfo, hard: bool) -> _Asked | None:
        record = task.record
        terms = tuple(term for term in record.spread if term.hard == hard)
        if not terms:
            return None
        nodes = (tuple(sorted(record.node_selector.items())), record.node_affinity, record.tolerations)
        known = self._shared.setdefault((record.namespace, terms, nodes), DomainCounts(self._cluster, task, terms))
        return _Asked(known, tuple(counts(term, record.labels) for term in terms))

    def never(self, task: TaskInfo, node: NodeInfo) -> bool:
        return any(term.hard and term.topology_key not in node.labels for term in task.record.spread)

    def predicate(self, task: TaskInfo, node: NodeInfo) -> Refusal | None:
        asked = self._asked(task, hard=True)
        place = asked.counts.refuses(node, asked.itself) if asked is not None else None
        if asked is None or place is None:
            return None
        return Refusal(self.name, asked.counts.skew(place, node, asked.itself[place]).text())

    def skews(self, task: TaskInfo, node: NodeInfo) -> list[NodeSkew]:
        """What each constraint that must hold says of the node."""
        asked = self._asked(task, hard=True)
        return [] if asked is None else [asked.counts.skew(place, node, me) for place, me in enumerate(asked.itself)]

    # ── wishes ──

    def scores(self, task: TaskInfo) -> bool:
        return any(not term.hard for term in task.record.spread)

    def before_scoring(self, task: TaskInfo, nodes: Sequence[NodeInfo]) -> None:
        asked = self._asked(task, hard=False)
        self._crowds = {} if asked is None else {node.name: asked.counts.crowd(node) for node in nodes}
        self._worst = max((crowd for crowd in self._crowds.values() if crowd < math.inf), default=0.0) + 1

    def node_score(self, task: TaskInfo, node: NodeInfo) -> float:
        return -SPREAD * min(self._crowds.get(node.name, 0.0), self._worst)


def spreading(session: Session) -> TopologySpreadPlugin | None:
    """The plugin at work in this session, if one is."""
    return next((plugin for plugin in session.hooks.plugins if isinstance(plugin, TopologySpreadPlugin)), None)
