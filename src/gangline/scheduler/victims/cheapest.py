"""The cheapest victims first: sets to try for a reclaiming or preempting gang before the search walks victims in their
order.

Work of a lower priority goes before that of a higher one, whatever it costs; among work that may go, the cheapest set
that makes room for the whole gang (`packing.py`). Proposes only: simulating shows whether a set will do and whether it
is fair. Without a plugin that says what victims cost nothing is proposed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.victims.accumulate import VictimBatch
from gangline.scheduler.victims.packing import fewest_moves

if TYPE_CHECKING:
    from gangline.scheduler.session import Session

ANY_NUMBER = -1
MOST_SETS = 8
"""Sets that are tried at most: one per level of priority, then one per queue."""


def cheapest_sets(
    session: Session, gang: GangInfo, tasks: Sequence[TaskInfo], accepted: Callable[[], Iterable[GangInfo]]
) -> Iterator[list[VictimBatch]]:
    """`accepted`: who may be a victim of this gang."""
    if not session.hooks.somebody_prices:
        return
    victims, proposed = list(accepted()), set[frozenset[str]]()
    for chosen in _choices(victims):
        batches = fewest_moves(session, gang, tasks, chosen, ANY_NUMBER)
        uids = frozenset(batch.gang.uid for batch in batches or ())
        if batches and uids not in proposed:
            proposed.add(uids)
            yield batches
        if len(proposed) >= MOST_SETS:
            return


def _choices(victims: Sequence[GangInfo]) -> Iterator[list[GangInfo]]:
    for level in sorted({victim.priority for victim in victims}):
        yield [victim for victim in victims if victim.priority <= level]
    queues = sorted({victim.queue for victim in victims})
    if len(queues) > 1:
        for name in queues:
            yield [victim for victim in victims if victim.queue == name]
