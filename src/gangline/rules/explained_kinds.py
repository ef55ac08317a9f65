"""The kinds that an answer to "why does it wait?" may speak of: what gangline.why reads, and what the explainer has the
right to read."""

from __future__ import annotations

from typing import Any

from gangline.api import kinds
from gangline.api.kinds import Kind

SPOKEN_OF: tuple[Kind[Any], ...] = (
    kinds.POD,
    kinds.NODE,
    kinds.NAMESPACE,
    kinds.CONFIG_MAP,
    kinds.PDB,
    kinds.PVC,
    kinds.PV,
    kinds.STORAGE_CLASS,
    kinds.CSI_STORAGE_CAPACITY,
    kinds.RESOURCE_QUOTA,
    kinds.LIMIT_RANGE,
    kinds.PRIORITY_CLASS,
    kinds.SERVICE_ACCOUNT,
    kinds.VALIDATING_WEBHOOK,
    kinds.MUTATING_WEBHOOK,
    kinds.LEASE,
    kinds.EVENT,
    kinds.JOB,
    kinds.CRON_JOB,
    kinds.DEPLOYMENT,
    kinds.REPLICA_SET,
    kinds.STATEFUL_SET,
    kinds.DAEMON_SET,
    kinds.RESOURCE_CLAIM,
    kinds.RESOURCE_CLAIM_TEMPLATE,
    kinds.RESOURCE_SLICE,
    kinds.DEVICE_CLASS,
    kinds.POD_CLIQUE_SET,
    kinds.POD_CLIQUE,
    kinds.SCALING_GROUP,
    kinds.POD_GANG,
    kinds.TOPOLOGY_BINDING,
    kinds.QUEUE,
    kinds.POD_GROUP,
    kinds.BIND_REQUEST,
    kinds.TOPOLOGY,
    kinds.SCHEDULING_SHARD,
    kinds.NODE_RESOURCE_TOPOLOGY,
)

DECIDED_ON: tuple[Kind[Any], ...] = tuple(
    kind
    for kind in SPOKEN_OF
    if kind
    not in (
        kinds.SERVICE_ACCOUNT,
        kinds.VALIDATING_WEBHOOK,
        kinds.MUTATING_WEBHOOK,
        kinds.LEASE,
        kinds.EVENT,
        kinds.JOB,
        kinds.CRON_JOB,
        kinds.REPLICA_SET,
        kinds.STATEFUL_SET,
        kinds.DAEMON_SET,
        kinds.LIMIT_RANGE,
        kinds.RESOURCE_QUOTA,
        kinds.POD_CLIQUE_SET,
        kinds.POD_CLIQUE,
        kinds.SCALING_GROUP,
        kinds.POD_GANG,
        kinds.TOPOLOGY_BINDING,
    )
)
"""Those of which a cycle is decided, and the scheduler's settings: what the page reads to say why GPUs are idle."""
