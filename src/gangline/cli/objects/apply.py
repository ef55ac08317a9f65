"""`gangline apply -f FILE`: server-side apply of what the files say; one line per object.

A remedy that `gangline explain --fix N -o yaml` printed says above each document how it is meant: as a patch, as a new
object, or as one that takes the place of another. It is applied that way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gangline.cli import manifests
from gangline.cli.completion.suggestions import did_you_mean
from gangline.cli.connection import ClusterConnection, cluster_options, connect
from gangline.cli.ending import run
from gangline.cli.objects.unknown_fields import did_you_mean_field
from gangline.errors import ApiError, BadInput, NotFound

if TYPE_CHECKING:
    from gangline.api.kinds import Kind
    from gangline.api.meta import Object, Raw

    Meant = tuple[Raw, str]
    """An object and how it is applied: patch, new, replace, or "" for server-side apply."""


EXAMPLES = """\b
Examples:
  gangline apply -f examples/01-gang
  gangline apply -f queues.yaml -f job.yaml -n team-a
  gangline explain large --fix 1 -o yaml | gangline apply -f -
"""


@click.command(
    help="Create or change objects from files. Fields that a file does not name stay as they are.", epilog=EXAMPLES
)
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
    objects = [meant for source in files for name, text in manifests.texts(source) for meant in read_meant(text, name)]
    if not objects:
        raise BadInput(
            f"there is no object in {', '.join('standard input' if file == '-' else file for file in files)}"
        )
    run(_apply(objects, kubeconfig, namespace))


def read_meant(text: str, name: str) -> list[Meant]:
    from gangline.why.words.printed import marks

    objects, how = manifests.parse(text, name), marks(text)
    return list(zip(objects, how if len(how) == len(objects) else [""] * len(objects), strict=True))


async def _apply(objects: list[Meant], kubeconfig: str | None, namespace: str | None) -> None:
    refused = 0
    async with connect(kubeconfig, namespace) as connection:
        for obj, how in objects:
            kind = await kind_of(connection, obj)
            try:
                done = await apply_meant(connection, kind, obj, how)
                click.echo(f"{kind.resource}/{obj['metadata'].get('name')} {done}")
            except ApiError as error:
                refused += 1
                meant = await did_you_mean_field(connection, kind, str(error))
                click.echo(f"error: {kind.kind} {obj['metadata'].get('name')}: {error}{meant}", err=True)
    if refused:
        raise BadInput(
            f"{refused} of {len(objects)} {'object was' if len(objects) == 1 else 'objects were'} not applied"
        )


async def kind_of(connection: ClusterConnection, obj: Raw) -> Kind[Object]:
    served = {f"{item.kind.kind} of {item.kind.api_version}": item.kind for item in await connection.served()}
    wanted = f"{obj.get('kind')} of {obj.get('apiVersion')}"
    if wanted not in served:
        raise BadInput(f"the server at {connection.server} serves no {wanted}{did_you_mean(wanted, served)}")
    return served[wanted]


async def apply_meant(connection: ClusterConnection, kind: Kind[Object], obj: Raw, how: str = "") -> str:
    """Applies one object the way it is meant; says what became of it."""
    if how not in ("patch", "replace"):
        return await apply_one(connection, kind, obj)
    from gangline.explaining.platform_trial import apply_change
    from gangline.why.changes import ObjectChange

    meta = {"namespace": connection.namespace, **obj["metadata"]} if kind.namespaced else dict(obj["metadata"])
    body = {key: value for key, value in obj.items() if key not in ("apiVersion", "kind")} | {"metadata": meta}
    await apply_change(connection.client, ObjectChange(kind, meta["name"], body, meta.get("namespace", ""), how))
    return "patched" if how == "patch" else "replaced"


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
