"""What is true of a gang: whether it is complete, scheduled, ready, and in words why not.

Readiness comes from its pods, for every backend alike; the scheduler's own object only explains. Pure: controller.py
reads and writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.grove import PodClique, PodGang
from gangline.api.kinds import NODE, POD_GANG, Kind
from gangline.api.meta import Condition, Object, Raw, as_raw, condition
from gangline.operator.backends.contract import GangState, PodGangInfo
from gangline.operator.backends.pod_messages import refused_pod
from gangline.operator.desired.failures import failed_condition
from gangline.operator.desired.pods import failed, ready, scheduled
from gangline.operator.gangs import placement
from gangline.operator.gangs.look import NOT_READY, NOT_RUNNING, GangObjects, initialized
from gangline.operator.memory.scheduler_timeout import PATIENCE
from gangline.operator.plan import EventNote, condition_raw, with_condition
from gangline.rules.values.times import seconds

if TYPE_CHECKING:
    from gangline.operator.operator import Operator
    from gangline.runtime import Reader

PENDING, STARTING, RUNNING = "Pending", "Starting", "Running"
SILENT = "SchedulerSilent"


@dataclass(frozen=True, slots=True)
class GangView:
    gang: PodGang
    info: PodGangInfo
    """With the pods that are there."""
    cliques: Mapping[str, PodClique]
    translated: str
    """Why the backend's objects are not there yet; empty when they are."""
    says: GangState
    sticky: bool
    """A gang that was complete once stays so."""
    silent: bool = False
    """No scheduler has said anything about it for a set time."""
    asked: str = ""
    """The backend that the set asks for now, while bound pods keep the gang with its own."""
    score: float | None = None
    """How well its pods are placed, where the scheduler does not say it."""
    backend: str = "its backend"


def gang_status(view: GangView, now: str) -> Raw:
    placed, running = _short(view, scheduled), _short(view, ready)
    before = view.gang.status.conditions
    conditions = [
        _initialized(view),
        _scheduled_condition(view, placed),
        _ready_condition(running),
        _unhealthy(view, placed, running),
        *_disrupted(view),
        *_lost(view),
        *_stays(view),
        None if view.sticky else failed_condition(before, (pod for group in view.info.groups for pod in group.pods)),
    ]
    new: Raw = {
        "phase": _phase(placed, running),
        "conditions": [with_condition(before, item, now) for item in conditions if item is not None],
    }
    score = _score(view, placed)
    start = view.says.start if placed else None
    return new | ({"placementScore": score} if score is not None else {}) | ({"start": start} if start else {})


def _phase(placed: Sequence[str], running: Sequence[str]) -> str:
    """`placed` and `running` name the groups that are short of scheduled or of ready pods."""
    if placed:
        return PENDING
    return STARTING if running else RUNNING


def _score(view: GangView, placed: Sequence[str]) -> float | None:
    """The scheduler's own score first; ours only for a gang that is placed."""
    if view.says.score is not None or placed:
        return view.says.score
    return view.score


def absent_status(gang: PodGang, why: str, now: str) -> Raw:
    """The status of a gang whose backend does not run: as it was, but not whole."""
    before = gang.status.conditions
    told = Condition(type="Initialized", status="False", reason=NOT_RUNNING, message=why)
    others = [condition_raw(item) for item in before if item.type != "Initialized"]
    known: Raw = as_raw(gang.status)
    return known | {"phase": gang.status.phase or PENDING, "conditions": [with_condition(before, told, now), *others]}


def incomplete(view: GangView) -> str:
    """Which pods are still missing, or nothing."""
    for group in view.info.groups:
        clique = view.cliques.get(group.name)
        if clique is None:
            return f"PodClique {group.name} does not exist yet"
        there = sum(not pod.metadata.deleting for pod in group.pods)
        if there < clique.spec.replicas:
            return f"{group.name} has {there} of {clique.spec.replicas} pods"
    return ""


def _initialized(view: GangView) -> Condition:
    was = condition(view.gang.status.conditions, "Initialized")
    if not view.says.ready:
        cause = view.says.why or "it does not say why"
        return Condition(
            type="Initialized", status="False", reason=NOT_READY, message=f"{view.backend} holds the gates: {cause}"
        )
    if view.sticky and was is not None and was.status == "True":
        return was
    why = incomplete(view) or ("" if view.sticky else view.translated)
    if why:
        return Condition(type="Initialized", status="False", reason="PodGangPodsCreationPending", message=why)
    return Condition(
        type="Initialized", status="True", reason="PodGangPodsCreated", message="all pods of the gang are there"
    )


def _short(view: GangView, test: Callable[[Pod], bool]) -> list[str]:
    """Groups below their minimum, as text."""
    short = []
    for group in view.info.groups:
        good = sum(test(pod) for pod in group.pods if not pod.metadata.deleting and (view.sticky or not failed(pod)))
        if good < group.minimum:
            short.append(f"{group.name} {good}/{group.minimum}")
    return short


def _scheduled_condition(view: GangView, placed: Sequence[str]) -> Condition:
    if not placed:
        note = (
            view.says.why
            if view.says.reason == "GangSchedulingUnavailable"
            else "every group has its minimum scheduled"
        )
        return Condition(type="Scheduled", status="True", reason="MinimumScheduled", message=note)
    low = _too_small(view)
    if low:
        return Condition(type="Scheduled", status="False", reason="ScaledBelowMinimum", message=low)
    if view.silent:
        return Condition(
            type="Scheduled",
            status="False",
            reason=SILENT,
            message=(
                f"no scheduler has looked at this gang for {PATIENCE / 60:.0f} min: is {view.info.scheduler_name} "
                "running?"
            ),
        )
    refused = refused_pod(view.info)
    waits = f"waiting for the scheduler: {', '.join(placed)}{f'; it says of {refused}' if refused else ''}"
    why = view.says.why or view.translated or incomplete(view) or waits
    return Condition(type="Scheduled", status="False", reason=view.says.reason or "MinimumNotScheduled", message=why)


def _too_small(view: GangView) -> str:
    """Which clique somebody scaled so low that its gang can never run."""
    for group in view.info.groups:
        clique = view.cliques.get(group.name)
        if clique is not None and clique.spec.replicas < group.minimum:
            return (
                f"{group.name} is scaled to {clique.spec.replicas} pods, below its minimum of {group.minimum}: "
                "it cannot run until it is scaled up"
            )
    return ""


def _ready_condition(running: Sequence[str]) -> Condition:
    if not running:
        return Condition(
            type="Ready", status="True", reason="MinimumReady", message="every group has its minimum ready"
        )
    return Condition(
        type="Ready", status="False", reason="MinimumNotReady", message=f"ready pods: {', '.join(running)}"
    )


def _unhealthy(view: GangView, placed: Sequence[str], running: Sequence[str]) -> Condition | None:
    """A gang that ran and fell below its minimum."""
    was = condition(view.gang.status.conditions, "Ready")
    known = condition(view.gang.status.conditions, "Unhealthy")
    ran = (was is not None and was.status == "True") or (known is not None and known.status == "True")
    if running and ran:
        return Condition(
            type="Unhealthy",
            status="True",
            reason="BelowMinimum",
            message=f"below minimum: {', '.join(placed or running)}",
        )
    if known is None:
        return None
    return Condition(
        type="Unhealthy", status="False", reason="MinimumReady", message="every group has its minimum ready"
    )


def _disrupted(view: GangView) -> list[Condition]:
    hit = [pod for group in view.info.groups for pod in group.pods if _target(pod)]
    if hit:
        return [
            Condition(
                type="DisruptionTarget",
                status="True",
                reason=_target(hit[0]) or "Disruption",
                message=f"{len(hit)} pods are being disrupted, first {hit[0].name}",
            )
        ]
    if condition(view.gang.status.conditions, "DisruptionTarget") is None:
        return []
    return [
        Condition(type="DisruptionTarget", status="False", reason="NoDisruption", message="no pod is being disrupted")
    ]


def _lost(view: GangView) -> list[Condition]:
    """Wishes that the scheduler cannot express."""
    if view.says.lost:
        return [
            Condition(
                type="WishesDropped", status="True", reason="BackendCannotExpress", message="; ".join(view.says.lost)
            )
        ]
    if condition(view.gang.status.conditions, "WishesDropped") is None:
        return []
    return [
        Condition(
            type="WishesDropped", status="False", reason="NothingDropped", message="the scheduler knows everything"
        )
    ]


def _stays(view: GangView) -> list[Condition]:
    """A change of backend that waits until no pod is bound."""
    if view.asked:
        own = view.gang.labels.get(names.SCHEDULER_BACKEND, "")
        return [
            Condition(
                type="BackendChangePending",
                status="True",
                reason="PodsBound",
                message=(f"the set asks for backend {view.asked}; the gang stays with {own} while its pods are bound"),
            )
        ]
    if condition(view.gang.status.conditions, "BackendChangePending") is None:
        return []
    return [Condition(type="BackendChangePending", status="False", reason="Changed", message="the set has its way")]


def _target(pod: Pod) -> str:
    disrupted = condition(pod.status.conditions, "DisruptionTarget")
    return disrupted.reason or "Disruption" if disrupted is not None and disrupted.status == "True" else ""


def gang_view(
    op: Operator, read: Reader, look: GangObjects, info: PodGangInfo, trouble: str, says: GangState, silent: bool
) -> GangView:
    """What the status of a gang is computed from."""
    return GangView(
        look.gang,
        info,
        look.cliques,
        trouble,
        says,
        op.settings.manner.gate_by_listing,
        silent,
        look.asked,
        None if op.settings.manner.plain_conditions else _placement_score(op, read, look),
        f"backend {look.selection.backend.name}",
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
    backend = f"backend {look.selection.backend.name}"
    view = GangView(look.gang, info, look.cliques, "", GangState(), False, asked=look.asked, backend=backend)
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


def _outside_cause(told: Raw, says: GangState) -> bool:
    if told["type"] == "Scheduled" and (told["reason"] == SILENT or (says.blocked and told["message"] == says.why)):
        return True
    return bool(told["reason"] == NOT_READY)


def unanswered(pods: Iterable[Pod], says: GangState) -> bool:
    """Whether pods are there for the scheduler to take, and it has not given a sign on any of them, nor on its own
    object."""
    if says.reason and not says.blocked:
        return False
    living = [pod for pod in pods if not pod.metadata.deleting]
    return any(not pod.spec.scheduling_gates for pod in living) and not any(_noticed(pod) for pod in living)


def _noticed(pod: Pod) -> bool:
    """Bound, ended, or told why not; that a pod was gated is no word of its scheduler."""
    placed = condition(pod.status.conditions, "PodScheduled")
    return (
        bool(pod.spec.node_name)
        or pod.status.phase == "Failed"
        or (placed is not None and placed.reason != "SchedulingGated")
    )
