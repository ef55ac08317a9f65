"""What is true of a gang: whether it is complete, scheduled, ready, and in words why not.

Readiness comes from its pods, for every backend alike; the scheduler's own object only explains. Pure: podgang.py
reads and writes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.grove import PodClique, PodGang
from gangline.api.meta import Condition, Raw, as_raw, condition
from gangline.operator.backends.contract import GangState, PodGangInfo
from gangline.operator.backends.said import said_of_a_pod
from gangline.operator.desired.pods import failed, ready, scheduled
from gangline.operator.failures import failed_condition
from gangline.operator.plan import condition_raw, with_condition
from gangline.operator.silence import PATIENCE

PENDING, STARTING, RUNNING = "Pending", "Starting", "Running"
SILENT = "SchedulerSilent"
NOT_READY, NOT_RUNNING = "BackendNotReady", "BackendNotRunning"
"""Why a gang that may be whole is not let go: its backend says no, or there is none that could say yes."""


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


def status(view: GangView, now: str) -> Raw:
    placed, running = _short(view, scheduled), _short(view, ready)
    phase = PENDING if placed else STARTING if running else RUNNING
    before = view.gang.status.conditions
    found = [
        _initialized(view),
        _scheduled_condition(view, placed),
        _ready_condition(running),
        _unhealthy(view, placed, running),
        *_disrupted(view),
        *_lost(view),
        *_stays(view),
        None if view.sticky else failed_condition(before, (pod for group in view.info.groups for pod in group.pods)),
    ]
    new: Raw = {"phase": phase, "conditions": [with_condition(before, item, now) for item in found if item is not None]}
    score = view.says.score if view.says.score is not None else view.score if not placed else None
    return new | ({"placementScore": score} if score is not None else {})


def held(gang: PodGang) -> str:
    """Why its backend holds the gates of a gang, whatever else is true of it; empty: it does not."""
    found = condition(gang.status.conditions, "Initialized")
    return (
        found.message
        if found is not None and found.status == "False" and found.reason in (NOT_READY, NOT_RUNNING)
        else ""
    )


def absent(gang: PodGang, why: str, now: str) -> Raw:
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
        said = view.says.why or "it does not say why"
        return Condition(
            type="Initialized", status="False", reason=NOT_READY, message=f"{view.backend} holds the gates: {said}"
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
    found = []
    for group in view.info.groups:
        good = sum(test(pod) for pod in group.pods if not pod.metadata.deleting and (view.sticky or not failed(pod)))
        if good < group.minimum:
            found.append(f"{group.name} {good}/{group.minimum}")
    return found


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
                f"running?"
            ),
        )
    refused = said_of_a_pod(view.info)
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
    found = condition(pod.status.conditions, "DisruptionTarget")
    return found.reason or "Disruption" if found is not None and found.status == "True" else ""
