"""What an update of a clique does next: which pods it gives up now.

Unhealthy pods of the old template go at once, ready ones one at a time, or as many as the set allows to be unavailable.
OnDelete only records the new hash. Nothing is remembered elsewhere: what was chosen and is still there is removed
again. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.grove import PodClique, PodCliqueSet
from gangline.api.meta import Raw
from gangline.operator.desired.pods import ready
from gangline.operator.status import as_choice, chosen_so_far, current_replicas, ended, minimum, on_delete, update_open

SELECTED = "readyPodsSelectedToUpdate"
"""Where the progress of an update says which ready pods it gave up."""


def clique_progress(clique: PodClique, pcs: PodCliqueSet, expected_hash: str, replica: int, now: str) -> Raw | None:
    """The clique's progress after a look at the set's: whether an update of it starts."""
    progress, wanted = clique.status.update_progress, pcs.status.current_generation_hash
    grouped = names.SCALING_GROUP in clique.labels
    if wanted is None or (grouped and not on_delete(pcs)):
        return progress
    open_elsewhere = update_open(pcs.status.update_progress) and replica not in current_replicas(
        pcs.status.update_progress
    )
    same = progress is None and clique.status.current_pod_clique_set_generation_hash == wanted
    aimed = progress is not None and progress.get("podCliqueSetGenerationHash") == wanted
    if open_elsewhere or same or aimed:
        return progress
    fresh = {"updateStartedAt": now, "podCliqueSetGenerationHash": wanted, "podTemplateHash": expected_hash}
    return fresh | ({"updateEndedAt": now} if on_delete(pcs) else {})


def selected_pods(progress: Raw | None) -> object:
    """The ready pod that an update gives up next: written down before it goes."""
    return (progress or {}).get(SELECTED)


@dataclass(frozen=True, slots=True)
class PodReplacement:
    """What an update of a clique removes now, and its progress after that."""

    progress: Raw | None
    remove: list[Pod] = field(default_factory=list)


def has_its_template(clique: PodClique, progress: Raw | None, expected_hash: str) -> bool:
    """Whether the set wrote the template that an update brings into the clique. The set's status can come first: until
    then all pods look new, and those made anew would be old."""
    return clique.labels.get(names.TEMPLATE_HASH) in ((progress or {}).get("podTemplateHash"), expected_hash)


def replace_pods(
    clique: PodClique, progress: Raw | None, pods: Sequence[Pod], ready_count: int, now: str, most: int | None = None
) -> PodReplacement:
    """Unhealthy pods of the old template at once, ready ones one by one, oldest first; or as many as `most` allows to
    be unavailable."""
    if progress is None or not update_open(progress):
        return PodReplacement(progress)
    living = [pod for pod in pods if not pod.metadata.deleting]
    old = [pod for pod in living if not _of_new_template(clique, pod)]
    broken = [pod for pod in old if not ready(pod)]
    old_ready = sorted(
        (pod for pod in old if ready(pod)), key=lambda pod: (pod.metadata.creation_timestamp or "", pod.name)
    )
    selected = progress.get(SELECTED)
    gone = [*broken, *(pod for pod in old_ready if pod.name in chosen_so_far(selected))]
    if most is not None:
        room = most - (clique.spec.replicas - ready_count)
        return _several(progress, gone, [pod for pod in old_ready if pod not in gone], room, now)
    if selected and _still_replacing(clique, selected, living, old):
        return PodReplacement(progress, gone)
    if not old_ready:
        return PodReplacement(ended(progress, SELECTED, now), broken)
    if ready_count < minimum(clique):
        return PodReplacement(progress, broken)
    choice = as_choice([*chosen_so_far(selected), old_ready[0].name])
    return PodReplacement(progress | {SELECTED: choice}, [*broken, old_ready[0]])


def _of_new_template(clique: PodClique, pod: Pod) -> bool:
    return pod.labels.get(names.TEMPLATE_HASH) == clique.labels.get(names.TEMPLATE_HASH)


def _still_replacing(clique: PodClique, selected: Raw, living: Sequence[Pod], old: Sequence[Pod]) -> bool:
    """Whether the pod chosen last is still there, or what replaces it is still to come."""
    new = [ready(pod) for pod in living if _of_new_template(clique, pod)]
    coming = len(living) < clique.spec.replicas or not all(new)
    there = any(pod.name == selected["current"] for pod in old)
    return there or (coming and sum(new) < len(chosen_so_far(selected)))


def _several(progress: Raw, gone: list[Pod], old_ready: Sequence[Pod], room: int, now: str) -> PodReplacement:
    """As many ready pods as there is room for; the end comes when every pod is of the new template and ready."""
    next_ones = list(old_ready[: max(0, room - sum(ready(pod) for pod in gone))])
    if next_ones:
        chosen = [*chosen_so_far(progress.get(SELECTED)), *(pod.name for pod in next_ones)]
        return PodReplacement(progress | {SELECTED: as_choice(chosen)}, [*gone, *next_ones])
    if gone or old_ready:
        return PodReplacement(progress, gone)
    return PodReplacement(ended(progress, SELECTED, now))
