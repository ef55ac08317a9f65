"""The settings with which the scheduler of a node pool runs, as far as the cluster tells: the flags and the
config.yaml of its Deployment, else what it noted on its verdicts.

Where neither is there it is taken for a native scheduler without flags. replay.py decides with what is found here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from gangline.api import kinds, names
from gangline.api.core import Pod
from gangline.api.meta import Raw
from gangline.config import manner
from gangline.errors import ConfigError
from gangline.rules.values.documents import DocumentUnreadable, read_yaml
from gangline.scheduler.loop.flags import KNOWN, read_flags
from gangline.scheduler.settings import SchedulerSettings, native_settings, shard_settings
from gangline.scheduler.thought.settings_note import noted_settings
from gangline.why.objects import ClusterObjects, dig
from gangline.why.schedulers.components import pool_of
from gangline.why.states.members import succeeded
from gangline.why.workloads import Subject

POOL_FLAG, CONFIG_FLAG = "partition-label-value", "scheduler-conf"


def running_settings(objects: ClusterObjects, pool: str) -> SchedulerSettings:
    return _deployed(objects, pool) or _noted(objects, pool) or native_settings()


def done_for_minimum(objects: ClusterObjects, subject: Subject) -> list[Pod]:
    """Pods that are done and count for the minimum of their gang, where its scheduler counts them."""
    return succeeded(subject) if running_settings(objects, pool_of(subject)).counts_succeeded else []


def _deployed(objects: ClusterObjects, pool: str) -> SchedulerSettings | None:
    for deployment in objects.raws(kinds.DEPLOYMENT):
        pod = dig(deployment, "spec", "template", "spec") or {}
        for container in pod.get("containers") or ():
            flags = dict(_flags(container))
            if CONFIG_FLAG in flags and flags.get(POOL_FLAG, "") == pool:
                return _started_with(flags, _config(objects, deployment, pod), container)
    return None


def _flags(container: Raw) -> Iterator[tuple[str, str]]:
    """`--name=value` and `--name value` alike."""
    words = [str(word) for word in (*(container.get("command") or ()), *(container.get("args") or ()))]
    for place, word in enumerate(words):
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            following = words[place + 1] if place + 1 < len(words) else ""
            spaced = following if following and not following.startswith("--") else "true"
            yield name, value if equals else spaced


def _config(objects: ClusterObjects, deployment: Raw, pod: Raw) -> Raw:
    """The first config map that it mounts and that is a scheduler's."""
    namespace = deployment["metadata"].get("namespace", "")
    for volume in pod.get("volumes") or ():
        name = dig(volume, "configMap", "name")
        data = dig(objects.raw(kinds.CONFIG_MAP, str(name), namespace), "data") or {}
        for text in data.values():
            config = _parsed(str(text))
            if "actions" in config or "tiers" in config:
                return config
    return {}


def _parsed(text: str) -> Raw:
    try:
        config = read_yaml(text)
    except DocumentUnreadable:
        return {}
    return config if isinstance(config, dict) else {}


def _started_with(flags: dict[str, str], config: Raw, container: Raw) -> SchedulerSettings | None:
    compat = [word.partition("=")[2] for word in container.get("args") or () if str(word).startswith("--compat=")]
    ours = any(str(word) == "run" for word in (*(container.get("command") or ()), *(container.get("args") or ())))
    upstream = not ours or manner(compat).decides_as_upstream
    try:
        known = {name: value for name, value in flags.items() if name in KNOWN}
        return read_flags(known, config, shard_settings() if upstream else native_settings()).options.settings
    except ConfigError:
        return None


def _noted(objects: ClusterObjects, pool: str) -> SchedulerSettings | None:
    """From the verdict that was written last; a verdict without a note is of a scheduler in upstream's manner."""
    groups = [
        group
        for group in objects.all(kinds.POD_GROUP)
        if names.VERDICT in group.annotations and group.labels.get(names.NODE_POOL, "") == pool
    ]
    if not groups:
        return None
    last = max(groups, key=lambda group: int(group.annotations.get(names.VERDICT_REVISION) or 0))
    note = _note(last.annotations[names.VERDICT])
    return shard_settings() if note is None else noted_settings(note)


def _note(verdict: str) -> dict[str, Any] | None:
    try:
        note = json.loads(verdict).get("settings")
    except (ValueError, AttributeError):
        return None
    return note if isinstance(note, dict) else None
