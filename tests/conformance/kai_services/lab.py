"""The cluster in which the recorded cases are replayed: an embedded server with what the recorder had set up before any
case.

Workload kinds are definitions without a schema, the pod grouper has the rights of upstream's chart, and time stands
still, so that a retry never mixes with a step. Nothing here knows what a case asks for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from embedded import settles
from gangline.api.builtin import Untyped
from gangline.api.crds import crds
from gangline.api.kinds import (
    CLUSTER_ROLE,
    CLUSTER_ROLE_BINDING,
    CONFIG_MAP,
    CRD,
    NAMESPACE,
    PRIORITY_CLASS,
    QUEUE,
    Kind,
    foreign,
    known,
)
from gangline.client import Client, User
from gangline.cluster.server.admit.hooks import admit_with
from gangline.cluster.server.server import Server, ServerSettings
from gangline.rules.hooks import Hook
from gangline.runtime import Component, Manager, ManualClock

Raw = dict[str, Any]
ADMIN = User("admin", ("system:masters", "system:authenticated"))
ACCOUNT = User("system:serviceaccount:kai-scheduler:podgrouper", ("system:serviceaccounts", "system:authenticated"))
KARTAS = {"kind": "Karta", "plural": "kartas", "versions": ["v1alpha1"], "storage": "v1alpha1", "scope": "Cluster"}
OURS = ("queues", "podgroups", "bindrequests", "topologies")
BUILT_IN = {
    ("v1", "ReplicationController"): foreign("v1", "ReplicationController", "replicationcontrollers"),
    ("node.k8s.io/v1", "RuntimeClass"): foreign("node.k8s.io/v1", "RuntimeClass", "runtimeclasses", namespaced=False),
}
CALM = 12
"""So many turns of the event loop without work: more than a change needs to travel from the server to an informer."""
READ, WRITE = ["get", "list", "watch"], ["create", "update", "patch"]


@dataclass(frozen=True, slots=True)
class Environment:
    """`environment.json`: what exists in the cluster before any case."""

    data: Raw

    def workloads(self) -> Iterable[tuple[str, Raw]]:
        return ((group, item) for group, listed in self.data["customResources"].items() for item in listed)


def read_environment(folder: Path) -> Environment | None:
    """The environment that belongs to a folder of cases: in it, or in one of those above it."""
    for place in (folder, *folder.resolve().parents):
        if (place / "environment.json").is_file():
            return Environment(json.loads((place / "environment.json").read_text()))
    return None


class Lab:
    """One fresh cluster, and the components under test in it."""

    def __init__(self, environment: Environment, *, hooks: Sequence[Hook] = (), karta: bool = False) -> None:
        self.environment = environment
        self.clock = ManualClock()
        self.server = Server(ServerSettings())
        self.admin = Client(self.server.transport(ADMIN))
        self._hooks, self._karta = hooks, karta
        self._kinds: dict[tuple[str, str], Kind[Any]] = dict(BUILT_IN)
        self._managers: list[Manager] = []

    async def open(self, namespace_labels: dict[str, str] | None = None) -> None:
        await self.server.open()
        for definition in crds():
            if definition["spec"]["names"]["plural"] in OURS:
                await self.admin.create(CRD, definition)
        for group, item in self.environment.workloads():
            await self._define(group, item)
        if self._karta:
            await self._define("run.ai", KARTAS)
        for name, labels in (
            ("work", namespace_labels or {}),
            ("other", {}),
            *((name, {}) for name in self._config_maps),
        ):
            await self.admin.create(NAMESPACE, {"metadata": {"name": name, "labels": labels}})
        await self._fill()
        for hook in self._hooks:
            admit_with(self.server.admission, hook)

    @property
    def _config_maps(self) -> Raw:
        found: Raw = self.environment.data["configMaps"]
        return found

    async def _define(self, group: str, each: Raw) -> None:
        anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        versions = [
            {
                "name": version,
                "served": True,
                "storage": version == each["storage"],
                "schema": {"openAPIV3Schema": anything},
            }
            for version in each["versions"]
        ]
        scope = each.get("scope", "Namespaced")
        approved = {"api-approved.kubernetes.io": "unapproved, made for a test"} if group.endswith(".k8s.io") else {}
        await self.admin.create(
            CRD,
            {
                "metadata": {"name": f"{each['plural']}.{group}", "annotations": approved},
                "spec": {
                    "group": group,
                    "scope": scope,
                    "versions": versions,
                    "names": {"kind": each["kind"], "plural": each["plural"], "singular": each["kind"].lower()},
                },
            },
        )
        for version in each["versions"]:
            self._kinds[f"{group}/{version}", each["kind"]] = foreign(
                f"{group}/{version}", each["kind"], each["plural"], scope == "Namespaced"
            )

    async def _fill(self) -> None:
        for name, value in self.environment.data["priorityClasses"].items():
            if not name.startswith("system-"):
                await self.admin.create(PRIORITY_CLASS, {"metadata": {"name": name}, "value": value})
        for name in self.environment.data["queues"]:
            await self.admin.create(QUEUE, {"metadata": {"name": name}, "spec": {"resources": {}}})
        for namespace, maps in self._config_maps.items():
            for name, data in maps.items():
                await self.admin.create(CONFIG_MAP, {"metadata": {"name": name, "namespace": namespace}, "data": data})
        for name in self.environment.data["runtimeClasses"]:
            await self.admin.create(
                self.kind("node.k8s.io/v1", "RuntimeClass"), {"metadata": {"name": name}, "handler": "runc"}
            )

    async def allow(self, user: User, *, everything: bool) -> None:
        """The rights of the chart's role, and on request those to read everything."""
        readable = [name.partition(".") for name in self.environment.data["chartReadAccess"]]
        rules = [{"apiGroups": [group], "resources": [plural], "verbs": READ} for plural, _, group in readable]
        rules += [
            {"apiGroups": [""], "resources": ["pods", "events"], "verbs": WRITE},
            {"apiGroups": ["scheduling.run.ai"], "resources": ["podgroups"], "verbs": WRITE},
        ]
        if everything:
            rules.append({"apiGroups": ["*"], "resources": ["*"], "verbs": READ})
        await self.admin.create(CLUSTER_ROLE, {"metadata": {"name": "podgrouper"}, "rules": rules})
        await self.admin.create(
            CLUSTER_ROLE_BINDING,
            {
                "metadata": {"name": "podgrouper"},
                "subjects": [{"kind": "User", "name": user.name}],
                "roleRef": {"apiGroup": CLUSTER_ROLE.group, "kind": "ClusterRole", "name": "podgrouper"},
            },
        )

    async def start(self, component: Component, user: User = ADMIN) -> None:
        manager = Manager(component, Client(self.server.transport(user)), self.clock)
        await manager.start()
        self._managers.append(manager)

    async def settle(self) -> None:
        """Until no component has anything left to do."""
        await settles(self.server, self._managers, rounds=CALM, pause=0)

    def kind(self, api_version: str, kind: str) -> Kind[Any]:
        """A kind as plain data: the cases also hold objects that no typed view could read."""
        found = known(api_version, kind) or self._kinds[api_version, kind]
        return replace(found, type=Untyped)

    async def close(self) -> None:
        for manager in self._managers:
            await manager.stop()
        await self.server.close()
