"""Waiting gangs in bundles of those that ask for the same in the same queue, kept from cycle to cycle.

Allocate never makes room: what is refused to the first gang of a bundle is refused to the others, so only the first of
each bundle is tried, and the next one when it was placed. The order is the same as if every gang stood in the queue. A
gang that holds something already, or needs anything beyond its shape, stands alone. Nothing here places anything."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.placing.gang_queue import SortedGangs

if TYPE_CHECKING:
    from gangline.scheduler.session import Session


class WaitingBundles:
    """`bundles`: by what is asked for, gangs in their order. Follows the cluster's log of gangs that changed."""

    def __init__(self) -> None:
        self.bundles: dict[Hashable, SortedGangs] = {}
        self._entries: dict[str, tuple[Hashable, Any]] = {}
        self._seen = 0
        self._epoch = -1

    def refresh(self, session: Session) -> None:
        cluster = session.cluster
        if self._epoch != cluster.looks_epoch:
            self.bundles.clear()
            self._entries.clear()
            self._epoch, changed = cluster.looks_epoch, list(cluster.waiting)
        else:
            changed = list(dict.fromkeys(cluster.looks[self._seen :]))
        self._seen = len(cluster.looks)
        for uid in changed:
            self._forget(uid)
            gang = cluster.gangs.get(uid)
            if gang is not None and uid in cluster.waiting:
                self._add(session, gang)

    def _forget(self, uid: str) -> None:
        entry = self._entries.pop(uid, None)
        if entry is not None:
            bundle = self.bundles[entry[0]]
            bundle.remove(entry[1])
            if not bundle:
                del self.bundles[entry[0]]

    def _add(self, session: Session, gang: GangInfo) -> None:
        what, place = _asked(session, gang), session.gang_key(gang)
        self._entries[gang.uid] = (what, place)
        self.bundles.setdefault(what, SortedGangs()).add(place, gang)

    def bundle_of(self, gang: GangInfo) -> SortedGangs:
        return self.bundles[self._entries[gang.uid][0]]

    def after(self, gang: GangInfo) -> Iterator[GangInfo]:
        """The other gangs of its bundle that come after it, in their order."""
        bundle = self.bundle_of(gang)
        place = bisect_left(bundle.keys, self._entries[gang.uid][1])
        yield from bundle.gangs[place + 1 :]


def waiting_bundles(session: Session) -> WaitingBundles:
    """The bundles under this plugin configuration, up to date."""
    bundles: WaitingBundles = session.cluster.memo.setdefault(("bundles", session.token), WaitingBundles())
    bundles.refresh(session)
    return bundles


def _asked(session: Session, gang: GangInfo) -> Hashable:
    """Equal for gangs that fare alike; the uid for one that stands alone."""
    alone = gang.active_used or gang.problems or gang.record.skipped or not gang.ready
    if alone or not all(task.shape.plain and not task.record.spread for task in gang.tasks.values()):
        return gang.uid
    members = tuple([(task.record.pod_set, task.shape.number) for task in session.wanted(gang, False)])
    return gang.queue, gang.preemptible, gang.record.tree, members


def tell_alike(session: Session, first: GangInfo, gang: GangInfo) -> None:
    """Give a gang the refusal of another one that asks for the same."""
    pairs = list(zip(session.wanted(first, False), session.wanted(gang, False), strict=True))
    names = [(theirs.full_name, mine.full_name) for theirs, mine in pairs]
    for refusal in session.refused(first.uid):
        session.refuse(
            gang, replace(refusal, messages=tuple([_renamed(message, names) for message in refusal.messages]))
        )
    for theirs, mine in pairs:
        text = session.task_refusal(theirs)
        if text is not None:
            session.refuse_task(mine, _renamed(text, names))


def _renamed(text: str, names: list[tuple[str, str]]) -> str:
    for theirs, mine in names:
        text = text.replace(theirs, mine)
    return text
