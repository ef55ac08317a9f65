"""What a pure grouper looks at, as a test states it: a few objects as plain data, the rest left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kinds import CONFIG_MAP, POD, POD_GROUP, PRIORITY_CLASS, known
from gangline.api.meta import Raw
from gangline.config import KAI, manner
from gangline.errors import ApiError, api_error
from gangline.grouper.grouping import Grouping, GroupPart
from gangline.grouper.look import Answer, GrouperView, Ref
from gangline.grouper.plan import plan
from gangline.grouper.settings import GrouperSettings
from held_objects import HeldObjects

FOLLOWED = (POD, POD_GROUP, PRIORITY_CLASS, CONFIG_MAP)
CLASSES = ("train", "build", "inference", "gold", "silver")
COMPAT = GrouperSettings(manner=manner([KAI]))
FORBIDDEN: ApiError = api_error({"code": 403, "reason": "Forbidden", "message": "not allowed"})
MISSING: ApiError = api_error({"code": 404, "reason": "NotFound", "message": "not found"})


def cached(objects: Sequence[Raw]) -> HeldObjects:
    """What the grouper's cache holds of these: the kinds that it follows."""
    here = HeldObjects()
    for item in objects:
        kind = known(item["apiVersion"], item["kind"])
        if kind in FOLLOWED:
            here.add(kind, item)
    return here


def obj(
    kind: str,
    name: str,
    *,
    labels: Raw | None = None,
    annotations: Raw | None = None,
    owner: Raw | None = None,
    **content: Any,
) -> Raw:
    """An object of a kind written as `group/version Kind`; its UID is its name with `-uid`."""
    api_version, _, what = kind.rpartition(" ")
    meta: Raw = {
        "name": name,
        "namespace": "work",
        "uid": f"{name}-uid",
        "labels": labels or {},
        "annotations": annotations or {},
    }
    if owner is not None:
        meta["ownerReferences"] = [
            {
                "apiVersion": owner["apiVersion"],
                "kind": owner["kind"],
                "name": owner["metadata"]["name"],
                "uid": owner["metadata"]["uid"],
            }
        ]
    return {"apiVersion": api_version, "kind": what, "metadata": meta, **content}


def pod(
    name: str = "p", *, owner: Raw | None = None, labels: Raw | None = None, annotations: Raw | None = None, **spec: Any
) -> Raw:
    return obj(
        "v1 Pod",
        name,
        owner=owner,
        labels=labels,
        annotations=annotations,
        spec={"schedulerName": names.KAI_SCHEDULER, "containers": [{"name": "main", "image": "img"}], **spec},
    )


def pod_group(name: str, **content: Any) -> Raw:
    return obj("scheduling.run.ai/v2alpha2 PodGroup", name, **content)


def grouped(
    which: Raw, *others: Raw, settings: GrouperSettings | None = None, refused: Mapping[str, ApiError] | None = None
) -> Grouping:
    """How a pod is grouped among other objects; `refused` names objects whose reading is refused."""
    found = asked(which, *others, settings=settings, refused=refused)
    assert found is not None, "the pod was left alone"
    return found


def asked(
    which: Raw, *others: Raw, settings: GrouperSettings | None = None, refused: Mapping[str, ApiError] | None = None
) -> Grouping | None:
    classes = [
        {"apiVersion": PRIORITY_CLASS.api_version, "kind": PRIORITY_CLASS.kind, "metadata": {"name": name}}
        for name in CLASSES
    ]
    view: Pod = msgspec.convert(which, Pod, strict=False)
    seen = _Seen([which, *others], refused or {})
    return plan(
        view,
        GrouperView(settings or GrouperSettings(), cached([which, *others, *classes]), cast("dict[Ref, Answer]", seen)),
    )


class _Seen:
    """The server's answer about any object: it is one of those listed, or it is not there."""

    def __init__(self, objects: Sequence[Raw], refused: Mapping[str, ApiError]) -> None:
        self._objects, self._refused = objects, refused

    def __contains__(self, ref: Ref) -> bool:
        return True

    def __getitem__(self, ref: Ref) -> Answer:
        if ref.name in self._refused:
            return self._refused[ref.name]
        kind = [item for item in self._objects if (item["apiVersion"], item["kind"]) == (ref.api_version, ref.kind)]
        if not ref.name:
            return [
                item for item in kind if all(item["metadata"]["labels"].get(key) == value for key, value in ref.labels)
            ]
        return next(([item] for item in kind if item["metadata"]["name"] == ref.name), MISSING)


def shape(parts: Sequence[GroupPart]) -> dict[str, tuple[int | None, str | None]]:
    """Name → (pods it needs, or None for a parent; its parent)."""
    return {part.name: (part.minimum if part.children is None else None, part.parent) for part in parts}
