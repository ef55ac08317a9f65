"""`gangline uninstall`: takes away what `gangline install` and the installer brought; what users made stays unless they
say otherwise."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import click

from gangline.cli.connection import ClusterConnection, connect
from gangline.cli.ending import run
from gangline.errors import BadInput, NotFound

if TYPE_CHECKING:
    from gangline.api.kinds import Kind

LOOK_AGAIN = 0.5


EXAMPLES = """\b
Examples:
  gangline uninstall
  gangline uninstall --all                   # also queues, gangs, definitions
"""


@click.command(
    help="Remove gangline from a cluster: Config, shards, all that was deployed for them, and the installer. Queues, "
    "priority "
    "classes, namespaces and definitions stay, because users' objects hang on them; --all takes them too.",
    epilog=EXAMPLES,
)
@click.option("--kubeconfig", metavar="FILE", help="which cluster (default: the platform started here)")
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="also priority classes, definitions with ALL objects of our kinds, and namespaces that we made",
)
@click.option(
    "--keep-installer",
    is_flag=True,
    help="only Config, shards and what was deployed for them: whoever brought the installer "
    "takes it away, as Helm does",
)
@click.option(
    "--timeout",
    type=float,
    default=120.0,
    show_default=True,
    metavar="SECONDS",
    help="how long to wait until all is gone",
)
def command(kubeconfig: str | None, everything: bool, keep_installer: bool, timeout: float) -> None:
    if everything and keep_installer:
        raise BadInput("--all takes the installer too: choose one of --all and --keep-installer")
    run(_uninstall(kubeconfig, everything, timeout, keep_installer))


async def _uninstall(kubeconfig: str | None, everything: bool, seconds: float, keep_installer: bool = False) -> None:
    async with connect(kubeconfig, None) as connection:
        await take_components(connection, everything, seconds)
        if not keep_installer:
            await _take_rest(connection, everything)


async def take_components(connection: ClusterConnection, everything: bool, seconds: float) -> None:
    """Config and shards, however they were made; then wait for all that belonged to them."""
    from gangline.api.kinds import CONFIG, SCHEDULING_SHARD

    await _check(connection, everything)
    for kind in (SCHEDULING_SHARD, CONFIG):
        for item in await _listed(connection, kind):
            await _delete(connection, kind, item.name)
    await _emptied(connection, seconds)


async def _take_rest(connection: ClusterConnection, everything: bool) -> None:
    from gangline.api.kinds import NAMESPACE
    from gangline.installer.contract import OURS

    for kind, name, namespace in _own(everything):
        await _delete(connection, kind, name, namespace)
    for item in await _listed(connection, NAMESPACE, dict(OURS)) if everything else ():
        await _delete(connection, NAMESPACE, item.name)
    click.echo(
        "everything is gone"
        if everything
        else "done; queues, priority classes, namespaces and definitions stay (`gangline uninstall --all` takes them "
        "too)"
    )


async def _check(connection: ClusterConnection, everything: bool) -> None:
    """A set cannot be deleted once nobody runs who lets go of it."""
    from gangline.api import names
    from gangline.api.kinds import DEPLOYMENT, POD_CLIQUE_SET
    from gangline.installer.objects.services import OPERATOR

    sets = await _listed(connection, POD_CLIQUE_SET)
    operator = any(
        item.name == OPERATOR.name and item.labels.get(names.MANAGED_BY) == names.INSTALLER
        for item in await _listed(connection, DEPLOYMENT)
    )
    if sets and (operator or everything):
        raise BadInput(
            f"{len(sets)} PodCliqueSets are still there, such as {sets[0].namespace}/{sets[0].name}; delete them "
            f"first, while "
            "their operator runs: kubectl delete podcliquesets --all --all-namespaces"
        )


async def _listed(connection: ClusterConnection, kind: Kind[Any], labels: dict[str, str] | None = None) -> list[Any]:
    from gangline.installer.plan import fields_of

    try:
        return list((await connection.client.list(kind, labels=labels, fields=fields_of(kind))).items)
    except NotFound:
        return []


async def _delete(connection: ClusterConnection, kind: Kind[Any], name: str, namespace: str = "") -> None:
    try:
        await connection.client.delete(kind, name, namespace, propagation="Background")
        click.echo(f"{kind.resource}/{name} deleted")
    except NotFound:
        pass


async def _emptied(connection: ClusterConnection, seconds: float) -> None:
    """Until the cluster has collected what belonged to Config and shards."""
    from gangline.installer.contract import OURS
    from gangline.installer.plan import ALWAYS, SOMETIMES

    deadline, printed = time.monotonic() + seconds, -1
    while True:
        left = [
            f"{kind.kind} {item.name}"
            for kind in (*ALWAYS, *SOMETIMES)
            for item in await _listed(connection, kind, dict(OURS))
            if any(owner.group == "kai.scheduler" for owner in item.metadata.owner_references)
        ]
        if not left:
            return
        if len(left) != printed:
            click.echo(f"{len(left)} objects are still going …")
            printed = len(left)
        if time.monotonic() > deadline:
            raise BadInput(
                f"after {seconds:g} s there are still {', '.join(left[:5])}; look whether the garbage collector "
                f"works, then "
                "uninstall again"
            )
        await asyncio.sleep(LOOK_AGAIN)


def _own(everything: bool) -> list[tuple[Kind[Any], str, str]]:
    """What `gangline install` made besides, the other way round."""
    from gangline.api.kinds import CONFIG, CRD, NAMESPACE, SCHEDULING_SHARD
    from gangline.cli.deploy.install import manifests, page_manifests

    kept = (CONFIG, SCHEDULING_SHARD)
    written = [*manifests(None, None, "both"), *page_manifests(None, "token")]
    made = [manifest for manifest in reversed(written) if manifest.kind not in kept]
    always = [item for item in made if not item.once and item.kind != CRD]
    rest = [item for item in made if item.once and item.kind != NAMESPACE] + [item for item in made if item.kind == CRD]
    return [(item.kind, item.name, item.namespace) for item in (*always, *(rest if everything else ()))]
