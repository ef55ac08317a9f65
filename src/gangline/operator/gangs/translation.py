"""The scheduler's own objects of a gang: which writes make them as the backend wants them.

An object of our name that belongs to someone else is never touched. A field that cannot change makes its object anew; a
field that users or the scheduler may change is set once. Pure: the plan is carried out by the controller.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from gangline.api.kinds import POD_GANG, Kind, reference
from gangline.api.meta import Object, Raw, spec_of
from gangline.operator.backends.contract import GangObject
from gangline.operator.gangs.look import GangObjects
from gangline.operator.plan import Apply, Step, WritePlan, delete

if TYPE_CHECKING:
    from gangline.runtime import Reader

CREATION = "gangline-creation"
"""The field manager of what is set once and then left to others."""


def sync(
    read: Reader,
    look: GangObjects,
    objects: Sequence[GangObject],
    plan: WritePlan,
    *,
    metadata: bool,
    metadata_removed: bool,
) -> str:
    """Plans the writes that make the scheduler's objects as wanted; says what stands in the way."""
    others = {(kind, obj.name): obj for kind, obj in look.live}
    first: list[Step] = []
    second: list[Step] = []
    for item in objects:
        name = item.obj["metadata"]["name"]
        wanted = item.obj | {"metadata": item.obj["metadata"] | {"ownerReferences": [reference(POD_GANG, look.gang)]}}
        live = others.pop((item.kind, name), None)
        trouble = _in_the_way(read, item, name, look.gang.namespace, live)
        if trouble:
            return trouble
        if live is None:
            first.append(_creation(item, wanted))
            continue
        if not metadata_removed:
            wanted["metadata"] = _with_live_metadata(wanted["metadata"], live)
        now, later = _update(item, wanted, live, metadata)
        first += now
        second += later
    first += [delete(kind, obj) for (kind, _), obj in others.items() if not obj.metadata.deleting]
    plan.stage(first)
    plan.stage(second)
    return ""


def _in_the_way(read: Reader, item: GangObject, name: str, namespace: str, live: Object | None) -> str:
    """Why an object cannot be made or changed now, or nothing."""
    if live is None and read.get(item.kind, name, namespace) is not None:
        return f"{item.kind.kind} {name} exists and belongs to someone else; remove or rename it"
    if live is not None and live.metadata.deleting and item.fixed:
        return f"{item.kind.kind} {name} is made anew once the old one is gone; it stays while pods belong to it"
    return ""


def _creation(item: GangObject, wanted: Raw) -> Apply:
    with_once = wanted | {"spec": wanted["spec"] | item.once.get("spec", {})}
    return Apply(item.kind, with_once, manager=CREATION if item.once else "", force=False)


def _update(item: GangObject, wanted: Raw, live: Object, metadata: bool) -> tuple[list[Step], list[Step]]:
    """The writes that make a live object as wanted: those of the first stage and those of the second."""
    if _must_be_made_anew(item, wanted, live):
        return [delete(item.kind, live)], []
    if live.metadata.deleting or _as_wanted(item, wanted, live, metadata):
        return [], []
    return [Apply(item.kind, wanted)], _hand_over(item, live)


def _with_live_metadata(meta: Raw, live: Object) -> Raw:
    """Wanted metadata, with everything that the live object has besides."""
    return meta | {
        "labels": {**live.labels, **meta.get("labels", {})},
        "annotations": {**live.annotations, **meta.get("annotations", {})},
    }


def _hand_over(item: GangObject, live: Object) -> list[Step]:
    """What was set once stays with the manager of creation; everything else it gives up, so that dropped fields go."""
    if not item.once:
        return []
    once = item.once.get("spec", {})
    kept = once if item.again else {key: value for key, value in _spec_of(live).items() if key in once}
    meta = {"name": live.name, "namespace": live.namespace}
    return [Apply(item.kind, {"metadata": meta, "spec": kept}, manager=CREATION)]


def _as_wanted(item: GangObject, wanted: Raw, live: Object, metadata: bool) -> bool:
    """Whether the live object has everything we own, and nothing of ours that is no longer wanted."""
    have, want = _spec_of(live), _through(item.kind, wanted)
    want = {key: value for key, value in want.items() if key in have} if item.fixed else want
    stale = [key for key in item.owns if key in have and key not in want]
    missing = any(have.get(key) != value for key, value in want.items())
    if stale or missing:
        return False
    meta = wanted["metadata"] if metadata else {}
    marks = all(live.labels.get(key) == value for key, value in (meta.get("labels") or {}).items())
    notes = all(live.annotations.get(key) == value for key, value in (meta.get("annotations") or {}).items())
    return marks and notes


def _must_be_made_anew(item: GangObject, wanted: Raw, live: Object) -> bool:
    """Whether a field that cannot change has to."""
    have, want = _spec_of(live), _through(item.kind, wanted)
    return any(have.get(key) is not None and have[key] != want.get(key) for key in item.fixed)


def _through(kind: Kind[Any], wanted: Raw) -> Raw:
    """A wanted spec in the form of the kind's typed view, so that both sides compare alike."""
    return _spec_of(msgspec.convert(wanted, kind.type, strict=False))


def _spec_of(obj: Object) -> Raw:
    spec: Raw = _without_nulls(spec_of(obj))
    return spec


def _without_nulls(value: Any) -> Any:
    """Some servers write null for absent fields, at any depth."""
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value
