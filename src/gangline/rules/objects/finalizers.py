"""Finalizers: the names in an object's metadata that hold it until whoever put them there is done.

Lists as they are after one was added or removed, and the patches that make it so, which fail if somebody wrote the
object meanwhile. Who holds what, and for how long, is said where it is held. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from gangline.api.meta import Object, Raw


def with_finalizer(present: Iterable[str] | None, finalizer: str) -> list[str]:
    names = list(present or ())
    return names if finalizer in names else [*names, finalizer]


def without_finalizer(present: Iterable[str] | None, finalizer: str) -> list[str]:
    return [name for name in present or () if name != finalizer]


def patch_that_adds(obj: Object, finalizer: str) -> Raw | None:
    """None where it is there."""
    if finalizer in obj.metadata.finalizers:
        return None
    return _patch(obj, with_finalizer(obj.metadata.finalizers, finalizer))


def patch_that_removes(obj: Object, finalizer: str) -> Raw | None:
    """None where it is not there."""
    if finalizer not in obj.metadata.finalizers:
        return None
    return _patch(obj, without_finalizer(obj.metadata.finalizers, finalizer))


def _patch(obj: Object, finalizers: list[str]) -> Raw:
    return {"metadata": {"finalizers": finalizers, "resourceVersion": obj.metadata.resource_version}}
