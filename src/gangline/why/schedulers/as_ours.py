"""Pods of kube-scheduler that find no node, judged as if they were a gang of ours: which nodes will not do and why, and
which changes of nodes would help.

What kube-scheduler says counts nodes by reason and names neither the amount nor the label. The pods are put into a
PodGroup that nobody else sees, of the lowest priority and without a share, so that nobody makes room for it. Whether a
change helps the real scheduler is tried on a copy of the platform; here it is only found. Pure.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gangline.api import kinds, names
from gangline.api.kinds import Kind
from gangline.api.meta import Condition, Raw, condition
from gangline.scheduler.session import Session
from gangline.why.cause import Cause
from gangline.why.fixes.new_nodes import more_nodes
from gangline.why.fixes.opened import closed_nodes
from gangline.why.needs.claims import missing_things
from gangline.why.nodes.no_room import without_nodes
from gangline.why.nodes.room import find_room
from gangline.why.nodes.room_text import asks, headline, lines
from gangline.why.objects import ClusterObjects
from gangline.why.replay import at_rest
from gangline.why.states.members import living
from gangline.why.workloads import Subject, same

NAME = "as-ours"
LOWEST = -1_000_000_000
NOTHING: Raw = {item: {"quota": 0, "limit": -1, "overQuotaWeight": 0} for item in ("cpu", "memory", "gpu")}


def as_ours(objects: ClusterObjects, subject: Subject) -> tuple[ClusterObjects, Subject] | None:
    """The same pods as a gang of ours, among the same objects; None where kube-scheduler has not refused any."""
    pods = [pod for pod in living(subject) if not pod.spec.node_name]
    if not any(_refused(pod.status.conditions) for pod in pods if _kube(pod.spec.scheduler_name)):
        return None
    parent: Raw = {"metadata": {"name": f"{NAME}-parent"}, "spec": {"resources": NOTHING}}
    queue: Raw = {"metadata": {"name": NAME}, "spec": {"resources": NOTHING, "parentQueue": f"{NAME}-parent"}}
    group: Raw = {
        "metadata": {"name": NAME, "namespace": subject.namespace, "uid": NAME},
        "spec": {"queue": NAME, "minMember": len(pods), "priorityClassName": NAME},
    }
    added: list[tuple[Kind[Any], Raw]] = [
        (kinds.PRIORITY_CLASS, {"metadata": {"name": NAME}, "value": LOWEST}),
        (kinds.QUEUE, parent),
        (kinds.QUEUE, queue),
        (kinds.POD_GROUP, group),
    ]
    for kind, body in added:
        whole = {"apiVersion": kind.api_version, "kind": kind.kind, **body}
        objects = objects.put(kind, whole, body["metadata"]["name"], subject.namespace)
    for pod in pods:
        live = objects.raw(kinds.POD, pod.name, pod.namespace) or {}
        marks = {**(live["metadata"].get("annotations") or {}), names.POD_GROUP_NAME: NAME}
        spec = {**live["spec"], "schedulerName": names.KAI_SCHEDULER, "schedulingGates": []}
        ours = {**live, "metadata": {**live["metadata"], "annotations": marks}, "spec": spec}
        objects = objects.put(kinds.POD, ours, pod.name, pod.namespace)
    mine = Subject("gang", NAME, subject.namespace, pods=tuple(pods))
    return objects, replace(same(objects, mine), group=objects.get(kinds.POD_GROUP, NAME, subject.namespace))


def room_as_ours(objects: ClusterObjects, mine: Subject) -> Cause | None:
    """Why no node will do, with the changes of nodes that may help; None where there is room."""
    rest = at_rest(objects)
    gang = rest.cluster.gangs.get(mine.gang_uid)
    if gang is None or rest.started(gang.uid):
        return None
    session = Session(rest.cluster, rest.settings, rest.now)
    try:
        session.action = "explain"
        tasks = session.wanted(gang, simulation=False)
        if not tasks:
            return None
        lacking = missing_things(session, objects, mine, gang, tasks)
        no_room = find_room(session, objects, gang, tasks) if lacking is None else None
        if no_room is None:
            return lacking
        head = headline(no_room, session)
        return Cause(
            "outside",
            head,
            tuple(line for line in lines(no_room) if without_nodes(line) not in head),
            (*closed_nodes(objects, no_room), *more_nodes(session, objects, no_room, gang)),
            needs=asks(tasks, session.cluster.names.names),
            proof=no_room.proof(),
        )
    finally:
        session.close()


def _kube(scheduler: str) -> bool:
    return scheduler in ("", names.DEFAULT_SCHEDULER)


def _refused(conditions: tuple[Condition, ...]) -> bool:
    judged = condition(conditions, "PodScheduled")
    return judged is not None and judged.status == "False" and judged.reason == "Unschedulable"
