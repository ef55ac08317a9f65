"""The status of a gang: its phase, its conditions (conditions.py), its score, and the events that come of them.

Pure: controller.py reads and writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.grove import PodGang
from gangline.api.kinds import NODE, POD_GANG, Kind
from gangline.api.meta import Condition, Object, Raw, as_raw, condition
from gangline.operator.backends.contract import GangState, PodGangInfo
from gangline.operator.desired.pods import ready, scheduled
from gangline.operator.gangs import placement
from gangline.operator.gangs.conditions import SILENT, GangView, gang_conditions, incomplete
from gangline.operator.gangs.look import NOT_READY, NOT_RUNNING, GangObjects, initialized
from gangline.operator.plan import EventNote, condition_raw, with_condition
from gangline.rules.values.times import seconds

if TYPE_CHECKING:
    from gangline.operator.operator import Operator
    from gangline.runtime import Reader

PENDING, STARTING, RUNNING = "Pending", "Starting", "Running"


def gang_status(view: GangView, now: str) -> Raw:
    before = view.gang.status.conditions
    unscheduled, unready = view.below_minimum(scheduled), view.below_minimum(ready)
    new: Raw = {
        "phase": _phase(unscheduled, unready),
        "conditions": [
            with_condition(before, condition, now) for condition in gang_conditions(view, unscheduled, unready)
        ],
    }
    score = _score(view, placed=not unscheduled)
    start = view.says.start if unscheduled else None
    return new | ({"placementScore": score} if score is not None else {}) | ({"start": start} if start else {})


def _phase(unscheduled: Sequence[str], unready: Sequence[str]) -> str:
    """From the groups that are below their minimum."""
    if unscheduled:
        return PENDING
    return STARTING if unready else RUNNING


def _score(view: GangView, placed: bool) -> float | None:
    """The scheduler's own score first; ours only for a gang that is placed."""
    if view.says.score is not None or not placed:
        return view.says.score
    return view.score


def absent_status(gang: PodGang, why: str, now: str) -> Raw:
    """The status of a gang whose backend does not run: as it was, but not whole."""
    before = gang.status.conditions
    initialized = Condition(type="Initialized", status="False", reason=NOT_RUNNING, message=why)
    others = [condition_raw(item) for item in before if item.type != "Initialized"]
    known: Raw = as_raw(gang.status)
    return known | {
        "phase": gang.status.phase or PENDING,
        "conditions": [with_condition(before, initialized, now), *others],
    }


def gang_view(
    op: Operator, read: Reader, look: GangObjects, info: PodGangInfo, trouble: str, says: GangState, silent: bool
) -> GangView:
    """What the status of a gang is computed from."""
    return GangView(
        look.gang,
        info,
        look.cliques,
        backend=f"backend {look.selection.backend.name}",
        untranslated=trouble,
        says=says,
        sticky=op.settings.manner.gate_by_listing,
        silent=silent,
        asked=look.asked,
        score=None if op.settings.manner.plain_conditions else _placement_score(op, read, look),
    )


def _placement_score(op: Operator, read: Reader, look: GangObjects) -> float | None:
    levels = op.levels(read, look.pcs) or {}

    def labels_of(node_name: str) -> Mapping[str, str] | None:
        node = read.get(NODE, node_name)
        return node.labels if node is not None else None

    return placement.score(look.pods, list(levels.values()), labels_of)


def lapsed_status(op: Operator, read: Reader, look: GangObjects, info: PodGangInfo, now: str) -> Raw | None:
    """The status of a gang that stood and has neither all pods nor its minimum any more; None for any other gang."""
    if op.settings.manner.gate_by_listing or not initialized(look.gang):
        return None
    view = GangView(look.gang, info, look.cliques, backend=f"backend {look.selection.backend.name}", asked=look.asked)
    if not incomplete(view):
        return None
    new = gang_status(replace(view, says=look.selection.backend.gang_status(info, read)), now)
    return new if new["phase"] == PENDING else None


def due_objects(look: GangObjects, seconds_between: float, now: float) -> tuple[list[tuple[Kind[Any], Object]], float]:
    """The scheduler's objects of a waiting gang that were not touched for so long, and the seconds until more are."""
    waits = {
        (kind, obj.name): seconds_between - (now - _last_touched(obj))
        for kind, obj in look.live
        if kind in look.selection.backend.writes
    }
    due = [(kind, obj) for kind, obj in look.live if waits.get((kind, obj.name), 1.0) <= 0]
    return due, max(min([seconds_between, *(wait for wait in waits.values() if wait > 0)]), 1.0)


def _last_touched(obj: Object) -> float:
    return seconds(obj.annotations.get(names.ASKED_AGAIN) or obj.metadata.creation_timestamp) or 0.0


def events_of(gang: PodGang, new: Raw, says: GangState) -> list[EventNote]:
    """A cause outside the gang is an event too, once."""
    known = {(item.reason, item.message) for item in gang.status.conditions}
    return [
        EventNote(POD_GANG, gang, item["reason"], item["message"], warning=True)
        for item in new["conditions"]
        if (item["reason"], item["message"]) not in known and _outside_cause(item, says)
    ]


def _outside_cause(known: Raw, says: GangState) -> bool:
    if known["type"] == "Scheduled" and (known["reason"] == SILENT or (says.blocked and known["message"] == says.why)):
        return True
    return bool(known["reason"] == NOT_READY)


def unanswered(pods: Iterable[Pod], says: GangState) -> bool:
    """Whether pods are there for the scheduler to take, and it has not given a sign on any of them, nor on its own
    object."""
    if says.reason and not says.blocked:
        return False
    living = [pod for pod in pods if not pod.metadata.deleting]
    return any(not pod.spec.scheduling_gates for pod in living) and not any(_noticed(pod) for pod in living)


def _noticed(pod: Pod) -> bool:
    """Bound, ended, or refused with a reason; a condition about gates does not come from its scheduler."""
    placed = condition(pod.status.conditions, "PodScheduled")
    return (
        bool(pod.spec.node_name)
        or pod.status.phase == "Failed"
        or (placed is not None and placed.reason != "SchedulingGated")
    )
