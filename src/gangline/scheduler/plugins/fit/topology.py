"""Keep a gang together: candidate node sets by topology domain, tightest first, and scores for preferred levels.

Stands between placing/place.py and the nodes: for each group with a topology rule it answers with the nodes of the
domains that could hold its tasks, in the order that `placing/domains.py` decides; placing/place.py tries one set after
the other. Inside a domain the emptiest preferred sub-domain scores highest. Never places anything."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.model.gang import GangInfo, Group, PodSet
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.resources import GPU, Vector
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.model.topology import TopologyDomain, TopologyTree
from gangline.scheduler.placing import domain_refusals, domain_room, domains
from gangline.scheduler.placing.domain_room import Demand, DomainRoom, DomainTally
from gangline.scheduler.placing.domains import DomainQuestion
from gangline.scheduler.plugin import Plugin, SubsetRefused
from gangline.scheduler.refusals import PODS, GangRefusals

if TYPE_CHECKING:
    from gangline.scheduler.session import Session

KEPT_SIZES = 128


class TopologyPlugin(Plugin):
    name = "topology"
    beyond_shape = True

    def __init__(self, session: Session, arguments: Mapping[str, str]) -> None:
        self._session = session
        self._cluster = session.cluster
        self._scores: dict[str, dict[str, float]] = {}
        self._asked: Sequence[NodeInfo] = ()
        self._commons: dict[tuple[TopologyTree, tuple[str, str]], TopologyDomain] = {}
        self._named: tuple[Sequence[NodeInfo], set[str]] | None = None
        index = self._cluster.names.index
        backed = (record.resource for record in self._cluster.devices.classes.values() if record.resource)
        self._elsewhere = frozenset(place for name in backed if (place := index(name)) != GPU)

    def scores(self, task: TaskInfo) -> bool:
        """Scores belong to the group that is being placed, as soon as one of its levels is preferred."""
        return bool(self._scores)

    def before_gang(self, gang: GangInfo) -> None:
        self._scores = {}

    def node_score(self, task: TaskInfo, node: NodeInfo) -> float | None:
        """The score of the nearest group above the task that has one; a node outside it is dropped."""
        if not self._scores:
            return 0.0
        member: PodSet | Group | None = task.pod_set
        while member is not None:
            scores = self._scores.get(member.name)
            if scores is not None:
                return scores.get(node.name)
            member = member.parent
        return 0.0

    def subset_nodes(
        self,
        gang: GangInfo,
        member: Group | PodSet,
        pod_sets: Sequence[PodSet],
        tasks: Sequence[TaskInfo],
        nodes: Sequence[NodeInfo],
    ) -> list[Sequence[NodeInfo]]:
        rule = member.topology
        if rule is None or not rule.topology:
            return [nodes]
        tree = self._cluster.topology(rule.topology)
        if tree is None:
            self._refuse(gang, [domain_refusals.no_topology(rule.topology)])
            raise SubsetRefused
        if not tasks:
            return [nodes]
        required = rule.required if self._session.settings.whole_domains else ""
        top = self._common(tree, nodes, (required, rule.preferred))
        room = self._room(tree, domain_room.demand_of(tasks), top)
        answer = domains.choose(DomainQuestion(gang, member.name, rule, pod_sets), tree, top, room, self._cluster.names)
        if answer.scores is not None:
            self._scores[member.name] = answer.scores
        if not answer.domains:
            problem = [GangRefusals(PODS, (answer.error,), self.name, resolvable=False)] if answer.error else []
            self._refuse(gang, answer.refusals + problem)
            raise SubsetRefused
        return [self._inside(domain, nodes) for domain in answer.domains]

    def _common(self, tree: TopologyTree, nodes: Sequence[NodeInfo], levels: tuple[str, str]) -> TopologyDomain:
        """The domain that holds all these nodes; most gangs ask for the same list as the one before."""
        key = (tree, levels)
        if self._asked is not nodes:
            self._asked, self._commons = nodes, {}
        domain = self._commons.get(key)
        if domain is None:
            domain = self._commons[key] = domains.common_domain(tree, (node.name for node in nodes), levels)
        return domain

    def _inside(self, domain: TopologyDomain, nodes: Sequence[NodeInfo]) -> list[NodeInfo]:
        all_nodes = self._cluster.nodes
        if nodes is self._session.all_nodes:
            return [all_nodes[name] for name in domain.nodes]
        if self._named is None or self._named[0] is not nodes:
            self._named = (nodes, {node.name for node in nodes})
        names = self._named[1]
        return [all_nodes[name] for name in domain.nodes if name in names]

    def _refuse(self, gang: GangInfo, refusals: Iterable[GangRefusals]) -> None:
        """Only the action that places for real tells; what-ifs do not."""
        if self._session.action == "allocate":
            for refusal in refusals:
                self._session.refuse(gang, refusal)

    def _room(self, tree: TopologyTree, demand: Demand, top: TopologyDomain) -> DomainRoom:
        sums = self._sums(tree)
        free = sums.free
        free.catch_up(self._cluster)
        if not demand.uniform:
            return DomainRoom(demand, free.of, lambda domain: None, top, self._elsewhere)
        pods = sums.slots(self._cluster, demand, self._elsewhere)
        return DomainRoom(demand, free.of, lambda domain: int(pods.of(domain)[0]), top, self._elsewhere)

    def _sums(self, tree: TopologyTree) -> DomainSums:
        """Kept from cycle to cycle as long as the tree stands."""
        kept: dict[str, DomainSums] = self._cluster.memo.setdefault("topology", {})
        sums = kept.get(tree.name)
        if sums is None or sums.tree is not tree:
            sums = kept[tree.name] = DomainSums(tree, self._cluster)
        return sums


class DomainSums:
    """Free room per domain of one tree, and how many tasks of each size fit."""

    def __init__(self, tree: TopologyTree, cluster: ClusterModel) -> None:
        self.tree = tree
        self.free = DomainTally(tree.leaf_of, cluster.nodes, lambda node: node.later)
        self._slots: dict[tuple[Vector, int, frozenset[int]], DomainTally] = {}

    def slots(self, cluster: ClusterModel, demand: Demand, elsewhere: frozenset[int]) -> DomainTally:
        key = (demand.largest, demand.count, elsewhere)
        domain_tally = self._slots.get(key)
        if domain_tally is None:
            if len(self._slots) >= KEPT_SIZES:
                self._slots.clear()
            domain_tally = self._slots[key] = DomainTally(
                self.tree.leaf_of, cluster.nodes, lambda node: (domain_room.slots(node, demand, elsewhere),)
            )
        domain_tally.catch_up(cluster)
        return domain_tally
