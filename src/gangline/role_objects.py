"""Rights as ClusterRoles, Roles and their bindings, for the local platform, `gangline rights` and the installer.

What a component may do stands in `rights.py`; the grouper and the backends state it themselves. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gangline.api import names
from gangline.api.kinds import CLUSTER_ROLE, CLUSTER_ROLE_BINDING, KINDS, ROLE, ROLE_BINDING, Kind
from gangline.api.meta import Raw
from gangline.component_names import INSTALLED, TENANT
from gangline.rights import BACKEND, RBAC, TENANT_ROLES, home, lease_rights, rights


def rules(name: str, namespace: str = "") -> list[Raw]:
    """The rules of a component's ClusterRole, or of its Role in a namespace."""
    mine = [right.rule for right in rights().get(name, ()) if right.namespace == namespace]
    if name.startswith(BACKEND):
        return _backend_rules(name, namespace)
    if name == "grouper":
        from gangline.grouper.rights import rights as grouping

        own = [right.rule for right in lease_rights(name) if right.namespace == namespace]
        mine += own if namespace else grouping()
    if name == "installer" and not namespace:
        mine += [
            rule
            for item in (*INSTALLED, *backends())
            for place in ("", *namespaces(item))
            for rule in rules(item, place)
        ]
        return _gathered(mine)
    return _joined(mine)


def _gathered(rules: Iterable[Raw]) -> list[Raw]:
    """The rules of many roles as those of one: every resource once, with all its verbs; by name, what may not
    be done with all objects anyway."""
    verbs: dict[tuple[str, str, tuple[str, ...]], dict[str, None]] = {}
    for rule in rules:
        for resource in rule["resources"]:
            key = rule["apiGroups"][0], resource, tuple(rule.get("resourceNames", ()))
            verbs.setdefault(key, {}).update(dict.fromkeys(rule["verbs"]))
    left = {
        (group, resource, objects): sorted(mine.keys() - (verbs.get((group, resource, ()), {}) if objects else {}))
        for (group, resource, objects), mine in sorted(verbs.items())
    }
    return _joined(_rule(group, [resource], objects, mine) for (group, resource, objects), mine in left.items() if mine)


def _joined(rules: Iterable[Raw]) -> list[Raw]:
    """Rules with the same group, verbs and names as one; several about the same resource stay apart."""
    joined: dict[tuple[str, tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for rule in rules:
        key = rule["apiGroups"][0], tuple(rule["verbs"]), tuple(rule.get("resourceNames", ()))
        resources = joined.setdefault(key, [])
        resources += [resource for resource in rule["resources"] if resource not in resources]
    return [
        _rule(group, sorted(resources), objects, list(verbs)) for (group, verbs, objects), resources in joined.items()
    ]


def _rule(group: str, resources: list[str], objects: tuple[str, ...], verbs: list[str]) -> Raw:
    rule: Raw = {"apiGroups": [group], "resources": resources, "verbs": verbs}
    return rule | {"resourceNames": list(objects)} if objects else rule


def namespaces(name: str) -> list[str]:
    """Where it has rights of its own."""
    if name.startswith(BACKEND):
        return [home(name)]
    own = {right.namespace for right in (*rights().get(name, ()), *lease_rights(name))}
    return sorted(own - {""})


def holders() -> tuple[str, ...]:
    """Every component, backends as processes of their own too; and people with a namespace of their own."""
    return (*rights(), "grouper", "controller-manager", *backends(), TENANT)


def objects(components: Iterable[str] = ()) -> list[tuple[Kind[Any], Raw]]:
    """The roles of these components (default: of all) and their bindings to the accounts of `gangline-system`."""
    granted: list[tuple[Kind[Any], Raw]] = []
    for name in tuple(components) or holders():
        role = f"gangline-{name}"
        if name == TENANT:
            granted += tenant_roles()
            continue
        if name == "controller-manager":
            granted.append((CLUSTER_ROLE_BINDING, _binding(role, name, "ClusterRole", "cluster-admin")))
            continue
        granted += [
            (CLUSTER_ROLE, {"metadata": {"name": role}, "rules": rules(name)}),
            (CLUSTER_ROLE_BINDING, _binding(role, name, "ClusterRole", role)),
        ]
        for namespace in namespaces(name):
            granted += [
                (ROLE, {"metadata": {"name": role, "namespace": namespace}, "rules": rules(name, namespace)}),
                (ROLE_BINDING, _binding(role, name, "Role", role, namespace)),
            ]
    return granted


def tenant_roles() -> list[tuple[Kind[Any], Raw]]:
    """Roles that nobody is bound to: the cluster's own view, edit and admin take their rules in."""
    return [
        (
            CLUSTER_ROLE,
            {
                "metadata": {
                    "name": f"gangline-{TENANT}-{word}",
                    "labels": {f"{RBAC}/aggregate-to-{role}": "true" for role in into},
                },
                "rules": _joined(right.rule for right in mine),
            },
        )
        for word, (into, mine) in TENANT_ROLES.items()
    ]


CORE_OWNERS = (
    "configmaps",
    "endpoints",
    "namespaces",
    "nodes",
    "persistentvolumeclaims",
    "pods",
    "replicationcontrollers",
    "serviceaccounts",
    "services",
)
"""What of the core group may own something; Secrets may not be looked at."""


def any_owner(groups: Iterable[str] = ()) -> list[tuple[Kind[Any], Raw]]:
    """Let the grouper look at owners of any kind of these groups and of all that are known, Secrets apart, for a
    cluster of one's own; elsewhere an administrator names the kinds. Where it may not look, the walk to the top of a
    pod's owners ends."""
    name, known = "gangline-grouper-owners", {kind.group for kind in KINDS}
    rules = [
        {"apiGroups": [""], "resources": list(CORE_OWNERS), "verbs": ["get", "list"]},
        {"apiGroups": sorted({*groups, *known} - {""}), "resources": ["*"], "verbs": ["get", "list"]},
    ]
    return [
        (CLUSTER_ROLE, {"metadata": {"name": name}, "rules": rules}),
        (CLUSTER_ROLE_BINDING, _binding(name, "grouper", "ClusterRole", name)),
    ]


def backends() -> tuple[str, ...]:
    """Every backend as a component of its own."""
    from gangline.operator.backends import Registry
    from gangline.rules.sets import OperatorSettings

    return tuple(f"{BACKEND}{name}" for name in Registry(OperatorSettings()).names)


def _backend_rules(name: str, namespace: str) -> list[Raw]:
    """A backend as a process of its own does a part of the operator's work, with rights for just that; raises
    NoBackend."""
    from gangline.operator.backends import Registry
    from gangline.operator.rights import election_rights, rights
    from gangline.rules.sets import OperatorSettings

    backend = Registry(OperatorSettings()).by_name(name.removeprefix(BACKEND))
    if not namespace:
        return rights(backend)
    return election_rights(f"gangline-{BACKEND}{backend.name}") if namespace == home(name) else []


def _binding(name: str, component: str, kind: str, role: str, namespace: str = "") -> Raw:
    return {
        "metadata": {"name": name, **({"namespace": namespace} if namespace else {})},
        "roleRef": {"apiGroup": RBAC, "kind": kind, "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": component, "namespace": names.SYSTEM_NAMESPACE}],
    }
