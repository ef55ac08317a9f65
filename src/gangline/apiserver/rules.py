"""How objects of a resource are read, prepared and checked: the seam between the verbs and the kinds' own rules.

`rules_for` picks the rules of a built-in kind, or those compiled from a custom resource's schema. Verbs call only this.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gangline.apiserver.meta import NameCheck, Obj
from gangline.apiserver.names import label_problems, path_segment_problems, subdomain_problems
from gangline.apiserver.resources import Resource
from gangline.errors import Problem


class Rules:
    """Rules that ask nothing: the base of all others."""

    name_problems: NameCheck = staticmethod(subdomain_problems)
    generation = False
    unconditional_update = True
    create_on_update = False
    orphans_by_default = False
    returns_deleted = False

    def __init__(self, resource: Resource) -> None:
        self.resource = resource

    def default(self, obj: Obj) -> None:
        """Fill in what was left out."""

    def prepare_create(self, obj: Obj) -> None:
        """Reset what a creator may not set."""
        if "status" in self.resource.subresources and self.resource.kind not in ("Node", "Namespace", "PersistentVolume"):
            obj.pop("status", None)
            if not self.resource.custom:
                obj["status"] = {}
        if self.generation:
            obj["metadata"]["generation"] = 1

    def prepare_update(self, new: Obj, old: Obj, subresource: str) -> None:
        """Put back what this update may not change, and count a new generation."""
        if subresource == "status":
            kept = {key: value for key, value in old.items() if key != "status"}
            status, meta = new.get("status"), new["metadata"]
            new.clear()
            new.update(kept)
            new["metadata"] = {**old["metadata"], **{k: meta[k] for k in ("annotations", "managedFields") if k in meta}}
            if status is not None:
                new["status"] = status
        elif "status" in self.resource.subresources:
            if "status" in old:
                new["status"] = old["status"]
            else:
                new.pop("status", None)
        if self.generation and _content(new) != _content(old):
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1

    def validate(self, obj: Obj) -> list[Problem]:
        return []

    def validate_update(self, new: Obj, old: Obj, subresource: str) -> list[Problem]:
        return self.validate(new)


def _content(obj: Obj) -> dict[str, Any]:
    return {key: value for key, value in obj.items() if key not in ("metadata", "status")}


class PodRules(Rules):
    generation = True
    returns_deleted = True

    def default(self, obj: Obj) -> None:
        spec = obj.setdefault("spec", {})
        spec.setdefault("restartPolicy", "Always")
        spec.setdefault("schedulerName", "default-scheduler")
        spec.setdefault("terminationGracePeriodSeconds", 30)

    def prepare_create(self, obj: Obj) -> None:
        super().prepare_create(obj)
        obj["status"] = {"phase": "Pending"}


class NamespaceRules(Rules):
    name_problems = staticmethod(label_problems)

    def prepare_create(self, obj: Obj) -> None:
        obj["status"] = {"phase": "Active"}
        finalizers = obj.setdefault("spec", {}).setdefault("finalizers", [])
        if "kubernetes" not in finalizers:
            finalizers.append("kubernetes")

    def default(self, obj: Obj) -> None:
        meta = obj.setdefault("metadata", {})
        if meta.get("name"):
            labels = meta.get("labels") or {}
            labels["kubernetes.io/metadata.name"] = meta["name"]
            meta["labels"] = labels


class _Generation(Rules):
    generation = True


class _Rbac(Rules):
    name_problems = staticmethod(path_segment_problems)


class _Job(_Generation):
    orphans_by_default = True


class _Lease(Rules):
    create_on_update = True
    unconditional_update = False


class _Strict(_Generation):
    unconditional_update = False


_BUILTIN: dict[tuple[str, str], Callable[[Resource], Rules]] = {
    ("", "pods"): PodRules,
    ("", "namespaces"): NamespaceRules,
    ("apps", "deployments"): _Generation,
    ("apps", "replicasets"): _Generation,
    ("apps", "statefulsets"): _Generation,
    ("apps", "daemonsets"): _Generation,
    ("batch", "jobs"): _Job,
    ("batch", "cronjobs"): _Generation,
    ("policy", "poddisruptionbudgets"): _Strict,
    ("coordination.k8s.io", "leases"): _Lease,
    ("apiextensions.k8s.io", "customresourcedefinitions"): _Strict,
    ("rbac.authorization.k8s.io", "roles"): _Rbac,
    ("rbac.authorization.k8s.io", "rolebindings"): _Rbac,
    ("rbac.authorization.k8s.io", "clusterroles"): _Rbac,
    ("rbac.authorization.k8s.io", "clusterrolebindings"): _Rbac,
}
_made: dict[tuple[str, str, str], Rules] = {}


def rules_for(resource: Resource) -> Rules:
    if resource.custom:
        return _Strict(resource)
    key = (resource.group, resource.version, resource.plural)
    found = _made.get(key)
    if found is None:
        found = _made[key] = _BUILTIN.get((resource.group, resource.plural), Rules)(resource)
    return found
