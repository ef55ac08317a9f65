"""One cycle: `decide(cluster, settings, now)` runs every configured action in order and returns what was decided.

This is the file to read first. Pure: the same cluster, settings and time give the same decisions, byte for byte, and
the cluster is left exactly as it was found (the session undoes itself). What the shell then carries out it books on the
cluster itself, by applying the records of bound and evicted tasks, so that nothing is booked twice before the watch
shows it.
"""

from __future__ import annotations

from .actions import ACTIONS
from .collector import undisturbed
from .decisions import Decisions
from .model.cluster import Cluster
from .session import Session
from .settings import Settings


@undisturbed()
def decide(cluster: Cluster, settings: Settings, now: float) -> Decisions:
    session = Session(cluster, settings, now)
    try:
        run_actions(session, settings.actions)
        return session.decisions()
    finally:
        session.close()


def run_actions(session: Session, names: tuple[str, ...]) -> None:
    """Run these actions on an open session, one after the other."""
    for name in names:
        session.action = name
        ACTIONS[name](session)
