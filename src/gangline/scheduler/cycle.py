"""One cycle: `decide(cluster, settings, now)` runs every configured action in order and returns what was decided.

This is the file to read first; the running scheduler calls it too (`thought/think.py`). Pure: the same cluster,
settings and time give the same decisions, byte for byte, and the cluster is left exactly as it was found (the session
undoes itself). What is then carried out is booked on the cluster by `thought/booking.py`, as records of bound and
evicted tasks, so that nothing is booked twice before the watch shows it."""

from __future__ import annotations

from functools import partial

from gangline.scheduler.actions import ACTIONS
from gangline.scheduler.collector import undisturbed
from gangline.scheduler.decisions import Decisions
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.session import Session
from gangline.scheduler.settings import SchedulerSettings
from gangline.scheduler.tally import CycleTally


@undisturbed()
def decide(
    cluster: ClusterModel, settings: SchedulerSettings, now: float, tally: CycleTally | None = None
) -> Decisions:
    """`tally`: counts and seconds of the cycle, for metrics."""
    counts = tally or CycleTally()
    session = counts.clocked(counts.times, "open", lambda: Session(cluster, settings, now, tally=counts))
    try:
        run_actions(session, settings.actions)
        return session.decisions()
    finally:
        counts.clocked(counts.times, "close", session.close)


def run_actions(session: Session, names: tuple[str, ...]) -> None:
    """Run these actions on an open session, one after the other."""
    for name in names:
        session.action = name
        session.tally.clocked(session.tally.times, name, partial(ACTIONS[name].run, session))
