"""The life of a pod on a simulated node: what its status should say now, and when to look again.

Everything is worked out from the pod itself and the time, so a kubelet that was restarted goes on where it stopped.
Order as on a real node: init containers one after the other (sidecars stay), then the containers, then readiness, the
end, perhaps a restart. Pure: kubelet.py asks here and writes what comes back."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from gangline.api import names
from gangline.api.core import Container, ContainerStatus, Pod
from gangline.api.meta import Condition, Raw, condition
from gangline.cluster.world.settings import NodePace
from gangline.runtime.clock import seconds_of, timestamp

Statuses: TypeAlias = list[ContainerStatus]
FIRST_BACKOFF, LONGEST_BACKOFF = 10.0, 300.0
STOPPED = 143
FINAL = ("Succeeded", "Failed")
NOT_STARTED = {"waiting": {"reason": "PodInitializing"}}


@dataclass(frozen=True, slots=True)
class Rejection:
    """A pod that its node does not admit, as a kubelet says it."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """What the node adds to a pod."""

    now: float
    host_ip: str = ""
    pod_ip: str = ""
    held: str = ""
    """Why the pod cannot start yet although it is bound; empty: nothing holds it."""
    rejection: Rejection | None = None
    """Why the node turns a pod away that has not started."""
    waiting: bool = False
    """Its init container that waits for other pods must wait on."""


@dataclass(frozen=True, slots=True)
class Step:
    """What to write now (nothing, a status, or the end of the pod), and when to look again by itself."""

    status: Raw | None = None
    remove: bool = False
    again: float | None = None


@dataclass(frozen=True, slots=True)
class Times:
    start: float
    init: float
    ready: float
    stop: float
    run: float | None
    exits: tuple[int, ...]

    def exit(self, restarts: int) -> int:
        return self.exits[min(restarts, len(self.exits) - 1)]


def times_of(pod: Pod, pace: NodePace) -> Times:
    """How long this pod's stages take: its annotations, else the pace of the world."""
    notes = pod.annotations
    of_job = any(owner.kind == "Job" and owner.group == "batch" for owner in pod.metadata.owner_references)
    ends = of_job or names.EXIT_CODE in notes
    run = _seconds(notes, names.RUN_SECONDS, pace.job if ends else None)
    exits = tuple(
        int(item) for item in notes.get(names.EXIT_CODE, "0").replace(" ", "").split(",") if _is_number(item, 3)
    )
    return Times(
        start=_seconds(notes, names.START_SECONDS, pace.start) or 0.0,
        init=_seconds(notes, names.INIT_SECONDS, pace.init) or 0.0,
        ready=_seconds(notes, names.READY_SECONDS, pace.ready) or 0.0,
        stop=_seconds(notes, names.STOP_SECONDS, pace.stop) or 0.0,
        run=run,
        exits=exits or (0,),
    )


def _seconds(notes: Mapping[str, str], name: str, default: float | None) -> float | None:
    try:
        found = float(notes[name])
    except (KeyError, ValueError):
        return default
    return default if math.isnan(found) else max(found, 0.0)


def _is_number(text: str, digits: int) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= digits


def step(pod: Pod, place: NodeFacts, pace: NodePace) -> Step:
    """The next thing a kubelet does for a pod that is bound to its node."""
    times = times_of(pod, pace)
    if pod.metadata.deleting:
        return _stop(pod, place, times)
    if pod.status.phase in FINAL:
        return Step()
    return _run(pod, place, times)


# --- stopping
# ----------------------------------------------------------------------------------------------------------


def _stop(pod: Pod, place: NodeFacts, times: Times) -> Step:
    grace = float(pod.metadata.deletion_grace_period_seconds or 0)
    asked = seconds_of(pod.metadata.deletion_timestamp or "") - grace
    due = asked + min(times.stop, grace)
    if place.now < due and pod.status.phase not in FINAL:
        return Step(again=due)
    if pod.metadata.finalizers and pod.status.phase not in FINAL:
        return Step(_failed(pod, place.now))
    removed = pod.metadata.finalizers and not grace
    return Step(remove=not removed)


def _failed(pod: Pod, now: float, reason: str = "", message: str = "") -> Raw:
    """The end of a pod by force; what runs is stopped."""
    ended = [
        _ended(status, STOPPED, now, "Error") if "terminated" not in status.state else status
        for status in pod.status.container_statuses
    ]
    why = {"reason": reason, "message": message} if reason else {}
    return {
        "phase": "Failed",
        "startTime": pod.status.start_time or timestamp(now),
        **why,
        "containerStatuses": _written(pod.spec.containers, ended),
        "conditions": _conditions(pod, now, initialized=True, ready=False, done="PodFailed"),
    }


def _rejected(rejection: Rejection, now: float) -> Raw:
    """The end of a pod that never began: no container has a status, and nothing but the scheduler's condition is
    there."""
    return {
        "phase": "Failed",
        "reason": rejection.reason,
        "message": f"Pod was rejected: {rejection.message}",
        "startTime": timestamp(now),
    }


# --- running
# -----------------------------------------------------------------------------------------------------------


def _run(pod: Pod, place: NodeFacts, times: Times) -> Step:
    began = seconds_of(pod.status.start_time) if pod.status.start_time else place.now
    if place.rejection is not None and not pod.status.start_time:
        return Step(_rejected(place.rejection, place.now))
    deadline = None if pod.spec.active_deadline_seconds is None else began + pod.spec.active_deadline_seconds
    if deadline is not None and place.now >= deadline:
        return Step(
            _failed(pod, place.now, "DeadlineExceeded", "Pod was active on the node longer than the specified deadline")
        )
    step = _live(pod, place, times, began)
    moments = [moment for moment in (step.again, deadline) if moment is not None]
    return replace(step, again=min(moments, default=None))


def _live(pod: Pod, place: NodeFacts, times: Times, began: float) -> Step:
    known = {status.name: status for status in pod.status.container_statuses + pod.status.init_container_statuses}
    held = place.held or ("ContainerCreating" if place.now < began + times.start else "")
    if held:
        again = None if place.held else began + times.start
        return _told(pod, place, began, *_creating(pod, held), again=again)
    inits, inits_done, wakes = _inits(pod, known, place, times)
    if not inits_done:
        mains = [
            known.get(container.name) or ContainerStatus(name=container.name, state=NOT_STARTED)
            for container in pod.spec.containers
        ]
        return _told(pod, place, began, inits, mains, again=wakes)
    mains, again = _mains(pod, known, place, times)
    phase = _phase(pod, mains)
    if phase in FINAL:
        inits = [_ended(status, 0, place.now) if "running" in status.state else status for status in inits]
    return _told(pod, place, began, inits, mains, phase=phase, again=again, initialized=True)


def _creating(pod: Pod, reason: str) -> tuple[Statuses, Statuses]:
    first = bool(pod.spec.init_containers)
    state: Raw = {"waiting": {"reason": reason}}
    return (
        [ContainerStatus(name=init_container.name, state=state) for init_container in pod.spec.init_containers],
        [
            ContainerStatus(name=container.name, state=NOT_STARTED if first else state)
            for container in pod.spec.containers
        ],
    )


def _inits(
    pod: Pod, known: Mapping[str, ContainerStatus], place: NodeFacts, times: Times
) -> tuple[Statuses, bool, float | None]:
    """Init containers in order: their statuses, whether all are through, when the running one ends by itself."""
    statuses: Statuses = []
    through, wakes = True, None
    for container in pod.spec.init_containers:
        before = known.get(container.name) or ContainerStatus(name=container.name)
        if not through:
            statuses.append(_waits(before))
            continue
        if container.restart_policy == "Always":
            statuses.append(before if "running" in before.state else _started(before, place.now, ready=True))
            continue
        status = before if before.state.keys() & {"running", "terminated"} else _started(before, place.now)
        if "running" in status.state and not (place.waiting and container.name == names.INIT_CONTAINER):
            due = _since(status) + (times.init if container.name != names.INIT_CONTAINER else 0.0)
            status = _ended(status, 0, place.now, done=True) if place.now >= due else status
            wakes = None if place.now >= due else due
        through = "terminated" in status.state
        statuses.append(status)
    return statuses, through, wakes


def _waits(status: ContainerStatus) -> ContainerStatus:
    return ContainerStatus(
        name=status.name, restart_count=status.restart_count, state=NOT_STARTED, last_state=status.last_state
    )


def _mains(
    pod: Pod, known: Mapping[str, ContainerStatus], place: NodeFacts, times: Times
) -> tuple[Statuses, float | None]:
    """The containers now, and the next moment at which one of them changes by itself."""
    statuses, moments = [], []
    for container in pod.spec.containers:
        status, moment = _main(
            pod, container, known.get(container.name) or ContainerStatus(name=container.name), place, times
        )
        statuses.append(status)
        moments += [moment] if moment is not None else []
    return statuses, min(moments, default=None)


def _main(
    pod: Pod, container: Container, status: ContainerStatus, place: NodeFacts, times: Times
) -> tuple[ContainerStatus, float | None]:
    now = place.now
    if "terminated" in status.state and not _restarts(pod, status):
        return status, None
    if "terminated" in status.state or (status.last_state and "waiting" in status.state):
        back = _ended_at(status) + backoff(status.restart_count)
        if now < back:
            return _backing_off(status), back
        status = _started(_again(status), now)
    elif "running" not in status.state:
        status = _started(status, now)
    since = _since(status)
    ends = None if times.run is None else since + times.run
    if ends is not None and now >= ends:
        status = _ended(status, times.exit(status.restart_count), now)
        return _main(pod, container, status, place, times) if _restarts(pod, status) else (status, None)
    ready = since + (_probe_delay(container) or times.ready)
    status = ContainerStatus(
        name=status.name,
        ready=now >= ready,
        started=True,
        restart_count=status.restart_count,
        state=status.state,
        last_state=status.last_state,
    )
    return status, min(
        (moment for moment in (ends, ready if now < ready else None) if moment is not None), default=None
    )


def _probe_delay(container: Container) -> float:
    probes = [probe for probe in (container.readiness_probe, container.startup_probe) if probe]
    return max((float(probe.get("initialDelaySeconds") or 0) for probe in probes), default=0.0)


def _restarts(pod: Pod, status: ContainerStatus) -> bool:
    policy = pod.spec.restart_policy or "Always"
    return policy == "Always" or (policy == "OnFailure" and _code(status) != 0)


def backoff(restarts: int) -> float:
    """How long a container that ended waits before it starts again."""
    return 0.0 if restarts == 0 else min(FIRST_BACKOFF * 2.0 ** (restarts - 1), LONGEST_BACKOFF)


def _phase(pod: Pod, mains: Iterable[ContainerStatus]) -> str:
    mains = list(mains)
    if any("terminated" not in status.state or _restarts(pod, status) for status in mains):
        return "Running"
    return "Failed" if any(_code(status) for status in mains) else "Succeeded"


# --- container states
# --------------------------------------------------------------------------------------------------


def _started(status: ContainerStatus, now: float, ready: bool = False) -> ContainerStatus:
    return ContainerStatus(
        name=status.name,
        ready=ready,
        started=True,
        restart_count=status.restart_count,
        state={"running": {"startedAt": timestamp(now)}},
        last_state=status.last_state,
    )


def _ended(status: ContainerStatus, code: int, now: float, reason: str = "", done: bool = False) -> ContainerStatus:
    started = (status.state.get("running") or {}).get("startedAt") or timestamp(now)
    state = {
        "exitCode": code,
        "reason": reason or ("Completed" if code == 0 else "Error"),
        "startedAt": started,
        "finishedAt": timestamp(now),
    }
    return ContainerStatus(
        name=status.name,
        ready=done,
        started=False,
        restart_count=status.restart_count,
        state={"terminated": state},
        last_state=status.last_state,
    )


def _again(status: ContainerStatus) -> ContainerStatus:
    last = {"terminated": status.state["terminated"]} if "terminated" in status.state else status.last_state
    return ContainerStatus(name=status.name, restart_count=status.restart_count + 1, last_state=last)


def _backing_off(status: ContainerStatus) -> ContainerStatus:
    last = {"terminated": status.state["terminated"]} if "terminated" in status.state else status.last_state
    return ContainerStatus(
        name=status.name,
        started=False,
        restart_count=status.restart_count,
        state={"waiting": {"reason": "CrashLoopBackOff"}},
        last_state=last,
    )


def _code(status: ContainerStatus) -> int:
    return int((status.state.get("terminated") or {}).get("exitCode") or 0)


def _since(status: ContainerStatus) -> float:
    return seconds_of(status.state["running"]["startedAt"])


def _ended_at(status: ContainerStatus) -> float:
    ended = status.state.get("terminated") or status.last_state["terminated"]
    return seconds_of(ended["finishedAt"])


# --- the status as written
# ---------------------------------------------------------------------------------------------


def _told(
    pod: Pod,
    place: NodeFacts,
    began: float,
    inits: Statuses,
    mains: Statuses,
    *,
    phase: str = "Pending",
    again: float | None = None,
    initialized: bool = False,
) -> Step:
    """A step with the status that differs from what the pod already says; nothing to write when it says it all."""
    ready = phase == "Running" and all(status.ready for status in mains)
    conditions = _conditions(
        pod,
        place.now,
        initialized=initialized or phase in FINAL,
        ready=ready,
        done={"Succeeded": "PodCompleted", "Failed": "PodFailed"}.get(phase, ""),
    )
    if (
        pod.status.phase == phase
        and pod.status.start_time
        and not conditions
        and list(pod.status.container_statuses) == mains
        and list(pod.status.init_container_statuses) == inits
    ):
        return Step(again=again)
    status: Raw = {
        "phase": phase,
        "startTime": pod.status.start_time or timestamp(began),
        "containerStatuses": _written(pod.spec.containers, mains),
    }
    if inits:
        status["initContainerStatuses"] = _written(pod.spec.init_containers, inits)
    if conditions:
        status["conditions"] = conditions
    if place.pod_ip and not pod.status.pod_ip:
        status |= {
            "hostIP": place.host_ip,
            "hostIPs": [{"ip": place.host_ip}],
            "podIP": place.pod_ip,
            "podIPs": [{"ip": place.pod_ip}],
        }
    return Step(status, again=again)


def _conditions(pod: Pod, now: float, *, initialized: bool, ready: bool, done: str) -> list[Raw]:
    """The conditions a kubelet owns, only those whose status changes."""
    gates = [str(gate.get("conditionType")) for gate in pod.spec.readiness_gates]
    open_gates = all((found := condition(pod.status.conditions, gate)) and found.status == "True" for gate in gates)
    unready = done or "ContainersNotReady"
    wanted = (
        ("PodReadyToStartContainers", not done, ""),
        ("Initialized", initialized, done or "ContainersNotInitialized"),
        ("Ready", ready and open_gates, unready if not ready else "ReadinessGatesNotReady"),
        ("ContainersReady", ready, unready),
        ("PodScheduled", True, ""),
    )
    standing = [(condition(pod.status.conditions, kind), kind, value, reason) for kind, value, reason in wanted]
    return [
        _condition(found, kind, value, reason, now)
        for found, kind, value, reason in standing
        if not _says(found, value)
    ]


def _says(found: Condition | None, value: bool) -> bool:
    return found is not None and found.status == str(value)


def _condition(found: Condition | None, kind: str, value: bool, reason: str, now: float) -> Raw:
    """A condition as it is now; what it said before is taken back."""
    told: Raw = {"type": kind, "status": str(value), "lastTransitionTime": timestamp(now)}
    if not value:
        told["reason"] = reason
    elif found is not None and found.reason:
        told["reason"] = ""
    if found is not None and found.message:
        told["message"] = ""
    return told


def _written(containers: Iterable[Container], statuses: Iterable[ContainerStatus]) -> list[Raw]:
    images = {container.name: container.image for container in containers}
    return [
        {
            "name": status.name,
            "ready": status.ready,
            "started": bool(status.started),
            "restartCount": status.restart_count,
            "image": images.get(status.name, ""),
            "imageID": "",
            "state": status.state,
            "lastState": status.last_state,
        }
        for status in statuses
    ]


# --- waiting for other pods
# --------------------------------------------------------------------------------------------


def awaited(pod: Pod) -> dict[str, int]:
    """Cliques whose pods must be ready before this pod's own containers start, and how many of each."""
    container = next(
        (init_container for init_container in pod.spec.init_containers if init_container.name == names.INIT_CONTAINER),
        None,
    )
    if container is None:
        return {}
    found: dict[str, int] = {}
    for text in _flag_values(container.args, ("--podcliques", "-p")):
        clique, _, count = text.strip().rpartition(":")
        if clique and _is_number(count, 10):
            found[clique] = int(count)
    return found


def _flag_values(arguments: Iterable[str], flags: tuple[str, ...]) -> list[str]:
    given = list(arguments)
    values = [text.partition("=")[2] for text in given if text.partition("=")[0] in flags and "=" in text]
    values += [given[at + 1] for at, text in enumerate(given[:-1]) if text in flags]
    return [item for value in values for item in value.split(",")]


def ready(pod: Pod) -> bool:
    found = condition(pod.status.conditions, "Ready")
    return found is not None and found.status == "True" and not pod.metadata.deleting


def through(pod: Pod) -> bool:
    """Its waiting init container has ended."""
    statuses = pod.status.init_container_statuses
    return any(status.name == names.INIT_CONTAINER and "terminated" in status.state for status in statuses)
