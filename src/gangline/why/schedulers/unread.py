"""A gang whose PodGroup or PodGang may not be read: what is written on its pods, and whom to ask for more.

Asked before everything that would take what is not seen for absent. Judges nothing itself."""

from __future__ import annotations

from gangline.api import kinds, names
from gangline.rules.schedulers import SERVED
from gangline.why.cause import Cause
from gangline.why.objects import ClusterObjects
from gangline.why.schedulers.scheduler_names import scheduler_message, scheduler_of
from gangline.why.states.members import living
from gangline.why.words.refusals import ASK, may_not_read
from gangline.why.workloads import Subject

NOT_TOLD = "not-told"
"""The code of a cause that is unknown because of missing rights."""


def unread_gang(objects: ClusterObjects, subject: Subject) -> Cause | None:
    hidden = _hidden(objects, subject)
    if not hidden:
        return None
    refusal = may_not_read(hidden, subject.namespace)
    written = next((text for pod in living(subject) if (text := scheduler_message(pod))), "")
    if written:
        return Cause("as-written", written, (f"{refusal}: this is what one of its pods says; {ASK}",))
    return Cause(NOT_TOLD, f"{refusal}, so why cannot be told; {ASK}") if subject.gang is None else None


def _hidden(objects: ClusterObjects, subject: Subject) -> list[str]:
    """The kinds that an answer hangs on and that may not be read."""
    pods = living(subject)
    of_gang = subject.kind == "set" or any(names.POD_GANG in pod.labels for pod in pods)
    ours = of_gang or any(scheduler_of(pod) in SERVED for pod in pods)
    gated = any(gate.name not in names.OUR_GATES for pod in pods for gate in pod.spec.scheduling_gates)
    if subject.group is not None or not ours or gated:
        return []
    return objects.hidden(*((kinds.POD_GANG,) if of_gang else ()), kinds.POD_GROUP)
