"""Which schedulers a cluster runs, one per node pool, and with which settings, as its Config and shards say it.

The same functions of the installer that write a scheduler's configuration are asked, so that the answer is that
scheduler's. Where nothing is installed by a Config, the scheduler of `gangline up` or `gangline run` is meant. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from gangline.api import kinds, names
from gangline.api.meta import Raw
from gangline.components.installer_parts import installer_parts
from gangline.config import manner
from gangline.installer.config_reader import ConfigReading
from gangline.installer.contract import CONFIG_NAME, WantedObjects
from gangline.installer.objects.shards import config_yaml, scheduler_flags
from gangline.scheduler.loop.flags import read_flags
from gangline.scheduler.settings import native_settings, shard_settings
from gangline.scheduler.thought.options import SchedulerOptions

POOLED = (kinds.NODE, kinds.QUEUE, kinds.POD_GROUP)
"""What is divided into node pools."""


def _reading(objects: Sequence[Raw]) -> ConfigReading:
    configs = [obj for obj in objects if obj["kind"] == kinds.CONFIG.kind and obj["metadata"]["name"] == CONFIG_NAME]
    return ConfigReading(configs[0].get("spec") or {} if configs else {})


def compat_of(objects: Sequence[Raw]) -> tuple[str, ...]:
    """The upstream systems that the cluster's components imitate."""
    return _reading(objects).compat


def schedulers_of(objects: Sequence[Raw]) -> list[SchedulerOptions]:
    """The scheduler of the nodes without a pool first, then one per shard with a pool."""
    reading = _reading(objects)
    shards = sorted(
        (obj.get("spec") or {} for obj in objects if obj["kind"] == kinds.SCHEDULING_SHARD.kind),
        key=lambda spec: str(spec.get("partitionLabelValue") or ""),
    )
    options = [_of_shard(reading, spec) for spec in shards]
    if not any(not option.node_pool for option in options):
        usual = shard_settings() if manner(reading.compat).decides_as_upstream else native_settings()
        options.insert(0, SchedulerOptions(settings=usual, node_pool_key=reading.pool_key or names.NODE_POOL))
    return [replace(item, settings=replace(item.settings, node_pool=item.pool_name)) for item in options]


def _of_shard(reading: ConfigReading, spec: Raw) -> SchedulerOptions:
    usual = shard_settings() if manner(reading.compat).decides_as_upstream else native_settings()
    flags = scheduler_flags(reading, spec, installer_parts(), WantedObjects())
    return read_flags(flags, config_yaml(reading, spec, WantedObjects()), usual).options


def of_pool(objects: Iterable[Raw], options: SchedulerOptions) -> list[Raw]:
    """What the scheduler of a pool sees: its own nodes, queues and groups, and everything that is not divided."""
    pooled = {kind.kind for kind in POOLED}
    return [
        obj for obj in objects if obj["kind"] not in pooled or _pool(obj, options.node_pool_key) == options.node_pool
    ]


def _pool(obj: Raw, key: str) -> str:
    return str((obj["metadata"].get("labels") or {}).get(key) or "")
