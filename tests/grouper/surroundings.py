"""What a pure grouper looks at, as a test states it: a few objects as plain data, the rest left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, cast

import msgspec

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kinds import CONFIG_MAP, POD, POD_GROUP, PRIORITY_CLASS, Kind, known
from gangline.api.meta import Object, Raw
from gangline.api.selectors import Selector, equals
from gangline.config import KAI, manner
from gangline.errors import ApiError, api_error
from gangline.grouper.grouping import Grouping, GroupPart
from gangline.grouper.look import Answer, GrouperView, Ref
from gangline.grouper.plan import plan
from gangline.grouper.settings import GrouperSettings

T = TypeVar("T", bound=Object)
CLASSES = ("train", "build", "inference", "gold", "silver")
COMPAT = GrouperSettings(manner=manner([KAI]))
FORBIDDEN: ApiError = api_error({"code": 403, "reason": "Forbidden", "message": "not allowed"})
MISSING: ApiError = api_error({"code": 404, "reason": "NotFound", "message": "not found"})


class Shelf:
    """A Reader over objects that a test lists."""

    def __init__(self, objects: Sequence[Raw]) -> None:
        self._objects: dict[Kind[Any], list[Any]] = {kind: [] for kind in (POD, POD_GROUP, PRIORITY_CLASS, CONFIG_MAP)}
        for obj in objects:
            kind = known(obj["apiVersion"], obj["kind"])
            if kind in self._objects:
                self._objects[cast("Kind[Any]", kind)].append(msgspec.convert(obj, kind.type, strict=False))

    def get(self, kind: Kind[T], name: str, namespace: str = "") -> T | None:
        return next(
            (
                item
                for item in self._objects[kind]
                if item.name == name and item.namespace == (namespace or item.namespace)
            ),
            None,
        )

    def by(self, kind: Kind[T], index: str, value: str) -> list[T]:
        raise NotImplementedError

    def count(self, kind: Kind[Any], index: str, value: str) -> int:
        raise NotImplementedError

    def owned(self, kind: Kind[T], uid: str) -> list[T]:
        raise NotImplementedError

    def list(self, kind: Kind[T], namespace: str = "", labels: Selector | Mapping[str, str] | None = None) -> list[T]:
        selector = labels if labels is None or isinstance(labels, Selector) else equals(labels)
        return [
            item
            for item in self._objects[kind]
            if (not namespace or item.namespace == namespace) and (selector is None or selector.matches(item.labels))
        ]


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
        GrouperView(settings or GrouperSettings(), Shelf([which, *others, *classes]), cast("dict[Ref, Answer]", seen)),
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
