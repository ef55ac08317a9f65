"""What is served: one row per built-in resource, and the catalogue that finds a resource for a path.

Rows hold facts only (names, scope, verbs, subresources, selectable fields); what is right or wrong inside an object is
decided by `builtin/` and `cluster/schema/`. Custom resources are added to the same catalogue at run time by custom.py.
Discovery prints it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from gangline.cluster.server.convert.builtin_forms import CONVERSIONS, Conversion
from gangline.cluster.server.store.shelf import ShelfKey

STANDARD = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
CUSTOM_VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")


@dataclass(frozen=True, slots=True)
class Subresource:
    name: str
    verbs: tuple[str, ...]
    kind: str = ""
    """Empty: the kind of the resource itself."""
    group: str = ""
    version: str = ""


@dataclass(frozen=True)
class Resource:
    """One resource in one version."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool
    verbs: tuple[str, ...] = STANDARD
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    singular: str = ""
    list_kind: str = ""
    subresources: Mapping[str, Subresource] = field(default_factory=dict)
    selectable: Mapping[str, str] = field(default_factory=dict)
    """Field selectors beyond name and namespace: label → dotted path in the object."""
    shelf: ShelfKey = ("", "")
    conversion: Conversion | None = None
    """For a version whose objects are stored in another form."""
    custom: Any = None
    """For a custom resource: what custom.py compiled from its definition."""

    @cached_property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @cached_property
    def prefix(self) -> bytes:
        """How the JSON of an object of this version begins; the rest is a record's body without its brace."""
        return f'{{"apiVersion":"{self.api_version}","kind":"{self.kind}",'.encode()

    @cached_property
    def list_prefix(self) -> bytes:
        return f'{{"kind":"{self.list_kind}","apiVersion":"{self.api_version}","metadata":'.encode()

    @cached_property
    def field_paths(self) -> tuple[str, ...]:
        """What is kept beside an object for field selectors: the same for every resource whose objects lie there."""
        return tuple(_SELECTABLE.get(self.shelf, self.selectable).values())

    @property
    def stored(self) -> bool:
        """Objects are kept (reviews and bindings are only answered)."""
        return "get" in self.verbs


_CREATE, _UPDATE, _GET = ("create",), ("update",), ("get",)
_CHANGE = ("get", "patch", "update")
_CONNECT = ("create", "get")

SUBRESOURCES: dict[str, Subresource] = {
    sub.name: sub
    for sub in (
        Subresource("status", _CHANGE),
        Subresource("scale", _CHANGE, "Scale", "autoscaling", "v1"),
        Subresource("binding", _CREATE, "Binding"),
        Subresource("eviction", _CREATE, "Eviction", "policy", "v1"),
        Subresource("ephemeralcontainers", _CHANGE),
        Subresource("resize", _CHANGE),
        Subresource("log", _GET),
        Subresource("token", _CREATE, "TokenRequest", "authentication.k8s.io", "v1"),
        Subresource("finalize", _UPDATE),
        Subresource("approval", _CHANGE),
        Subresource("attach", _CONNECT, "PodAttachOptions"),
        Subresource("exec", _CONNECT, "PodExecOptions"),
        Subresource("portforward", _CONNECT, "PodPortForwardOptions"),
        Subresource("proxy", ("create", "delete", "get", "patch", "update"), "ProxyOptions"),
    )
}

_POD_FIELDS = (
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "spec.hostNetwork",
    "status.phase",
    "status.podIP",
    "status.podIPs",
    "status.nominatedNodeName",
)
_EVENT_FIELDS = {
    label: label
    for label in (
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "reportingComponent",
        "source",
        "type",
    )
}
_REGARDING_FIELDS = {
    label.replace("involvedObject", "regarding").replace("reportingComponent", "reportingController"): label
    for label in _EVENT_FIELDS
    if label != "source"
}

_TABLE = """
v1                              pods                      Pod                      ns po all  POD
v1                              bindings                  Binding                  ns -  -    - create
v1                              componentstatuses         ComponentStatus          cl cs -    - get,list
v1                              configmaps                ConfigMap                ns cm -    -
v1                              endpoints                 Endpoints                ns ep -    -
v1                              events                    Event                    ns ev -    -
v1                              limitranges               LimitRange               ns limits - -
v1                              namespaces                Namespace                cl ns -    finalize,status ONE
v1                              nodes                     Node                     cl no -    proxy,status
v1                              persistentvolumeclaims    PersistentVolumeClaim    ns pvc -   status
v1                              persistentvolumes         PersistentVolume         cl pv -    status
v1                              podtemplates              PodTemplate              ns -  -    -
v1                              replicationcontrollers    ReplicationController    ns rc all  scale,status
v1                              resourcequotas            ResourceQuota            ns quota - status
v1                              secrets                   Secret                   ns -  -    -
v1                              serviceaccounts           ServiceAccount           ns sa -    token
v1                              services                  Service                  ns svc all proxy,status
admissionregistration.k8s.io/v1 mutatingwebhookconfigurations MutatingWebhookConfiguration cl - api-extensions -
admissionregistration.k8s.io/v1 validatingadmissionpolicies ValidatingAdmissionPolicy cl - api-extensions status
admissionregistration.k8s.io/v1 validatingadmissionpolicybindings ValidatingAdmissionPolicyBinding cl - api-extensions -
admissionregistration.k8s.io/v1 validatingwebhookconfigurations ValidatingWebhookConfiguration cl - api-extensions -
apiextensions.k8s.io/v1         customresourcedefinitions CustomResourceDefinition cl crd,crds api-extensions status
apiregistration.k8s.io/v1       apiservices               APIService               cl -  api-extensions status
apps/v1                         controllerrevisions       ControllerRevision       ns -  -    -
apps/v1                         daemonsets                DaemonSet                ns ds all  status
apps/v1                         deployments               Deployment               ns deploy all scale,status
apps/v1                         replicasets               ReplicaSet               ns rs all  scale,status
apps/v1                         statefulsets              StatefulSet              ns sts all scale,status
authentication.k8s.io/v1        selfsubjectreviews        SelfSubjectReview        cl -  -    - create
authentication.k8s.io/v1        tokenreviews              TokenReview              cl -  -    - create
authorization.k8s.io/v1         localsubjectaccessreviews LocalSubjectAccessReview ns -  -    - create
authorization.k8s.io/v1         selfsubjectaccessreviews  SelfSubjectAccessReview  cl -  -    - create
authorization.k8s.io/v1         selfsubjectrulesreviews   SelfSubjectRulesReview   cl -  -    - create
authorization.k8s.io/v1         subjectaccessreviews      SubjectAccessReview      cl -  -    - create
autoscaling/v2                  horizontalpodautoscalers  HorizontalPodAutoscaler  ns hpa all status
autoscaling/v1                  horizontalpodautoscalers  HorizontalPodAutoscaler  ns hpa all status
batch/v1                        cronjobs                  CronJob                  ns cj all  status
batch/v1                        jobs                      Job                      ns -  all  status
certificates.k8s.io/v1          certificatesigningrequests CertificateSigningRequest cl csr - approval,status
coordination.k8s.io/v1          leases                    Lease                    ns -  -    -
discovery.k8s.io/v1             endpointslices            EndpointSlice            ns -  -    -
events.k8s.io/v1                events                    Event                    ns ev -    -
flowcontrol.apiserver.k8s.io/v1 flowschemas               FlowSchema               cl -  -    status
flowcontrol.apiserver.k8s.io/v1 prioritylevelconfigurations PriorityLevelConfiguration cl - - status
networking.k8s.io/v1            ingressclasses            IngressClass             cl -  -    -
networking.k8s.io/v1            ingresses                 Ingress                  ns ing -   status
networking.k8s.io/v1            ipaddresses               IPAddress                cl ip -    -
networking.k8s.io/v1            networkpolicies           NetworkPolicy            ns netpol - -
networking.k8s.io/v1            servicecidrs              ServiceCIDR              cl -  -    status
node.k8s.io/v1                  runtimeclasses            RuntimeClass             cl -  -    -
policy/v1                       poddisruptionbudgets      PodDisruptionBudget      ns pdb -   status
rbac.authorization.k8s.io/v1    clusterrolebindings       ClusterRoleBinding       cl -  -    -
rbac.authorization.k8s.io/v1    clusterroles              ClusterRole              cl -  -    -
rbac.authorization.k8s.io/v1    rolebindings              RoleBinding              ns -  -    -
rbac.authorization.k8s.io/v1    roles                     Role                     ns -  -    -
resource.k8s.io/v1              deviceclasses             DeviceClass              cl -  -    -
resource.k8s.io/v1              resourceclaims            ResourceClaim            ns -  -    status
resource.k8s.io/v1              resourceclaimtemplates    ResourceClaimTemplate    ns -  -    -
resource.k8s.io/v1              resourceslices            ResourceSlice            cl -  -    -
scheduling.k8s.io/v1            priorityclasses           PriorityClass            cl pc -    -
scheduling.k8s.io/v1beta1       podgroups                 PodGroup                 ns -  -    status
scheduling.k8s.io/v1beta1       workloads                 Workload                 ns -  -    -
scheduling.k8s.io/v1alpha3      compositepodgroups        CompositePodGroup        ns -  -    status
scheduling.k8s.io/v1alpha3      podgroups                 PodGroup                 ns -  -    status
scheduling.k8s.io/v1alpha3      workloads                 Workload                 ns -  -    -
scheduling.k8s.io/v1alpha2      podgroups                 PodGroup                 ns -  -    status
scheduling.k8s.io/v1alpha2      workloads                 Workload                 ns -  -    -
scheduling.k8s.io/v1alpha1      workloads                 Workload                 ns -  -    -
storage.k8s.io/v1               csidrivers                CSIDriver                cl -  -    -
storage.k8s.io/v1               csinodes                  CSINode                  cl -  -    -
storage.k8s.io/v1               csistoragecapacities      CSIStorageCapacity       ns -  -    -
storage.k8s.io/v1               storageclasses            StorageClass             cl sc -    -
storage.k8s.io/v1               volumeattachments         VolumeAttachment         cl -  -    status
storage.k8s.io/v1               volumeattributesclasses   VolumeAttributesClass    cl vac -   -
"""

_SELECTABLE: dict[tuple[str, str], Mapping[str, str]] = {
    ("", "pods"): {label: label for label in _POD_FIELDS},
    ("", "events"): _EVENT_FIELDS,
    ("events.k8s.io", "events"): _REGARDING_FIELDS,
    ("", "nodes"): {"spec.unschedulable": "spec.unschedulable"},
    ("", "namespaces"): {"status.phase": "status.phase"},
    ("", "secrets"): {"type": "type"},
    ("", "services"): {"spec.clusterIP": "spec.clusterIP", "spec.type": "spec.type"},
    ("", "replicationcontrollers"): {"status.replicas": "status.replicas"},
    ("batch", "jobs"): {"status.successful": "status.succeeded"},
    ("resource.k8s.io", "resourceslices"): {"spec.nodeName": "spec.nodeName", "spec.driver": "spec.driver"},
    ("certificates.k8s.io", "certificatesigningrequests"): {"spec.signerName": "spec.signerName"},
}
DEPRECATED: dict[tuple[str, str], str] = {
    ("", "componentstatuses"): "v1 ComponentStatus is deprecated in v1.19+",
    ("", "endpoints"): "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
}
_SHELVES: dict[tuple[str, str], ShelfKey] = {("events.k8s.io", "events"): ("", "events")}
_PROXY_KINDS = {"pods": "PodProxyOptions", "nodes": "NodeProxyOptions", "services": "ServiceProxyOptions"}


_SHORT = {
    "-": (),
    "ONE": tuple(verb for verb in STANDARD if verb != "deletecollection"),
    "POD": (
        "attach",
        "binding",
        "ephemeralcontainers",
        "eviction",
        "exec",
        "log",
        "portforward",
        "proxy",
        "resize",
        "status",
    ),
}


def _names(text: str) -> tuple[str, ...]:
    return _SHORT[text] if text in _SHORT else tuple(text.split(","))


def _row(line: str) -> Resource:
    gv, plural, kind, scope, short, categories, subs, *verbs = line.split()
    group, _, version = gv.rpartition("/")
    own = {name: SUBRESOURCES[name] for name in _names(subs)}
    if "proxy" in own:
        own["proxy"] = Subresource("proxy", own["proxy"].verbs, _PROXY_KINDS[plural])
    key = (group, plural)
    return Resource(
        group,
        version,
        plural,
        kind,
        scope == "ns",
        _names(verbs[0]) if verbs else STANDARD,
        _names(short),
        _names(categories),
        kind.lower(),
        f"{kind}List",
        own,
        _SELECTABLE.get(key, {}),
        _SHELVES.get(key, key),
        CONVERSIONS.get((group, version, plural)),
    )


def builtin_resources() -> list[Resource]:
    return [_row(line) for line in _TABLE.strip().splitlines()]


class Catalogue:
    """All resources now served, by group, version and plural."""

    def __init__(self, resources: Iterable[Resource]) -> None:
        self._groups: dict[str, dict[str, dict[str, Resource]]] = {}
        self.generation = 0
        self._shelves: tuple[int, frozenset[ShelfKey]] = (-1, frozenset())
        for resource in resources:
            self.add(resource)

    def add(self, resource: Resource) -> None:
        self._groups.setdefault(resource.group, {}).setdefault(resource.version, {})[resource.plural] = resource
        self.generation += 1

    def discard(self, resource: Resource) -> None:
        versions = self._groups.get(resource.group, {})
        versions.get(resource.version, {}).pop(resource.plural, None)
        if not versions.get(resource.version, {}):
            versions.pop(resource.version, None)
        if not versions:
            self._groups.pop(resource.group, None)
        self.generation += 1

    def find(self, group: str, version: str, plural: str) -> Resource | None:
        return self._groups.get(group, {}).get(version, {}).get(plural)

    @property
    def shelves(self) -> frozenset[ShelfKey]:
        """Where objects of what is served are kept."""
        if self._shelves[0] != self.generation:
            self._shelves = self.generation, frozenset(resource.shelf for resource in self)
        return self._shelves[1]

    def serves(self, resource: Resource) -> bool:
        """Whether a resource that was served once still is."""
        return self.find(resource.group, resource.version, resource.plural) is not None

    def is_custom(self, group: str) -> bool:
        """A group that only definitions made."""
        return all(
            resource.custom for resources in self._groups.get(group, {}).values() for resource in resources.values()
        )

    def group(self, group: str) -> Mapping[str, Mapping[str, Resource]]:
        """The versions of a group, each with its resources."""
        return self._groups.get(group, {})

    def groups(self) -> Iterator[str]:
        return iter(self._groups)

    def by_kind(self, group: str, version: str, kind: str) -> Resource | None:
        resources = self._groups.get(group, {}).get(version, {}).values()
        return next((resource for resource in resources if resource.kind == kind and resource.stored), None)

    def any_version(self, group: str, plural: str) -> Resource | None:
        """Some version of a resource, the preferred one first."""
        return next(
            (resources[plural] for resources in self._groups.get(group, {}).values() if plural in resources), None
        )

    def __iter__(self) -> Iterator[Resource]:
        for versions in self._groups.values():
            for version in versions.values():
                yield from version.values()
