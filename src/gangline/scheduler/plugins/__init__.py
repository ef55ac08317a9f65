"""Every scheduling policy, one file each in a folder by what it is asked; this table says under which name a
configuration finds it.

    order/      who goes first
    capacity/   how much a queue may hold
    evict/      who may be evicted, and with whom
    fit/        whether a node can do
    score/      which node or device is best

To add a policy: one file in one of these with a class that inherits from `Plugin` (`../plugin.py`), and one line in
BUILT_IN. Plugins outside the tree are found by the entry point group `gangline.plugins` through `gangline.extend`.
Nothing here runs a plugin."""

from __future__ import annotations

from functools import cache

from gangline import extend
from gangline.scheduler.plugin import Plugin, PluginClass, adopted
from gangline.scheduler.plugins.capacity.proportion import ProportionPlugin
from gangline.scheduler.plugins.capacity.reservations import ReservationsPlugin
from gangline.scheduler.plugins.evict.disruption import DisruptionPlugin
from gangline.scheduler.plugins.evict.generators import MultiNodeGangPlugin, NodeLocalGreedyPlugin
from gangline.scheduler.plugins.evict.minruntime import MinRuntimePlugin
from gangline.scheduler.plugins.fit.dynamicresources import DynamicResourcesPlugin
from gangline.scheduler.plugins.fit.numa import NumaPlugin
from gangline.scheduler.plugins.fit.predicates import PredicatesPlugin
from gangline.scheduler.plugins.fit.topology import TopologyPlugin
from gangline.scheduler.plugins.fit.topologyspread import topology_spread
from gangline.scheduler.plugins.fit.volumerestrictions import VolumeRestrictionsPlugin
from gangline.scheduler.plugins.order.orders import (
    ElasticPlugin,
    KubeflowPlugin,
    PriorityPlugin,
    RayPlugin,
    SubGroupOrderPlugin,
    TaskOrderPlugin,
)
from gangline.scheduler.plugins.passive import ReflectJobOrderPlugin, SnapshotPlugin
from gangline.scheduler.plugins.score.fewestfragments import placement
from gangline.scheduler.plugins.score.gpusharing import GpuPackPlugin, GpuSharingOrderPlugin, GpuSpreadPlugin
from gangline.scheduler.plugins.score.nodeavailability import NodeAvailabilityPlugin
from gangline.scheduler.plugins.score.nominatednode import NominatedNodePlugin
from gangline.scheduler.plugins.score.podaffinity import PodAffinityPlugin
from gangline.scheduler.plugins.score.resourcetype import ResourceTypePlugin

BUILT_IN: dict[str, PluginClass] = {
    "predicates": PredicatesPlugin,
    "proportion": ProportionPlugin,
    "priority": PriorityPlugin,
    "elastic": ElasticPlugin,
    "kubeflow": KubeflowPlugin,
    "ray": RayPlugin,
    "taskorder": TaskOrderPlugin,
    "subgrouporder": SubGroupOrderPlugin,
    "nodeavailability": NodeAvailabilityPlugin,
    "gpusharingorder": GpuSharingOrderPlugin,
    "gpupack": GpuPackPlugin,
    "gpuspread": GpuSpreadPlugin,
    "resourcetype": ResourceTypePlugin,
    "nominatednode": NominatedNodePlugin,
    "nodeplacement": placement,
    "dynamicresources": DynamicResourcesPlugin,
    "minruntime": MinRuntimePlugin,
    "topology": TopologyPlugin,
    "topologyspread": topology_spread,
    "volumerestrictions": VolumeRestrictionsPlugin,
    "reservations": ReservationsPlugin,
    "disruption": DisruptionPlugin,
    "podaffinity": PodAffinityPlugin,
    "numa": NumaPlugin,
    "snapshot": SnapshotPlugin,
    "reflectjoborder": ReflectJobOrderPlugin,
    "sg-nodelocalgreedy": NodeLocalGreedyPlugin,
    "sg-multinodegang": MultiNodeGangPlugin,
}
NONE: dict[str, type[Plugin]] = {}


def plugin_class(name: str) -> PluginClass | None:
    """The class of a plugin by its configured name; None when there is none."""
    return BUILT_IN.get(name) or _brought().get(name)


@cache
def _brought() -> dict[str, PluginClass]:
    """Plugins of other packages."""
    brought = extend.table("gangline.plugins", NONE)
    return {name: adopted(given) if isinstance(given, type) else given for name, given in brought.items()}
