"""Every generated name, label, annotation, gate and finalizer, once.

Code elsewhere asks here and never spells one. Grouped by who invented it: Grove, KAI, ourselves.
"""

from __future__ import annotations

# --- scheduler names -------------------------------------------------------------------------------------------------
DEFAULT_SCHEDULER = "default-scheduler"
KAI_SCHEDULER = "kai-scheduler"

# --- Grove: labels, annotations, finalizers ----------------------------------------------------------------------------
MANAGED_BY = "app.kubernetes.io/managed-by"
PART_OF = "app.kubernetes.io/part-of"
APP_NAME = "app.kubernetes.io/name"
COMPONENT = "app.kubernetes.io/component"
GROVE_OPERATOR = "grove-operator"
SET_REPLICA = "grove.io/podcliqueset-replica-index"
SCALING_GROUP = "grove.io/podcliquescalinggroup"
SCALING_GROUP_REPLICA = "grove.io/podcliquescalinggroup-replica-index"
POD_CLIQUE = "grove.io/podclique"
POD_INDEX = "grove.io/podclique-pod-index"
POD_GANG = "grove.io/podgang"
BASE_POD_GANG = "grove.io/base-podgang"
TEMPLATE_HASH = "grove.io/pod-template-hash"
SCHEDULER_NAME = "grove.io/scheduler-name"
SCHEDULER_BACKEND = "grove.io/scheduler-backend"
MNNVL_GROUP = "grove.io/mnnvl-group"
TOPOLOGY_NAME = "grove.io/topology-name"
RECONCILE_TRIGGER = "grove.io/reconcile-trigger"
UNPROTECTED = "grove.io/disable-managed-resource-protection"

SET_FINALIZER = "grove.io/podcliqueset.grove.io"
CLIQUE_FINALIZER = "grove.io/podclique.grove.io"
SCALING_GROUP_FINALIZER = "grove.io/podcliquescalinggroup.grove.io"
COMPUTE_DOMAIN_FINALIZER = "grove.io/computedomain-finalizer"

# --- scheduling gates --------------------------------------------------------------------------------------------------
GATE_GROVE = "grove.io/podgang-pending-creation"
GATE_KAI = "grove.io/podgang"
GATE_DEFAULT = "scheduling.k8s.io/workload"
GATE_KOORDINATOR = "scheduling.koordinator.sh/gang"

# --- KAI: labels and annotations ---------------------------------------------------------------------------------------
QUEUE = "kai.scheduler/queue"
NODE_POOL = "kai.scheduler/node-pool"
SUB_GROUP = "kai.scheduler/subgroup-name"
PREEMPTIBILITY = "kai.scheduler/preemptibility"
TASK_PRIORITY = "kai.scheduler/task-priority"
PRIORITY_CLASS = "priorityClassName"
GPU_GROUP = "runai-gpu-group"
SELECTED_NODE = "selected-node"

POD_GROUP_NAME = "pod-group-name"
SKIP_GROUPER = "kai.scheduler/skip-podgrouper"
TOP_OWNER = "kai.scheduler/top-owner-metadata"
BATCH_MIN_MEMBER = "kai.scheduler/batch-min-member"
TOPOLOGY = "kai.scheduler/topology"
TOPOLOGY_REQUIRED = "kai.scheduler/topology-required-placement"
TOPOLOGY_PREFERRED = "kai.scheduler/topology-preferred-placement"
PREEMPTION_DELAY = "kai.scheduler/preemption-delay"
STALENESS_GRACE = "kai.scheduler/staleness-grace-period"
STALE_SINCE = "kai.scheduler/stale-podgroup-timestamp"
LAST_START = "kai.scheduler/last-start-timestamp"
LAST_EVICTION = "kai.scheduler/last-eviction-timestamp"
GPU_FRACTION = "gpu-fraction"
GPU_MEMORY = "gpu-memory"
GPU_FRACTION_DEVICES = "gpu-fraction-num-devices"
GPU_FRACTION_CONTAINER = "gpu-fraction-container-name"
RECEIVED_TYPE = "received-resource-type"
SHARED_GPU_CONFIG_MAP = "runai/shared-gpu-configmap"
RESERVED_GPU = "run.ai/reserve_for_gpu_index"

DEFAULT_QUEUE = "default-queue"
DEFAULT_PARENT_QUEUE = "default-parent-queue"
RESERVATION_NAMESPACE = "kai-resource-reservation"
SCALE_NAMESPACE = "kai-scale-adjust"
KAI_NAMESPACE = "kai-scheduler"

NVIDIA_GPU = "nvidia.com/gpu"
AMD_GPU = "amd.com/gpu"
MIG_PREFIX = "nvidia.com/mig-"
GPU_MEMORY_LABEL = "nvidia.com/gpu.memory"
GPU_COUNT_LABEL = "nvidia.com/gpu.count"

# --- ours ----------------------------------------------------------------------------------------------------------------
SYSTEM_NAMESPACE = "gangline-system"
VERDICT = "gangline.io/verdict"
"""Annotation on a PodGroup: the scheduler's verdict on a waiting gang, as JSON."""
RUN_SECONDS = "gangline.io/run-seconds"
"""Annotation on a pod: how long its containers run on a simulated node before they succeed."""
EXIT_CODE = "gangline.io/exit-code"
"""Annotation on a pod: what its containers end with on a simulated node."""
SIMULATED = "gangline.io/simulated"
"""Label of nodes that the simulated kubelet plays."""


# --- generated names -----------------------------------------------------------------------------------------------------
def set_replica(pcs: str, replica: int) -> str:
    """Base PodGang and headless service of one replica of a set."""
    return f"{pcs}-{replica}"


def standalone_clique(pcs: str, replica: int, clique: str) -> str:
    return f"{pcs}-{replica}-{clique}"


def scaling_group(pcs: str, replica: int, group: str) -> str:
    return f"{pcs}-{replica}-{group}"


def grouped_clique(group_name: str, group_replica: int, clique: str) -> str:
    return f"{group_name}-{group_replica}-{clique}"


def scaled_gang(group_name: str, surplus: int) -> str:
    """The gang of one scaling-group replica above its minimum; surplus counts from 0."""
    return f"{group_name}-{surplus}"


def kai_pod_group(gang: str, uid: str) -> str:
    """The PodGroup that stands for a PodGang in the native manner."""
    return f"pg-{gang}-{uid}"


def role(pcs: str) -> str:
    return f"grove.io:pcs:{pcs}"


def token_secret(pcs: str) -> str:
    return f"{pcs}-ic-sat"
