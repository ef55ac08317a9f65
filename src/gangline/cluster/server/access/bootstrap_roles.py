"""The roles that every cluster starts with, and whom they are bound to.

A table; bootstrap.py writes them into the store. Decides nothing."""

from __future__ import annotations

from dataclasses import dataclass

from gangline.cluster.server.access.rbac import AUTHENTICATED, EVERYTHING, GROUP, MASTERS, UNAUTHENTICATED, Obj

_PUBLIC = ["/healthz", "/livez", "/readyz", "/version", "/version/"]
_DISCOVERY = [
    "/api",
    "/api/*",
    "/apis",
    "/apis/*",
    "/healthz",
    "/livez",
    "/openapi",
    "/openapi/*",
    "/readyz",
    "/version",
    "/version/",
]
_READ = ["get", "list", "watch"]
_WRITE = ["create", "delete", "deletecollection", "patch", "update"]
_VIEWED: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "",
        (
            "configmaps",
            "endpoints",
            "persistentvolumeclaims",
            "persistentvolumeclaims/status",
            "pods",
            "pods/log",
            "pods/status",
            "replicationcontrollers",
            "replicationcontrollers/scale",
            "serviceaccounts",
            "services",
            "services/status",
            "bindings",
            "events",
            "limitranges",
            "namespaces",
            "namespaces/status",
            "resourcequotas",
            "resourcequotas/status",
        ),
    ),
    (
        "apps",
        (
            "controllerrevisions",
            "daemonsets",
            "daemonsets/status",
            "deployments",
            "deployments/scale",
            "deployments/status",
            "replicasets",
            "replicasets/scale",
            "replicasets/status",
            "statefulsets",
            "statefulsets/scale",
            "statefulsets/status",
        ),
    ),
    ("autoscaling", ("horizontalpodautoscalers", "horizontalpodautoscalers/status")),
    ("batch", ("cronjobs", "cronjobs/status", "jobs", "jobs/status")),
    ("discovery.k8s.io", ("endpointslices",)),
    ("networking.k8s.io", ("ingresses", "ingresses/status", "networkpolicies")),
    ("policy", ("poddisruptionbudgets", "poddisruptionbudgets/status")),
    ("resource.k8s.io", ("resourceclaims", "resourceclaimtemplates")),
)
_EDITED: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "",
        (
            "configmaps",
            "persistentvolumeclaims",
            "pods",
            "pods/attach",
            "pods/exec",
            "pods/eviction",
            "pods/portforward",
            "pods/proxy",
            "replicationcontrollers",
            "replicationcontrollers/scale",
            "secrets",
            "serviceaccounts",
            "services",
            "services/proxy",
            "events",
        ),
    ),
    (
        "apps",
        (
            "daemonsets",
            "deployments",
            "deployments/scale",
            "replicasets",
            "replicasets/scale",
            "statefulsets",
            "statefulsets/scale",
        ),
    ),
    ("autoscaling", ("horizontalpodautoscalers",)),
    ("batch", ("cronjobs", "jobs")),
    ("networking.k8s.io", ("ingresses", "networkpolicies")),
    ("policy", ("poddisruptionbudgets",)),
    ("resource.k8s.io", ("resourceclaims", "resourceclaimtemplates")),
    ("coordination.k8s.io", ("leases",)),
)


def _rules(table: tuple[tuple[str, tuple[str, ...]], ...], verbs: list[str]) -> list[Obj]:
    return [{"apiGroups": [group], "resources": list(resources), "verbs": verbs} for group, resources in table]


@dataclass(frozen=True, slots=True)
class BootstrapRole:
    """A cluster role of every cluster, and whom it is bound to. `into`: the roles that take its rules in; `aggregates`:
    it takes in what is meant for it, `rules` being what that is as long as nobody adds to it."""

    name: str
    rules: list[Obj]
    subjects: tuple[Obj, ...] = ()
    into: tuple[str, ...] = ()
    aggregates: bool = False

    @property
    def labels(self) -> Obj:
        return {"kubernetes.io/bootstrapping": "rbac-defaults"} | {label_into(role): "true" for role in self.into}

    @property
    def content(self) -> Obj:
        selector = {"clusterRoleSelectors": [{"matchLabels": {label_into(self.name): "true"}}]}
        return {"rules": self.rules} | ({"aggregationRule": selector} if self.aggregates else {})


def label_into(role: str) -> str:
    """The label of what a role takes in."""
    return f"{GROUP}/aggregate-to-{role}"


def bootstrap_roles() -> list[BootstrapRole]:
    """The cluster roles of every cluster. Each of view, edit and admin takes in the one before it, and whatever else
    bears its label."""
    view = _rules(_VIEWED, _READ)
    accounts = [
        {"apiGroups": [""], "resources": ["serviceaccounts/token"], "verbs": ["create"]},
        {"apiGroups": [""], "resources": ["serviceaccounts"], "verbs": ["impersonate"]},
    ]
    edit = _rules(_EDITED, _READ + _WRITE) + accounts
    admin = [
        {"apiGroups": [GROUP], "resources": ["roles", "rolebindings"], "verbs": _READ + _WRITE},
        {"apiGroups": ["authorization.k8s.io"], "resources": ["localsubjectaccessreviews"], "verbs": ["create"]},
    ]
    signed_in, anyone = _group(AUTHENTICATED), _group(UNAUTHENTICATED)
    return [
        BootstrapRole("cluster-admin", EVERYTHING, (_group(MASTERS),)),
        BootstrapRole("system:aggregate-to-admin", admin, into=("admin",)),
        BootstrapRole("system:aggregate-to-edit", edit, into=("edit",)),
        BootstrapRole("system:aggregate-to-view", view, into=("view",)),
        BootstrapRole("admin", view + edit + admin, aggregates=True),
        BootstrapRole("edit", view + edit, into=("admin",), aggregates=True),
        BootstrapRole("view", view, into=("edit",), aggregates=True),
        BootstrapRole("system:discovery", [{"nonResourceURLs": _DISCOVERY, "verbs": ["get"]}], (signed_in,)),
        BootstrapRole(
            "system:public-info-viewer", [{"nonResourceURLs": _PUBLIC, "verbs": ["get"]}], (signed_in, anyone)
        ),
        BootstrapRole(
            "system:basic-user",
            [
                {
                    "apiGroups": ["authorization.k8s.io"],
                    "resources": ["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
                    "verbs": ["create"],
                },
                {"apiGroups": ["authentication.k8s.io"], "resources": ["selfsubjectreviews"], "verbs": ["create"]},
            ],
            (signed_in,),
        ),
    ]


def _group(name: str) -> Obj:
    return {"kind": "Group", "apiGroup": GROUP, "name": name}
