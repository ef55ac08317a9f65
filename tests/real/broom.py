"""Makes a used cluster clean again: everything that is there now and was not there in the beginning goes, of every kind
it serves.

The broom learns what a clean cluster has, by name, and sweeps in rounds until no more than that is left: what
controllers make anew meanwhile goes in the next round. Finalizers are taken off, because whoever set them no longer
runs. Definitions of kinds stay, without objects: a real garbage collector needs half a minute to learn of a new one.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from gangline.client import Client, Request
from gangline.client.wire import MERGE_PATCH, Response

GROUPS = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
METADATA = "application/json;g=meta.k8s.io;v=v1;as=PartialObjectMetadataList"
STAY = {"customresourcedefinitions.apiextensions.k8s.io", "events.events.k8s.io", "apiservices.apiregistration.k8s.io"}
"""Events are swept under their older name."""
FIRST = {
    "mutatingwebhookconfigurations.admissionregistration.k8s.io",
    "validatingwebhookconfigurations.admissionregistration.k8s.io",
}
"""Whoever answered them is gone: while they are there, deletes may be refused."""
MADE_ANEW = {("configmaps", "kube-root-ca.crt"), ("serviceaccounts", "default")}
"""What Kubernetes puts into every namespace."""
GO = {"queues.scheduling.run.ai"}
"""A test may have changed the default ones; every platform that starts makes them anew."""
SYSTEM = {"kube-system", "kube-public"}
AT_ONCE = 12


class Kept(NamedTuple):
    resource: str
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class Resource:
    """A kind as the server's discovery tells of it."""

    name: str
    """plural.group"""
    root: str
    plural: str
    namespaced: bool

    def path(self, namespace: str, name: str) -> str:
        return (
            f"{self.root}/namespaces/{namespace}/{self.plural}/{name}"
            if namespace
            else f"{self.root}/{self.plural}/{name}"
        )


@dataclass(slots=True)
class Broom:
    clean: frozenset[Kept] = frozenset()

    async def learn(self, client: Client) -> None:
        """What there is now is what a clean cluster has."""
        self.clean = frozenset(kept for kept, _, _ in await self._found(client) if kept.resource not in GO)

    async def left(self, client: Client) -> list[Kept]:
        """What there is beyond what a clean cluster has."""
        return [kept for kept, _, _ in await self._found(client) if kept not in self.clean]

    async def sweep(self, client: Client, seconds: float = 90.0) -> None:
        deadline = time.monotonic() + seconds
        while left := [item for item in await self._found(client) if item[0] not in self.clean]:
            if time.monotonic() > deadline:
                raise TimeoutError(
                    f"not swept after {seconds} s: {', '.join(':'.join(kept) for kept, _, _ in left[:10])}"
                )
            urgent = [item for item in left if item[0].resource in FIRST]
            await _each(_remove(client, resource, kept, meta) for kept, resource, meta in urgent or left)

    async def _found(self, client: Client) -> list[tuple[Kept, Resource, dict[str, Any]]]:
        lists = await _each(_list(client, resource) for resource in await _resources(client))
        return [item for listed in lists for item in listed if not _made_anew(item[0])]


def _made_anew(kept: Kept) -> bool:
    return (kept.resource, kept.name) in MADE_ANEW or kept.namespace in SYSTEM


async def _list(client: Client, resource: Resource) -> list[tuple[Kept, Resource, dict[str, Any]]]:
    answer = await client.transport.send(Request("GET", f"{resource.root}/{resource.plural}", accept=METADATA))
    if answer.status != 200:
        return []
    found = [item["metadata"] for item in json.loads(answer.body).get("items") or ()]
    return [(Kept(resource.name, meta.get("namespace", ""), meta["name"]), resource, meta) for meta in found]


async def _remove(client: Client, resource: Resource, kept: Kept, meta: dict[str, Any]) -> None:
    path = resource.path(kept.namespace, kept.name)
    if "deletionTimestamp" not in meta or resource.plural == "pods":
        await _ask(client, "DELETE", path, {"gracePeriodSeconds": 0, "propagationPolicy": "Background"})
    if meta.get("finalizers"):
        await _ask(client, "PATCH", path, {"metadata": {"finalizers": None}})


async def _ask(client: Client, method: str, path: str, body: dict[str, Any]) -> Response:
    """What is refused now is asked again in the next round."""
    return await client.transport.send(
        Request(
            method,
            path,
            body=json.dumps(body).encode(),
            content_type=MERGE_PATCH if method == "PATCH" else "application/json",
        )
    )


async def _resources(client: Client) -> list[Resource]:
    """Everything that can be listed and deleted, once each, in the version the server prefers."""
    found: dict[str, Resource] = {}
    for root in ("/api", "/apis"):
        told = json.loads((await client.transport.send(Request("GET", root, accept=GROUPS))).body)
        for group in told["items"]:
            name = group["metadata"].get("name", "")
            for version in group["versions"]:
                base = f"{root}/{name}/{version['version']}" if name else f"{root}/{version['version']}"
                for resource in version["resources"]:
                    full = f"{resource['resource']}.{name}" if name else resource["resource"]
                    if full not in STAY and {"list", "delete"} <= set(resource["verbs"]):
                        found.setdefault(
                            full, Resource(full, base, resource["resource"], resource["scope"] == "Namespaced")
                        )
    return list(found.values())


async def _each(work: Iterable[Any]) -> list[Any]:
    slots = asyncio.Semaphore(AT_ONCE)

    async def one(each: Any) -> Any:
        async with slots:
            return await each

    return await asyncio.gather(*(one(item) for item in work))
