"""`gangline tree SET`: a PodCliqueSet with its groups, cliques, gangs and pods, and the state of each."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from gangline.api import names
from gangline.cli.completion.cluster_names import sets_of_cluster
from gangline.cli.completion.suggestions import did_you_mean
from gangline.cli.connection import ClusterConnection, cluster_options, connect
from gangline.cli.ending import run
from gangline.cli.objects.addresses import address
from gangline.errors import BadInput, NotFound

if TYPE_CHECKING:
    from gangline.api.grove import PodCliqueSet
    from gangline.rules.trees import Branch


SETS = ("set", "pcs", "podcliqueset", "podcliquesets", "podcliquesets.grove.io")
"""What may stand before the name of a set."""


EXAMPLES = """\b
Examples:
  gangline tree llm
  gangline tree llm-0                        # the set of this gang
  gangline tree llm -o json
"""


@click.command(help="Draw a PodCliqueSet: set → scaling groups → cliques → pods, with states.", epilog=EXAMPLES)
@click.argument("name", shell_complete=sets_of_cluster)
@click.option("-o", "--output", type=click.Choice(["text", "json", "yaml"]), default="text", show_default=True)
@cluster_options
def command(name: str, output: str, kubeconfig: str | None, namespace: str | None) -> None:
    kind, bare = address(name)
    if kind and kind.lower() not in SETS:
        raise BadInput(f"gangline tree draws PodCliqueSets; `gangline explain {name}` takes any kind of workload")
    run(_tree(bare, output, kubeconfig, namespace))


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
    from gangline.api.kinds import POD, POD_CLIQUE, POD_GANG, SCALING_GROUP
    from gangline.rules import trees

    client, where = connection.client, connection.namespace
    drawn = await _set_of(connection, name)
    mine = {names.PART_OF: drawn.name}
    return trees.of_set(
        drawn,
        (await client.list(POD_GANG, where, mine)).items,
        (await client.list(SCALING_GROUP, where, mine)).items,
        (await client.list(POD_CLIQUE, where, mine)).items,
        (await client.list(POD, where, mine)).items,
    )


async def _set_of(connection: ClusterConnection, name: str) -> PodCliqueSet:
    """The set of this name, or the one that a gang, group, clique or pod of this name is part of."""
    from gangline.api import kinds

    client, where = connection.client, connection.namespace
    for kind in (kinds.POD_CLIQUE_SET, kinds.POD_GANG, kinds.SCALING_GROUP, kinds.POD_CLIQUE, kinds.POD):
        with contextlib.suppress(NotFound):
            part = await client.get(kind, name, where)
            whole = part.name if kind is kinds.POD_CLIQUE_SET else part.metadata.labels.get(names.PART_OF)
            if whole:
                return await client.get(kinds.POD_CLIQUE_SET, whole, where)
    there = sorted(item.name for item in (await client.list(kinds.POD_CLIQUE_SET, where)).items)
    meant = did_you_mean(name, there) or f"; there are: {', '.join(there) or 'none'}"
    raise BadInput(
        f"there is no set {name} in namespace {where}{meant} (`gangline explain {name}` takes any kind of workload)"
    )


def _draw(branches: Sequence[Branch], indent: str = "") -> list[str]:
    drawn: list[str] = []
    for number, branch in enumerate(branches):
        last = number == len(branches) - 1
        drawn.append(f"{indent}{'└─' if last else '├─'} {branch.text}")
        drawn += _draw(branch.below, indent + ("   " if last else "│  "))
    return drawn
