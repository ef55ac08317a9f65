"""PodGang → the scheduler's own objects, and the way back into PodGang.status.

podcliqueset.py makes and removes gangs; here each one is kept in step with its set and its pods, translated by its
backend, and told how it fares.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import msgspec

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.grove import ClusterTopologyBinding, GangSpec, PodClique, PodCliqueSet, PodGang
from gangline.api.kinds import NODE, POD, POD_CLIQUE, POD_CLIQUE_SET, POD_GANG, TOPOLOGY_BINDING, Kind, reference
from gangline.api.meta import Model, Object, Raw, as_raw
from gangline.errors import GanglineError
from gangline.operator import gangs, placement
from gangline.operator.act import act
from gangline.operator.backends import KEPT, NoBackend, Selection
from gangline.operator.backends.contract import Backend, CannotTranslate, Facts, GangObject, GangState, PodGangInfo
from gangline.operator.desired import topology
from gangline.operator.desired.gangs import pod_gang
from gangline.operator.desired.hashes import set_hash
from gangline.operator.desired.layout import gang_place
from gangline.operator.desired.metadata import default_labels
from gangline.operator.desired.pods import names_by_clique, ready, scheduled
from gangline.operator.look import (
    INDEXES,
    Operator,
    asked_again,
    cliques_of_gang,
    gang_info,
    gang_key,
    initialized,
    live_objects,
    pods_of_life,
    selection_of,
    set_heard,
    set_of,
)
from gangline.operator.outside import ASK
from gangline.operator.plan import Apply, EventNote, Patch, Step, WritePlan, changed, delete
from gangline.operator.silence import PATIENCE, unanswered
from gangline.operator.tell import status_patch
from gangline.operator.trims import TRIMS, shared
from gangline.runtime import Again, Context, Controller, Key, Reader, Watch, itself, owner
from gangline.runtime.clock import seconds_of, timestamp

NAME = "podgang"
TROUBLE = 10.0
"""Seconds until a gang whose translation something stands in the way of is looked at again."""
CREATION = "gangline-creation"
"""The field manager of what is set once and then left to others."""


@dataclass(frozen=True, slots=True)
class GangObjects:
    gang: PodGang
    pcs: PodCliqueSet
    pods: Sequence[Pod]
    cliques: dict[str, PodClique]
    live: list[tuple[Kind[Any], Object]]
    selection: Selection
    facts: Facts
    asked: str = ""
    """The backend that the set asks for now, while the gang stays with its own."""


async def reconcile(op: Operator, ctx: Context, key: Key) -> Again | None:
    gang = ctx.read.get(POD_GANG, key.name, key.namespace)
    if gang is None:
        op.silence.forget(key)
        return None
    if gang.metadata.deleting or gang.labels.get(names.MANAGED_BY) != names.GROVE_OPERATOR:
        return None
    await op.ask(ctx, set_of(ctx.read, gang))
    look = _look(op, ctx.read, gang)
    if look is None:
        return None
    if not op.serves(look.selection.backend.name):
        await act(ctx, _left_behind(op, look))
        return None if op.alone else await _tell_absence(op, ctx, look)
    plan, info, trouble = think(op, ctx.read, look)
    await _tell_lapse(op, ctx, look, info)
    failures = await act(ctx, plan)
    op.note_gone(ctx.read, failures)
    trouble = trouble or "; ".join(str(failure) for failure in failures)
    again = await _tell(op, ctx, look, info, trouble)
    if failures:
        raise GanglineError(trouble)
    return Again(TROUBLE) if trouble else again


def _look(op: Operator, read: Reader, gang: PodGang) -> GangObjects | None:
    pcs = set_of(read, gang)
    if pcs is None or pcs.metadata.deleting:
        return None
    try:
        selection = selection_of(op, read, pcs, gang)
    except NoBackend:
        return None
    asked = op.registry.for_set(pcs).backend.name if selection.source == KEPT else ""
    cliques = {clique.name: clique for clique in cliques_of_gang(read, gang)}
    return GangObjects(
        gang,
        pcs,
        pods_of_life(read, gang),
        cliques,
        live_objects(op, read, gang),
        selection,
        op.registry.facts(op.facts(read), selection),
        asked,
    )


def _left_behind(op: Operator, look: GangObjects) -> WritePlan:
    """What the backends of this process wrote for a gang that now belongs to another process."""
    ours = {kind for backend in op.followed if op.serves(backend.name) for kind in backend.writes} - set(
        look.selection.backend.writes
    )
    plan = WritePlan()
    plan.stage([delete(kind, obj) for kind, obj in look.live if kind in ours and not obj.metadata.deleting])
    return plan


def think(op: Operator, read: Reader, look: GangObjects) -> tuple[WritePlan, PodGangInfo, str]:
    """The plan, the gang as its backend sees it after the plan, and what stands in the way of its translation."""
    plan, gang, wanted = WritePlan(), look.gang, _wanted(op, read, look)
    if wanted is not None:
        patch = changed(POD_GANG, gang, wanted)
        if patch is not None:
            plan.stage([Patch(POD_GANG, gang.name, gang.namespace, patch, code="ERR_CREATE_OR_PATCH_PODGANG")])
        gang = _merged(gang, wanted)
    info = gang_info(gang, look.pcs, look.selection, look.facts, look.live, look.pods)
    _say_several(look, plan)
    try:
        objects = [
            _stamped(op, look, gang_object) for gang_object in look.selection.backend.gang_objects(info, look.facts)
        ]
    except CannotTranslate as error:
        plan.events.append(
            EventNote(
                POD_GANG, look.gang, f"{look.selection.backend.name.upper()}BackendMappingFailed", str(error), True
            )
        )
        return plan, info, str(error)
    trouble = _not_served(look, objects) or _sync(
        read,
        look,
        objects,
        plan,
        metadata=_metadata_matters(op, plan),
        metadata_removed=not op.settings.manner.metadata_with_spec,
    )
    if trouble and all(condition.message != trouble for condition in gang.status.conditions):
        plan.events.append(EventNote(POD_GANG, look.gang, "BackendBlocked", trouble, True))
    return plan, info, trouble


def _stamped(op: Operator, look: GangObjects, wanted: GangObject) -> GangObject:
    """A backend's object with who made it, for which set and by which backend; and without what kubectl noted about
    another object."""
    meta = wanted.obj["metadata"]
    notes = {key: value for key, value in (meta.get("annotations") or {}).items() if key != names.LAST_APPLIED}
    marks = (
        {}
        if op.settings.manner.translations_unmarked
        else default_labels(look.pcs.name) | {names.SCHEDULER_BACKEND: look.selection.backend.name}
    )
    labels = {**(meta.get("labels") or {}), **marks}
    parts = {key: value for key, value in (("labels", labels), ("annotations", notes)) if value or key in meta}
    return replace(wanted, obj=wanted.obj | {"metadata": meta | parts})


def _say_several(look: GangObjects, plan: WritePlan) -> None:
    """Once per gang: more than one backend knows the name."""
    if look.selection.also and not look.gang.status.conditions:
        plan.events.append(
            EventNote(
                POD_GANG,
                look.gang,
                "SeveralBackendsMatch",
                (
                    f"schedulerName {look.selection.scheduler_name} is known to {look.selection.backend.name}, "
                    f"{', '.join(look.selection.also)}; "
                    f"the first is used: name one with annotation {names.SCHEDULER_BACKEND}"
                ),
                True,
            )
        )


def _not_served(look: GangObjects, objects: Sequence[GangObject]) -> str:
    """Which kind the cluster lacks, in words."""
    missing = next((item.kind for item in objects if look.facts.known and not look.facts.serves(item.kind)), None)
    if missing is None:
        return ""
    return (
        f"this cluster does not serve {missing.resource} {missing.version}: install the definitions of "
        f"{look.selection.backend.name}'s "
        "scheduler, or choose another backend"
    )


def _metadata_matters(op: Operator, plan: WritePlan) -> bool:
    """Whether changed labels alone reach the scheduler's object."""
    patched = [step.patch for stage in plan.stages for step in stage if isinstance(step, Patch)]
    return not op.settings.manner.metadata_with_spec or any("spec" in patch for patch in patched)


def _wanted(op: Operator, read: Reader, look: GangObjects) -> Raw | None:
    place = gang_place(look.pcs, look.gang.name)
    if place is None or place.replica >= look.pcs.spec.replicas:
        return None
    pods = names_by_clique(look.pods, look.gang.name)
    wanted = pod_gang(
        look.pcs, place, lambda name: pods.get(name, ()), look.selection.chosen, op.levels(read, look.pcs), look.gang
    )

    def info() -> PodGangInfo:
        found = gang_info(look.gang, look.pcs, look.selection, look.facts, look.live, look.pods)
        return replace(found, lessened=_only_less(look, wanted))

    notes = look.selection.backend.notes(info, look.facts)
    if notes:
        wanted["metadata"].setdefault("annotations", {}).update(notes)
    return wanted


def _only_less(look: GangObjects, wanted: Raw) -> bool:
    """Whether a change only takes pods away or reorders groups, or nothing changes since such a change."""
    gang, spec = look.gang, msgspec.convert(wanted["spec"], GangSpec, strict=False)
    if look.pcs.status.update_progress is not None or look.pcs.status.current_generation_hash != set_hash(look.pcs):
        return False
    if spec == gang.spec:
        return names.SKIP_GROUPER in gang.annotations
    before = {
        group.name: {pod_reference.name for pod_reference in group.pod_references} for group in gang.spec.podgroups
    }
    after = {group.name: {pod_reference.name for pod_reference in group.pod_references} for group in spec.podgroups}
    bare = [msgspec.structs.replace(item, podgroups=()) for item in (gang.spec, spec)]
    return (
        bare[0] == bare[1]
        and before.keys() == after.keys()
        and all(after[name] <= before[name] for name in after)
        and all(name in look.cliques for name in after)
    )


def _merged(gang: PodGang, wanted: Raw) -> PodGang:
    """The gang as it will be once the plan is carried out."""
    view = msgspec.convert(wanted, PodGang, strict=False)
    meta = msgspec.structs.replace(gang.metadata, labels=view.labels, annotations=view.annotations)
    return msgspec.structs.replace(gang, metadata=meta, spec=view.spec)


# --- the scheduler's own objects
# -------------------------------------------------------------------------------------------


def _sync(
    read: Reader,
    look: GangObjects,
    objects: Sequence[GangObject],
    plan: WritePlan,
    *,
    metadata: bool,
    metadata_removed: bool,
) -> str:
    """Plans the writes that make the scheduler's objects as wanted; says what stands in the way."""
    live = {(kind, obj.name): obj for kind, obj in look.live}
    first: list[Step] = []
    second: list[Step] = []
    for item in objects:
        name = item.obj["metadata"]["name"]
        wanted = item.obj | {"metadata": item.obj["metadata"] | {"ownerReferences": [reference(POD_GANG, look.gang)]}}
        found = live.pop((item.kind, name), None)
        if found is None and read.get(item.kind, name, look.gang.namespace) is not None:
            return f"{item.kind.kind} {name} exists and belongs to someone else; remove or rename it"
        if found is not None and not metadata_removed:
            wanted["metadata"] = _kept(wanted["metadata"], found)
        if found is not None and found.metadata.deleting and item.fixed:
            return f"{item.kind.kind} {name} is made anew once the old one is gone; it stays while pods belong to it"
        if found is not None and _must_be_made_anew(item, wanted, found):
            first.append(delete(item.kind, found))
        elif found is None:
            first.append(
                Apply(item.kind, _joined(wanted, item.once), manager=CREATION if item.once else "", force=False)
            )
        elif not found.metadata.deleting and not _as_wanted(item, wanted, found, metadata):
            first.append(Apply(item.kind, wanted))
            second += _hand_over(item, found)
    first += [delete(kind, obj) for (kind, _), obj in live.items() if not obj.metadata.deleting]
    plan.stage(first)
    plan.stage(second)
    return ""


def _kept(meta: Raw, live: Object) -> Raw:
    """Wanted metadata, with everything that the live object has besides."""
    return meta | {
        "labels": {**live.labels, **meta.get("labels", {})},
        "annotations": {**live.annotations, **meta.get("annotations", {})},
    }


def _hand_over(each: GangObject, live: Object) -> list[Step]:
    """What was set once stays with the manager of creation; everything else it gives up, so that dropped fields go."""
    if not each.once:
        return []
    kept = {key: value for key, value in _spec_of(live).items() if key in each.once.get("spec", {})}
    meta = {"name": live.name, "namespace": live.namespace}
    return [Apply(each.kind, {"metadata": meta, "spec": kept}, manager=CREATION)]


def _joined(wanted: Raw, once: Raw) -> Raw:
    return wanted | {"spec": wanted["spec"] | once.get("spec", {})}


def _as_wanted(each: GangObject, wanted: Raw, live: Object, metadata: bool) -> bool:
    """Whether the live object has everything we own, and nothing of ours that is no longer wanted."""
    have, want = _spec_of(live), _through(each.kind, wanted)
    want = {key: value for key, value in want.items() if key in have} if each.fixed else want
    stale = [key for key in each.owns if key in have and key not in want]
    missing = any(have.get(key) != value for key, value in want.items())
    if stale or missing:
        return False
    meta = wanted["metadata"] if metadata else {}
    marks = all(live.labels.get(key) == value for key, value in (meta.get("labels") or {}).items())
    notes = all(live.annotations.get(key) == value for key, value in (meta.get("annotations") or {}).items())
    return marks and notes


def _must_be_made_anew(each: GangObject, wanted: Raw, live: Object) -> bool:
    """Whether a field that cannot change has to."""
    have, want = _spec_of(live), _through(each.kind, wanted)
    return any(have.get(key) is not None and have[key] != want.get(key) for key in each.fixed)


def _through(kind: Kind[Any], wanted: Raw) -> Raw:
    """A wanted spec in the form of the kind's typed view, so that both sides compare alike."""
    return _spec_of(msgspec.convert(wanted, kind.type, strict=False))


def _spec_of(obj: Object) -> Raw:
    spec = getattr(obj, "spec", None)
    found: Raw = as_raw(spec) if isinstance(spec, Model) else _without_nulls(spec or {})
    return found


def _without_nulls(value: Any) -> Any:
    """Some servers write null for what was not said, at any depth."""
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


# --- tell
# --------------------------------------------------------------------------------------------------------------------


def _score(op: Operator, read: Reader, look: GangObjects) -> float | None:
    if op.settings.manner.plain_conditions:
        return None
    levels = op.levels(read, look.pcs) or {}

    def labels_of(node: str) -> Mapping[str, str] | None:
        found = read.get(NODE, node)
        return found.labels if found is not None else None

    return placement.score(look.pods, list(levels.values()), labels_of)


async def _tell_lapse(op: Operator, ctx: Context, look: GangObjects, info: PodGangInfo) -> None:
    """A gang that stood and has neither all pods nor its minimum any more says so before it lists new ones: these would
    be let go."""
    if op.settings.manner.gate_by_listing or not initialized(look.gang):
        return
    view = gangs.GangView(
        look.gang, info, look.cliques, "", GangState(), False, asked=look.asked, backend=_called(look)
    )
    if not gangs.incomplete(view):
        return
    new = gangs.status(
        replace(view, says=look.selection.backend.gang_status(info, ctx.read)), timestamp(ctx.clock.now())
    )
    patch = status_patch(POD_GANG, look.gang, new)
    if patch is not None and new["phase"] == gangs.PENDING:
        await ctx.client.patch(POD_GANG, look.gang.name, look.gang.namespace, patch, subresource="status")


async def _tell(op: Operator, ctx: Context, look: GangObjects, info: PodGangInfo, trouble: str) -> Again | None:
    if not look.pods and not trouble and not look.gang.status.phase:
        return None  # nothing to tell before the first pod
    now = ctx.clock.now()
    says = look.selection.backend.gang_status(info, ctx.read)
    wait = _patience(op, look, says, now)
    view = gangs.GangView(
        look.gang,
        info,
        look.cliques,
        trouble,
        says,
        op.settings.manner.gate_by_listing,
        wait == 0,
        look.asked,
        _score(op, ctx.read, look),
        _called(look),
    )
    new = gangs.status(view, timestamp(now))
    patch = status_patch(POD_GANG, look.gang, new)
    if patch is not None:
        _say_causes(ctx, look.gang, new, says)
        await ctx.client.patch(POD_GANG, look.gang.name, look.gang.namespace, patch, subresource="status")
    if not says.ready or (says.blocked and new["phase"] == gangs.PENDING):
        return Again(TROUBLE)
    if says.again is not None and new["phase"] == gangs.PENDING:
        return await _ask_again(ctx, look, says.again)
    return Again(wait) if wait else None


async def _tell_absence(op: Operator, ctx: Context, look: GangObjects) -> Again | None:
    """A gang that waits for a backend of another process says so where there is none."""
    gang, name = look.gang, look.selection.backend.name
    if initialized(gang) and not any(pod.spec.scheduling_gates for pod in look.pods):
        return None
    why = await op.outside.absent(ctx, name, op.settings.namespace)
    told = gangs.absent(gang, why, timestamp(ctx.clock.now())) if why else None
    patch = status_patch(POD_GANG, gang, told) if told is not None else None
    if patch is not None:
        ctx.events.tell(POD_GANG, gang, gangs.NOT_RUNNING, why, warning=True)
        await ctx.client.patch(POD_GANG, gang.name, gang.namespace, patch, subresource="status")
    return Again(ASK)


def _called(look: GangObjects) -> str:
    return f"backend {look.selection.backend.name}"


async def _ask_again(ctx: Context, look: GangObjects, seconds: float) -> Again:
    """Touch the scheduler's objects of a gang that waits, if they were not touched for so long; gives when that is next
    due."""
    now, writes = ctx.clock.now(), look.selection.backend.writes
    waits = [seconds]
    for kind, obj in look.live:
        since = seconds_of(obj.annotations.get(names.ASKED_AGAIN) or obj.metadata.creation_timestamp or "")
        if kind in writes and now - since >= seconds:
            note = {"metadata": {"annotations": {names.ASKED_AGAIN: timestamp(now)}}}
            await ctx.client.patch(kind, obj.name, obj.namespace, note)
        elif kind in writes:
            waits.append(seconds - (now - since))
    return Again(max(min(waits), 1.0))


def _patience(op: Operator, look: GangObjects, says: GangState, now: float) -> float | None:
    """Seconds until a silent scheduler is asked for; None where it has answered, or has nothing to look at yet."""
    key = Key(look.gang.namespace, look.gang.name)
    if not unanswered(look.pods, says):
        op.silence.forget(key)
        return None
    return max(PATIENCE - op.silence.lasts(key, look.gang.uid, now), 0.0)


def _say_causes(ctx: Context, gang: PodGang, new: Raw, says: GangState) -> None:
    """A cause outside the gang is an event too, once."""
    known = {(condition.reason, condition.message) for condition in gang.status.conditions}
    for condition in new["conditions"]:
        fresh = (condition["reason"], condition["message"]) not in known
        outside = condition["type"] == "Scheduled" and (
            condition["reason"] == gangs.SILENT or (says.blocked and condition["message"] == says.why)
        )
        if fresh and (outside or condition["reason"] == gangs.NOT_READY):
            ctx.events.tell(POD_GANG, gang, condition["reason"], condition["message"], warning=True)


# --- the controller
# --------------------------------------------------------------------------------------------------------------


def _gangs_of_set(pcs: PodCliqueSet, read: Reader) -> Iterable[Key]:
    return [Key(gang.namespace, gang.name) for gang in read.by(POD_GANG, "set", f"{pcs.namespace}/{pcs.name}")]


def _gangs_of_binding(binding: ClusterTopologyBinding, read: Reader) -> Iterable[Key]:
    return [
        key
        for pcs in read.list(POD_CLIQUE_SET)
        if topology.topology_name(pcs) == binding.name
        for key in _gangs_of_set(pcs, read)
    ]


def _pod_moved(before: Pod | None, after: Pod | None) -> bool:
    if before is None or after is None:
        return True
    return (
        before.metadata.deleting != after.metadata.deleting
        or scheduled(before) != scheduled(after)
        or ready(before) != ready(after)
        or before.status.conditions != after.status.conditions
        or before.status.reason != after.status.reason
        or before.status.phase != after.status.phase
        or bool(before.spec.scheduling_gates) != bool(after.spec.scheduling_gates)
    )


def _size_changed(before: PodClique | None, after: PodClique | None) -> bool:
    if before is None or after is None:
        return True
    return before.spec.replicas != after.spec.replicas or before.metadata.deleting != after.metadata.deleting


def _gang_named(obj: Object, read: Reader) -> Iterable[Key]:
    """The gang that a scheduler's object is named after."""
    return [Key(obj.namespace, obj.name)] if read.get(POD_GANG, obj.name, obj.namespace) is not None else []


_gang_of = owner(POD_GANG)


def watches(backends: Iterable[Backend]) -> list[Watch]:
    """What schedulers write that concerns a gang: their own objects, and those named after it."""
    known = list(backends)
    written = dict.fromkeys(kind for backend in known for kind in backend.writes)
    named = dict.fromkeys(kind for backend in known for kind in backend.reads if kind.namespaced)
    return [*(Watch(kind, _gang_of) for kind in written), *(Watch(kind, _gang_named) for kind in named)]


def read_only(backends: Iterable[Backend]) -> tuple[Kind[Any], ...]:
    return tuple(dict.fromkeys(kind for backend in backends for kind in backend.reads if not kind.namespaced))


def controller(op: Operator) -> Controller:
    return Controller(
        NAME,
        partial(reconcile, op),
        (
            Watch(POD_GANG, itself, asked_again),
            Watch(POD, gang_key, _pod_moved),
            Watch(POD_CLIQUE, gang_key, _size_changed),
            Watch(POD_CLIQUE_SET, _gangs_of_set, set_heard(op)),
            Watch(TOPOLOGY_BINDING, _gangs_of_binding, asked_again),
            *watches(op.followed),
        ),
        reads=(NODE, *read_only(op.followed)),
        indexes=INDEXES,
        workers=op.settings.workers.pod_gang,
        selectors=op.selectors,
        started=op.running.append,
        trims={kind: shared for backend in op.followed for kind in backend.writes} | TRIMS,
    )
