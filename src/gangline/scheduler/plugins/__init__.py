"""Every scheduling policy, one file each; this table says under which name a configuration finds it.

To add a policy: one file here with a class as described in `hooks.py`, and one line in BUILT_IN. Plugins outside the tree are
found by entry point through `gangline.extend`. Nothing here runs a plugin.
"""

from __future__ import annotations

from importlib import import_module
from typing import cast

from ..hooks import PluginClass

BUILT_IN: dict[str, str] = {
    "predicates": "predicates:Predicates",
    "proportion": "proportion:Proportion",
    "priority": "orders:Priority",
    "elastic": "orders:Elastic",
    "kubeflow": "orders:Kubeflow",
    "ray": "orders:Ray",
    "taskorder": "orders:TaskOrder",
    "subgrouporder": "orders:SubGroupOrder",
    "nodeavailability": "nodeavailability:NodeAvailability",
    "gpusharingorder": "gpusharing:GpuSharingOrder",
    "gpupack": "gpusharing:GpuPack",
    "gpuspread": "gpusharing:GpuSpread",
    "resourcetype": "resourcetype:ResourceType",
    "nominatednode": "nominatednode:NominatedNode",
    "nodeplacement": "nodeplacement:NodePlacement",
    "dynamicresources": "dynamicresources:DynamicResources",
    "minruntime": "minruntime:MinRuntime",
    "topology": "topology:Topology",
    "podaffinity": "podaffinity:PodAffinity",
    "numa": "numa:Numa",
    "snapshot": "passive:Snapshot",
    "reflectjoborder": "passive:ReflectJobOrder",
    "sg-nodelocalgreedy": "generators:NodeLocalGreedy",
    "sg-multinodegang": "generators:MultiNodeGang",
}


def plugin_class(name: str) -> PluginClass | None:
    """The class of a plugin by its configured name; None when there is none."""
    place = BUILT_IN.get(name)
    if place is None:
        return None
    module, _, attribute = place.partition(":")
    return cast(PluginClass, getattr(import_module(f"{__name__}.{module}"), attribute))
