"""Which of the accumulated victims to try together: those of one node, or those of the fewest nodes that could do for a
gang.

Each generator walks the accumulated states and yields scenarios; `victims/search.py` simulates them until one succeeds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.plugin import Plugin
from gangline.scheduler.victims.accumulate import Accumulation, Scenario, VictimBatch
from gangline.scheduler.victims.free import DUST

if TYPE_CHECKING:
    from gangline.scheduler.session import Session


class NodeLocalGreedyPlugin(Plugin):
    """For each node of the gang that was added last: all victims taken so far of the gangs on that node."""

    name = "sg-nodelocalgreedy"
    generator = "NodeLocalGreedy"

    def __init__(self, session: Session, arguments: Mapping[str, str]) -> None:
        self._joins = session.settings.joins_steps

    def scenario_generator(self, state: Accumulation) -> Iterator[Scenario]:
        for _ in state.states():
            if not state.potential:
                if state.recorded:
                    yield state.scenario(())
                continue
            yield from self._by_node(state)

    def _by_node(self, state: Accumulation) -> Iterator[Scenario]:
        latest = state.potential[-1].gang
        seen: set[frozenset[str]] = set()
        for node in sorted({task.node for task in latest.tasks.values()}):
            potential = state.batches_on(node)
            uids = frozenset(task.uid for batch in potential for task in batch.tasks)
            if uids and uids not in seen:
                seen.add(uids)
                yield state.scenario(joined(potential, state.recorded) if self._joins else potential)


def joined(batches: Iterable[VictimBatch], recorded: Iterable[VictimBatch]) -> list[VictimBatch]:
    """The steps of each gang as one, without what was recorded before."""
    known = {task.uid for batch in recorded for task in batch.tasks}
    by_gang: dict[str, tuple[GangInfo, list[TaskInfo]]] = {}
    for batch in batches:
        by_gang.setdefault(batch.gang.uid, (batch.gang, []))[1].extend(
            task for task in batch.tasks if task.uid not in known
        )
    return [VictimBatch.of(gang, tasks) for gang, tasks in by_gang.values() if tasks]


class MultiNodeGangPlugin(Plugin):
    """The victims on the K nodes that free the least but enough, for growing K."""

    name = "sg-multinodegang"
    generator = "MultiNodeGang"

    def __init__(self, session: Session, arguments: Mapping[str, str]) -> None:
        self._session = session

    def scenario_generator(self, state: Accumulation) -> Iterator[Scenario]:
        for _ in state.states():
            if not state.potential:
                yield state.scenario(())
                continue
            yield from self._prefixes(state)

    def _prefixes(self, state: Accumulation) -> Iterator[Scenario]:
        room = self._room(state)
        smallest = min(task.quota_gpus for task in state.pending)
        candidates = sorted(
            (name for name in room if room[name] >= smallest - DUST or smallest == 0), key=room.__getitem__
        )
        number = self._fewest(state, candidates, room)
        step = 1
        while number is not None:
            yield state.scenario(self._touching(state, set(candidates[:number])))
            if number >= len(candidates):
                return
            number, step = min(number + step, len(candidates)), step * 2

    def _room(self, state: Accumulation) -> dict[str, float]:
        """GPUs that each node with victims would have, in the order in which the nodes appeared."""
        free, recorded = self._session.free.by_node, state.freed_before
        return {name: free.get(name, 0) + recorded.get(name, 0) + gpus for name, gpus in state.freed.items()}

    def _fewest(self, state: Accumulation, candidates: list[str], room: Mapping[str, float]) -> int | None:
        """The smallest prefix that covers what is asked beyond the nodes without victims; None when even all do not."""
        free, recorded = self._session.free.by_node, state.freed_before
        elsewhere = sum(free[node.name] + recorded.get(node.name, 0) for node in state.nodes if node.name not in room)
        missing = max(0.0, sum(task.quota_gpus for task in state.pending) - elsewhere)
        covered = 0.0
        for number in range(len(candidates) + 1):
            if covered >= missing - DUST:
                return number
            if number < len(candidates):
                covered += room[candidates[number]]
        return None

    def _touching(self, state: Accumulation, nodes: set[str]) -> list[VictimBatch]:
        return [batch for batch in state.potential if any(task.node in nodes for task in batch.tasks)]
