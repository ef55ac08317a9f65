"""Who would get its place back: which gangs, evicted for another one, would have their turn before it.

Room is handed out in fair order, in a what-if (`victims/search.py`) as in the next cycle. A victim whose turn comes
before that of the gang that it was evicted for takes its own place again, so that evicting it is in vain. Asked by
`proportion.py` before victims are searched, with all books as they are. Where several gangs of a queue go, the last of
them finds its queue as if it had gone alone; so what holds of each alone holds of all together. Gangs that may give up
a part of themselves are left to the search. Queues below different parents are compared where their lines part, by the
gangs of their own leaf alone."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gangline.scheduler.fairness.accounts import Accounts, Amounts, QueueAccount
from gangline.scheduler.fairness.order import Turn, WaitingLine
from gangline.scheduler.fairness.reclaim import where_they_part
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.placing.gang_queue import NOBODY

if TYPE_CHECKING:
    from gangline.scheduler.session import Session


class ReturnOrder:
    """For one gang that makes room. `asked` and `held`: amounts of a gang."""

    def __init__(
        self,
        session: Session,
        accounts: Accounts,
        total: Amounts,
        preemptor: GangInfo,
        asked: Callable[[GangInfo], Amounts],
        held: Callable[[GangInfo], Amounts],
    ) -> None:
        self._session = session
        self._accounts = accounts
        self._total = total
        self._asked = asked
        self._held = held
        self._preemptor = preemptor
        self._lines: dict[tuple[str, str], tuple[object, WaitingLine]] = session.memo.setdefault("waiting lines", {})
        self._turns: dict[str, tuple[QueueAccount, Turn]] = {}
        self._whole: dict[str, bool] = {}
        self._alike: dict[tuple[str, int, Amounts], bool] = {}
        self._keys: dict[str, tuple[Any, ...]] = session.memo.setdefault("keys of gangs that lost all", {})

    def _part(self, queue: str) -> tuple[QueueAccount, Turn]:
        """The account that stands for this queue beside that of the preemptor, and the preemptor's own turn there."""
        if queue not in self._turns:
            gang = self._preemptor
            mine, theirs = where_they_part(self._accounts, gang.queue, queue)
            self._turns[queue] = (theirs, self._line(mine, gang.queue).turn(self._place(gang), self._asked(gang)))
        return self._turns[queue]

    def _line(self, account: QueueAccount, queue: str) -> WaitingLine:
        """The gangs that wait in this leaf, as they count for this account; kept as long as they are the same."""
        waiting = self._session.lists.pending().get(queue, NOBODY)
        key, state = (account.uid, queue), (id(waiting), waiting.changes)
        kept = self._lines.get(key)
        if kept is None or kept[0] != state:
            requests = [self._asked(gang) for gang in waiting.gangs]
            kept = self._lines[key] = (state, WaitingLine(account, self._total, requests))
        return kept[1]

    def _place(self, gang: GangInfo) -> int:
        """How many of those that wait in its queue come before the gang, once it has nothing."""
        if gang.uid not in self._keys:
            self._keys[gang.uid] = self._session.gang_key(gang.with_tasks(()))
        waiting = self._session.lists.pending().get(gang.queue, NOBODY)
        return bisect_left(waiting.keys, self._keys[gang.uid])

    def all_of(self, queue: str) -> bool:
        """Whether every gang of this queue would have its turn first, whatever it holds."""
        if queue not in self._whole:
            theirs, mine = self._part(queue)
            self._whole[queue] = self._line(theirs, queue).last() < mine
        return self._whole[queue]

    def first(self, victim: GangInfo) -> bool:
        if victim.elastic:
            return False
        held, place = self._held(victim), self._place(victim)
        key = (victim.queue, place, held)
        if key not in self._alike:
            theirs, mine = self._part(victim.queue)
            self._alike[key] = self._line(theirs, victim.queue).turn(place, held, held) < mine
        return self._alike[key]
