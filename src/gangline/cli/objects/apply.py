"""`gangline apply -f FILE`: server-side apply of what the files say; one line per object."""

from __future__ import annotations

import click

from gangline.api.kinds import Kind
from gangline.api.meta import Object, Raw
from gangline.cli import manifests
from gangline.cli.connection import ClusterConnection, cluster_options, connect
from gangline.cli.ending import run
from gangline.errors import ApiError, BadInput, NotFound


@click.command(help="Create or change objects from files: what a file says is owned by you, the rest is left alone.")
@click.option(
    "-f",
    "--filename",
    "files",
    multiple=True,
    required=True,
    metavar="FILE",
    help="file, folder or - (may be repeated)",
)
@cluster_options
def command(files: tuple[str, ...], kubeconfig: str | None, namespace: str | None) -> None:
    run(_apply(manifests.read(files), kubeconfig, namespace))


async def _apply(objects: list[Raw], kubeconfig: str | None, namespace: str | None) -> None:
    refused = 0
    async with connect(kubeconfig, namespace) as connection:
        for obj in objects:
            kind = await kind_of(connection, obj)
            try:
                click.echo(f"{kind.resource}/{obj['metadata'].get('name')} {await apply_one(connection, kind, obj)}")
            except ApiError as error:
                refused += 1
                click.echo(f"error: {kind.kind} {obj['metadata'].get('name')}: {error}", err=True)
    if refused:
        raise BadInput(f"{refused} of {len(objects)} objects were not applied")


async def kind_of(connection: ClusterConnection, obj: Raw) -> Kind[Object]:
    for item in await connection.served():
        if (item.kind.api_version, item.kind.kind) == (obj.get("apiVersion"), obj.get("kind")):
            return item.kind
    raise BadInput(f"the server at {connection.server} serves no {obj.get('kind')} of {obj.get('apiVersion')}")


async def apply_one(connection: ClusterConnection, kind: Kind[Object], obj: Raw) -> str:
    """Applies one object; says whether it was created, configured or left as it was."""
    meta = dict(obj["metadata"])
    if kind.namespaced:
        meta.setdefault("namespace", connection.namespace)
    if not meta.get("name"):
        made = await connection.client.create(kind, obj | {"metadata": meta})
        return f"created as {made.name}"
    try:
        before = (await connection.client.get(kind, meta["name"], meta.get("namespace", ""))).metadata.resource_version
    except NotFound:
        before = ""
    after = await connection.client.apply(kind, obj | {"metadata": meta})
    if not before:
        return "created"
    return "unchanged" if after.metadata.resource_version == before else "configured"
