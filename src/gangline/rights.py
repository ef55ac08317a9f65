"""What each component may do in a cluster: one table. `role_objects.py` makes ClusterRoles and Roles from it.

The local platform gives these and no more to its components, so that the journeys prove them; `gangline rights` prints
them for a real cluster. A right in a namespace becomes a Role there. Reads of kinds that are derived (workloads for the
grouper, schedulers' objects for the operator) come from the tables of those components. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from gangline.api import names
from gangline.api.kinds import (
    BIND_REQUEST,
    CLUSTER_POLICY,
    CLUSTER_ROLE,
    CLUSTER_ROLE_BINDING,
    COMPOSITE_POD_GROUP,
    COMPUTE_DOMAIN,
    CONFIG,
    CONFIG_MAP,
    CSI_DRIVER,
    CSI_STORAGE_CAPACITY,
    DAEMON_SET,
    DEPLOYMENT,
    DEVICE_CLASS,
    ENDPOINT_SLICE,
    ENDPOINTS,
    EVENT,
    HPA,
    JOB,
    KUBE_POD_GROUP,
    LEASE,
    MUTATING_WEBHOOK,
    NAMESPACE,
    NODE,
    NODE_RESOURCE_TOPOLOGY,
    PDB,
    POD,
    POD_CLIQUE,
    POD_CLIQUE_SET,
    POD_GANG,
    POD_GROUP,
    PRIORITY_CLASS,
    PROMETHEUS,
    PV,
    PVC,
    QUEUE,
    RESOURCE_CLAIM,
    RESOURCE_CLAIM_TEMPLATE,
    RESOURCE_SLICE,
    ROLE,
    ROLE_BINDING,
    SCALING_GROUP,
    SCHEDULING_SHARD,
    SECRET,
    SERVICE,
    SERVICE_ACCOUNT,
    SERVICE_MONITOR,
    STORAGE_CLASS,
    SUBJECT_ACCESS_REVIEW,
    TOKEN_REVIEW,
    TOPOLOGY,
    TOPOLOGY_BINDING,
    VALIDATING_WEBHOOK,
    VPA,
    WORKLOAD,
    Kind,
)
from gangline.api.meta import Raw
from gangline.rules.explained_kinds import DECIDED_ON, SPOKEN_OF

LEASES = {
    "grouper": "54dff599.kai.scheduler",
    "binder": "2ad35f9c.kai.scheduler",
    "podgroup-controller": "o1x22tjj.kai.scheduler",
    "queue-controller": "ov3xj497.kai.scheduler",
    "node-scale-adjuster": "7n7h49uc.kai.scheduler",
}
"""Upstream's leases, so that one of ours and one of theirs never work side by side."""
EVERYWHERE = ("numa-placement-exporter", "resource-reservation", "admission", "dashboard")
"""Components of which every copy works: one per node, one per reserved GPU, one per replica of a service or page."""
BACKEND = "backend-"
"""What the names of single backends as components begin with."""
READ = ("get", "list", "watch")
WRITE = ("create", "delete", "deletecollection", "patch", "update")
OWN = (*READ, "create", "patch", "delete")
RBAC = "rbac.authorization.k8s.io"
NODE_LEASES = "kube-node-lease"
SIMULATED = ("kubelet", "controller-manager", "default-scheduler", "autoscaler")
"""Components of the simulated world: a real cluster has its own."""


@dataclass(frozen=True, slots=True)
class Right:
    """Verbs on a kind, or on a subresource of it; `namespace` empty: everywhere."""

    kind: Kind[Any]
    verbs: tuple[str, ...]
    subresource: str = ""
    namespace: str = ""
    names: tuple[str, ...] = ()
    """Only objects with these names; empty: all."""

    @property
    def rule(self) -> Raw:
        resource = f"{self.kind.plural}/{self.subresource}" if self.subresource else self.kind.plural
        rule = {"apiGroups": [self.kind.group], "resources": [resource], "verbs": list(self.verbs)}
        return rule | {"resourceNames": list(self.names)} if self.names else rule


def read(*kinds: Kind[Any]) -> list[Right]:
    return [Right(kind, READ) for kind in kinds]


def status(*kinds: Kind[Any]) -> list[Right]:
    return [Right(kind, ("patch",), "status") for kind in kinds]


TELLS = Right(EVENT, ("create", "patch"))


def _scheduler() -> list[Right]:
    seen = read(
        NODE,
        QUEUE,
        POD_GROUP,
        POD,
        BIND_REQUEST,
        PRIORITY_CLASS,
        TOPOLOGY,
        NAMESPACE,
        RESOURCE_CLAIM,
        RESOURCE_SLICE,
        DEVICE_CLASS,
        PV,
        PVC,
        STORAGE_CLASS,
        CSI_DRIVER,
        CSI_STORAGE_CAPACITY,
        CONFIG_MAP,
        NODE_RESOURCE_TOPOLOGY,
        PDB,
    )
    return [
        *seen,
        Right(BIND_REQUEST, ("create", "delete")),
        Right(POD, ("patch", "delete")),
        Right(POD, ("create",), "eviction"),
        Right(POD_GROUP, ("patch",)),
        Right(CONFIG_MAP, ("create", "patch"), namespace=names.KAI_NAMESPACE),
        *status(POD, POD_GROUP),
        TELLS,
    ]


def _explainer() -> list[Right]:
    """Everything that an answer may speak of, and the PodGroup that it stands on."""
    return [*read(*SPOKEN_OF), Right(POD_GROUP, ("patch",)), TELLS]


def _binder() -> list[Right]:
    reserves = Right(POD, ("create",), namespace=names.RESERVATION_NAMESPACE)
    return [
        *read(BIND_REQUEST, NODE, POD, PVC, PV, STORAGE_CLASS, CONFIG_MAP, RESOURCE_CLAIM),
        Right(POD, ("patch", "delete")),
        reserves,
        Right(POD, ("create",), "binding"),
        *status(POD, BIND_REQUEST),
        Right(PVC, ("patch",)),
        Right(PV, ("patch",)),
        Right(CONFIG_MAP, ("create", "patch", "delete")),
        Right(RESOURCE_CLAIM, ("create", "patch", "delete")),
        Right(RESOURCE_CLAIM, ("update", "patch"), "status"),
        TELLS,
    ]


def _operator() -> list[Right]:
    from gangline.operator.backends import Registry
    from gangline.rules.sets import OperatorSettings

    backends = list(Registry(OperatorSettings()))
    seen = dict.fromkeys(kind for backend in backends for kind in backend.reads)
    made = dict.fromkeys(kind for backend in backends for kind in backend.writes)
    mine = (POD_CLIQUE_SET, POD_CLIQUE, SCALING_GROUP, POD_GANG)
    others = (
        POD,
        SERVICE,
        SERVICE_ACCOUNT,
        ROLE,
        ROLE_BINDING,
        HPA,
        RESOURCE_CLAIM,
        RESOURCE_CLAIM_TEMPLATE,
        COMPUTE_DOMAIN,
    )
    return [
        Right(POD_CLIQUE_SET, (*READ, "patch")),
        *(Right(kind, OWN) for kind in (*mine[1:], *others)),
        Right(SECRET, ("get", "create", "delete")),
        *status(*mine, TOPOLOGY_BINDING),
        Right(POD, READ, "status"),
        *read(NODE, TOPOLOGY_BINDING, *(kind for kind in seen if kind not in made)),
        *(Right(kind, OWN) for kind in made if kind not in mine),
        Right(TOPOLOGY, OWN),
        TELLS,
    ]


def _admission() -> list[Right]:
    from gangline.operator.checks import kinds
    from gangline.rules.sets import OperatorSettings

    looked_at = dict.fromkeys((QUEUE, TOPOLOGY_BINDING, NAMESPACE, *kinds(OperatorSettings())))
    webhooks = [Right(kind, ("get", "create", "patch")) for kind in (MUTATING_WEBHOOK, VALIDATING_WEBHOOK)]
    tried = [
        Right(kind, ("create",), namespace=names.SYSTEM_NAMESPACE) for kind in (KUBE_POD_GROUP, COMPOSITE_POD_GROUP)
    ]
    return [
        *read(*looked_at),
        *webhooks,
        *tried,
        Right(SECRET, ("get", "create", "delete"), namespace=names.SYSTEM_NAMESPACE),
    ]


def _kubelet() -> list[Right]:
    hardware = [Right(kind, ("create",)) for kind in (DEVICE_CLASS, RESOURCE_SLICE, NODE_RESOURCE_TOPOLOGY, PV)]
    return [
        *read(NODE, POD, PVC, STORAGE_CLASS),
        *(Right(kind, ("get",)) for kind in (CONFIG_MAP, SECRET)),
        Right(NODE, ("create", "patch")),
        *status(NODE, POD),
        Right(POD, ("patch", "delete")),
        Right(LEASE, ("get", "create", "patch"), namespace=NODE_LEASES),
        *hardware,
        TELLS,
    ]


def _autoscaler() -> list[Right]:
    hardware = [Right(kind, ("create",)) for kind in (DEVICE_CLASS, RESOURCE_SLICE, NODE_RESOURCE_TOPOLOGY)]
    return [*read(NODE, POD), Right(NODE, ("create", "delete")), *hardware, TELLS]


SCRAPED = (
    Right(NODE, READ),
    Right(NODE, READ, "metrics"),
    Right(POD, READ),
    Right(SERVICE, READ),
    Right(ENDPOINTS, READ),
    Right(ENDPOINT_SLICE, READ),
)
"""What an instance of Prometheus looks at."""


def _installer() -> list[Right]:
    from gangline.installer.plan import BY_NAME

    made = (
        SERVICE_ACCOUNT,
        CLUSTER_ROLE,
        CLUSTER_ROLE_BINDING,
        ROLE,
        ROLE_BINDING,
        CONFIG_MAP,
        SERVICE,
        ENDPOINT_SLICE,
        PDB,
        DEPLOYMENT,
        DAEMON_SET,
        MUTATING_WEBHOOK,
        VALIDATING_WEBHOOK,
        PROMETHEUS,
        SERVICE_MONITOR,
        VPA,
    )
    owners = (CONFIG, SCHEDULING_SHARD)
    return [
        *read(*owners, POD, NODE),
        *status(*owners),
        *(Right(kind, ("update",), "finalizers") for kind in owners),
        *(Right(kind, OWN) for kind in made),
        Right(SECRET, ("create",)),
        *(Right(kind, (*READ, "patch", "delete"), names=(name,)) for kind, name in BY_NAME.items()),
        Right(CLUSTER_POLICY, ("list",)),
        Right(LEASE, ("get",)),
        Right(NAMESPACE, ("create",)),
        *SCRAPED,
        TELLS,
    ]


def _scale_adjuster() -> list[Right]:
    here = names.SCALE_NAMESPACE
    return [*read(POD), Right(POD, ("create", "delete"), namespace=here), Right(POD, ("patch",), "status", here)]


@cache
def rights() -> Mapping[str, tuple[Right, ...]]:
    """Component → what it may do; the grouper's are rules already (`rules`), and the controller manager, which collects
    garbage of every kind, is an administrator as Kubernetes' own is."""
    table = {
        "operator": _operator(),
        "scheduler": _scheduler(),
        "explainer": _explainer(),
        "binder": _binder(),
        "podgroup-controller": [*read(POD_GROUP, POD, NODE, PRIORITY_CLASS, RESOURCE_CLAIM), *status(POD_GROUP)],
        "queue-controller": [*read(QUEUE, POD_GROUP), *status(QUEUE)],
        "node-scale-adjuster": _scale_adjuster(),
        "numa-placement-exporter": [*read(POD, NODE, NODE_RESOURCE_TOPOLOGY), Right(POD, ("patch",))],
        "resource-reservation": [Right(POD, ("get", "patch"), namespace=names.RESERVATION_NAMESPACE)],
        "admission": _admission(),
        "installer": _installer(),
        "kubelet": _kubelet(),
        "default-scheduler": [
            *read(POD, NODE, PVC, STORAGE_CLASS, WORKLOAD, KUBE_POD_GROUP, COMPOSITE_POD_GROUP),
            Right(POD, ("create",), "binding"),
            *status(POD, KUBE_POD_GROUP),
            Right(PVC, ("patch",)),
            TELLS,
        ],
        "autoscaler": _autoscaler(),
        "dashboard": [
            *read(POD_GANG, POD_CLIQUE_SET, POD_CLIQUE, SCALING_GROUP, EVENT, JOB, *DECIDED_ON),
            *(Right(kind, ("create",)) for kind in (TOKEN_REVIEW, SUBJECT_ACCESS_REVIEW)),
        ],
    }
    return {name: (*mine, *lease_rights(name)) for name, mine in table.items()}


TENANT_ROLES: Mapping[str, tuple[tuple[str, ...], list[Right]]] = {
    "view": (
        ("view", "edit", "admin"),
        read(POD_CLIQUE_SET, POD_CLIQUE, SCALING_GROUP, POD_GANG, POD_GROUP, BIND_REQUEST),
    ),
    "edit": (
        ("edit", "admin"),
        [
            Right(POD_CLIQUE_SET, WRITE),
            Right(POD_GROUP, WRITE),
            *(Right(kind, ("get", "patch", "update"), "scale") for kind in (POD_CLIQUE_SET, POD_CLIQUE, SCALING_GROUP)),
        ],
    ),
}
"""What Kubernetes' own roles give of our kinds: a role's last word → the roles that take its rights in, and these. What
components write, people do not: no status, no PodGang, no BindRequest."""


def home(name: str) -> str:
    """The namespace of a component's lease: the scheduler half's is upstream's."""
    return names.KAI_NAMESPACE if name in (*LEASES, "scheduler") else names.SYSTEM_NAMESPACE


def lease_rights(name: str) -> list[Right]:
    """What a component needs to be elected."""
    return [] if name in EVERYWHERE else [Right(LEASE, ("get", "create", "patch"), namespace=home(name))]
