"""Which pods of a clique are made, removed and let go now.

gates.py says who may be let go, rollout.py what an update replaces, desired/pods.py how a pod is built. Pure: the
controller carries out the plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.grove import PodClique, PodGang
from gangline.api.kinds import POD, POD_CLIQUE, RESOURCE_CLAIM
from gangline.api.meta import Raw
from gangline.operator.backends import NoBackend, Selection
from gangline.operator.backends.contract import group_of
from gangline.operator.backends.places import placed
from gangline.operator.cliques.gates import GateDecision, lift_gates
from gangline.operator.cliques.look import CliqueObjects, count_pods
from gangline.operator.cliques.moves import clique_moves, replacing
from gangline.operator.cliques.rollout import clique_progress, has_its_template, replace_pods
from gangline.operator.desired import bounds, claims, failures
from gangline.operator.desired import pods as desired
from gangline.operator.desired.bounds import horizon, number
from gangline.operator.desired.layout import pods_in_base_gang
from gangline.operator.gangs.gang_info import gang_info
from gangline.operator.gangs.look import current_pods, live_objects, pods_of_gang, selection_of
from gangline.operator.memory.lookups import crowd, external_template
from gangline.operator.plan import Create, EventNote, Patch, Step, WritePlan, delete
from gangline.rules import wishes
from gangline.rules.objects.finalizers import patch_that_adds
from gangline.rules.pods.beginning import waits_to_begin
from gangline.rules.values.times import seconds

if TYPE_CHECKING:
    from gangline.operator.operator import Operator
    from gangline.runtime import Reader

LATER = 5.0
"""Seconds until more pods of a clique are made that could not be made at once, if nothing else happens."""


@dataclass(slots=True)
class CliqueThought:
    """What should be: the plan, the progress of an update, and why gates still hold."""

    plan: WritePlan
    progress: Raw | None
    gates: GateDecision = field(default_factory=GateDecision)
    moves_pods: bool = False
    waits: bool = False
    """Pods are missing that cannot be made before their gang is there."""
    again: float | None = None
    """Seconds until pods that ended, or that are not made yet, may be made."""
    missing: int = 0
    """Pods that are asked for and not even made now."""
    backlog: int = 0
    """Pods of the gang that wait for a node."""
    crowd: int = 0
    """Pods of all sets that do."""


def think(op: Operator, read: Reader, look: CliqueObjects, now: str) -> CliqueThought:
    clique, plan = look.clique, WritePlan()
    thought = CliqueThought(plan, clique_progress(clique, look.pcs, look.expected_hash, look.place.replica, now))
    first: list[Step] = []
    patch = patch_that_adds(clique, names.CLIQUE_FINALIZER)
    if patch is not None:
        first.append(Patch(POD_CLIQUE, clique.name, clique.namespace, patch))
    try:
        first += _claims(read, look)
        selection = selection_of(op, read, look.pcs, look.gang)
    except (claims.MissingTemplate, NoBackend) as error:
        code = "ERR_SYNC_PCLQ_RESOURCE_CLAIM" if isinstance(error, claims.MissingTemplate) else "ERR_BUILD_POD_RESOURCE"
        plan.errors.append((code, str(error)))
        plan.stage(first)
        return thought
    plan.stage(first)
    _think_pods(op, read, look, selection, thought, now)
    return thought


def _think_pods(
    op: Operator, read: Reader, look: CliqueObjects, selection: Selection, thought: CliqueThought, now: str
) -> None:
    clique = look.clique
    waits = {pod.uid: wait for pod in look.pods if (wait := _ended_wait(op, pod, selection, now)) is not None}
    thought.again = min((wait for wait in waits.values() if wait > 0), default=None)
    moved = {
        pod.uid: pod
        for pod in look.pods
        if _of_another_backend(pod, look.gang, selection) or waits.get(pod.uid, 1.0) <= 0
    }
    living = [pod for pod in look.pods if not pod.metadata.deleting and pod.uid not in moved]
    moves = clique_moves(living, seconds(now) or 0.0)
    thought.again = min(filter(None, (thought.again, moves.again)), default=None)
    counted = moves.without_extra(living)
    gone = moved | {
        pod.uid: pod for pod in (*_replaced(op, look, thought, now), *_too_many(look, counted), *moves.gone)
    }
    steps: list[Step] = [delete(POD, pod, "ERR_DELETE_POD") for pod in gone.values()]
    thought.plan.events += _removal_events(clique, gone.values(), waits)
    missing = clique.spec.replicas - len(counted)
    if look.gang is None or look.gang.metadata.deleting:
        thought.waits = missing > 0
    elif missing > 0 or moves.wanted:
        number_made = _allowed(read, look, missing, thought) if missing > 0 else 0
        made = _new_pods(op, read, look, selection, number_made, moves.wanted, now)
        steps += made
        thought.plan.events += _creation_events(clique, made)
    thought.moves_pods = bool(steps)
    thought.gates = lift_gates(op, read, look, selection, living)
    thought.plan.stage([*steps, *moves.patches(), *_relinked(op, read, look, selection, living), *thought.gates.steps])


def _replaced(op: Operator, look: CliqueObjects, thought: CliqueThought, now: str) -> list[Pod]:
    """Pods that an update gives up now; notes how far it is then."""
    if not has_its_template(look.clique, thought.progress, look.expected_hash):
        return []
    replacement = replace_pods(
        look.clique,
        thought.progress,
        look.pods,
        count_pods(op.settings.manner, look.pods).ready,
        now,
        wishes.max_unavailable(look.pcs.annotations, look.clique.spec.replicas),
    )
    thought.progress = replacement.progress
    return replacement.remove


def _too_many(look: CliqueObjects, living: Sequence[Pod]) -> list[Pod]:
    """Pods above the clique's size."""
    surplus = len(living) - look.clique.spec.replicas
    return desired.removal_order(living, _wanted_hash(look))[:surplus] if surplus > 0 else []


def _creation_events(clique: PodClique, made: Iterable[Create]) -> list[EventNote]:
    return [EventNote(POD_CLIQUE, clique, "PodCreateSuccessful", f"created pod {step.name}") for step in made]


def _removal_events(clique: PodClique, gone: Iterable[Pod], waits: Mapping[str, float]) -> list[EventNote]:
    """That pods go, and of those that failed why."""
    pods = list(gone)
    removed = [EventNote(POD_CLIQUE, clique, "PodDeleteSuccessful", f"deleted pod {pod.name}") for pod in pods]
    return removed + [
        EventNote(POD_CLIQUE, clique, "PodFailed", f"pod {pod.name} failed: {failures.why(pod)}", warning=True)
        for pod in pods
        if desired.failed(pod) and pod.uid in waits
    ]


def _allowed(read: Reader, look: CliqueObjects, missing: int, thought: CliqueThought) -> int:
    """How many of the missing pods are made now: some at a time, and none while too many of the gang wait to
    begin."""
    assert look.gang is not None
    count, asked = min(missing, bounds.PODS_AT_ONCE), max(look.clique.spec.replicas, pods_in_base_gang(look.pcs))
    thought.crowd = crowd(read)
    if asked > bounds.LARGE:
        thought.backlog = sum(
            waits_to_begin(pod) and not pod.metadata.deleting for pod in pods_of_gang(read, look.gang)
        )
        count = max(0, min(count, bounds.window_among(thought.crowd) - thought.backlog))
    elif bounds.crowded(thought.crowd) and asked > bounds.SMALL_WINDOW and not pods_of_gang(read, look.gang):
        count = 0
    thought.missing = missing - count
    if thought.missing:
        thought.again = min(filter(None, (thought.again, LATER)))
    return count


def _of_another_backend(pod: Pod, gang: PodGang | None, selection: Selection) -> bool:
    """Whether a pod was made for a scheduler that its gang leaves: what it carries cannot be changed, so it is made
    anew."""
    own = selection.backend.name
    if pod.metadata.deleting or pod.labels.get(names.SCHEDULER_BACKEND, own) == own:
        return False
    moved = gang is not None and gang.labels.get(names.SCHEDULER_BACKEND) == own
    return moved or not pod.spec.node_name


def _ended_wait(op: Operator, pod: Pod, selection: Selection, now: str) -> float | None:
    """Seconds until a pod that will never run again is made anew; None for any other."""
    given_up = _given_up(pod, selection, now)
    if given_up is not None or op.settings.manner.failed_pods_stay:
        return given_up
    return failures.wait(pod, seconds(now) or 0.0)


def _given_up(pod: Pod, selection: Selection, now: str) -> float | None:
    """The scheduler has ended its try for a pod, so that only a new one can be placed: seconds until that may be tried,
    else None.

    A backend lists reasons in `gave_up`, each with how old a pod must be by then.
    """
    age = selection.backend.gave_up.get(pod.status.reason)
    if age is None or pod.status.phase != "Failed" or pod.metadata.deleting or pod.spec.node_name:
        return None
    moment = seconds(now) or 0.0
    return age - (moment - (seconds(pod.metadata.creation_timestamp) or moment))


def _wanted_hash(look: CliqueObjects) -> str:
    progress = look.clique.status.update_progress or {}
    if progress.get("podCliqueSetGenerationHash") == look.pcs.status.current_generation_hash and progress.get(
        "podTemplateHash"
    ):
        return str(progress["podTemplateHash"])
    return look.clique.labels.get(names.TEMPLATE_HASH, "")


def _claims(read: Reader, look: CliqueObjects) -> list[Step]:
    clique, sharing = look.clique, look.place.template.resource_sharing
    if not sharing:
        return []
    live = read.owned(RESOURCE_CLAIM, clique.uid)
    indices = (number(claim.labels.get(names.POD_INDEX, "")) for claim in live)
    size = horizon(clique.spec.replicas, (index for index in indices if index is not None), bounds.PODS_AT_ONCE)
    level = claims.ClaimLevel(
        POD_CLIQUE,
        clique,
        look.pcs.name,
        sharing,
        clique.spec.replicas,
        min(size, len(look.pods) + bounds.PODS_AT_ONCE),
        {names.POD_CLIQUE: clique.name},
        names.POD_INDEX,
    )
    return claims.writes(
        level,
        live,
        look.pcs,
        partial(external_template, read),
        create_code="ERR_SYNC_PCLQ_RESOURCE_CLAIM",
        delete_code="ERR_DELETE_PCLQ_RESOURCE_CLAIM",
    )


def _new_pods(
    op: Operator, read: Reader, look: CliqueObjects, selection: Selection, missing: int, moved: Sequence[Pod], now: str
) -> list[Create]:
    """`moved`: pods for which a replacement is made beside them, with the same index."""
    assert look.gang is not None
    manner, clique = op.settings.manner, look.clique
    image = f"{op.settings.init_image}:{op.settings.init_version}"
    priority = "" if manner.priority_on_gang_only else look.pcs.spec.template.priority_class_name
    recipe = desired.PodRecipe(
        look.pcs,
        look.place,
        image,
        op.registry.gate(selection.backend),
        not manner.gates_replaced,
        priority,
        op.settings.init_command,
    )
    facts = op.registry.facts(op.facts(read), selection)
    info = gang_info(
        look.gang, look.pcs, selection, facts, live_objects(op, read, look.gang), current_pods(read, look.gang)
    )
    there, can = {pod.name: pod for pod in look.pods}, selection.backend.capabilities_for(facts)
    fallen = {} if manner.failed_pods_stay else {desired.index_of(pod): pod for pod in look.pods if desired.failed(pod)}
    creates: list[Create] = []
    asked: list[tuple[int, Pod | None]] = [(index, None) for index in desired.free_indices(look.pods, missing)]
    asked += [(index, pod) for pod in moved if (index := desired.index_of(pod)) is not None]
    for index, old in asked:
        pod = desired.build(clique, recipe, index, desired.pod_name(clique, index, there))
        pod["spec"]["schedulerName"] = selection.scheduler_name
        if not manner.backend_stays:
            pod["metadata"]["labels"][names.SCHEDULER_BACKEND] = selection.backend.name
        if old is not None:
            pod = replacing(pod, old)
        if index in fallen:
            pod["metadata"].setdefault("annotations", {}).update(failures.marks(fallen[index], seconds(now) or 0.0))
        prepared = selection.backend.prepare_pod(pod, info)
        creates.append(Create(POD, placed(prepared, group_of(pod, info)) if can.reuse else prepared, "ERR_CREATE_POD"))
    return creates


def _relinked(
    op: Operator, read: Reader, look: CliqueObjects, selection: Selection, living: Sequence[Pod]
) -> list[Step]:
    """Pods of a gang that was made anew point to its new object."""
    gang = look.gang
    if gang is None or gang.metadata.deleting:
        return []
    links = selection.backend.links(
        lambda: gang_info(
            gang, look.pcs, selection, op.registry.facts(op.facts(read), selection), live_objects(op, read, gang)
        )
    )
    return [
        Patch(POD, pod.name, pod.namespace, {"metadata": {"annotations": dict(links)}}, code="ERR_UPDATE_POD")
        for pod in living
        if any(pod.annotations.get(key) != value for key, value in links.items())
    ]
