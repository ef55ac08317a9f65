"""Which ends of a Job's pods count as failures: what `podFailurePolicy` and `podReplacementPolicy` say, as upstream
reads them.

The first rule that matches decides: `Ignore` (tried again, not counted), `Count`, `FailIndex`, `FailJob`. An eviction
is seen by the pod's condition `DisruptionTarget`. Pure; what follows from a verdict is for jobs.py."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gangline.api.builtin import Job
from gangline.api.core import ContainerStatus, Pod
from gangline.api.meta import Raw

IGNORE, COUNT, FAIL_INDEX, FAIL_JOB = "Ignore", "Count", "FailIndex", "FailJob"


@dataclass(frozen=True, slots=True)
class FailureVerdict:
    """What a failed pod means for its Job; without a rule that matches it counts."""

    action: str = COUNT
    message: str = ""
    """Why the whole Job fails."""

    @property
    def counts(self) -> bool:
        return self.action != IGNORE


def only_replaces_failed(job: Job) -> bool:
    """A pod on its way out is still there until it has ended: it is neither counted nor replaced before."""
    return job.spec.pod_replacement_policy == "Failed" or job.spec.pod_failure_policy is not None


def has_failed(job: Job, pod: Pod) -> bool:
    """Failed, or deleted by someone before it could end, unless the Job waits for the end."""
    if pod.status.phase == "Failed":
        return True
    return pod.metadata.deleting and pod.status.phase != "Succeeded" and not only_replaces_failed(job)


def is_terminating(pod: Pod) -> bool:
    return pod.metadata.deleting and pod.status.phase not in ("Succeeded", "Failed")


def judge_failure(job: Job, pod: Pod) -> FailureVerdict:
    rules: Sequence[Raw] = (job.spec.pod_failure_policy or {}).get("rules") or ()
    for number, rule in enumerate(rules):
        matched = _matched(rule, pod)
        if matched is not None:
            action = str(rule.get("action") or COUNT)
            return FailureVerdict(
                action, f"{matched} matching {action} rule at index {number}" if action == FAIL_JOB else ""
            )
    return FailureVerdict()


def _matched(rule: Raw, pod: Pod) -> str | None:
    """What of the pod a rule is about; None: nothing."""
    if rule.get("onExitCodes") is not None:
        failure = _exit(rule["onExitCodes"], (*pod.status.container_statuses, *pod.status.init_container_statuses))
        return (
            None
            if failure is None
            else f"Container {failure[0]} for pod {pod.namespace}/{pod.name} failed with exit code {failure[1]}"
        )
    kind = _condition(rule.get("onPodConditions") or (), pod)
    return None if kind is None else f"Pod {pod.namespace}/{pod.name} has condition {kind}"


def _exit(wanted: Raw, statuses: Iterable[ContainerStatus]) -> tuple[str, int] | None:
    """The first container that ended badly with a code the rule means; one that still runs has none."""
    values, among = set(wanted.get("values") or ()), wanted.get("operator") == "In"
    for status in statuses:
        code = int((status.state.get("terminated") or {}).get("exitCode") or 0)
        if code and wanted.get("containerName") in (None, status.name) and (code in values) == among:
            return status.name, code
    return None


def _condition(patterns: Iterable[Raw], pod: Pod) -> str | None:
    stored = {(condition.type, condition.status) for condition in pod.status.conditions}
    return next(
        (
            str(pattern.get("type"))
            for pattern in patterns
            if (pattern.get("type"), pattern.get("status") or "True") in stored
        ),
        None,
    )
