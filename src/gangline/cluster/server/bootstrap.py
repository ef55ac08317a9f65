"""What every cluster has from its start: namespaces, priority classes, and the roles of Kubernetes.

server.py calls it once, when a server opens; what is there already stays as it is, but for roles of an older version
that did not aggregate yet."""

from __future__ import annotations

from typing import Any

from gangline.cluster.server.access.bootstrap_roles import bootstrap_roles
from gangline.cluster.server.access.rbac import GROUP as RBAC
from gangline.cluster.server.admit.plugins import system_classes
from gangline.cluster.server.core import SYSTEM_NAMESPACES, Core

Obj = dict[str, Any]
_RENEWED = {"rbac.authorization.kubernetes.io/autoupdate": "true"}


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
    for role in bootstrap_roles():
        about = {"metadata": {"labels": role.labels, "annotations": _RENEWED}}
        _make(core, RBAC, "clusterroles", role.name, {**about, **role.content}, renewed=role.aggregates)
        if role.subjects:
            ref = {"apiGroup": RBAC, "kind": "ClusterRole", "name": role.name}
            bound = {**about, "roleRef": ref, "subjects": list(role.subjects)}
            _make(core, RBAC, "clusterrolebindings", role.name, bound)


def _make(core: Core, group: str, plural: str, name: str, content: Obj, *, renewed: bool = False) -> None:
    """`renewed`: a role that aggregates; one that was kept from before it did is made to."""
    resource = core.catalogue.any_version(group, plural)
    assert resource is not None
    standing = core.store.get(resource.shelf, ("", name))
    if standing is None:
        about = {"name": name, "uid": core.new_uid(), "creationTimestamp": core.now(), **content.get("metadata", {})}
        core.write(resource, ("", name), {**content, "metadata": about})
    elif renewed and "aggregationRule" not in (kept := standing.object()):
        labels = {**(kept["metadata"].get("labels") or {}), **content["metadata"]["labels"]}
        core.write(resource, ("", name), {**kept, **content, "metadata": {**kept["metadata"], "labels": labels}})
