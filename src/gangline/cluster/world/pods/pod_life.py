"""The life of a pod on a simulated node: what its status should say now, and when to look again.

Everything is worked out from the pod itself and the time, so a kubelet that was restarted goes on where it stopped.
Order as on a real node: init containers one after the other (sidecars stay), then the containers, then readiness, the
end, perhaps a restart. Pure: kubelet.py asks here and writes what comes back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from gangline.api import names
from gangline.api.core import Container, ContainerStatus, Pod
from gangline.api.meta import Raw, condition
from gangline.cluster.world.pods.images import lacks_image, unpullable, without_image
from gangline.cluster.world.pods.life_times import PodTimes, is_number, times_of
from gangline.cluster.world.pods.pod_step import FINAL, LackedObject, NodeFacts, PodRejection, Statuses, Step
from gangline.cluster.world.pods.told_status import changed_conditions, container_statuses, told_status
from gangline.cluster.world.settings import NodePace
from gangline.runtime.clock import seconds_of, timestamp

FIRST_BACKOFF, LONGEST_BACKOFF = 10.0, 300.0
STOPPED = 143
CREATING, NO_CONFIG = "ContainerCreating", "CreateContainerConfigError"
LOOKS_AGAIN = 1.0
"""Seconds until a kubelet looks again for what a pod names."""
NOT_STARTED = {"waiting": {"reason": "PodInitializing"}}


def step(pod: Pod, place: NodeFacts, pace: NodePace) -> Step:
    """The next thing a kubelet does for a pod that is bound to its node."""
    times = times_of(pod, pace)
    if pod.metadata.deleting:
        return _stop(pod, place, times)
    if pod.status.phase in FINAL:
        return Step()
    return _run(pod, place, times)


# --- stopping ---------------------------------------------------------------------------------------------------------


def _stop(pod: Pod, place: NodeFacts, times: PodTimes) -> Step:
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
        "containerStatuses": container_statuses(pod.spec.containers, ended),
        "conditions": changed_conditions(pod, now, initialized=True, ready=False, done="PodFailed"),
    }


def _rejected(rejection: PodRejection, now: float) -> Raw:
    """The end of a pod that never began: no container has a status, and nothing but the scheduler's condition is
    there."""
    return {
        "phase": "Failed",
        "reason": rejection.reason,
        "message": f"Pod was rejected: {rejection.message}",
        "startTime": timestamp(now),
    }


# --- running ----------------------------------------------------------------------------------------------------------


def _run(pod: Pod, place: NodeFacts, times: PodTimes) -> Step:
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


def _live(pod: Pod, place: NodeFacts, times: PodTimes, began: float) -> Step:
    known = {status.name: status for status in pod.status.container_statuses + pod.status.init_container_statuses}
    held = place.held or (CREATING if place.now < began + times.start else "")
    if held:
        again = None if place.held else began + times.start
        return told_status(pod, place, began, *_creating(pod, held), again=again)
    if place.lacks is not None:
        return told_status(pod, place, began, *_creating(pod, CREATING, place.lacks), again=place.now + LOOKS_AGAIN)
    inits, inits_done, wakes = _inits(pod, known, place, times)
    if not inits_done:
        mains = [
            known.get(container.name) or ContainerStatus(name=container.name, state=NOT_STARTED)
            for container in pod.spec.containers
        ]
        return told_status(pod, place, began, inits, mains, again=wakes)
    mains, again = _mains(pod, known, place, times)
    phase = _phase(pod, mains)
    if phase in FINAL:
        inits = [_ended(status, 0, place.now) if "running" in status.state else status for status in inits]
    return told_status(pod, place, began, inits, mains, phase=phase, again=again, initialized=True)


def _creating(pod: Pod, reason: str, lacks: LackedObject | None = None) -> tuple[Statuses, Statuses]:
    first = bool(pod.spec.init_containers)
    state: Raw = {"waiting": {"reason": reason}}

    def waits(container: Container, usual: Raw) -> ContainerStatus:
        if lacks is not None and lacks.container == container.name:
            usual = {"waiting": {"reason": NO_CONFIG, "message": lacks.message}}
        return ContainerStatus(name=container.name, state=usual)

    return (
        [waits(container, state) for container in pod.spec.init_containers],
        [waits(container, NOT_STARTED if first else state) for container in pod.spec.containers],
    )


def _inits(
    pod: Pod, known: Mapping[str, ContainerStatus], place: NodeFacts, times: PodTimes
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
        begun = bool(before.state.keys() & {"running", "terminated"})
        if not begun and unpullable(pod, container):
            statuses.append(without_image(container, before))
            through = False
            continue
        status = before if begun else _started(before, place.now)
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
    pod: Pod, known: Mapping[str, ContainerStatus], place: NodeFacts, times: PodTimes
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
    pod: Pod, container: Container, status: ContainerStatus, place: NodeFacts, times: PodTimes
) -> tuple[ContainerStatus, float | None]:
    now = place.now
    if not status.state.keys() & {"running", "terminated"} and unpullable(pod, container):
        return without_image(container, status), None
    if "terminated" in status.state and not _restarts(pod, status):
        return status, None
    if "terminated" in status.state or (status.last_state and "waiting" in status.state):
        back = _ended_at(status) + backoff(status.restart_count)
        if now < back:
            return _backing_off(status), back
        status = _started(_restarted(status), now)
    elif "running" not in status.state:
        status = _started(status, now)
    return _running(pod, container, status, place, times)


def _running(
    pod: Pod, container: Container, status: ContainerStatus, place: NodeFacts, times: PodTimes
) -> tuple[ContainerStatus, float | None]:
    """A container that has been started: it ends, or becomes ready."""
    now, since = place.now, _since(status)
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
    if any(lacks_image(status) and not status.last_state for status in mains):
        return "Pending"
    if any("terminated" not in status.state or _restarts(pod, status) for status in mains):
        return "Running"
    return "Failed" if any(_code(status) for status in mains) else "Succeeded"


# --- container states -------------------------------------------------------------------------------------------------


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


def _restarted(status: ContainerStatus) -> ContainerStatus:
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


# --- the status as written --------------------------------------------------------------------------------------------


# --- waiting for other pods -------------------------------------------------------------------------------------------


def awaited(pod: Pod) -> dict[str, int]:
    """Cliques whose pods must be ready before this pod's own containers start, and how many of each."""
    container = next(
        (init_container for init_container in pod.spec.init_containers if init_container.name == names.INIT_CONTAINER),
        None,
    )
    if container is None:
        return {}
    counts: dict[str, int] = {}
    for text in _flag_values(container.args, ("--podcliques", "-p")):
        clique, _, count = text.strip().rpartition(":")
        if clique and is_number(count, 10):
            counts[clique] = int(count)
    return counts


def _flag_values(arguments: Iterable[str], flags: tuple[str, ...]) -> list[str]:
    given = list(arguments)
    values = [text.partition("=")[2] for text in given if text.partition("=")[0] in flags and "=" in text]
    values += [given[at + 1] for at, text in enumerate(given[:-1]) if text in flags]
    return [item for value in values for item in value.split(",")]


def ready(pod: Pod) -> bool:
    stored = condition(pod.status.conditions, "Ready")
    return stored is not None and stored.status == "True" and not pod.metadata.deleting


def through(pod: Pod) -> bool:
    """Its waiting init container has ended."""
    statuses = pod.status.init_container_statuses
    return any(status.name == names.INIT_CONTAINER and "terminated" in status.state for status in statuses)
