"""`gangline tree SET`: a PodCliqueSet with its groups, cliques, gangs and pods, and the state of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from gangline.api import names
from gangline.cli.completing import sets_of_cluster
from gangline.cli.connection import ClusterConnection, cluster_options, connect
from gangline.cli.ending import run

if TYPE_CHECKING:
    from gangline.rules.trees import Branch


@click.command(help="Draw a PodCliqueSet: set → scaling groups → cliques → pods, with states.")
@click.argument("name", shell_complete=sets_of_cluster)
@click.option("-o", "--output", type=click.Choice(["text", "json", "yaml"]), default="text", show_default=True)
@cluster_options
def command(name: str, output: str, kubeconfig: str | None, namespace: str | None) -> None:
    run(_tree(name, output, kubeconfig, namespace))


async def _tree(name: str, output: str, kubeconfig: str | None, namespace: str | None) -> None:
    from gangline.cli.objects.get import written

    async with connect(kubeconfig, namespace) as connection:
        tree = await tree_of(connection, name)
    if output == "text":
        click.echo("\n".join(lines(tree)))
    else:
        click.echo(written(tree, output), nl=False)


def lines(tree: Branch) -> list[str]:
    return [tree.text, *_draw(tree.below)]


async def tree_of(connection: ClusterConnection, name: str) -> Branch:
    from gangline.api.kinds import POD, POD_CLIQUE, POD_CLIQUE_SET, POD_GANG, SCALING_GROUP
    from gangline.errors import NotFound
    from gangline.rules import trees

    client, where = connection.client, connection.namespace
    mine = {names.PART_OF: name}
    try:
        drawn = await client.get(POD_CLIQUE_SET, name, where)
    except NotFound as error:
        raise await connection.absent(error, POD_CLIQUE_SET, name, where) from None
    return trees.of_set(
        drawn,
        (await client.list(POD_GANG, where, mine)).items,
        (await client.list(SCALING_GROUP, where, mine)).items,
        (await client.list(POD_CLIQUE, where, mine)).items,
        (await client.list(POD, where, mine)).items,
    )


def _draw(branches: Sequence[Branch], indent: str = "") -> list[str]:
    drawn: list[str] = []
    for number, branch in enumerate(branches):
        last = number == len(branches) - 1
        drawn.append(f"{indent}{'└─' if last else '├─'} {branch.text}")
        drawn += _draw(branch.below, indent + ("   " if last else "│  "))
    return drawn
