"""What every cluster has before anybody asked for it: namespaces, priority classes, and the roles of Kubernetes.

server.py calls it once, when a server opens; what is there already stays as it is."""

from __future__ import annotations

from typing import Any

from gangline.cluster.server.access.bootstrap_roles import bootstrap_roles
from gangline.cluster.server.access.rbac import GROUP as RBAC
from gangline.cluster.server.admit.plugins import system_classes
from gangline.cluster.server.core import SYSTEM_NAMESPACES, Core

Obj = dict[str, Any]


def bootstrap(core: Core) -> None:
    """Make what is missing."""
    for name in SYSTEM_NAMESPACES:
        _make(
            core,
            "",
            "namespaces",
            name,
            {
                "metadata": {"labels": {"kubernetes.io/metadata.name": name}},
                "spec": {"finalizers": ["kubernetes"]},
                "status": {"phase": "Active"},
            },
        )
    for name, content in system_classes():
        _make(core, "scheduling.k8s.io", "priorityclasses", name, content)
    for name, rules, subjects in bootstrap_roles():
        labels = {"metadata": {"labels": {"kubernetes.io/bootstrapping": "rbac-defaults"}}}
        _make(core, RBAC, "clusterroles", name, {**labels, "rules": rules})
        if subjects:
            ref = {"apiGroup": RBAC, "kind": "ClusterRole", "name": name}
            _make(core, RBAC, "clusterrolebindings", name, {**labels, "roleRef": ref, "subjects": subjects})


def _make(core: Core, group: str, plural: str, name: str, content: Obj) -> None:
    resource = core.catalogue.any_version(group, plural)
    assert resource is not None
    if core.store.get(resource.shelf, ("", name)) is None:
        about = {"name": name, "uid": core.new_uid(), "creationTimestamp": core.now(), **content.get("metadata", {})}
        core.write(resource, ("", name), {**content, "metadata": about})
