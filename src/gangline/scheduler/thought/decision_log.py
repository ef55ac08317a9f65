"""The lines that a scheduler logs about a cycle: one per gang that was placed or evicted, with the gang, its queue and
the action as fields of their own. Pure; loop/decision_writes.py writes them. Gangs that wait are not logged: their
condition, event and verdict tell why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from gangline.scheduler.decisions import Bind, Decisions, Evict
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.why.verdict import counted

HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class DecisionLine:
    text: str
    gang: str
    queue: str
    action: str


def decision_lines(cluster: ClusterModel, decisions: Decisions) -> Iterator[DecisionLine]:
    placed: dict[tuple[str, str], list[Bind]] = defaultdict(list)
    evicted: dict[tuple[str, str, str], list[Evict]] = defaultdict(list)
    for bind in decisions.binds:
        placed[cluster.tasks[bind.task].record.gang, bind.action].append(bind)
    for evict in decisions.evictions:
        evicted[cluster.tasks[evict.task].record.gang, evict.action, evict.preemptor].append(evict)
    for (uid, action, preemptor), evictions in evicted.items():
        yield _line(cluster.gangs[uid], action, _evicted_text(evictions, cluster.gangs.get(preemptor)))
    for (uid, action), binds in placed.items():
        yield _line(cluster.gangs[uid], action, _placed_text(binds))


def _line(gang: GangInfo, action: str, text: str) -> DecisionLine:
    return DecisionLine(f"gang {gang.full_name}: {text}", gang.full_name, gang.queue, action)


def _placed_text(binds: list[Bind]) -> str:
    nodes = {bind.node for bind in binds}
    where = next(iter(nodes)) if len(nodes) == 1 else counted(len(nodes), "node")
    return f"{counted(len(binds), 'pod')} placed on {where} ({binds[0].action})"


def _evicted_text(evictions: list[Evict], preemptor: GangInfo | None) -> str:
    purpose = f" for {preemptor.full_name}" if preemptor is not None else ""
    lost = sum(evict.lost for evict in evictions) / HOUR
    price = f", {lost:.1f} GPU-hours lost" if lost else ""
    return f"{counted(len(evictions), 'pod')} evicted{purpose} ({evictions[0].action}{price})"
