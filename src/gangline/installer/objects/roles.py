"""What components may do, as roles and bindings: from the one table of rights, in the namespaces that the Config names.

An admission server that is installed shows a certificate it is given and is registered by the installer, so it needs
neither Secrets nor webhook configurations. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gangline.api.kinds import CLUSTER_ROLE, CLUSTER_ROLE_BINDING, MUTATING_WEBHOOK, ROLE, ROLE_BINDING, SECRET, Kind
from gangline.api.meta import Raw
from gangline.installer.config_reader import ConfigReading
from gangline.installer.contract import ComponentParts, WantedObjects, meta

GROUP = CLUSTER_ROLE.group


def add_roles(
    wishes: WantedObjects,
    reading: ConfigReading,
    parts: ComponentParts,
    component: str,
    app: str,
    account: tuple[str, str] | None = None,
) -> None:
    """`account`: name and namespace of who gets the rights; None: the account of the app."""
    holder = account or (app, reading.namespace)
    name = f"{reading.namespace}-{app}"
    for namespace, rules in sorted(_placed(parts.rules(component), reading).items()):
        mine = [rule for rule in rules if component != "admission" or not _registers(rule)]
        kinds: tuple[Kind[Any], Kind[Any]] = (ROLE, ROLE_BINDING) if namespace else (CLUSTER_ROLE, CLUSTER_ROLE_BINDING)
        if mine:
            wishes.add(kinds[0], {"metadata": meta(app, name, namespace), "rules": mine})
            wishes.add(kinds[1], _binding(meta(app, name, namespace), kinds[0], name, holder))


def _placed(rules: Mapping[str, Sequence[Raw]], reading: ConfigReading) -> dict[str, list[Raw]]:
    """Rules by the namespace that they are needed in here."""
    placed: dict[str, list[Raw]] = {}
    for namespace, mine in rules.items():
        placed.setdefault(reading.namespaces.get(namespace, namespace), []).extend(mine)
    return placed


def _registers(rule: Raw) -> bool:
    return MUTATING_WEBHOOK.group in rule["apiGroups"] or SECRET.plural in rule["resources"]


def _binding(metadata: Raw, kind: Kind[Any], role: str, holder: tuple[str, str]) -> Raw:
    return {
        "metadata": metadata,
        "roleRef": {"apiGroup": GROUP, "kind": kind.kind, "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": holder[0], "namespace": holder[1]}],
    }
