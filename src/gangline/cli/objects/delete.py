"""`gangline delete KIND NAME` or `gangline delete -f FILE`."""

from __future__ import annotations

import click

from gangline.cli import manifests
from gangline.cli.completion.cluster_names import kinds_of_cluster, objects_of_kind
from gangline.cli.connection import cluster_options, connect
from gangline.cli.ending import run
from gangline.cli.objects.addresses import addresses
from gangline.cli.objects.apply import kind_of
from gangline.errors import BadInput, NotFound

EXAMPLES = """\b
Examples:
  gangline delete pcs llm
  gangline delete pods/web-0 pods/web-1
  gangline delete -f examples/01-gang
"""


@click.command(
    help="Delete objects by name, or those that files describe. What they own goes with them.", epilog=EXAMPLES
)
@click.argument("kind", required=False, shell_complete=kinds_of_cluster)
@click.argument("names", nargs=-1, shell_complete=objects_of_kind)
@click.option("-f", "--filename", "files", multiple=True, metavar="FILE", help="file, folder or - (may be repeated)")
@cluster_options
def command(
    kind: str | None, names: tuple[str, ...], files: tuple[str, ...], kubeconfig: str | None, namespace: str | None
) -> None:
    if kind and not names and "/" not in kind:
        raise click.UsageError(f"say which of the {kind} to delete: {kind} NAME")
    if not files and not kind:
        raise click.UsageError("say what to delete: KIND NAME, KIND/NAME, or -f FILE")
    run(_delete(kind or "", names, files, kubeconfig, namespace))


async def _delete(
    kind_name: str, names: tuple[str, ...], files: tuple[str, ...], kubeconfig: str | None, namespace: str | None
) -> None:
    async with connect(kubeconfig, namespace) as connection:
        targets = []
        for word, name in addresses(kind_name, names) if kind_name else ():
            targets.append((await connection.kind(word), name, connection.namespace))
        for obj in manifests.read(files):
            meta = obj["metadata"]
            targets.append(
                (await kind_of(connection, obj), meta["name"], meta.get("namespace") or connection.namespace)
            )
        missing = 0
        for kind, name, where in targets:
            try:
                await connection.client.delete(kind, name, where, propagation="Background")
                click.echo(f"{kind.resource}/{name} deleted")
            except NotFound as error:
                missing += 1
                click.echo(f"error: {await connection.absent(error, kind, name, where)}", err=True)
        if missing:
            objects = "object was" if len(targets) == 1 else "objects were"
            raise BadInput(f"{missing} of {len(targets)} {objects} not there")
