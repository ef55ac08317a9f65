"""THE table of kinds: every kind that any component reads or writes, and where an API server serves it.

To teach gangline a kind, add one line here. Nothing else in the tree spells a group, a version or a plural.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast

from gangline.api import builtin, core, grove, kai
from gangline.api.meta import Object, Raw

T = TypeVar("T", bound=Object, covariant=True)


@dataclass(frozen=True, slots=True)
class Kind(Generic[T]):
    """One kind: how it is named, where it is served, and the typed view we decode it into."""

    group: str
    version: str
    kind: str
    plural: str
    type: type[T]
    namespaced: bool = True
    _hash: int = field(init=False, repr=False, compare=False)
    """Kinds are keys everywhere: hashed once."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.group, self.version, self.kind, self.type)))

    def __hash__(self) -> int:
        return self._hash

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def resource(self) -> str:
        """`podgroups.scheduling.run.ai`: the name that is unique in a cluster."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        where = f"/namespaces/{namespace}" if namespace and self.namespaced else ""
        tail = "".join(f"/{part}" for part in (name, subresource) if part)
        return f"{root}{where}/{self.plural}{tail}"

    def __str__(self) -> str:
        return self.kind


POD = Kind("", "v1", "Pod", "pods", core.Pod)
NODE = Kind("", "v1", "Node", "nodes", core.Node, namespaced=False)
NAMESPACE = Kind("", "v1", "Namespace", "namespaces", core.Namespace, namespaced=False)
CONFIG_MAP = Kind("", "v1", "ConfigMap", "configmaps", core.ConfigMap)
SECRET = Kind("", "v1", "Secret", "secrets", core.Secret)
SERVICE = Kind("", "v1", "Service", "services", core.Service)
SERVICE_ACCOUNT = Kind("", "v1", "ServiceAccount", "serviceaccounts", core.ServiceAccount)
PVC = Kind("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", core.PersistentVolumeClaim)
PV = Kind("", "v1", "PersistentVolume", "persistentvolumes", builtin.Untyped, namespaced=False)
EVENT = Kind("", "v1", "Event", "events", core.Event)
RESOURCE_QUOTA = Kind("", "v1", "ResourceQuota", "resourcequotas", builtin.Untyped)
LIMIT_RANGE = Kind("", "v1", "LimitRange", "limitranges", builtin.Untyped)
ENDPOINTS = Kind("", "v1", "Endpoints", "endpoints", builtin.Untyped)

TOKEN_REVIEW = Kind("authentication.k8s.io", "v1", "TokenReview", "tokenreviews", builtin.Untyped, namespaced=False)
SUBJECT_ACCESS_REVIEW = Kind(
    "authorization.k8s.io", "v1", "SubjectAccessReview", "subjectaccessreviews", builtin.Untyped, namespaced=False
)
JOB = Kind("batch", "v1", "Job", "jobs", builtin.Job)
CRON_JOB = Kind("batch", "v1", "CronJob", "cronjobs", builtin.Untyped)
DEPLOYMENT = Kind("apps", "v1", "Deployment", "deployments", builtin.Replicated)
REPLICA_SET = Kind("apps", "v1", "ReplicaSet", "replicasets", builtin.Replicated)
STATEFUL_SET = Kind("apps", "v1", "StatefulSet", "statefulsets", builtin.Replicated)
DAEMON_SET = Kind("apps", "v1", "DaemonSet", "daemonsets", builtin.Untyped)
HPA = Kind("autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", builtin.Untyped)
PDB = Kind("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", builtin.Untyped)
ENDPOINT_SLICE = Kind("discovery.k8s.io", "v1", "EndpointSlice", "endpointslices", builtin.EndpointSlice)
LEASE = Kind("coordination.k8s.io", "v1", "Lease", "leases", builtin.Lease)
PRIORITY_CLASS = Kind(
    "scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", builtin.PriorityClass, namespaced=False
)
WORKLOAD = Kind("scheduling.k8s.io", "v1alpha1", "Workload", "workloads", builtin.Workload)
WORKLOAD_V1BETA1 = Kind("scheduling.k8s.io", "v1beta1", "Workload", "workloads", builtin.Untyped)
KUBE_POD_GROUP_V1ALPHA2 = Kind("scheduling.k8s.io", "v1alpha2", "PodGroup", "podgroups", builtin.Untyped)
KUBE_POD_GROUP = Kind("scheduling.k8s.io", "v1beta1", "PodGroup", "podgroups", builtin.Untyped)
COMPOSITE_POD_GROUP = Kind("scheduling.k8s.io", "v1alpha3", "CompositePodGroup", "compositepodgroups", builtin.Untyped)
ROLE = Kind("rbac.authorization.k8s.io", "v1", "Role", "roles", builtin.Rights)
ROLE_BINDING = Kind("rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings", builtin.Rights)
CLUSTER_ROLE = Kind("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", builtin.Untyped, namespaced=False)
CLUSTER_ROLE_BINDING = Kind(
    "rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings", builtin.Untyped, namespaced=False
)
RESOURCE_CLAIM = Kind("resource.k8s.io", "v1", "ResourceClaim", "resourceclaims", builtin.Untyped)
RESOURCE_CLAIM_TEMPLATE = Kind(
    "resource.k8s.io", "v1", "ResourceClaimTemplate", "resourceclaimtemplates", builtin.Untyped
)
RESOURCE_SLICE = Kind("resource.k8s.io", "v1", "ResourceSlice", "resourceslices", builtin.Untyped, namespaced=False)
RUNTIME_CLASS = Kind("node.k8s.io", "v1", "RuntimeClass", "runtimeclasses", builtin.Untyped, namespaced=False)
DEVICE_CLASS = Kind("resource.k8s.io", "v1", "DeviceClass", "deviceclasses", builtin.Untyped, namespaced=False)
STORAGE_CLASS = Kind("storage.k8s.io", "v1", "StorageClass", "storageclasses", builtin.StorageClass, namespaced=False)
CSI_DRIVER = Kind("storage.k8s.io", "v1", "CSIDriver", "csidrivers", builtin.Untyped, namespaced=False)
CSI_STORAGE_CAPACITY = Kind(
    "storage.k8s.io", "v1", "CSIStorageCapacity", "csistoragecapacities", builtin.StorageCapacity
)
CRD = Kind(
    "apiextensions.k8s.io",
    "v1",
    "CustomResourceDefinition",
    "customresourcedefinitions",
    builtin.Untyped,
    namespaced=False,
)
MUTATING_WEBHOOK = Kind(
    "admissionregistration.k8s.io",
    "v1",
    "MutatingWebhookConfiguration",
    "mutatingwebhookconfigurations",
    builtin.Untyped,
    namespaced=False,
)
VALIDATING_WEBHOOK = Kind(
    "admissionregistration.k8s.io",
    "v1",
    "ValidatingWebhookConfiguration",
    "validatingwebhookconfigurations",
    builtin.Untyped,
    namespaced=False,
)

POD_CLIQUE_SET = Kind("grove.io", "v1alpha1", "PodCliqueSet", "podcliquesets", grove.PodCliqueSet)
POD_CLIQUE = Kind("grove.io", "v1alpha1", "PodClique", "podcliques", grove.PodClique)
SCALING_GROUP = Kind(
    "grove.io", "v1alpha1", "PodCliqueScalingGroup", "podcliquescalinggroups", grove.PodCliqueScalingGroup
)
TOPOLOGY_BINDING = Kind(
    "grove.io",
    "v1alpha1",
    "ClusterTopologyBinding",
    "clustertopologybindings",
    grove.ClusterTopologyBinding,
    namespaced=False,
)
POD_GANG = Kind("scheduler.grove.io", "v1alpha1", "PodGang", "podgangs", grove.PodGang)
COMPUTE_DOMAIN = Kind("resource.nvidia.com", "v1beta1", "ComputeDomain", "computedomains", builtin.Untyped)

QUEUE = Kind("scheduling.run.ai", "v2", "Queue", "queues", kai.Queue, namespaced=False)
POD_GROUP = Kind("scheduling.run.ai", "v2alpha2", "PodGroup", "podgroups", kai.PodGroup)
BIND_REQUEST = Kind("scheduling.run.ai", "v1alpha2", "BindRequest", "bindrequests", kai.BindRequest)
TOPOLOGY = Kind("kai.scheduler", "v1alpha1", "Topology", "topologies", kai.Topology, namespaced=False)
CONFIG = Kind("kai.scheduler", "v1", "Config", "configs", kai.Config, namespaced=False)
SCHEDULING_SHARD = Kind(
    "kai.scheduler", "v1", "SchedulingShard", "schedulingshards", kai.SchedulingShard, namespaced=False
)
VOLCANO_POD_GROUP = Kind("scheduling.volcano.sh", "v1beta1", "PodGroup", "podgroups", builtin.Untyped)
VOLCANO_QUEUE = Kind("scheduling.volcano.sh", "v1beta1", "Queue", "queues", builtin.Untyped, namespaced=False)
HYPER_NODE = Kind("topology.volcano.sh", "v1alpha1", "HyperNode", "hypernodes", builtin.Untyped, namespaced=False)
KOORDINATOR_POD_GROUP = Kind("scheduling.sigs.k8s.io", "v1alpha1", "PodGroup", "podgroups", builtin.Untyped)
KOORDINATOR_QUOTA = Kind("scheduling.sigs.k8s.io", "v1alpha1", "ElasticQuota", "elasticquotas", builtin.Untyped)
KOORDINATOR_TOPOLOGY = Kind(
    "scheduling.koordinator.sh",
    "v1alpha1",
    "ClusterNetworkTopology",
    "clusternetworktopologies",
    builtin.Untyped,
    namespaced=False,
)
KUEUE_QUEUE = Kind("kueue.x-k8s.io", "v1beta2", "LocalQueue", "localqueues", builtin.Untyped)
KUEUE_WORKLOAD = Kind("kueue.x-k8s.io", "v1beta2", "Workload", "workloads", builtin.Untyped)
COSCHEDULING_POD_GROUP = Kind("scheduling.x-k8s.io", "v1alpha1", "PodGroup", "podgroups", builtin.Untyped)
VPA = Kind("autoscaling.k8s.io", "v1", "VerticalPodAutoscaler", "verticalpodautoscalers", builtin.Untyped)
PROMETHEUS = Kind("monitoring.coreos.com", "v1", "Prometheus", "prometheuses", builtin.Untyped)
SERVICE_MONITOR = Kind("monitoring.coreos.com", "v1", "ServiceMonitor", "servicemonitors", builtin.Untyped)
CLUSTER_POLICY = Kind("nvidia.com", "v1", "ClusterPolicy", "clusterpolicies", builtin.Untyped, namespaced=False)
NODE_RESOURCE_TOPOLOGY = Kind(
    "topology.node.k8s.io",
    "v1alpha2",
    "NodeResourceTopology",
    "noderesourcetopologies",
    builtin.NodeResourceTopology,
    namespaced=False,
)

KINDS: tuple[Kind[Object], ...] = tuple(
    cast("Kind[Object]", value) for value in list(globals().values()) if isinstance(value, Kind)
)

_BY_NAME: dict[tuple[str, str], Kind[Object]] = {(kind.api_version, kind.kind): kind for kind in KINDS}


def known(api_version: str, kind: str) -> Kind[Object] | None:
    """The kind of our table with this apiVersion and kind, if there is one."""
    return _BY_NAME.get((api_version, kind))


def foreign(api_version: str, kind: str, plural: str, namespaced: bool = True) -> Kind[builtin.Untyped]:
    """A kind that is not ours, learnt from a server's discovery."""
    group, _, version = api_version.rpartition("/")
    return Kind(group, version, kind, plural, builtin.Untyped, namespaced)


def kind_of(obj: Raw) -> tuple[str, str]:
    """apiVersion and kind of plain data."""
    return str(obj.get("apiVersion", "")), str(obj.get("kind", ""))


def reference(kind: Kind[Any], obj: Object, *, controller: bool = True) -> Raw:
    """An ownerReference to an object, as plain data."""
    owner: Raw = {"apiVersion": kind.api_version, "kind": kind.kind, "name": obj.name, "uid": obj.uid}
    return owner | ({"controller": True, "blockOwnerDeletion": True} if controller else {})
