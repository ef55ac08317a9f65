"""The PodCliqueScalingGroups of a set.

Replicas come from the set only when the group is made; later they belong to its autoscaler or user.
"""

from __future__ import annotations

from gangline.api import names
from gangline.api.grove import PodCliqueScalingGroup, PodCliqueSet, ScalingGroupConfig
from gangline.api.kinds import POD_CLIQUE_SET
from gangline.api.meta import Raw
from gangline.operator.desired.layout import group_minimum, group_replicas
from gangline.operator.desired.metadata import labels, metadata


def scaling_group(
    pcs: PodCliqueSet, replica: int, config: ScalingGroupConfig, live: PodCliqueScalingGroup | None = None
) -> Raw:
    name = names.scaling_group(pcs.name, replica, config.name)
    inherited = {names.MNNVL_GROUP: pcs.annotations[names.MNNVL_GROUP]} if names.MNNVL_GROUP in pcs.annotations else {}
    marks = labels(pcs.name, names.FOR_SCALING_GROUP, name) | {names.SET_REPLICA: str(replica)}
    meta = metadata(
        name,
        POD_CLIQUE_SET,
        pcs,
        marks,
        annotations=inherited | config.annotations,
        finalizer=names.SCALING_GROUP_FINALIZER,
    )
    replicas = group_replicas(config) if live is None else live.spec.replicas
    return {
        "metadata": meta,
        "spec": {"replicas": replicas, "minAvailable": group_minimum(config), "cliqueNames": list(config.clique_names)},
    }
