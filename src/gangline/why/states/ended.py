"""A workload that has finished or failed, with the last words of its pods."""

from __future__ import annotations

from gangline.api.core import Pod
from gangline.scheduler.why.verdict import counted
from gangline.why.cause import Cause
from gangline.why.objects import dig
from gangline.why.states.members import living
from gangline.why.workloads import Subject

MAKERS = ("Job", "Deployment", "StatefulSet", "ReplicaSet", "PodCliqueSet")
"""Owners that make a pod anew when it fails."""


def ended(subject: Subject) -> Cause | None:
    return _job_ended(subject) or _pods_ended(subject)


def _job_ended(subject: Subject) -> Cause | None:
    """What a Job's conditions say of its end."""
    if subject.top is None or subject.top_kind != "Job":
        return None
    name = subject.top["metadata"]["name"]
    for item in dig(subject.top, "status", "conditions") or ():
        kind, when = item.get("type"), item.get("lastTransitionTime", "")
        if item.get("status") == "True" and kind in ("Complete", "SuccessCriteriaMet"):
            succeeded = counted(dig(subject.top, "status", "succeeded") or 0, "pod")
            return Cause("finished", f"Job/{name} completed at {when}; {succeeded} succeeded", state="has finished")
        if item.get("status") == "True" and kind in ("Failed", "FailureTarget"):
            reason = ": ".join(str(part) for part in (item.get("reason"), item.get("message")) if part)
            return Cause(
                "failed",
                f"Job/{name} failed at {when}: {reason}",
                facts=tuple(failure_lines(subject)),
                state="has failed",
            )
    return None


def _pods_ended(subject: Subject) -> Cause | None:
    """Every pod has ended, and nobody makes another one."""
    if not subject.pods or living(subject) or any(pod.metadata.deleting for pod in subject.pods):
        return None
    failed = [pod for pod in subject.pods if pod.status.phase == "Failed"]
    if not failed:
        return Cause("finished", f"{counted(len(subject.pods), 'pod')} succeeded", state="has finished")
    if subject.top_kind in MAKERS:
        return None
    last = failure(max(failed, key=lambda pod: pod.metadata.creation_timestamp or ""))
    return Cause(
        "failed", last, facts=tuple(line for line in failure_lines(subject) if line != last), state="has failed"
    )


def failure_lines(subject: Subject) -> list[str]:
    failed = sorted(
        (pod for pod in subject.pods if pod.status.phase == "Failed"),
        key=lambda pod: pod.metadata.creation_timestamp or "",
    )
    return [failure(pod) for pod in failed[-3:]]


def failure(pod: Pod) -> str:
    where = f" on {pod.spec.node_name}" if pod.spec.node_name else ""
    words = [pod.status.reason, pod.status.message]
    for status in (*pod.status.init_container_statuses, *pod.status.container_statuses):
        over = dig(status.state, "terminated") or {}
        if over.get("exitCode"):
            words.append(
                f"container {status.name} ended with exit code {over['exitCode']}"
                + (f" ({over['reason']})" if over.get("reason") else "")
                + (f": {over['message']}" if over.get("message") else "")
            )
    why = ": ".join(part for part in words if part)
    return f"pod {pod.name} failed{where}" + (f": {why}" if why else "")
