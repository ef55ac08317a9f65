"""Every scheduling policy, one file each; this table says under which name a configuration finds it.

To add a policy: one file here with a class that inherits from `Plugin` (`../plugin.py`), and one line in BUILT_IN.
Plugins outside the tree are found by the entry point group `gangline.plugins` through `gangline.extend`. Nothing here
runs a plugin."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import cast

from gangline import extend
from gangline.scheduler.plugin import Plugin, PluginClass, adopted

BUILT_IN: dict[str, str] = {
    "predicates": "predicates:PredicatesPlugin",
    "proportion": "proportion:ProportionPlugin",
    "priority": "orders:PriorityPlugin",
    "elastic": "orders:ElasticPlugin",
    "kubeflow": "orders:KubeflowPlugin",
    "ray": "orders:RayPlugin",
    "taskorder": "orders:TaskOrderPlugin",
    "subgrouporder": "orders:SubGroupOrderPlugin",
    "nodeavailability": "nodeavailability:NodeAvailabilityPlugin",
    "gpusharingorder": "gpusharing:GpuSharingOrderPlugin",
    "gpupack": "gpusharing:GpuPackPlugin",
    "gpuspread": "gpusharing:GpuSpreadPlugin",
    "resourcetype": "resourcetype:ResourceTypePlugin",
    "nominatednode": "nominatednode:NominatedNodePlugin",
    "nodeplacement": "fewestfragments:placement",
    "dynamicresources": "dynamicresources:DynamicResourcesPlugin",
    "minruntime": "minruntime:MinRuntimePlugin",
    "topology": "topology:TopologyPlugin",
    "reservations": "reservations:ReservationsPlugin",
    "disruption": "disruption:DisruptionPlugin",
    "podaffinity": "podaffinity:PodAffinityPlugin",
    "numa": "numa:NumaPlugin",
    "snapshot": "passive:SnapshotPlugin",
    "reflectjoborder": "passive:ReflectJobOrderPlugin",
    "sg-nodelocalgreedy": "generators:NodeLocalGreedyPlugin",
    "sg-multinodegang": "generators:MultiNodeGangPlugin",
}


def plugin_class(name: str) -> PluginClass | None:
    """The class of a plugin by its configured name; None when there is none."""
    return _built_in(name) if name in BUILT_IN else _brought().get(name)


@cache
def _built_in(name: str) -> PluginClass:
    module, _, attribute = BUILT_IN[name].partition(":")
    return cast(PluginClass, getattr(import_module(f"{__name__}.{module}"), attribute))


@cache
def _brought() -> dict[str, PluginClass]:
    """Plugins of other packages."""
    found = extend.table("gangline.plugins", NONE)
    return {name: adopted(given) if isinstance(given, type) else given for name, given in found.items()}


NONE: dict[str, type[Plugin]] = {}
