"""The conditions of a gang, each with its reason and message, from what is there.

Readiness comes from the gang's pods, for every backend alike; the scheduler's own object only explains. Pure: tell.py
puts them into the status.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.grove import PodClique, PodGang
from gangline.api.meta import Condition, condition
from gangline.operator.backends.contract import GangState, PodGangInfo
from gangline.operator.backends.pod_messages import refused_pod
from gangline.operator.desired.failures import failed_condition
from gangline.operator.desired.pods import failed
from gangline.operator.gangs.look import NOT_READY
from gangline.operator.memory.scheduler_timeout import PATIENCE

SILENT = "SchedulerSilent"


@dataclass(frozen=True, slots=True)
class GangView:
    """What the status of a gang is computed from."""

    gang: PodGang
    info: PodGangInfo
    """With the pods that are there."""
    cliques: Mapping[str, PodClique]
    backend: str = "its backend"
    """What a message calls the backend."""
    untranslated: str = ""
    """Why the backend's objects are not there yet; empty when they are."""
    says: GangState = field(default_factory=GangState)
    """What the backend's own object says of the gang."""
    sticky: bool = False
    """A gang that was complete once stays so."""
    silent: bool = False
    """No scheduler has reported anything about it for a set time."""
    asked: str = ""
    """The backend that the set asks for now, while bound pods keep the gang with its own."""
    score: float | None = None
    """How well its pods are placed, where the scheduler does not say it."""

    def below_minimum(self, is_good: Callable[[Pod], bool]) -> list[str]:
        """Groups in which fewer pods than their minimum are scheduled, or ready, as text."""
        short = []
        for group in self.info.groups:
            counted = [pod for pod in group.pods if not pod.metadata.deleting and (self.sticky or not failed(pod))]
            good = sum(is_good(pod) for pod in counted)
            if good < group.minimum:
                short.append(f"{group.name} {good}/{group.minimum}")
        return short

    def holds(self, type: str) -> bool:
        """Whether a condition was true when the status was last written."""
        known = condition(self.gang.status.conditions, type)
        return known is not None and known.status == "True"


def gang_conditions(view: GangView, unscheduled: Sequence[str], unready: Sequence[str]) -> Iterator[Condition]:
    """In the order in which people read them; `unscheduled` and `unready`: the groups below their minimum."""
    yield _initialized(view)
    yield _scheduled(view, unscheduled)
    yield _ready(unready)
    yield from _unhealthy(view, unscheduled, unready)
    yield from _disrupted(view)
    yield from _wishes_dropped(view)
    yield from _backend_change_pending(view)
    pods = (pod for group in view.info.groups for pod in group.pods)
    failure = None if view.sticky else failed_condition(view.gang.status.conditions, pods)
    if failure is not None:
        yield failure


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
    before = condition(view.gang.status.conditions, "Initialized")
    if not view.says.ready:
        cause = view.says.why or "it does not say why"
        return _false("Initialized", NOT_READY, f"{view.backend} holds the gates: {cause}")
    if view.sticky and before is not None and before.status == "True":
        return before
    why = incomplete(view) or ("" if view.sticky else view.untranslated)
    if why:
        return _false("Initialized", "PodGangPodsCreationPending", why)
    return _true("Initialized", "PodGangPodsCreated", "all pods of the gang are there")


def _scheduled(view: GangView, unscheduled: Sequence[str]) -> Condition:
    if not unscheduled:
        unavailable = view.says.reason == "GangSchedulingUnavailable"
        note = view.says.why if unavailable else "every group has its minimum scheduled"
        return _true("Scheduled", "MinimumScheduled", note)
    too_small = _scaled_below_minimum(view)
    if too_small:
        return _false("Scheduled", "ScaledBelowMinimum", too_small)
    if view.silent:
        running = f"is {view.info.scheduler_name} running?"
        return _false(
            "Scheduled", SILENT, f"no scheduler has looked at this gang for {PATIENCE / 60:.0f} min: {running}"
        )
    refused = refused_pod(view.info)
    waits = f"waiting for the scheduler: {', '.join(unscheduled)}{f'; it says of {refused}' if refused else ''}"
    why = view.says.why or view.untranslated or incomplete(view) or waits
    return _false("Scheduled", view.says.reason or "MinimumNotScheduled", why)


def _scaled_below_minimum(view: GangView) -> str:
    """Which clique somebody scaled so low that its gang can never run."""
    for group in view.info.groups:
        clique = view.cliques.get(group.name)
        if clique is not None and clique.spec.replicas < group.minimum:
            return (
                f"{group.name} is scaled to {clique.spec.replicas} pods, below its minimum of {group.minimum}: "
                "it cannot run until it is scaled up"
            )
    return ""


def _ready(unready: Sequence[str]) -> Condition:
    if unready:
        return _false("Ready", "MinimumNotReady", f"ready pods: {', '.join(unready)}")
    return _true("Ready", "MinimumReady", "every group has its minimum ready")


def _unhealthy(view: GangView, unscheduled: Sequence[str], unready: Sequence[str]) -> Iterator[Condition]:
    """A gang that ran and fell below its minimum."""
    fell = bool(unready) and (view.holds("Ready") or view.holds("Unhealthy"))
    below = f"below minimum: {', '.join(unscheduled or unready)}" if fell else ""
    yield from _while(view, "Unhealthy", ("BelowMinimum", below), ("MinimumReady", "every group has its minimum ready"))


def _disrupted(view: GangView) -> Iterator[Condition]:
    hit = [(pod, why) for group in view.info.groups for pod in group.pods if (why := _disruption(pod))]
    reason = hit[0][1] if hit else ""
    message = f"{len(hit)} pods are being disrupted, first {hit[0][0].name}" if hit else ""
    yield from _while(view, "DisruptionTarget", (reason, message), ("NoDisruption", "no pod is being disrupted"))


def _disruption(pod: Pod) -> str:
    disrupted = condition(pod.status.conditions, "DisruptionTarget")
    return disrupted.reason or "Disruption" if disrupted is not None and disrupted.status == "True" else ""


def _wishes_dropped(view: GangView) -> Iterator[Condition]:
    """Wishes that the scheduler cannot express."""
    dropped = ("BackendCannotExpress", "; ".join(view.says.lost))
    yield from _while(view, "WishesDropped", dropped, ("NothingDropped", "the scheduler knows everything"))


def _backend_change_pending(view: GangView) -> Iterator[Condition]:
    """A change of backend waits until no pod is bound."""
    own = view.gang.labels.get(names.SCHEDULER_BACKEND, "")
    text = f"the set asks for backend {view.asked}; the gang stays with {own} while its pods are bound"
    pending = ("PodsBound", text if view.asked else "")
    yield from _while(view, "BackendChangePending", pending, ("Changed", "the set has its way"))


def _while(view: GangView, type: str, raised: tuple[str, str], over: tuple[str, str]) -> Iterator[Condition]:
    """A condition that is there only for a gang that had it once: true while `raised` has a message, then false."""
    reason, message = raised
    if message:
        yield _true(type, reason, message)
    elif condition(view.gang.status.conditions, type) is not None:
        yield _false(type, *over)


def _true(type: str, reason: str, message: str) -> Condition:
    return Condition(type=type, status="True", reason=reason, message=message)


def _false(type: str, reason: str, message: str) -> Condition:
    return Condition(type=type, status="False", reason=reason, message=message)
