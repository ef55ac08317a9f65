"""From `kubectl apply` to `kubectl apply --server-side`: what the annotation of the first says stands for ownership,
and is kept in step by the second.

Only the manager `kubectl` is treated so. Pure."""

from __future__ import annotations

from typing import Any

import msgspec

from gangline.cluster.schema import Schema
from gangline.cluster.schema.labels import ANNOTATION_LIMIT
from gangline.cluster.server.patch.apply.fieldset import FieldSet
from gangline.cluster.server.patch.apply.walk import UntypableError, check, compare, fields_of

Obj = dict[str, Any]
MANAGER = "kubectl"
ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration"


def owned_by_annotation(live: Obj, schema: Schema, api_version: str) -> FieldSet:
    """The fields that were applied from the client's side and are as they were applied."""
    applied = _last_applied(live)
    if applied is None or applied.get("apiVersion") != api_version:
        return FieldSet()
    try:
        check(schema.root, applied)
    except UntypableError:
        return FieldSet()
    difference = compare(schema.root, applied, live)
    return fields_of(schema.root, applied) - difference.changed - difference.removed


def _last_applied(live: Obj) -> Obj | None:
    try:
        applied = msgspec.json.decode(_annotations(live).get(ANNOTATION) or "null")
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return applied if isinstance(applied, dict) else None


def _annotations(obj: Obj) -> dict[str, str | None]:
    """As they were sent: a value may be null."""
    return (obj.get("metadata") or {}).get("annotations") or {}


def with_annotation(merged: Obj, applied: Obj) -> Obj:
    """The merged object; if it has the annotation, that says what was applied now."""
    annotations = _annotations(merged)
    if not annotations.get(ANNOTATION):
        return merged
    rest = {name: text for name, text in annotations.items() if name != ANNOTATION}
    text = msgspec.json.encode(_unannotated(applied), order="deterministic").decode() + "\n"
    size = sum(len(name.encode()) + len((words or "").encode()) for name, words in (*rest.items(), (ANNOTATION, text)))
    if size <= ANNOTATION_LIMIT:
        rest[ANNOTATION] = text
    return {**merged, "metadata": {**merged["metadata"], "annotations": rest}}


def _unannotated(applied: Obj) -> Obj:
    if ANNOTATION not in _annotations(applied):
        return applied
    rest = {name: text for name, text in _annotations(applied).items() if name != ANNOTATION}
    return {**applied, "metadata": {**applied["metadata"], "annotations": rest}}
