"""The first thing in the way of a gang that the scheduler looks at: nominations, its own PodGroup, its queue, bounds,
topology, what its pods name, room, and those before it.

Asked by causes.py for an answer and by remedies.py for what stands behind a change. Opens a session on the model at
rest and closes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gangline.api import kinds
from gangline.api.meta import Raw
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.status import Status
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.session import Session
from gangline.scheduler.why.verdict import counted
from gangline.why.cause import Cause
from gangline.why.changes import ObjectChange
from gangline.why.fixes.gang import priority_changes
from gangline.why.needs.claims import missing_things
from gangline.why.needs.topology import topology_cause
from gangline.why.nodes.no_room import no_room_cause
from gangline.why.nodes.reserved import reserved_room
from gangline.why.nodes.room_text import asks
from gangline.why.objects import ClusterObjects
from gangline.why.pods.gates import gated_pods
from gangline.why.queues.missing import no_queue
from gangline.why.queues.over_bounds import over_bounds
from gangline.why.queues.rivals import ahead
from gangline.why.replay import AtRest
from gangline.why.schedulers.components import no_scheduler, overlooked, pool_of
from gangline.why.words.amounts import listed
from gangline.why.workloads import Subject


def in_the_way(objects: ClusterObjects, subject: Subject, rest: AtRest, titles: dict[str, str]) -> Cause:
    gang = rest.cluster.gangs.get(subject.gang_uid)
    absent = no_scheduler(objects, pool_of(subject))
    if absent is not None:
        return absent
    if gang is None:
        return Cause("unread", "its PodGroup cannot be read by the scheduler")
    nominated = _nominated(objects, gang, rest)
    if nominated is not None:
        return nominated
    if rest.started(gang.uid) and not gang.pending:
        return _after_evictions(rest, gang, titles) or overlooked(objects, subject)
    session = Session(rest.cluster, rest.settings, rest.now)
    try:
        session.action = "explain"
        return _waiting(session, objects, subject, gang, rest, titles)
    finally:
        session.close()


def _nominated(objects: ClusterObjects, gang: GangInfo, rest: AtRest) -> Cause | None:
    mine = [nomination for nomination in rest.first.nominations if nomination.task in gang.tasks]
    if not mine:
        return None
    nodes = sorted({item.node for item in mine})
    leaving = [pod.name for pod in objects.all(kinds.POD) if pod.metadata.deleting and pod.spec.node_name in nodes]
    who = f": pods {listed(leaving)} are leaving" if leaving else ""
    return Cause("nominated", f"room is being made for it on {listed(nodes)}{who}, then it starts", transient=True)


def _after_evictions(rest: AtRest, gang: GangInfo, titles: dict[str, str]) -> Cause | None:
    mine = [evict for evict in rest.evicted.values() if evict.preemptor == gang.uid]
    if not mine:
        return None
    return Cause(
        "making-room",
        f"the next cycles make room for it by {mine[0].action}: {counted(len(mine), 'pod')} are evicted",
        transient=True,
    )


def _waiting(
    session: Session, objects: ClusterObjects, subject: Subject, gang: GangInfo, rest: AtRest, titles: dict[str, str]
) -> Cause:
    tasks = session.wanted(gang, simulation=False)
    refusal = _of_gang(objects, subject, gang) or no_queue(session, objects, subject, gang)
    if refusal is not None:
        return refusal
    if not tasks:
        return Cause("not-ready", "it has no pods that a scheduler may place yet")
    needs = asks(tasks, session.cluster.names.names)
    cause = (
        over_bounds(session, objects, subject, gang, tasks)
        or topology_cause(session, objects, subject, gang)
        or missing_things(session, objects, subject, gang, tasks)
        or no_room_cause(session, objects, subject, gang, tasks, titles)
        or reserved_room(session, objects, gang, tasks, rest, titles)
        or _behind(session, objects, subject, gang, tasks, titles)
    )
    return replace(cause, needs=cause.needs or needs)


def _of_gang(objects: ClusterObjects, subject: Subject, gang: GangInfo) -> Cause | None:
    if gang.problems:
        return Cause("broken", f"its PodGroup makes no sense: {gang.problems[0]} (spec.subGroups)")
    if gang.record.skipped:
        body: Raw = {"spec": {"schedulingBackoff": -1}}
        change = ObjectChange(kinds.POD_GROUP, gang.name, body, gang.namespace, word=subject.group_word)
        return Cause(
            "gave-up",
            "it did not fit once and asked not to be tried again in this node pool (spec.schedulingBackoff)",
            fixes=((change,),),
        )
    if not gang.count(Status.PENDING) and gang.count(Status.GATED):
        return gated_pods(objects, subject) or Cause("gate", "its pods are behind scheduling gates")
    return None


def _behind(
    session: Session,
    objects: ClusterObjects,
    subject: Subject,
    gang: GangInfo,
    tasks: Sequence[TaskInfo],
    titles: dict[str, str],
) -> Cause:
    """There is room, and the cycle does not give it to this gang."""
    refusal = next((known for known in session.refused(gang.uid)), None)
    before = ahead(session, gang)
    if before:
        who = ", ".join(f"{titles.get(other.uid, other.name)} (priority {other.priority})" for other in before[:3])
        return Cause(
            "behind",
            f"gangs before it in queue {gang.queue} take the room: {who}; it has priority {gang.priority}",
            fixes=tuple(priority_changes(session, objects, subject, gang)),
        )
    if refusal is not None:
        return Cause("refused", "; ".join(refusal.messages) or refusal.reason)
    return overlooked(objects, subject)
