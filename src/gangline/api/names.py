"""Every generated name, label, annotation, gate and finalizer, once.

Code elsewhere asks here and never spells one. Grouped by who invented it: Grove, KAI, ourselves.
"""

from __future__ import annotations

import hashlib

# --- scheduler names -------------------------------------------------------------------------------------------------
DEFAULT_SCHEDULER = "default-scheduler"
KAI_SCHEDULER = "kai-scheduler"
GROVE_SCHEDULER = "grove-scheduler"

# --- Grove: labels, annotations, finalizers ---------------------------------------------------------------------------
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
POD_GROUP_PROTECTION = "scheduling.k8s.io/podgroup-protection"
"""What keeps a PodGroup of kube-scheduler while pods name it."""
BASE_POD_GANG = "grove.io/base-podgang"
TEMPLATE_HASH = "grove.io/pod-template-hash"
SCHEDULER_NAME = "grove.io/scheduler-name"
SCHEDULER_BACKEND = "grove.io/scheduler-backend"
"""Annotation on a PodCliqueSet: the backend that serves it; label on a PodGang: the one that was chosen."""
MNNVL_GROUP = "grove.io/mnnvl-group"
TOPOLOGY_NAME = "grove.io/topology-name"
"""Annotation on a PodGang: the ClusterTopologyBinding whose levels its set names."""
SCHEDULE_QUEUED_PODS = "gangline.io/schedule-queued-pods"
"""On a namespace: `true` gives its pods that name a queue and no scheduler to the scheduler half, `false` never
does."""
REUSE_PLACES = "gangline.io/reuse-places-of"
"""On a PodCliqueSet: an earlier set of its namespace, whose gangs' places its own gangs would rather use again."""
ASKED_AGAIN = "gangline.io/asked-again"
"""On a scheduler's object of a gang that waits: when it was last touched so that the scheduler looks again."""
FAILED_BEFORE = "gangline.io/failed-before"
"""On a pod: how many before it failed, in a row."""
LAST_FAILURE = "gangline.io/last-failure"
"""On a pod: why the one that it replaces failed."""
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""What kubectl last applied to an object: about that object alone, and so never copied to another one."""
RECONCILE_TRIGGER = "grove.io/reconcile-trigger"
UNPROTECTED = "grove.io/disable-managed-resource-protection"

SET_FINALIZER = "grove.io/podcliqueset.grove.io"
CLIQUE_FINALIZER = "grove.io/podclique.grove.io"
SCALING_GROUP_FINALIZER = "grove.io/podcliquescalinggroup.grove.io"
COMPUTE_DOMAIN_FINALIZER = "grove.io/computedomain-finalizer"

RESERVED_LABELS = "grove.io/"
"""What begins so on a PodGang is the operator's; everything else there mirrors the set."""

# --- Grove: what an object is for (label app.kubernetes.io/component) -------------------------------------------------
FOR_SERVICE = "pcs-headless-service"
FOR_ROLE = "pod-role"
FOR_ROLE_BINDING = "pod-role-binding"
FOR_SERVICE_ACCOUNT = "pod-service-account"
FOR_TOKEN = "pod-sa-token-secret"
FOR_SCALING_GROUP = "pcs-podcliquescalinggroup"
FOR_AUTOSCALER = "pcs-hpa"
FOR_GANG = "podgang"
FOR_STANDALONE_CLIQUE = "pcs-podclique"
FOR_GROUPED_CLIQUE = "pcsg-podclique"
FOR_CLAIM = "resource-claim"
FOR_COMPUTE_DOMAIN = "pcs-computedomain"

# --- Grove: inside a pod ----------------------------------------------------------------------------------------------
INIT_CONTAINER = "grove-initc"
TOKEN_VOLUME = "sa-token-secret-vol"
POD_INFO_VOLUME = "pod-info-vol"
POD_INFO_FOLDER = "/var/grove/pod-info"
TOKEN_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount"
MNNVL_CLAIM = "mnnvl-claim"
MNNVL_OPT_OUT = "none"

# --- scheduling gates -------------------------------------------------------------------------------------------------
GATE_GROVE = "grove.io/podgang-pending-creation"
GATE_KAI = "grove.io/podgang"
GATE_DEFAULT = "scheduling.k8s.io/workload"
GATE_KOORDINATOR = "scheduling.koordinator.sh/gang"
GATE_VOLCANO = "scheduling.volcano.sh/gang"
GATE_YUNIKORN = "yunikorn.apache.org/gang"
GATE_KUEUE = "kueue.x-k8s.io/gang"
GATE_COSCHEDULING = "scheduling.x-k8s.io/gang"
GATE_PASSTHROUGH = "gangline.io/gang"
OUR_GATES = frozenset(
    {
        GATE_GROVE,
        GATE_KAI,
        GATE_DEFAULT,
        GATE_KOORDINATOR,
        GATE_VOLCANO,
        GATE_YUNIKORN,
        GATE_KUEUE,
        GATE_COSCHEDULING,
        GATE_PASSTHROUGH,
    }
)
"""Gates that the operator may lift; any other was set by someone else and is never touched."""

# --- Volcano: labels and annotations ----------------------------------------------------------------------------------
VOLCANO = "volcano"
VOLCANO_QUEUE = "scheduling.grove.io/volcano-queue"
VOLCANO_GROUP = "scheduling.volcano.sh/group-name"
KUBE_GROUP = "scheduling.k8s.io/group-name"
DEFAULT_VOLCANO_QUEUE = "default"
LPX_SCHEDULER = "lpx-scheduler"

# --- KAI: labels and annotations --------------------------------------------------------------------------------------
QUEUE = "kai.scheduler/queue"
"""Label on a pod, on a workload or on a device claim: the queue whose share it uses."""
NODE_POOL = "kai.scheduler/node-pool"
"""Label on a node, a queue or a PodGroup: the shard that serves it; without it, the shard without a pool."""
SUB_GROUP = "kai.scheduler/subgroup-name"
PREEMPTIBILITY = "kai.scheduler/preemptibility"
"""Label on a workload: `preemptible`, or `non-preemptible`: never taken away, and only within the quota."""
TASK_PRIORITY = "kai.scheduler/task-priority"
PRIORITY_CLASS = "priorityClassName"
"""Label on a workload: its PriorityClass, which goes before that of its pods."""
GPU_GROUP = "runai-gpu-group"
SELECTED_NODE = "selected-node"

POD_GROUP_NAME = "pod-group-name"
SKIP_GROUPER = "kai.scheduler/skip-podgrouper"
"""Annotation on a pod: the pod grouper leaves it alone."""
TOP_OWNER = "kai.scheduler/top-owner-metadata"
BATCH_MIN_MEMBER = "kai.scheduler/batch-min-member"
"""Annotation on a Job or another workload: how many of its pods start together."""
TOPOLOGY = "kai.scheduler/topology"
"""Annotation on a workload: the Topology whose levels the next two name."""
TOPOLOGY_REQUIRED = "kai.scheduler/topology-required-placement"
"""Annotation on a workload: all its pods start inside one domain of this level, or wait."""
TOPOLOGY_PREFERRED = "kai.scheduler/topology-preferred-placement"
"""Annotation on a workload: its pods are packed into domains of this level as far as possible."""
SEGMENT_SIZE = "kai.scheduler/segment-size"
SEGMENT_REQUIRED = "kai.scheduler/segment-topology-required-placement"
SEGMENT_PREFERRED = "kai.scheduler/segment-topology-preferred-placement"
PREEMPTION_DELAY = "kai.scheduler/preemption-delay"
"""Annotation on a workload: how long its gang waits before others are evicted for it, as in 5m."""
STALENESS_GRACE = "kai.scheduler/staleness-grace-period"
"""Annotation on a workload: how long its gang may stay below its minimum before it gives its place back."""
STALE_SINCE = "kai.scheduler/stale-podgroup-timestamp"
LAST_START = "kai.scheduler/last-start-timestamp"
LAST_EVICTION = "kai.scheduler/last-eviction-timestamp"
GPU_FRACTION = "gpu-fraction"
"""Annotation on a pod: which part of a GPU it uses, as in 0.5."""
GPU_MEMORY = "gpu-memory"
"""Annotation on a pod: how much memory of a GPU it uses, in MiB."""
GPU_FRACTION_DEVICES = "gpu-fraction-num-devices"
"""Annotation on a pod: on so many GPUs it uses that part of each."""
GPU_FRACTION_CONTAINER = "gpu-fraction-container-name"
"""Annotation on a pod: the container that sees the shared GPU; otherwise the first one."""
RECEIVED_TYPE = "received-resource-type"
SHARED_GPU_CONFIG_MAP = "runai/shared-gpu-configmap"
RESERVED_GPU = "run.ai/reserve_for_gpu_index"

DEFAULT_QUEUE = "default-queue"
DEFAULT_PARENT_QUEUE = "default-parent-queue"
RESERVATION_NAMESPACE = "kai-resource-reservation"
SCALE_NAMESPACE = "kai-scale-adjust"
KAI_NAMESPACE = "kai-scheduler"

NVIDIA_GPU = "nvidia.com/gpu"
MIG_PREFIX = "nvidia.com/mig-"
GPU_MEMORY_LABEL = "nvidia.com/gpu.memory"
GPU_COUNT_LABEL = "nvidia.com/gpu.count"

# --- ours -------------------------------------------------------------------------------------------------------------
SYSTEM_NAMESPACE = "gangline-system"
INSTALLER = "gangline-installer"
"""Label app.kubernetes.io/managed-by of what the installer makes, and the name of its own Deployment."""
RECORDINGS = "/var/lib/gangline/recording"
"""The folder of a scheduler's recording in its pod."""
CONFIG_HASH = "gangline.io/config"
"""Annotation on a pod template: which configuration its pods were started with."""
MEMBERS = "gangline.io/members"
"""On a PodGroup: `owned` where every pod of its owner is in it, marked or not."""
PLACED = "gangline.io/placed"
"""On a pod: which action placed it, together with how many of its gang; written by the bind."""
VERDICT = "gangline.io/verdict"
"""Annotation on a PodGroup: the scheduler's verdict on a waiting gang, as JSON."""
VERDICT_REVISION = "gangline.io/verdict-revision"
"""Annotation on a PodGroup: the newest resourceVersion that the scheduler had seen when it came to its verdict."""
ANSWER = "gangline.io/answer"
"""Annotation on a PodGroup: what `gangline explain` says of a waiting gang, as JSON; refines the verdict."""
EVICTION = "gangline.io/last-eviction"
"""Annotation on a PodGroup: who evicted pods of the gang last, why and when, as JSON (rules/gangs/evictions.py)."""
BIND_FAILURES = "gangline.io/bind-failures"
"""Annotation on a pod: how often binding it failed."""
BIND_AFTER = "gangline.io/bind-after"
"""Annotation on a pod: when it may be bound again, after a failure."""
RUN_SECONDS = "gangline.io/run-seconds"
"""Annotation on a pod: how long its containers run on a simulated node before they succeed."""
EXIT_CODE = "gangline.io/exit-code"
"""Annotation on a pod: what its containers end with on a simulated node."""
SIMULATED = "gangline.io/simulated"
"""Label of nodes that the simulated kubelet plays."""
SIMULATED_PROVIDER = "gangline://"
"""How spec.providerID of nodes begins that the simulated kubelet plays."""
POOL = "gangline.io/pool"
"""Label of simulated nodes: the pool of the nodes file they come from."""
HEALTH = "gangline.io/health"
"""Annotation on a simulated node: `lost` or `not-ready` plays that failure while it is there."""
FAILURES = "gangline.io/failures"
"""Annotation on a simulated node: failures planned by age, as JSON."""
START_SECONDS = "gangline.io/start-seconds"
"""Annotation on a pod: how long a simulated node takes before its first container starts."""
INIT_SECONDS = "gangline.io/init-seconds"
"""Annotation on a pod: how long each of its init containers runs on a simulated node."""
READY_SECONDS = "gangline.io/ready-seconds"
"""Annotation on a pod: how long after their start its containers become ready on a simulated node."""
STOP_SECONDS = "gangline.io/stop-seconds"
"""Annotation on a pod: how long it takes to stop on a simulated node, within its grace period."""
UNPULLABLE = "gangline.io/unpullable-images"
"""Annotation on a pod: images, separated by commas, that a simulated node cannot pull. A tag `does-not-exist` cannot be
pulled either."""
METRIC = "gangline.io/metric"
"""Annotation on a HorizontalPodAutoscaler: the value its metrics have in the simulated world."""
EXPECTED_RUNTIME = "gangline.io/expected-runtime"
"""How long a pod or gang is expected to run, as 90m or 2d (pods, PodGroups, PodCliqueSets, Jobs and other owners)."""
LAST_CHECKPOINT = "gangline.io/last-checkpoint"
"""When the work of a pod or gang was last saved, as RFC 3339: an eviction loses only what came after (pods,
PodGroups, PodCliqueSets; on a Job it is read when its pods come)."""
CHECKPOINT_INTERVAL = "gangline.io/checkpoint-interval"
"""On a PodGroup: how long it is from one checkpoint to the next, as 30m, where they come regularly."""
MOVE = "gangline.io/move"
"""How consolidation may move a pod or gang: `start-first` (only by starting its replacement first) or `never` (pods,
PodGroups, PodCliqueSets, their cliques)."""
MOVE_TO = "gangline.io/move-to"
"""On a pod of a PodClique, written by the scheduler: the node on which its replacement starts before it goes."""
REPLACES = "gangline.io/replaces"
"""On a pod of a PodClique: the name of the pod that goes when this one is ready."""
LOST_PER_HOUR = "gangline.io/lost-gpu-hours-per-hour"
"""On a Queue: the most GPU-hours of work that its gangs may lose by evictions in an hour."""
EVICTIONS_PER_DAY = "gangline.io/evictions-per-day"
"""On a Queue: how often a gang of it may be evicted in a day."""
ASKED_QUEUE = "gangline.io/asked-queue"
"""On the PodGroup of a PodGang: the queue that its set asked for last. A set that asks for another one moves it; a
person who moves the PodGroup alone is left in peace."""
GANG_TERMINATION = "gangline.io/gang-termination"
"""Annotation on a PodCliqueSet: `disabled` leaves a gang below its minimum running."""
MAX_UNAVAILABLE = "gangline.io/max-unavailable"
"""Annotation on a PodCliqueSet: how much of each unit an update takes away at once, as a number or a share (`25%`)."""
PROGRESS_DEADLINE = "gangline.io/progress-deadline"
"""Annotation on a PodCliqueSet: after how long without progress an update counts as stuck."""


# --- generated names --------------------------------------------------------------------------------------------------
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


def legacy_token_secret(pcs: str) -> str:
    return f"{pcs}-initc-sa-token-secret"


def shared_claim(owner: str, template: str, replica: int | None) -> str:
    """A ResourceClaim that an owner's replicas share; replica None: all of them share one."""
    return f"{owner}-{'all' if replica is None else replica}-{template}"


def compute_domain(pcs: str, replica: int, group: str) -> str:
    return f"{pcs}-{replica}-{group}"


def pod_hostname(clique: str, index: int) -> str:
    return f"{clique}-{index}"


_SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"


def suffix(*parts: str) -> str:
    """Five letters that always follow from the same parts, in the alphabet of generated names."""
    return letters(5, *parts)


def letters(count: int, *parts: str) -> str:
    """A digest of the parts in the alphabet of generated names."""
    number = int.from_bytes(hashlib.sha256("\0".join(parts).encode()).digest(), "big")
    text = []
    for _ in range(count):
        number, rest = divmod(number, len(_SUFFIX_LETTERS))
        text.append(_SUFFIX_LETTERS[rest])
    return "".join(text)
