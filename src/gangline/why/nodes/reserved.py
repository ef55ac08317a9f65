"""Room that is there, and kept for a gang before this one: native schedulers reserve the start of gangs that do not
fit, and nobody who comes later may delay it.

Read from the refusal of the cycle; the reservation itself lives in the scheduler's plugin only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gangline.api import names
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.session import Session
from gangline.why.cause import Cause
from gangline.why.fixes.new_nodes import more_nodes
from gangline.why.nodes.room import NoRoom
from gangline.why.objects import ClusterObjects
from gangline.why.replay import AtRest

KEPT = re.compile(r"are kept for (\S+), which ([^.]+)")


def reserved_room(
    session: Session,
    objects: ClusterObjects,
    gang: GangInfo,
    tasks: Sequence[TaskInfo],
    rest: AtRest,
    titles: dict[str, str],
) -> Cause | None:
    refusal = rest.refusals.get(gang.uid)
    kept = KEPT.search(" ".join((refusal.text, *refusal.tasks.values()))) if refusal is not None else None
    if kept is None:
        return None
    first, starts = kept.groups()
    title = titles.get(first, first.rpartition("/")[2])
    nodes = NoRoom(gang, tasks[0], len(tasks), 0, {}, nodes=tuple(session.cluster.nodes))
    return Cause(
        "reserved",
        f"its room is reserved for {title}, which {starts}; it is not expected to be gone by then",
        (f"annotation {names.EXPECTED_RUNTIME} says how long a gang is expected to run; without it nobody knows",),
        tuple(more_nodes(session, objects, nodes, gang)),
    )
