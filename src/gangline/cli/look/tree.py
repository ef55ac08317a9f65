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
@cluster_options
def command(name: str, kubeconfig: str | None, namespace: str | None) -> None:
    run(_tree(name, kubeconfig, namespace))


async def _tree(name: str, kubeconfig: str | None, namespace: str | None) -> None:
    async with connect(kubeconfig, namespace) as connection:
        click.echo("\n".join(await lines(connection, name)))


async def lines(connection: ClusterConnection, name: str) -> list[str]:
    from gangline.api.kinds import POD, POD_CLIQUE, POD_CLIQUE_SET, POD_GANG, SCALING_GROUP
    from gangline.rules import trees

    client, where = connection.client, connection.namespace
    mine = {names.PART_OF: name}
    tree = trees.of_set(
        await client.get(POD_CLIQUE_SET, name, where),
        (await client.list(POD_GANG, where, mine)).items,
        (await client.list(SCALING_GROUP, where, mine)).items,
        (await client.list(POD_CLIQUE, where, mine)).items,
        (await client.list(POD, where, mine)).items,
    )
    return [tree.text, *_draw(tree.below)]


def _draw(branches: Sequence[Branch], indent: str = "") -> list[str]:
    drawn: list[str] = []
    for number, branch in enumerate(branches):
        last = number == len(branches) - 1
        drawn.append(f"{indent}{'└─' if last else '├─'} {branch.text}")
        drawn += _draw(branch.below, indent + ("   " if last else "│  "))
    return drawn
