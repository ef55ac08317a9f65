"""Which cluster a command speaks to, and the kinds that cluster serves.

The kubeconfig is, in this order: `--kubeconfig`, `$KUBECONFIG`, the platform started here by `gangline up`
(`$GANGLINE_HOME/kubeconfig`), and `~/.kube/config`; in a pod that has none of these, the pod's own cluster is meant.
Commands get a `ClusterConnection` and never open files themselves."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gangline.cli.completion.suggestions import did_you_mean
from gangline.errors import ApiError, BadInput, NotFound

if TYPE_CHECKING:
    from gangline.api.kinds import Kind
    from gangline.api.meta import Object
    from gangline.client import Client
    from gangline.client.http import Http
    from gangline.client.typed_views import DiscoveredResources

PREFERRED = ("", "grove.io", "scheduler.grove.io", "scheduling.run.ai")
"""Groups that win where several have a kind of the same name."""
SPOKEN = {"set": "podcliquesets", "sets": "podcliquesets"}
"""What our own texts call a kind (`set/llm`), and no server."""
RECORDING = "recording"
"""The folder beside a platform's kubeconfig in which its scheduler records."""


def home() -> Path:
    """Where a local platform keeps its files."""
    return Path(os.environ.get("GANGLINE_HOME") or ".gangline")


def own_recordings() -> Path:
    """Where schedulers that are started here record their cycles."""
    return home() / RECORDING


def in_pod() -> bool:
    """Whether Kubernetes started this process."""
    return "KUBERNETES_SERVICE_HOST" in os.environ


def kubeconfig_path(given: str | None) -> Path | None:
    if given or os.environ.get("KUBECONFIG"):
        return Path(given) if given else None
    local = home() / "kubeconfig"
    return local if local.exists() else None


@dataclass(slots=True)
class ClusterConnection:
    client: Client
    namespace: str
    server: str

    async def kind(self, name: str) -> Kind[Object]:
        """The kind a user means by `pods`, `pcs`, `podgroup` or `podgroups.scheduling.run.ai`."""
        served = await self.served()
        wanted = SPOKEN.get(name.lower(), name.lower())
        matches = [item for item in served if wanted in item.names or wanted == item.kind.resource]
        if not matches:
            words = sorted({word for item in served for word in item.names})
            meant = did_you_mean(name, words) or f"; kubectl api-resources lists its {len(served)} kinds"
            raise BadInput(f"the server at {self.server} serves no {name!r}{meant}")
        return min(matches, key=lambda item: (item.kind.group not in PREFERRED, item.kind.resource)).kind

    async def absent(self, error: NotFound, kind: Kind[Any], name: str, namespace: str) -> BadInput:
        """What the server said of an object that is not there, with the name that comes nearest."""
        try:
            there = [str(obj["metadata"]["name"]) for obj in await self.client.list_raw(kind, namespace)]
        except ApiError:
            there = []
        return BadInput(f"{error}{did_you_mean(name, there)}")

    async def served(self) -> list[ServedKinds]:
        from gangline.client.typed_views import DiscoveredGroups

        groups = [""] + [group.name for group in (await self.client.get_as("/apis", DiscoveredGroups)).groups or ()]
        versions = await asyncio.gather(*(self._preferred(group) for group in groups))
        return [item for listing in versions for item in listing]

    async def _preferred(self, group: str) -> list[ServedKinds]:
        """What a group serves, each kind in the first version that has it; the preferred version goes first."""
        from gangline.client.typed_views import DiscoveredGroup, DiscoveredResources

        if not group:
            return _resources("v1", await self.client.get_as("/api/v1", DiscoveredResources))
        first_versions: dict[str, ServedKinds] = {}
        try:
            about = await self.client.get_as(f"/apis/{group}", DiscoveredGroup)
            first = (about.preferred_version,) if about.preferred_version else ()
            for version in dict.fromkeys(item.group_version for item in (*first, *about.versions)):
                first_versions = {
                    resource.kind.plural: resource
                    for resource in _resources(
                        version, await self.client.get_as(f"/apis/{version}", DiscoveredResources)
                    )
                } | first_versions
        except ApiError:
            pass
        return list(first_versions.values())

    async def json(self, path: str) -> dict[str, Any]:
        return await self.client.get_path(path)


@dataclass(frozen=True, slots=True)
class ServedKinds:
    kind: Kind[Object]
    names: frozenset[str]


def _resources(group_version: str, listing: DiscoveredResources) -> list[ServedKinds]:
    from gangline.api import kinds

    served = []
    for resource in listing.resources or ():
        if "/" in resource.name:
            continue
        kind = kinds.known(group_version, resource.kind) or kinds.foreign(
            group_version, resource.kind, resource.name, resource.namespaced
        )
        names = {resource.name, resource.singular_name or resource.kind.lower(), *(resource.short_names or ())}
        served.append(ServedKinds(kind, frozenset(names)))
    return served


@asynccontextmanager
async def connect(kubeconfig: str | None, namespace: str | None) -> AsyncIterator[ClusterConnection]:
    from gangline.client import Client

    carrier, usual = _carrier(kubeconfig_path(kubeconfig))
    client = Client(carrier, manager="gangline-cli", retries=1)
    try:
        yield ClusterConnection(client, namespace or usual, carrier.server)
    finally:
        await client.close()


def _carrier(path: Path | None) -> tuple[Http, str]:
    """The way to the server, and the default namespace."""
    from gangline.client.kubeconfig import in_cluster, load, own_namespace, transport

    if path is None and inside():
        return in_cluster("gangline-cli"), own_namespace()
    target = load(path)
    return transport(target, "gangline-cli"), target.namespace


def inside() -> bool:
    """Whether we run in a pod that was given no kubeconfig."""
    known = os.environ.get("KUBECONFIG") or os.path.exists(os.path.expanduser("~/.kube/config"))
    return not known and bool(os.environ.get("KUBERNETES_SERVICE_HOST"))


def cluster_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--kubeconfig` and `-n`, the same for every command that speaks to a cluster."""
    function = click.option("--kubeconfig", metavar="FILE", help="which cluster (default: the platform started here)")(
        function
    )
    return click.option(
        "-n", "--namespace", metavar="NAME", shell_complete=_namespaces, help="namespace (default: the kubeconfig's)"
    )(function)


def _namespaces(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from gangline.cli.completion.cluster_names import namespaces_of_cluster

    return namespaces_of_cluster(context, parameter, incomplete)
