"""What is true of a clique: counters, conditions, hashes, and why pods wait.

The whole status each time, so that nothing depends on what was seen before. Pure: controller.py writes it where it
differs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.grove import PodClique, PodCliqueSet, PodGang
from gangline.api.kinds import POD_CLIQUE
from gangline.api.meta import Condition, Raw, condition
from gangline.config import Manner
from gangline.operator.cliques.look import CliqueObjects, PodCounts, count_pods, looked_again
from gangline.operator.cliques.think import CliqueThought
from gangline.operator.desired import bounds, failures
from gangline.operator.desired.metadata import default_labels, selector_text
from gangline.operator.gangs.look import initialized, is_scheduled
from gangline.operator.plan import EventNote, with_condition
from gangline.operator.status import (
    BREACHED,
    HELD_BACK,
    SCHEDULED,
    UPDATING,
    error_list,
    lost_events,
    minimum,
    on_delete,
    since,
    update_open,
)

if TYPE_CHECKING:
    from gangline.operator.act import WriteFailure

GATED = "SchedulingGated"


@dataclass(frozen=True, slots=True)
class CliqueView:
    """What a clique's status is computed from."""

    clique: PodClique
    pcs: PodCliqueSet
    expected_hash: str
    pods: Sequence[Pod]
    progress: Raw | None
    observed: int | None
    counts: PodCounts


def clique_status(view: CliqueView, now: str) -> Raw:
    clique, counts = view.clique, view.counts
    updated = _updated_replicas(view)
    status: Raw = {
        "replicas": counts.living,
        "readyReplicas": counts.ready,
        "scheduleGatedReplicas": counts.gated,
        "scheduledReplicas": counts.scheduled,
        "updatedReplicas": updated,
    }
    if view.observed is not None:
        status["observedGeneration"] = view.observed
        status["conditions"] = _clique_conditions(view, now)
    if names.SCALING_GROUP not in clique.labels:
        labels = default_labels(view.pcs.name) | {names.POD_CLIQUE: clique.name}
        status["hpaPodSelector"] = selector_text(labels)
    if view.progress is not None:
        status["updateProgress"] = view.progress
    return status | _clique_hashes(view, updated)


def _updated_replicas(view: CliqueView) -> int:
    wanted = (
        (view.progress or {}).get("podTemplateHash")
        or view.clique.labels.get(names.TEMPLATE_HASH)
        or view.clique.status.current_pod_template_hash
    )
    return sum(pod.labels.get(names.TEMPLATE_HASH) == wanted for pod in view.pods)


def _clique_hashes(view: CliqueView, updated: int) -> Raw:
    clique, progress = view.clique, view.progress
    kept = {
        "currentPodCliqueSetGenerationHash": clique.status.current_pod_clique_set_generation_hash,
        "currentPodTemplateHash": clique.status.current_pod_template_hash,
    }
    fresh = kept
    if not update_open(progress) and updated == view.counts.living:
        if progress is not None and not _overtaken(view, progress):
            fresh = {
                "currentPodCliqueSetGenerationHash": progress.get("podCliqueSetGenerationHash"),
                "currentPodTemplateHash": progress.get("podTemplateHash"),
            }
        elif clique.labels.get(names.TEMPLATE_HASH) == view.expected_hash:
            fresh = {
                "currentPodCliqueSetGenerationHash": view.pcs.status.current_generation_hash,
                "currentPodTemplateHash": view.expected_hash,
            }
    return {key: value for key, value in fresh.items() if value}


def _overtaken(view: CliqueView, progress: Raw) -> bool:
    """A grouped clique keeps the progress of an update by OnDelete; a later update by its group says nothing there."""
    aimed = progress.get("podCliqueSetGenerationHash") == view.pcs.status.current_generation_hash
    return names.SCALING_GROUP in view.clique.labels and not on_delete(view.pcs) and not aimed


def _clique_conditions(view: CliqueView, now: str) -> list[Raw]:
    before = view.clique.status.conditions
    conditions = [_breach(view), _scheduled(view)]
    return [with_condition(before, item, since(view.clique, before, item, now)) for item in conditions]


def _breach(view: CliqueView) -> Condition:
    counts, least = view.counts, minimum(view.clique)
    if update_open(view.progress):
        return UPDATING
    if counts.scheduled < least:
        return Condition(
            type=BREACHED,
            status="True",
            reason="ScheduledReplicasBelowMinAvailable",
            message=f"{counts.scheduled} pods are scheduled, {least} are needed",
        )
    healthy = counts.scheduled - counts.errored - counts.started
    if healthy < least:
        return Condition(
            type=BREACHED,
            status="True",
            reason="InsufficientReadyPods",
            message=f"{healthy} pods are ready or starting, {least} are needed",
        )
    return Condition(
        type=BREACHED,
        status="False",
        reason="SufficientReadyPods",
        message=f"{healthy} pods are ready or starting, {least} are needed",
    )


def _scheduled(view: CliqueView) -> Condition:
    enough = view.counts.scheduled >= minimum(view.clique)
    return Condition(
        type=SCHEDULED,
        status=str(enough),
        reason="SufficientScheduledPods" if enough else "InsufficientScheduledPods",
        message=f"{view.counts.scheduled} pods are scheduled, {minimum(view.clique)} are needed",
    )


def _gate_condition(clique: PodClique, held: dict[str, list[str]], now: str) -> list[Raw]:
    """Why gates still hold, for people."""
    before = clique.status.conditions
    if held:
        message = "; ".join(f"{len(pods)} pods wait: {reason}" for reason, pods in held.items())
        return [
            with_condition(before, Condition(type=GATED, status="True", reason="GangNotReady", message=message), now)
        ]
    if condition(before, GATED) is None:
        return []
    return [
        with_condition(
            before, Condition(type=GATED, status="False", reason="GatesLifted", message="no pod is held back"), now
        )
    ]


def _held_back(look: CliqueObjects, thought: CliqueThought, now: str) -> list[Raw]:
    """That not all pods are made yet, because so many of the gang wait already."""
    clique = look.clique
    window, crowded = bounds.window_among(thought.crowd), bounds.crowded(thought.crowd)
    if not thought.missing or (thought.backlog < window and not crowded):
        return []
    waiting = f"{thought.backlog} of the gang" if thought.backlog >= bounds.WINDOW else f"{thought.crowd} of all sets"
    held = Condition(
        type=HELD_BACK,
        status="True",
        reason="TooManyWaiting",
        message=(
            f"{len(look.pods)} of {clique.spec.replicas} pods are there, and {waiting} wait to begin: more are made "
            "once fewer wait"
        ),
    )
    return [with_condition(clique.status.conditions, held, now)]


def _failed_pods(look: CliqueObjects, now: str) -> list[Raw]:
    before = look.clique.status.conditions
    failed = failures.failed_condition(before, look.pods)
    return [with_condition(before, failed, now)] if failed is not None else []


def status_after(
    manner: Manner, look: CliqueObjects, thought: CliqueThought, failed: Sequence[tuple[str, str]], now: str
) -> Raw:
    """The whole status of a clique after a look at it."""
    clique, errors = look.clique, [*thought.plan.errors, *failed]
    complete = look.gang is not None and initialized(look.gang)
    uncounted = manner.count_after_complete and not looked_again(look) and not complete
    pods: Sequence[Pod] = () if uncounted else look.pods
    observed = clique.status.observed_generation if errors else clique.metadata.generation
    view = CliqueView(clique, look.pcs, look.expected_hash, pods, thought.progress, observed, count_pods(manner, pods))
    new = clique_status(view, now)
    if not manner.plain_conditions and "conditions" in new:
        new["conditions"] += [*_gate_condition(clique, thought.gates.held, now), *_held_back(look, thought, now)]
        new["conditions"] += [] if manner.failed_pods_stay else _failed_pods(look, now)
    linger = manner.errors_linger and look.place.group is None
    new["lastErrors"] = error_list(clique.status.last_errors, errors, now, linger)
    return new


def events_of(clique: PodClique, new: Raw) -> list[EventNote]:
    """What users should hear about a new status."""
    return lost_events(POD_CLIQUE, clique, new, "no pod of the clique is scheduled any more")


def why_lifted(gang: PodGang) -> str:
    """Why pods of a gang are let go now."""
    decided = condition(gang.status.conditions, "Scheduled" if is_scheduled(gang) else "Initialized")
    return decided.message if decided is not None else "the gang lists them"


def errors_of(failed: Iterable[WriteFailure]) -> list[tuple[str, str]]:
    """Pods of a clique are alike and fail alike: the first failure of each code, and how many more there were."""
    by_code: dict[str, list[WriteFailure]] = {}
    for failure in failed:
        by_code.setdefault(failure.code, []).append(failure)
    return [
        (code, f"{alike[0]}{f' (and {len(alike) - 1} more)' if alike[1:] else ''}") for code, alike in by_code.items()
    ]
