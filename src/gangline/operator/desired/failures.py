"""Pods of a clique that failed: when each is replaced, and the text about it.

A pod that its node refused (`OutOfcpu`), or that was evicted, never runs again; only a new one can. The first failure
is answered at once, each further one in a row after a longer pause, so that nothing spins. How often it was is written
on the pod that comes next, so that a restart forgets nothing. Beside rollout.py, which replaces pods that are outdated.
Pure."""

from __future__ import annotations

from collections.abc import Iterable

from gangline.api import names
from gangline.api.core import ContainerStatus, Pod
from gangline.api.meta import Condition, condition
from gangline.operator.desired.pods import failed, ready
from gangline.rules.values.times import as_duration, seconds

FIRST, LONGEST = 10.0, 300.0
"""Seconds before the second replacement in a row; it doubles up to the longest."""
STEADY = 600.0
"""A pod that lived so long begins to count anew."""
TEXT = 200
MOST_NAMED = 3
PODS_FAILED = "PodsFailed"


def wait(pod: Pod, now: float) -> float | None:
    """Seconds until a failed pod may be replaced; None for one that has not failed."""
    if not failed(pod) or pod.metadata.deleting:
        return None
    return pause(_before(pod)) - (now - _ended(pod, now))


def pause(before: int) -> float:
    """How long after a failure, with so many in a row before it, a pod is replaced."""
    return 0.0 if before <= 0 else min(FIRST * 2 ** min(before - 1, 10), LONGEST)


def marks(pod: Pod, now: float) -> dict[str, str]:
    """What the pod that replaces this one remembers of it."""
    born = seconds(pod.metadata.creation_timestamp)
    lived = _ended(pod, now) - (born if born is not None else now)
    times = 1 if lived >= STEADY else _before(pod) + 1
    return {names.FAILED_BEFORE: str(times), names.LAST_FAILURE: why(pod)}


def why(pod: Pod) -> str:
    """A failure in words: the pod's own reason and message, else how its containers ended."""
    own_words = ": ".join(filter(None, (pod.status.reason, " ".join(pod.status.message.split()))))
    return (own_words or _exits(pod) or "it does not say why")[:TEXT]


def failures_text(pods: Iterable[Pod]) -> str:
    """The failures of pods that failed, and of those that replace one and are not ready yet; empty: none."""
    texts = [
        text
        for pod in sorted(pods, key=lambda pod: pod.name)
        if not pod.metadata.deleting and (text := _failure_of(pod))
    ]
    return "; ".join(texts[:MOST_NAMED]) + (f"; and {len(texts) - MOST_NAMED} more" if len(texts) > MOST_NAMED else "")


def failed_condition(before: tuple[Condition, ...], pods: Iterable[Pod]) -> Condition | None:
    """The condition that says so; none as long as nothing ever failed."""
    text = failures_text(pods)
    if text:
        return Condition(type=PODS_FAILED, status="True", reason="PodFailed", message=text)
    if condition(before, PODS_FAILED) is None:
        return None
    return Condition(
        type=PODS_FAILED,
        status="False",
        reason="NoPodFailed",
        message="no pod has failed, or what replaced it is ready",
    )


def _failure_of(pod: Pod) -> str:
    times, where = _before(pod), f" on {pod.spec.node_name}" if pod.spec.node_name else ""
    if failed(pod):
        later = f"replaced {as_duration(pause(times))} later" if times else "replaced at once"
        return f"pod {pod.name} failed{where} ({why(pod)}), {later}"
    if not times or ready(pod):
        return ""
    return (
        f"pod {pod.name} replaces one that failed ({pod.annotations.get(names.LAST_FAILURE, '')}), {_times(times)} in "
        "a row"
    )


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _before(pod: Pod) -> int:
    """Failures in a row before this pod."""
    text = pod.annotations.get(names.FAILED_BEFORE, "")
    return int(text) if text.isdigit() and len(text) < 6 else 0


def _ended(pod: Pod, now: float) -> float:
    """When it failed, as far as it is known."""
    ends = [
        _finished(container_status)
        for container_status in (*pod.status.container_statuses, *pod.status.init_container_statuses)
    ]
    moved = [seconds(item.last_transition_time) for item in pod.status.conditions]
    known = [time for time in (*ends, *moved, seconds(pod.metadata.creation_timestamp)) if time is not None]
    return max(known, default=now)


def _finished(status: ContainerStatus) -> float | None:
    return seconds((status.state.get("terminated") or {}).get("finishedAt"))


def _exits(pod: Pod) -> str:
    statuses = (*pod.status.init_container_statuses, *pod.status.container_statuses)
    ends = [(status.name, status.state.get("terminated") or {}) for status in statuses]
    return ", ".join(
        f"container {name} ended with {end.get('reason') or 'Error'}, exit code {end.get('exitCode')}"
        for name, end in ends
        if end.get("exitCode")
    )
