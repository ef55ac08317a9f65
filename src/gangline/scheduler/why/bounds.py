"""Which queues on the way up would hold too much, of which resource, by limit or by quota: all of them, not only the
first.

Asked by explain.py for a verdict and by gangline.why for an answer; both tell and raise every level at once. Reads
the books of the proportion plugin; changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gangline.scheduler.fairness import QueueAccount
from gangline.scheduler.fairness.accounts import DUST, EACH, RESOURCES, UNLIMITED, line
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.plugins.capacity.proportion import ProportionPlugin
from gangline.scheduler.why.verdict import amount, plain

LIMIT, QUOTA = "limit", "quota"


@dataclass(frozen=True, slots=True)
class QueueExcess:
    """One queue that would hold too much of one resource: by limit, or by quota for what cannot be preempted."""

    account: QueueAccount
    bound: str
    resource: int
    needed: float

    @property
    def allowed(self) -> float:
        return (self.account.limit if self.bound == LIMIT else self.account.deserved)[self.resource]

    @property
    def held(self) -> float:
        held = self.account.allocated if self.bound == LIMIT else self.account.allocated_non_preemptible
        return held[self.resource]

    @property
    def word(self) -> str:
        return RESOURCES[self.resource]

    @property
    def raised(self) -> str:
        """Completes "would start if …"."""
        return f"the {self.bound} of queue {self.account.name} were {amount(self.needed, self.word)}"

    @property
    def text(self) -> str:
        asked = plain(self.needed - self.held, self.word)
        if self.bound == LIMIT:
            return (
                f"queue {self.account.name} may use {amount(self.allowed, self.word)}; {asked} more asked, "
                f"{plain(self.held, self.word)} in use"
            )
        return (
            f"queue {self.account.name} has a quota of {amount(self.allowed, self.word)} for work that cannot be "
            f"preempted; {asked} more asked, {plain(self.held, self.word)} in use"
        )


def excesses(books: ProportionPlugin, gang: GangInfo, tasks: Sequence[TaskInfo]) -> list[QueueExcess]:
    """Limits from the leaf to the top, then quotas."""
    asked = books.least_of(tasks)
    accounts = list(line(books.accounts, gang.queue))
    over = [
        QueueExcess(account, LIMIT, place, account.allocated[place] + asked[place])
        for account in accounts
        for place in EACH
        if _beyond(account.limit[place], account.allocated[place], asked[place])
    ]
    if not gang.preemptible:
        over += [
            QueueExcess(account, QUOTA, place, account.allocated_non_preemptible[place] + asked[place])
            for account in accounts
            for place in EACH
            if _beyond(account.deserved[place], account.allocated_non_preemptible[place], asked[place])
        ]
    return over


def _beyond(bound: float, held: float, asked: float) -> bool:
    return bound != UNLIMITED and asked != 0 and bound + DUST < held + asked
