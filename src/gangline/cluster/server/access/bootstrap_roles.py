"""The roles that every cluster starts with, and whom they are bound to.

A table; bootstrap.py writes them into the store. Decides nothing."""

from __future__ import annotations

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


def bootstrap_roles() -> list[tuple[str, list[Obj], list[Obj]]]:
    """The cluster roles of every cluster: name, rules, and whom they are bound to."""
    view = _rules(_VIEWED, _READ)
    accounts = [
        {"apiGroups": [""], "resources": ["serviceaccounts/token"], "verbs": ["create"]},
        {"apiGroups": [""], "resources": ["serviceaccounts"], "verbs": ["impersonate"]},
    ]
    edit = view + _rules(_EDITED, _READ + _WRITE) + accounts
    admin = [
        *edit,
        {"apiGroups": [GROUP], "resources": ["roles", "rolebindings"], "verbs": _READ + _WRITE},
        {"apiGroups": ["authorization.k8s.io"], "resources": ["localsubjectaccessreviews"], "verbs": ["create"]},
    ]
    signed_in, anyone = _group(AUTHENTICATED), _group(UNAUTHENTICATED)
    return [
        ("cluster-admin", EVERYTHING, [_group(MASTERS)]),
        ("admin", admin, []),
        ("edit", edit, []),
        ("view", view, []),
        ("system:discovery", [{"nonResourceURLs": _DISCOVERY, "verbs": ["get"]}], [signed_in]),
        ("system:public-info-viewer", [{"nonResourceURLs": _PUBLIC, "verbs": ["get"]}], [signed_in, anyone]),
        (
            "system:basic-user",
            [
                {
                    "apiGroups": ["authorization.k8s.io"],
                    "resources": ["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
                    "verbs": ["create"],
                },
                {"apiGroups": ["authentication.k8s.io"], "resources": ["selfsubjectreviews"], "verbs": ["create"]},
            ],
            [signed_in],
        ),
    ]


def _group(name: str) -> Obj:
    return {"kind": "Group", "apiGroup": GROUP, "name": name}
