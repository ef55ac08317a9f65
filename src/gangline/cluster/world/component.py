"""The simulated world as components: which parts there are, and which of them run.

PARTS is the table of parts: one line each, switched off by name in `WorldSettings.off`. Four components, each with an
account of its own: `kubelet` (also for simulated nodes on a real cluster), `controller-manager`, `default-scheduler`,
`autoscaler`. Nothing here knows how a part works."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from gangline.cluster.world.nodes import autoscaler, heartbeats, karpenter, node_lifecycle
from gangline.cluster.world.pods import budgets, kubelet, pod_gc
from gangline.cluster.world.scheduling import claims, pod_groups, scheduler
from gangline.cluster.world.settings import WorldSettings
from gangline.cluster.world.upkeep import endpoints, garbage, namespaces, quotas, tokens, volumes
from gangline.cluster.world.workloads import daemonsets, deployments, hpa, replicasets, statefulsets
from gangline.cluster.world.workloads.jobs import cronjobs, jobs
from gangline.errors import ConfigError
from gangline.runtime import BackgroundService, Component, Controller

KUBELET, CONTROLLERS, SCHEDULER, AUTOSCALER = "kubelet", "controller-manager", "default-scheduler", "autoscaler"

Made: TypeAlias = Controller | BackgroundService | Sequence[Controller | BackgroundService]

PARTS: dict[str, tuple[str, Callable[[WorldSettings], Made]]] = {
    "nodes": (KUBELET, heartbeats.registrar),
    "heart": (KUBELET, heartbeats.heart),
    "kubelet": (KUBELET, kubelet.kubelet),
    "provisioner": (KUBELET, lambda settings: volumes.provisioner()),
    "garbage": (CONTROLLERS, lambda settings: garbage.garbage()),
    "namespaces": (CONTROLLERS, lambda settings: namespaces.namespaces()),
    "accounts": (CONTROLLERS, namespaces.accounts),
    "jobs": (CONTROLLERS, lambda settings: jobs.jobs()),
    "replicasets": (CONTROLLERS, lambda settings: replicasets.replicasets()),
    "deployments": (CONTROLLERS, lambda settings: deployments.deployments()),
    "statefulsets": (CONTROLLERS, lambda settings: statefulsets.statefulsets()),
    "daemonsets": (CONTROLLERS, lambda settings: daemonsets.daemonsets()),
    "cronjobs": (CONTROLLERS, lambda settings: cronjobs.cronjobs()),
    "tokens": (CONTROLLERS, tokens.tokens),
    "endpoints": (CONTROLLERS, lambda settings: endpoints.endpoints()),
    "budgets": (CONTROLLERS, lambda settings: budgets.budgets()),
    "quotas": (CONTROLLERS, lambda settings: quotas.quotas()),
    "volumes": (CONTROLLERS, lambda settings: volumes.volumes()),
    "claims": (CONTROLLERS, lambda settings: claims.claims()),
    "groups": (CONTROLLERS, lambda settings: pod_groups.groups()),
    "hpa": (CONTROLLERS, lambda settings: hpa.autoscalers()),
    "lifecycle": (CONTROLLERS, node_lifecycle.lifecycle),
    "podgc": (CONTROLLERS, lambda settings: pod_gc.podgc()),
    "autoscaler": (AUTOSCALER, autoscaler.autoscaler),
    "karpenter": (AUTOSCALER, karpenter.karpenter),
    "scheduler": (SCHEDULER, lambda settings: scheduler.scheduler()),
}
"""Name of the part → the component it belongs to, and how it is made."""


def components(settings: WorldSettings | None = None) -> list[Component]:
    """The components of the world with the parts that are switched on; a component without parts is left out."""
    settings = settings or WorldSettings()
    unknown = sorted(settings.off - PARTS.keys())
    if unknown:
        raise ConfigError(f"the world has no part {', '.join(unknown)}; it has: {', '.join(PARTS)}")
    built = [_component(name, settings) for name in (KUBELET, CONTROLLERS, SCHEDULER, AUTOSCALER)]
    return [item for item in built if item.controllers or item.services]


def control_plane(settings: WorldSettings | None = None) -> Component:
    """What kube-controller-manager does: the component that the embedded server needs beside it to behave as a
    cluster."""
    return _component(CONTROLLERS, settings or WorldSettings())


def simulated_nodes(settings: WorldSettings | None = None) -> Component:
    """Nodes and their kubelet alone, for a cluster that has its own control plane."""
    return _component(KUBELET, settings or WorldSettings())


def _component(name: str, settings: WorldSettings) -> Component:
    made: list[Controller | BackgroundService] = []
    for part, (home, make) in PARTS.items():
        if home == name and part not in settings.off:
            part_built = make(settings)
            made += [part_built] if isinstance(part_built, Controller | BackgroundService) else part_built
    return Component(
        name,
        controllers=[item for item in made if isinstance(item, Controller)],
        services=[item for item in made if isinstance(item, BackgroundService)],
    )
