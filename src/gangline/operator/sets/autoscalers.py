"""HorizontalPodAutoscalers of a set: one for each clique and each scaling group that asks for it, in every replica."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gangline.api import names
from gangline.api.grove import AutoScaling, PodCliqueSet
from gangline.api.kinds import POD_CLIQUE, POD_CLIQUE_SET, SCALING_GROUP, Kind
from gangline.api.meta import Raw
from gangline.operator.desired.layout import standalone
from gangline.operator.desired.metadata import labels, metadata

CPU_BY_DEFAULT = [
    {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}
]
"""What an API server fills in when no metric is given."""


def autoscalers(pcs: PodCliqueSet, size: int) -> Iterator[Raw]:
    """The autoscalers of the first replicas of a set."""
    for replica in range(size):
        for template in standalone(pcs):
            if template.spec.auto_scaling_config is not None:
                name = names.standalone_clique(pcs.name, replica, template.name)
                yield _autoscaler(pcs, replica, POD_CLIQUE, name, template.spec.auto_scaling_config)
        for group in pcs.spec.template.pod_clique_scaling_groups:
            if group.scale_config is not None:
                name = names.scaling_group(pcs.name, replica, group.name)
                yield _autoscaler(pcs, replica, SCALING_GROUP, name, group.scale_config)


def _autoscaler(pcs: PodCliqueSet, replica: int, kind: Kind[Any], target: str, config: AutoScaling) -> Raw:
    spec: Raw = {
        "scaleTargetRef": {"apiVersion": kind.api_version, "kind": kind.kind, "name": target},
        "maxReplicas": config.max_replicas,
        "metrics": list(config.metrics) or CPU_BY_DEFAULT,
    }
    if config.min_replicas is not None:
        spec["minReplicas"] = config.min_replicas
    return {
        "metadata": metadata(target, POD_CLIQUE_SET, pcs, labels(pcs.name, names.FOR_AUTOSCALER, target)),
        "spec": spec,
    }
