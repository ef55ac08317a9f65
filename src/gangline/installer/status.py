"""What became of it, as conditions: KAI's five types and reasons, with messages that say what is missing and what to
do.

`Ready` means that everything is deployed and at work. A condition is written only when it says something new. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gangline.api.builtin import Replicated
from gangline.api.core import Pod
from gangline.api.meta import Raw

RECONCILING, DEPLOYED, AVAILABLE, DEPENDENCIES, READY = (
    "Reconciling",
    "Deployed",
    "Available",
    "DependenciesFulfilled",
    "Ready",
)
LONGEST = 8000


@dataclass(slots=True)
class Outcome:
    """What a look and its writes came to."""

    problems: list[str] = field(default_factory=list)
    """With these messages."""
    foreign: list[str] = field(default_factory=list)
    """Objects of our names that are somebody else's."""
    failures: list[str] = field(default_factory=list)
    """Writes that were refused."""
    waits: list[str] = field(default_factory=list)
    """What is not at work yet, and why."""
    missing: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    leaving: list[str] = field(default_factory=list)
    """Objects of an earlier owner of the same name, which are on their way out."""

    contested: list[str] = field(default_factory=list)
    """Objects that somebody else keeps changing."""

    @property
    def in_the_way(self) -> list[str]:
        return [*self.problems, *self.foreign, *self.failures, *self.leaving, *self.contested]


def begun(generation: int) -> list[Raw]:
    """The condition before the first write for a new generation."""
    return [_condition(RECONCILING, True, "reconciling", "what was asked for is being carried out", generation)]


def conditions(outcome: Outcome, generation: int) -> list[Raw]:
    def stated(type: str, ok: bool, yes: str, no: str, text: str) -> Raw:
        return _condition(type, ok, yes if ok else no, text, generation)

    blocked, lacking = outcome.in_the_way, outcome.missing
    ready = not blocked and not outcome.waits
    notes = [f"note: {note}" for note in outcome.notes]
    still = bool(outcome.failures or outcome.leaving)
    return [
        stated(
            RECONCILING,
            still,
            "reconciling",
            "reconciled",
            _text(outcome.failures + outcome.leaving, "everything was carried out"),
        ),
        stated(
            DEPLOYED,
            not blocked,
            "deployed",
            "deployed",
            _text([*blocked, *notes], "every object is there as it should be"),
        ),
        stated(AVAILABLE, not outcome.waits, "available", "available", _text(outcome.waits, "everything is at work")),
        stated(
            DEPENDENCIES,
            not lacking,
            "dependencies_fulfilled",
            "dependencies_missing",
            _text(lacking, "the cluster has all it needs"),
        ),
        stated(
            READY,
            ready,
            "ready",
            "not_ready",
            "deployed and at work" if ready else _text([*blocked, *outcome.waits], ""),
        ),
    ]


def unused(text: str, generation: int) -> list[Raw]:
    """Of an object that nothing is done for."""
    return [
        _condition(RECONCILING, False, "reconciled", "nothing to do", generation),
        _condition(DEPLOYED, False, "deployed", text, generation),
        _condition(READY, False, "not_ready", text, generation),
    ]


def _condition(type: str, ok: bool, reason: str, message: str, generation: int) -> Raw:
    return {
        "type": type,
        "status": "True" if ok else "False",
        "reason": reason,
        "message": message,
        "observedGeneration": generation,
    }


def _text(texts: Sequence[str], otherwise: str) -> str:
    return ("; ".join(texts) or otherwise)[:LONGEST]


def merged(before: Sequence[Mapping[str, Any]], after: Sequence[Raw], now: str) -> list[Raw] | None:
    """The list to write, or None where nothing changed. Conditions that are not named here stay."""
    known = {item.get("type"): dict(item) for item in before}
    changed = {item["type"]: _since(known.get(item["type"]), item, now) for item in after}
    together = list((known | changed).values())
    return None if together == [dict(item) for item in before] else together


def _since(old: Mapping[str, Any] | None, new: Raw, now: str) -> Raw:
    """The time of a condition moves with its status only."""
    same = old is not None and old.get("status") == new["status"]
    return {**new, "lastTransitionTime": old.get("lastTransitionTime", now) if same and old is not None else now}


# --- whether it is at work --------------------------------------------------------------------------------------------


def deployment_waits(deployment: Replicated | None, name: str, pods: Sequence[Pod]) -> str:
    """What a Deployment still waits for; empty: it is at work, with the newest template, in full number."""
    if deployment is None:
        return f"Deployment {name}: not there yet"
    status, wanted = deployment.status, 1 if deployment.spec.replicas is None else deployment.spec.replicas
    if status.observed_generation < deployment.metadata.generation:
        return f"Deployment {name}: its controller has not seen the last change yet"
    if status.updated_replicas == status.replicas == status.available_replicas == wanted:
        return ""
    fresh = min(status.updated_replicas, status.available_replicas)
    if fresh >= wanted:
        return f"Deployment {name}: pods of before the last change are still going"
    return f"Deployment {name}: {fresh} of {wanted} pods at work{_why(pods)}"


def daemon_set_waits(status: Mapping[str, Any] | None, name: str) -> str:
    if status is None:
        return f"DaemonSet {name}: not there yet"
    wanted, there = int(status.get("desiredNumberScheduled") or 0), int(status.get("numberAvailable") or 0)
    return "" if wanted == there else f"DaemonSet {name}: {there} of {wanted} pods at work"


def _why(pods: Sequence[Pod]) -> str:
    """The first reason that a pod gives."""
    for pod in sorted(pods, key=lambda pod: pod.name):
        waiting = next(
            (
                _waiting(container_status)
                for container_status in pod.status.container_statuses
                if _waiting(container_status)
            ),
            "",
        )
        unplaced = next(
            (
                condition.message
                for condition in pod.status.conditions
                if condition.type == "PodScheduled" and condition.status == "False"
            ),
            "",
        )
        if waiting or unplaced:
            return f" (pod {pod.name}: {waiting or unplaced})"
    return ""


def _waiting(container: Any) -> str:
    """Why a container does not run; one that is only being made needs no reason."""
    state = (container.state or {}).get("waiting") or {}
    reason = str(state.get("reason") or "")
    if not reason or reason in ("ContainerCreating", "PodInitializing"):
        return ""
    return ": ".join(filter(None, (reason, str(state.get("message") or ""))))
