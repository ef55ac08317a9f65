"""The settings of `gangline queue set`: their names, how values are read, the patch they make. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from gangline.cli.completion.suggestions import did_you_mean
from gangline.errors import BadInput
from gangline.rules.values.queue_amounts import UNLIMITED, read_bound, read_priority, read_weight


@dataclass(frozen=True, slots=True)
class QueueSetting:
    path: tuple[str, ...]
    """Of the field, below `spec`."""
    read: Callable[[str], Any]


def _duration(text: str) -> str:
    from gangline.rules.values.times import duration

    duration(text)
    return text


def _name(text: str) -> str | None:
    return text or None


def _parent(text: str) -> str | None:
    return None if text in ("", "none") else text


RESOURCES = ("gpu", "cpu", "memory")
FIELDS = {"quota": "quota", "limit": "limit", "weight": "overQuotaWeight"}
SETTINGS = {
    **{
        f"{resource}.{word}": QueueSetting(
            ("resources", resource, field), read_weight if word == "weight" else partial(read_bound, resource)
        )
        for resource in RESOURCES
        for word, field in FIELDS.items()
    },
    "parent": QueueSetting(("parentQueue",), _parent),
    "priority": QueueSetting(("priority",), read_priority),
    "title": QueueSetting(("displayName",), _name),
    "preempt-min-runtime": QueueSetting(("preemptMinRuntime",), _duration),
    "reclaim-min-runtime": QueueSetting(("reclaimMinRuntime",), _duration),
}
OTHER_NAMES = {f"{resource}.overQuotaWeight": f"{resource}.weight" for resource in RESOURCES}
"""Upstream's word for a weight."""


def patch_of(settings: Iterable[str]) -> dict[str, Any]:
    """`gpu.quota=8` … → the part of a Queue's spec that says so. Raises BadInput with what is wrong."""
    spec: dict[str, Any] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        known = SETTINGS.get(OTHER_NAMES.get(name, name))
        if not equals or known is None:
            meant = did_you_mean(name, SETTINGS) if equals else ""
            write = f": write SETTING=VALUE with {', '.join(SETTINGS)}"
            raise BadInput(f"{setting!r} is no setting of a queue{meant or write}")
        try:
            value = known.read(text)
        except ValueError as error:
            raise BadInput(f"{setting}: {error}") from None
        _put(spec, known.path, value)
    return spec


def complete(spec: dict[str, Any]) -> dict[str, Any]:
    """The spec of a new queue: what is not given has no bound, and a quota of no GPUs. A Queue that leaves a limit out
    may use nothing at all."""
    given = spec.get("resources", {})
    usual = {"gpu": 0, "cpu": UNLIMITED, "memory": UNLIMITED}
    resources = {
        name: {"quota": quota, "limit": UNLIMITED, "overQuotaWeight": 1} | given.get(name, {})
        for name, quota in usual.items()
    }
    return {field: value for field, value in spec.items() if value is not None} | {"resources": resources}


def _put(spec: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    for field in path[:-1]:
        spec = spec.setdefault(field, {})
    spec[path[-1]] = value
