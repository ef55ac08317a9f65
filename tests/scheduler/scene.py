"""Words for scheduler tests: a cluster in a line per thing; only what matters is stated, the rest is filled in.

    Scene().nodes(2, gpus=8).queue("a", quota=8).gang("a/big", 4, gpus=1, on="n0").decide()

A gang is named `queue/name`; its pods are `name-0`, `name-1`, …  With `on` they run on that node (or on those nodes, in
turn)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gangline.rules.requests import GpuRequest
from gangline.scheduler.cycle import decide
from gangline.scheduler.decisions import Bind, Decisions, Evict, Nominate
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.model.status import Status
from gangline.scheduler.records import (
    DEFAULT_POD_SET,
    GangRecord,
    GroupRecord,
    NodeRecord,
    PodSetRecord,
    QueueRecord,
    Record,
    Share,
    TaskRecord,
    TopologyRecord,
    TopologyRule,
    plain_gang,
)
from gangline.scheduler.settings import SchedulerSettings
from gangline.scheduler.why.explain import explain
from gangline.scheduler.why.verdict import Verdict

NOW = 1_000_000.0
FREE = Share(-1, -1, 1)


@dataclass
class Scene:
    records: list[Record] = field(default_factory=list)
    settings: SchedulerSettings = field(default_factory=lambda: SchedulerSettings(staleness_grace=60))
    now: float = NOW
    born: int = 0
    marks: dict[str, float] = field(default_factory=dict)
    """By gang: how many GPUs had started elsewhere when it was first seen waiting; less than none: before the scene."""

    def nodes(self, number: int, gpus: int = 8, cpu: float = 64, prefix: str = "n", **more: Any) -> Scene:
        start = sum(isinstance(record, NodeRecord) for record in self.records)
        for place in range(start, start + number):
            self.node(f"{prefix}{place}", gpus, cpu, **more)
        return self

    def node(
        self, name: str, gpus: int = 8, cpu: float = 64, labels: Mapping[str, str] | None = None, **more: Any
    ) -> Scene:
        offers = {"cpu": cpu * 1000, "memory": 512e9, "gpu": gpus, "pods": 110}
        self.records.append(NodeRecord(name, offers, {"kubernetes.io/hostname": name, **(labels or {})}, **more))
        return self

    def queue(
        self, name: str, quota: float = 0, limit: float = -1, weight: float = 1, parent: str = "", **more: Any
    ) -> Scene:
        self.born += 1
        self.records.append(
            QueueRecord(name, parent, created=self.born, cpu=FREE, memory=FREE, gpu=Share(quota, limit, weight), **more)
        )
        return self

    def topology(self, name: str, *levels: str) -> Scene:
        self.records.append(TopologyRecord(name, levels))
        return self

    def gang(
        self,
        name: str,
        size: int,
        *,
        gpus: int = 1,
        cpu: float = 1,
        on: str | Sequence[str] = "",
        needs: int | None = None,
        priority: int = 50,
        rule: TopologyRule | None = None,
        groups: Mapping[str, tuple[int, TopologyRule | None]] | None = None,
        task: Mapping[str, Any] | None = None,
        status: Status | None = None,
        **more: Any,
    ) -> Scene:
        """`groups`: pod sets by name with (number of pods, rule), instead of one of `size` pods. `needs`: the minimum,
        if not all."""
        queue, _, short = name.partition("/")
        self.born += 1
        tree = plain_gang(size if needs is None else needs, rule)
        sets = [(DEFAULT_POD_SET, size)]
        if groups:
            sets = [(item, number) for item, (number, _) in groups.items()]
            tree = GroupRecord(
                topology=rule, pod_sets=tuple(PodSetRecord(item, number, own) for item, (number, own) in groups.items())
            )
        self.records.append(GangRecord(short, queue, short, "ns", priority, created=self.born, tree=tree, **more))
        places = [on] if isinstance(on, str) else list(on)
        number = 0
        for pod_set, pods in sets:
            for _ in range(pods):
                place = places[number % len(places)]
                self.records.append(
                    TaskRecord(
                        uid=f"{short}-{number}",
                        gang=short,
                        name=f"{short}-{number}",
                        namespace="ns",
                        pod_set=pod_set,
                        status=status or (Status.RUNNING if place else Status.PENDING),
                        node=place,
                        request={"cpu": cpu * 1000, "memory": 1e9},
                        gpu=GpuRequest("Regular", gpus, 1 if gpus else 0),
                        **(task or {}),
                    )
                )
                number += 1
        return self

    def with_settings(self, **changes: Any) -> Scene:
        self.settings = replace(self.settings, **changes)
        return self

    def cluster(self) -> ClusterModel:
        cluster = ClusterModel.build(self.records)
        if self.marks:
            cluster.memo["overtaken since"] = dict(self.marks)
        return cluster

    def decide(self) -> Outcome:
        return Outcome(decide(self.cluster(), self.settings, self.now))

    def explain(self, gang: str) -> Verdict:
        """The verdict after one cycle in which the gang was not placed."""
        cluster = self.cluster()
        refusals = {refusal.gang: refusal for refusal in decide(cluster, self.settings, self.now).refusals}
        verdict = explain(cluster, gang, self.settings, self.now, refusals)
        assert verdict is not None, f"{gang} waits for nothing"
        return verdict


@dataclass(frozen=True)
class Outcome:
    decisions: Decisions

    @property
    def bound(self) -> dict[str, str]:
        return {commit.task: commit.node for commit in self.decisions.commits if isinstance(commit, Bind)}

    @property
    def waiting(self) -> dict[str, str]:
        """Tasks that were promised a place."""
        return {commit.task: commit.node for commit in self.decisions.commits if isinstance(commit, Nominate)}

    @property
    def evicted(self) -> list[str]:
        return sorted(commit.task for commit in self.decisions.commits if isinstance(commit, Evict))

    def why(self, gang: str) -> str:
        return next((refusal.text for refusal in self.decisions.refusals if refusal.gang == gang), "")
