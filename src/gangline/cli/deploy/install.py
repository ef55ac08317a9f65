"""`gangline install`: definitions, namespaces, the installer with its rights, a Config and a shard; then wait until all
of it works."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from typing import TYPE_CHECKING, Any

import click

from gangline.cli.connection import ClusterConnection, connect
from gangline.cli.ending import run
from gangline.errors import AlreadyExists, BadInput, NotFound

if TYPE_CHECKING:
    from gangline.installer.release.manifests import Manifest

MANAGER = "gangline-install"
LOOK_AGAIN = 0.5
WORKLOAD = ("grove.io", "scheduler.grove.io")
"""Whose definitions come with the operator of PodCliqueSets."""


EXAMPLES = """\b
Examples:
  gangline install --image registry.example/team/gangline:0.1.0
  gangline install --image IMAGE --config my-config.yaml
  gangline install --image IMAGE --dry-run   # print manifests, for GitOps
  gangline install --image IMAGE --half scheduler --dashboard token
"""


@click.command(
    help="Install gangline into a cluster: its definitions, the installer with its rights, a Config and a "
    "SchedulingShard. The "
    "installer does the rest. Doing it again changes only what is new.",
    epilog=EXAMPLES,
)
@click.option("--kubeconfig", metavar="FILE", help="which cluster (default: the platform started here)")
@click.option("--image", metavar="IMAGE", help="the image of every component, with `gangline` on its PATH")
@click.option(
    "--config",
    "file",
    metavar="FILE",
    help="your own Config and SchedulingShards, file, folder or - (default: one of each)",
)
@click.option(
    "--half",
    type=click.Choice(["both", "scheduler"]),
    default="both",
    show_default=True,
    help="scheduler: leave PodCliqueSets to another operator, such as Grove's",
)
@click.option(
    "--dashboard",
    type=click.Choice(["token", "proxy", "none"]),
    metavar="LOGIN",
    help="also install the dashboard, with this login: token, proxy or none",
)
@click.option(
    "--dashboard-claim",
    metavar="NAME",
    default="",
    help="a PersistentVolumeClaim in gangline-system in which the dashboard keeps the past (default: none; the past is "
    "lost when its pod moves)",
)
@click.option("--dry-run", is_flag=True, help="only print what would be written")
@click.option(
    "-o",
    "--output",
    type=click.Choice(["yaml", "json"]),
    default="yaml",
    show_default=True,
    help="how --dry-run prints",
)
@click.option("--wait/--no-wait", default=True, show_default=True, help="wait until everything runs")
@click.option("--timeout", type=float, default=300.0, show_default=True, metavar="SECONDS", help="how long to wait")
def command(
    kubeconfig: str | None,
    image: str | None,
    file: str | None,
    half: str,
    dashboard: str | None,
    dashboard_claim: str,
    dry_run: bool,
    output: str,
    wait: bool,
    timeout: float,
) -> None:
    to_write = manifests(image, file, half) + (page_manifests(image, dashboard, dashboard_claim) if dashboard else [])
    if dry_run:
        click.echo(printed(to_write, output), nl=False)
        return
    run(_install(to_write, kubeconfig, timeout if wait else None))


def manifests(image: str | None, file: str | None, half: str) -> list[Manifest]:
    from gangline.api.crds import crds
    from gangline.cli.deploy.config_fields import refuse_wrong_fields
    from gangline.cli.manifests import read
    from gangline.component_names import TENANT
    from gangline.controllers.defaults import default_objects
    from gangline.installer.release.manifests import manifests as wanted
    from gangline.installer.settings import read_flags
    from gangline.role_objects import objects

    settings = read_flags({"half": half} | ({"image": image} if image else {}))
    definitions = [crd for crd in crds() if half == "both" or crd["spec"]["group"] not in WORKLOAD]
    given = read([file]) if file else []
    if file and not given:
        raise BadInput(f"there is no object in {'standard input' if file == '-' else file}")
    refuse_wrong_fields(given, definitions)
    return wanted(settings, definitions, objects(("installer", TENANT)), default_objects(), given)


def page_manifests(image: str | None, login: str, claim: str = "") -> list[Manifest]:
    """The web page in the cluster."""
    from gangline.installer.release.dashboard import dashboard
    from gangline.installer.settings import read_flags
    from gangline.role_objects import objects

    return dashboard(read_flags({"image": image} if image else {}), objects(("dashboard",)), login, claim)


def printed(to_write: list[Manifest], output: str) -> str:
    from gangline.api.yaml_text import yaml_documents

    objects = [item.whole for item in to_write]
    if output == "json":
        return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}, indent=2) + "\n"
    return yaml_documents(objects)


async def _install(to_write: list[Manifest], kubeconfig: str | None, seconds: float | None) -> None:
    from gangline.api.kinds import CONFIG, CRD, SCHEDULING_SHARD

    async with connect(kubeconfig, None) as connection:
        click.echo(f"installing into {connection.server} …")
        definitions = [item for item in to_write if item.kind == CRD]
        for definition in definitions:
            await _write(connection, definition)
        await served(connection, definitions)
        for item in to_write[len(definitions) :]:
            await _write(connection, item)
        if seconds is not None:
            await at_work(connection, [item for item in to_write if item.kind in (CONFIG, SCHEDULING_SHARD)], seconds)


async def _write(connection: ClusterConnection, manifest: Manifest) -> None:
    """One object, and one line about it."""
    client, kind = connection.client, manifest.kind
    try:
        before: Any = await client.get(kind, manifest.name, manifest.namespace)
    except NotFound:
        before = None
    if before is not None and manifest.once:
        click.echo(f"{kind.resource}/{manifest.name} kept")
        return
    if manifest.once:
        with contextlib.suppress(AlreadyExists):
            await client.create_only(kind, manifest.obj)
        click.echo(f"{kind.resource}/{manifest.name} created")
        return
    after: Any = await client.apply(kind, manifest.obj, manager=MANAGER)
    click.echo(f"{kind.resource}/{manifest.name} {_outcome(before, after)}")


def _outcome(before: Any, after: Any) -> str:
    if before is None:
        return "created"
    return "unchanged" if before.metadata.resource_version == after.metadata.resource_version else "changed"


async def served(connection: ClusterConnection, definitions: list[Manifest], seconds: float = 60.0) -> None:
    """A server needs a moment before it serves a new kind."""
    from gangline.api.kinds import KINDS

    names, deadline = {definition.name for definition in definitions}, time.monotonic() + seconds
    for kind in (item for item in KINDS if item.resource in names):
        while True:
            try:
                await connection.client.list(kind)
                break
            except NotFound:
                if time.monotonic() > deadline:
                    raise BadInput(
                        f"the server at {connection.server} does not serve {kind.resource} after {seconds:g} s; look "
                        f"at "
                        f"`kubectl describe crd {kind.resource}`, then install again"
                    ) from None
                await asyncio.sleep(LOOK_AGAIN)


async def at_work(connection: ClusterConnection, wanted: list[Manifest], seconds: float) -> None:
    """Until Config and shards say so; what they wait for is printed when it changes."""
    deadline, printed = time.monotonic() + seconds, ""
    while True:
        waits = [text for item in wanted if (text := await _waits(connection, item))]
        news = "\n".join(waits)
        if news != printed:
            click.echo(f"waiting …\n{news}" if news else "everything is at work")
            printed = news
        if not waits:
            return
        if time.monotonic() > deadline:
            raise BadInput(
                f"not at work after {seconds:g} s; the installer goes on. Look again with `kubectl get config "
                f"kai-config "
                "-o yaml`, or at its log with `kubectl logs -n gangline-system deployment/gangline-installer`"
            )
        await asyncio.sleep(LOOK_AGAIN)


async def _waits(connection: ClusterConnection, manifest: Manifest) -> str:
    """What a Config or shard says that it waits for; empty: it is ready."""
    obj: Any = await connection.client.get(manifest.kind, manifest.name)
    label = f"  {manifest.kind.kind} {manifest.name}: "
    ready: dict[str, Any] = next(
        (condition for condition in obj.status.get("conditions") or () if condition["type"] == "Ready"), {}
    )
    if not ready or ready.get("observedGeneration") != obj.metadata.generation:
        return f"{label}the installer has not looked at it yet"
    return "" if ready["status"] == "True" else label + str(ready["message"])
