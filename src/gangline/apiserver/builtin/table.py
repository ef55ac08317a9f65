"""Which rules belong to which built-in kind: one line per kind."""

from __future__ import annotations

from gangline.api import notation
from gangline.apiserver.builtin.definitions import DefinitionRules
from gangline.apiserver.builtin.pods import PodRules
from gangline.apiserver.builtin.rules import KindRules

GROUPS: dict[tuple[str, str], str] = {
    ("", "v1"): "core", ("apps", "v1"): "apps", ("batch", "v1"): "batch", ("autoscaling", "v2"): "autoscaling",
    ("autoscaling", "v1"): "autoscaling_v1", ("policy", "v1"): "policy", ("rbac.authorization.k8s.io", "v1"): "rbac",
    ("coordination.k8s.io", "v1"): "coordination", ("events.k8s.io", "v1"): "events", ("scheduling.k8s.io", "v1"): "scheduling",
    ("scheduling.k8s.io", "v1alpha1"): "scheduling_v1alpha1", ("resource.k8s.io", "v1"): "resource",
    ("storage.k8s.io", "v1"): "storage", ("networking.k8s.io", "v1"): "networking",
    ("admissionregistration.k8s.io", "v1"): "admissionregistration", ("apiextensions.k8s.io", "v1"): "apiextensions",
    ("apiregistration.k8s.io", "v1"): "apiregistration", ("authentication.k8s.io", "v1"): "authentication",
    ("authorization.k8s.io", "v1"): "authorization", ("discovery.k8s.io", "v1"): "discovery", ("node.k8s.io", "v1"): "node",
}

_RULES: dict[tuple[str, str], type[KindRules]] = {
    ("core", "Pod"): PodRules,
    ("apiextensions", "CustomResourceDefinition"): DefinitionRules,
}
_made: dict[tuple[str, str], KindRules] = {}


def lookup(group: str, version: str, kind: str) -> KindRules:
    table = GROUPS.get((group, version))
    if table is None or kind not in notation.names(table):
        raise LookupError(f"{kind} is not a built-in kind of {group or 'core'}/{version}")
    known = _made.get((table, kind))
    if known is None:
        known = _made[table, kind] = _RULES.get((table, kind), KindRules)(table, kind)
    return known
