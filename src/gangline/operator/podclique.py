"""PodClique → pods: made, gated, let go, replaced, counted.

Stands between podcliqueset.py and podcliquescalinggroup.py, which make cliques, and podgang.py, which lists pods and
says when their gang is complete. Pure thought: desired/pods, rollout, status. A pod write that the cache has not
shown yet postpones the next look, so nothing is made twice.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.grove import PodClique, PodCliqueScalingGroup, PodCliqueSet, PodGang
from gangline.api.kinds import (
    NODE,
    POD,
    POD_CLIQUE,
    POD_CLIQUE_SET,
    POD_GANG,
    RESOURCE_CLAIM,
    RESOURCE_CLAIM_TEMPLATE,
    SCALING_GROUP,
    TOPOLOGY_BINDING,
)
from gangline.api.meta import Condition, Raw, condition
from gangline.errors import GanglineError
from gangline.operator import failures, gangs, measures, rollout, status
from gangline.operator.act import WriteFailure, act, in_short, listed
from gangline.operator.backends import NoBackend, Selection
from gangline.operator.backends.contract import Facts, PodGangInfo, group_of
from gangline.operator.backends.places import placed
from gangline.operator.desired import claims
from gangline.operator.desired import pods as desired
from gangline.operator.desired.bounds import (
    LARGE,
    PODS_AT_ONCE,
    SMALL_WINDOW,
    WINDOW,
    crowded,
    horizon,
    number,
    window_among,
)
from gangline.operator.desired.hashes import clique_hash
from gangline.operator.desired.layout import CliquePlace, place_of, pods_in_base_gang
from gangline.operator.guard import guarded
from gangline.operator.look import (
    INDEXES,
    Operator,
    asked_again,
    crowd,
    external_template,
    gang_info,
    initialized,
    live_objects,
    pods_of_gang,
    pods_of_life,
    selection_of,
    set_of,
)
from gangline.operator.plan import (
    Create,
    EventNote,
    Patch,
    Step,
    WritePlan,
    delete,
    missing_finalizer,
    with_condition,
    without_finalizer,
)
from gangline.operator.tell import HELD_BACK, error_list, status_patch
from gangline.operator.trims import TRIMS
from gangline.operator.unseen import UnseenChoices, UnseenWrites
from gangline.rules import wishes
from gangline.runtime import Again, Context, Controller, Key, Reader, Watch, itself, owner
from gangline.runtime.clock import seconds_of, timestamp

log = logging.getLogger(__name__)
GATED = "SchedulingGated"
LATER = 5.0
"""Seconds until more pods of a clique are made that could not be made at once, if nothing else happens."""


@dataclass(frozen=True, slots=True)
class CliqueObjects:
    """What is, for one clique."""

    clique: PodClique
    pcs: PodCliqueSet
    place: CliquePlace
    pods: Sequence[Pod]
    gang: PodGang | None
    base: PodGang | None
    expected_hash: str


@dataclass(slots=True)
class CliqueThought:
    """What should be: the plan, the progress of an update, and why gates still hold."""

    plan: WritePlan
    progress: Raw | None
    held: dict[str, list[str]]
    """Reason → pods that wait for it."""
    moves_pods: bool = False
    waits: bool = False
    """Pods are missing that cannot be made before their gang is there."""
    again: float | None = None
    """Seconds until pods that ended, or that are not made yet, may be made."""
    lifted: list[str] = field(default_factory=list)
    """Pods that are let go now."""
    missing: int = 0
    """Pods that are asked for and not even made now."""
    backlog: int = 0
    """Pods of the gang that wait for a node."""
    crowd: int = 0
    """Pods of all sets that do."""


async def reconcile(op: Operator, unseen: UnseenWrites, told: UnseenChoices, ctx: Context, key: Key) -> Again | None:
    clique = ctx.read.get(POD_CLIQUE, key.name, key.namespace)
    if clique is None:
        unseen.forget(key)
        told.forget(key)
        return None
    if clique.metadata.deleting:
        await _release(ctx, clique)
        return None
    look = _look(ctx.read, clique)
    if look is None:
        return None
    if not unseen.caught_up(key, ctx.read) or not told.seen(key, clique):
        measures.waits("podclique", measures.UNSEEN)
        return None
    await op.ask(ctx, look.pcs)
    now = timestamp(ctx.clock.now())
    thought = think(op, ctx.read, look, now)
    if _selected(thought.progress) != _selected(clique.status.update_progress):
        told.note(key, await _tell(op, ctx, look, thought, [], now))
    failed = await act(ctx, thought.plan, unseen.of(key))
    if not failed:
        _log_lifted(look, thought)
    if failed or thought.plan.errors or thought.missing or not (thought.moves_pods or thought.waits):
        await _tell(op, ctx, look, thought, _in_short(failed), now)
    if failed:
        raise GanglineError(in_short(failed))
    return Again(thought.again) if thought.again is not None else None


def _log_lifted(look: CliqueObjects, thought: CliqueThought) -> None:
    """Who was let go, and why now."""
    if not thought.lifted or look.gang is None:
        return
    decided = condition(look.gang.status.conditions, "Scheduled" if _scheduled(look.gang) else "Initialized")
    log.info(
        "gates lifted: gang %s/%s, clique %s, pods %s: %s",
        look.gang.namespace,
        look.gang.name,
        look.clique.name,
        listed(thought.lifted),
        decided.message if decided is not None else "the gang lists them",
    )


def _in_short(failed: Sequence[WriteFailure]) -> list[tuple[str, str]]:
    """Pods of a clique are alike and fail alike: the first failure of each sort, and how many more there were."""
    sorts: dict[str, list[WriteFailure]] = {}
    for failure in failed:
        sorts.setdefault(failure.code, []).append(failure)
    return [
        (code, f"{found[0]}{f' (and {len(found) - 1} more)' if found[1:] else ''}") for code, found in sorts.items()
    ]


def _selected(progress: Raw | None) -> object:
    """The ready pod that an update gives up next: written down before it goes."""
    return (progress or {}).get("readyPodsSelectedToUpdate")


async def _release(ctx: Context, clique: PodClique) -> None:
    patch = without_finalizer(clique, names.CLIQUE_FINALIZER)
    if patch is not None:
        await ctx.client.patch(POD_CLIQUE, clique.name, clique.namespace, patch)


def _look(read: Reader, clique: PodClique) -> CliqueObjects | None:
    pcs = set_of(read, clique)
    place = place_of(pcs, clique) if pcs is not None else None
    if pcs is None or place is None or clique.labels.get(names.MANAGED_BY) != names.GROVE_OPERATOR:
        return None
    base = clique.labels.get(names.BASE_POD_GANG, "")
    return CliqueObjects(
        clique,
        pcs,
        place,
        read.owned(POD, clique.uid),
        read.get(POD_GANG, place.gang, clique.namespace),
        read.get(POD_GANG, base, clique.namespace) if base else None,
        clique_hash(pcs, place.template),
    )


# --- think
# -----------------------------------------------------------------------------------------------------------------


def think(op: Operator, read: Reader, look: CliqueObjects, now: str) -> CliqueThought:
    clique, plan = look.clique, WritePlan()
    thought = CliqueThought(
        plan, rollout.clique_progress(clique, look.pcs, look.expected_hash, look.place.replica, now), {}
    )
    first: list[Step] = []
    patch = missing_finalizer(clique, names.CLIQUE_FINALIZER)
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
    surplus = len(living) - clique.spec.replicas
    ready = _count(op, look.pods).ready
    replacement = rollout.replace_pods(
        clique,
        thought.progress,
        look.pods,
        ready,
        now,
        wishes.max_unavailable(look.pcs.annotations, clique.spec.replicas),
    )
    thought.progress = replacement.progress
    gone = moved | {pod.uid: pod for pod in replacement.remove}
    if surplus > 0:
        gone |= {pod.uid: pod for pod in desired.removal_order(living, _wanted_hash(look))[:surplus]}
    steps: list[Step] = [delete(POD, pod, "ERR_DELETE_POD") for pod in gone.values()]
    events = [EventNote(POD_CLIQUE, clique, "PodDeleteSuccessful", f"deleted pod {pod.name}") for pod in gone.values()]
    events += [
        EventNote(POD_CLIQUE, clique, "PodFailed", f"pod {pod.name} failed: {failures.why(pod)}", warning=True)
        for pod in gone.values()
        if desired.failed(pod) and pod.uid in waits
    ]
    thought.waits = surplus < 0 and (look.gang is None or look.gang.metadata.deleting)
    if surplus < 0 and not thought.waits:
        made = _new_pods(op, read, look, selection, _allowed(read, look, -surplus, thought), now)
        steps += made
        events += [EventNote(POD_CLIQUE, clique, "PodCreateSuccessful", f"created pod {step.name}") for step in made]
    thought.moves_pods = bool(steps)
    steps += [*_relinked(op, read, look, selection, living), *_lift_gates(op, read, look, selection, living, thought)]
    thought.plan.stage(steps)
    thought.plan.events += events


def _allowed(read: Reader, look: CliqueObjects, missing: int, thought: CliqueThought) -> int:
    """How many of the missing pods are made now: some at a time, and none while too many of the gang wait for a
    node."""
    assert look.gang is not None
    count, asked = min(missing, PODS_AT_ONCE), max(look.clique.spec.replicas, pods_in_base_gang(look.pcs))
    thought.crowd = crowd(read)
    if asked > LARGE:
        thought.backlog = sum(
            not pod.spec.node_name and not pod.metadata.deleting for pod in pods_of_gang(read, look.gang)
        )
        count = max(0, min(count, window_among(thought.crowd) - thought.backlog))
    elif crowded(thought.crowd) and asked > SMALL_WINDOW and not pods_of_gang(read, look.gang):
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


def _count(op: Operator, pods: Sequence[Pod]) -> status.PodCounts:
    manner = op.settings.manner
    return status.count(pods, terminating=manner.count_terminating, ended=manner.failed_pods_stay)


def _ended_wait(op: Operator, pod: Pod, selection: Selection, now: str) -> float | None:
    """Seconds until a pod that will never run again is made anew; None for any other."""
    given_up = _given_up(pod, selection, now)
    if given_up is not None or op.settings.manner.failed_pods_stay:
        return given_up
    return failures.wait(pod, seconds_of(now))


def _given_up(pod: Pod, selection: Selection, now: str) -> float | None:
    """The scheduler has ended its try for a pod, so that only a new one can be placed: seconds until that may be tried,
    else None.

    A backend lists reasons in `gave_up`, each with how old a pod must be by then.
    """
    age = selection.backend.gave_up.get(pod.status.reason)
    if age is None or pod.status.phase != "Failed" or pod.metadata.deleting or pod.spec.node_name:
        return None
    return age - (seconds_of(now) - seconds_of(pod.metadata.creation_timestamp or now))


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
    there = {claim.name for claim in live}
    indices = (number(claim.labels.get(names.POD_INDEX, "")) for claim in live)
    size = horizon(clique.spec.replicas, (index for index in indices if index is not None), PODS_AT_ONCE)
    level = claims.Level(
        POD_CLIQUE,
        clique,
        look.pcs.name,
        sharing,
        clique.spec.replicas,
        min(size, len(look.pods) + PODS_AT_ONCE),
        {names.POD_CLIQUE: clique.name},
        names.POD_INDEX,
    )
    wanted = claims.claims(level, claims.internal_templates(look.pcs), partial(external_template, read))
    steps: list[Step] = [
        Create(RESOURCE_CLAIM, claim, "ERR_SYNC_PCLQ_RESOURCE_CLAIM")
        for claim in wanted
        if claim["metadata"]["name"] not in there
    ]
    return steps + [
        delete(RESOURCE_CLAIM, claim, "ERR_DELETE_PCLQ_RESOURCE_CLAIM")
        for claim in claims.surplus(level, live)
        if not claim.metadata.deleting
    ]


def _new_pods(
    op: Operator, read: Reader, look: CliqueObjects, selection: Selection, missing: int, now: str
) -> list[Create]:
    assert look.gang is not None
    manner, clique = op.settings.manner, look.clique
    image = f"{op.settings.init_image}:{op.settings.init_version}"
    priority = "" if manner.priority_on_gang_only else look.pcs.spec.template.priority_class_name
    recipe = desired.Recipe(
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
        look.gang, look.pcs, selection, facts, live_objects(op, read, look.gang), pods_of_life(read, look.gang)
    )
    there, can = {pod.name: pod for pod in look.pods}, selection.backend.capabilities_for(facts)
    fallen = {} if manner.failed_pods_stay else {desired.index_of(pod): pod for pod in look.pods if desired.failed(pod)}
    creates: list[Create] = []
    for index in desired.free_indices(look.pods, missing):
        pod = desired.build(clique, recipe, index, desired.pod_name(clique, index, there))
        pod["spec"]["schedulerName"] = selection.scheduler_name
        if not manner.backend_stays:
            pod["metadata"]["labels"][names.SCHEDULER_BACKEND] = selection.backend.name
        if index in fallen:
            pod["metadata"].setdefault("annotations", {}).update(failures.marks(fallen[index], seconds_of(now)))
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


# --- gates
# -------------------------------------------------------------------------------------------------------------------


def _lift_gates(
    op: Operator, read: Reader, look: CliqueObjects, selection: Selection, living: Sequence[Pod], thought: CliqueThought
) -> list[Step]:
    gates = {*names.OUR_GATES, selection.backend.gate} if not op.settings.manner.one_gate else {names.GATE_GROVE}
    waiting = [pod for pod in living if any(gate.name in gates for gate in pod.spec.scheduling_gates)]
    listed = _listed(look)
    facts = op.registry.facts(op.facts(read), selection) if waiting else Facts()
    surplus = _surplus(look, selection, living, facts) if waiting and not op.settings.manner.gate_by_listing else set()
    steps: list[Step] = []
    why = _gang_holds(op, look)
    for pod in waiting:
        reason = why or ("" if pod.name in listed else "the gang does not list the pod yet")
        if not reason and pod.name in surplus:
            reason = "the gang's minimum is not scheduled yet, and this pod is above it"
        if reason:
            thought.held.setdefault(reason, []).append(pod.name)
        else:
            near = _near(op, read, look, selection, pod, facts)
            lifted = {"spec": {"schedulingGates": desired.without_gates(pod, gates)} | near} | _unheld(pod, selection)
            steps.append(Patch(POD, pod.name, pod.namespace, lifted, code="ERR_REMOVE_POD_SCHEDULING_GATE"))
            thought.lifted.append(pod.name)
    return steps


def _near(op: Operator, read: Reader, look: CliqueObjects, selection: Selection, pod: Pod, facts: Facts) -> Raw:
    """Where a pod must go that is let go alone."""
    gang = look.gang
    if gang is None:
        return {}

    def labels(node: str) -> Mapping[str, str]:
        found = read.get(NODE, node)
        return found.labels if found is not None else {}

    def info() -> PodGangInfo:
        return gang_info(gang, look.pcs, selection, facts, live_objects(op, read, gang), pods_of_life(read, gang))

    found = selection.backend.domains_of(pod, facts, info, labels)
    return {"nodeSelector": dict(found)} if found else {}


def _unheld(pod: Pod, selection: Selection) -> Raw:
    """A patch that removes the annotations which go with a backend's gate, if it has any (`held`)."""
    notes = {key: None for key in selection.backend.held if key in pod.annotations}
    return {"metadata": {"annotations": notes}} if notes else {}


def _listed(look: CliqueObjects) -> set[str]:
    groups = look.gang.spec.podgroups if look.gang is not None else ()
    return {reference.name for group in groups if group.name == look.clique.name for reference in group.pod_references}


def _gang_holds(op: Operator, look: CliqueObjects) -> str:
    """Why no pod of the clique may go, or nothing."""
    if look.gang is None:
        return f"PodGang {look.place.gang} does not exist yet"
    if held := gangs.held(look.gang):
        return held
    early = op.settings.manner.gate_by_listing and _looked_again(look)
    if not early and not initialized(look.gang) and not _scheduled(look.gang):
        return f"gang {look.gang.name} is not complete yet"
    if look.place.base_gang and (look.base is None or not _scheduled(look.base)):
        return f"base gang {look.place.base_gang} is not scheduled yet"
    return ""


def _looked_again(look: CliqueObjects) -> bool:
    """Whether upstream has looked at a clique since it made its pods: for its group, for a new spec, or for an update
    of the set."""
    return (
        look.place.group is not None
        or look.clique.metadata.generation > 1
        or look.pcs.status.update_progress is not None
    )


def _scheduled(gang: PodGang) -> bool:
    found = condition(gang.status.conditions, "Scheduled")
    return found is not None and found.status == "True"


def _surplus(look: CliqueObjects, selection: Selection, living: Sequence[Pod], facts: Facts) -> set[str]:
    """Pods above the clique's minimum that wait for the rest, where the scheduler itself would not let the rest go
    first."""
    if look.gang is None or _scheduled(look.gang):
        return set()
    if not selection.backend.capabilities_for(facts).gates_surplus:
        return set()
    ranked = sorted(living, key=lambda pod: (desired.index_of(pod) or 0, pod.name))
    return {pod.name for pod in ranked[status.minimum(look.clique) :] if selection.backend.may_be_held(pod, facts)}


# --- tell
# ----------------------------------------------------------------------------------------------------------------------


async def _tell(
    op: Operator, ctx: Context, look: CliqueObjects, thought: CliqueThought, failed: list[tuple[str, str]], now: str
) -> PodClique | None:
    clique, manner = look.clique, op.settings.manner
    errors = [*thought.plan.errors, *failed]
    uncounted = (
        manner.count_after_complete and not _looked_again(look) and (look.gang is None or not initialized(look.gang))
    )
    seen = [] if uncounted else list(look.pods)
    view = status.CliqueView(
        clique,
        look.pcs,
        look.expected_hash,
        seen,
        thought.progress,
        clique.status.observed_generation if errors else clique.metadata.generation,
        _count(op, seen),
    )
    new = status.clique_status(view, now)
    if not manner.plain_conditions and "conditions" in new:
        new["conditions"] += [*_gate_condition(clique, thought.held, now), *_held_back(look, thought, now)]
        fallen = None if manner.failed_pods_stay else failures.failed_condition(clique.status.conditions, look.pods)
        new["conditions"] += [with_condition(clique.status.conditions, fallen, now)] if fallen is not None else []
    new["lastErrors"] = error_list(
        clique.status.last_errors, errors, now, manner.errors_linger and look.place.group is None
    )
    if clique.status.scheduled_replicas > 0 and new["scheduledReplicas"] == 0:
        ctx.events.tell(
            POD_CLIQUE, clique, "AllScheduledReplicasLost", "no pod of the clique is scheduled any more", warning=True
        )
    patch = status_patch(POD_CLIQUE, clique, new)
    return (
        await ctx.client.patch(POD_CLIQUE, clique.name, clique.namespace, patch, subresource="status")
        if patch is not None
        else None
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
    window = window_among(thought.crowd)
    if not thought.missing or (thought.backlog < window and not crowded(thought.crowd)):
        return []
    waiting = f"{thought.backlog} of the gang" if thought.backlog >= WINDOW else f"{thought.crowd} of all sets"
    told = Condition(
        type=HELD_BACK,
        status="True",
        reason="TooManyWaiting",
        message=(
            f"{len(look.pods)} of {clique.spec.replicas} pods are there, and {waiting} wait for a node: more are made "
            "once fewer wait"
        ),
    )
    return [with_condition(clique.status.conditions, told, now)]


# --- the controller
# --------------------------------------------------------------------------------------------------------------


def _cliques_of_gang(gang: PodGang, read: Reader) -> Iterable[Key]:
    value = f"{gang.namespace}/{gang.name}"
    found = [*read.by(POD_CLIQUE, "gang", value), *read.by(POD_CLIQUE, "base gang", value)]
    return [Key(clique.namespace, clique.name) for clique in found]


def _cliques_of_set(pcs: PodCliqueSet, read: Reader) -> Iterable[Key]:
    return [Key(clique.namespace, clique.name) for clique in read.by(POD_CLIQUE, "set", f"{pcs.namespace}/{pcs.name}")]


def _listening_cliques(pcs: PodCliqueSet, read: Reader) -> Iterable[Key]:
    """The set's cliques outside of groups, and those whose pods are still held back: these look again all the time."""
    return [
        Key(clique.namespace, clique.name)
        for clique in read.by(POD_CLIQUE, "set", f"{pcs.namespace}/{pcs.name}")
        if names.SCALING_GROUP not in clique.labels
        or any(pod.spec.scheduling_gates for pod in read.owned(POD, clique.uid))
    ]


def _cliques_of_group(group: PodCliqueScalingGroup, read: Reader) -> Iterable[Key]:
    return [Key(clique.namespace, clique.name) for clique in read.owned(POD_CLIQUE, group.uid)]


def _group_moved(before: PodCliqueScalingGroup | None, after: PodCliqueScalingGroup | None) -> bool:
    """The group follows another template of its set, or aims at one."""
    if before is None or after is None:
        return False
    old, new = (
        (
            item.status.current_pod_clique_set_generation_hash,
            (item.status.update_progress or {}).get("podCliqueSetGenerationHash"),
        )
        for item in (before, after)
    )
    return old != new


def _gang_changed(before: PodGang | None, after: PodGang | None) -> bool:
    if before is None or after is None:
        return True
    return (
        before.spec != after.spec
        or initialized(before) != initialized(after)
        or _scheduled(before) != _scheduled(after)
        or gangs.held(before) != gangs.held(after)
        or before.labels.get(names.SCHEDULER_BACKEND) != after.labels.get(names.SCHEDULER_BACKEND)
    )


def _set_changed(before: PodCliqueSet | None, after: PodCliqueSet | None) -> bool:
    if before is None or after is None:
        return before is None
    return (
        before.metadata.generation != after.metadata.generation
        or before.status.current_generation_hash != after.status.current_generation_hash
        or update_target(before) != update_target(after)
    )


def update_target(pcs: PodCliqueSet) -> tuple[object, ...]:
    """What of a set decides how its children are updated, apart from the template."""
    progress = pcs.status.update_progress
    return status.update_open(progress), rollout.current_replicas(progress), pcs.annotations.get(names.MAX_UNAVAILABLE)


def _cliques_with_sharing(template: object, read: Reader) -> Iterable[Key]:
    """Cliques whose claims may come from a template that appeared or changed."""
    return [
        Key(clique.namespace, clique.name)
        for clique in read.list(POD_CLIQUE)
        if any(error.code == "ERR_SYNC_PCLQ_RESOURCE_CLAIM" for error in clique.status.last_errors)
    ]


def _chosen_or_asked(before: PodClique | None, after: PodClique | None) -> bool:
    """A choice of ours that the cache shows now, or something new that is wanted."""
    if before is None or after is None:
        return True
    return asked_again(before, after) or _selected(before.status.update_progress) != _selected(
        after.status.update_progress
    )


def controller(op: Operator) -> Controller:
    unseen, told = UnseenWrites(POD), UnseenChoices()
    by_group = op.settings.manner.groups_hear_updates
    return Controller(
        "podclique",
        partial(guarded, POD_CLIQUE, partial(reconcile, op, unseen, told)),
        (
            Watch(POD_CLIQUE, itself, _chosen_or_asked),
            Watch(POD, owner(POD_CLIQUE)),
            Watch(POD_GANG, _cliques_of_gang, _gang_changed),
            Watch(POD_CLIQUE_SET, _listening_cliques if by_group else _cliques_of_set, _set_changed),
            *([Watch(SCALING_GROUP, _cliques_of_group, _group_moved)] if by_group else []),
            Watch(RESOURCE_CLAIM, owner(POD_CLIQUE), asked_again),
            Watch(RESOURCE_CLAIM_TEMPLATE, _cliques_with_sharing),
        ),
        reads=(NODE, TOPOLOGY_BINDING),
        indexes=INDEXES,
        workers=op.settings.workers.pod_clique,
        started=op.running.append,
        selectors=op.selectors,
        trims=TRIMS,
    )
