"""What a gang should be, and which objects its scheduler should get for it.

The gang follows its set and its pods; its backend says which objects translate it, and translation.py which writes make
them so. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from gangline.api import names
from gangline.api.grove import GangSpec, PodGang
from gangline.api.kinds import POD_GANG
from gangline.api.meta import Raw
from gangline.operator.backends.contract import CannotTranslate, GangObject, PodGangInfo
from gangline.operator.desired.gangs import pod_gang
from gangline.operator.desired.hashes import set_hash
from gangline.operator.desired.layout import gang_place
from gangline.operator.desired.metadata import default_labels
from gangline.operator.desired.pods import names_by_clique
from gangline.operator.gangs.gang_info import gang_info
from gangline.operator.gangs.look import GangObjects
from gangline.operator.gangs.translation import sync
from gangline.operator.plan import EventNote, Patch, WritePlan, changed, delete

if TYPE_CHECKING:
    from gangline.operator.operator import Operator
    from gangline.runtime import Reader


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
    trouble = _not_served(look, objects) or sync(
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


def left_behind(op: Operator, look: GangObjects) -> WritePlan:
    """What the backends of this process wrote for a gang that now belongs to another process."""
    ours = {kind for backend in op.followed if op.serves(backend.name) for kind in backend.writes} - set(
        look.selection.backend.writes
    )
    plan = WritePlan()
    plan.stage([delete(kind, obj) for kind, obj in look.live if kind in ours and not obj.metadata.deleting])
    return plan


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
        f"{look.selection.backend.name}'s scheduler, or choose another backend"
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
        described = gang_info(look.gang, look.pcs, look.selection, look.facts, look.live, look.pods)
        return replace(described, lessened=_only_less(look, wanted))

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
