"""`gangline tree SET`: a PodCliqueSet with its groups, cliques, gangs and pods, and the state of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TypeAlias, TypeVar

import click

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.grove import PodClique
from gangline.api.kinds import POD, POD_CLIQUE, POD_CLIQUE_SET, POD_GANG, SCALING_GROUP
from gangline.api.meta import Object
from gangline.cli.connection import Connection, cluster_options, connect, run

T = TypeVar("T", bound=Object)
Branch: TypeAlias = "tuple[str, list[Branch]]"


@click.command(help="Draw a PodCliqueSet: set → scaling groups → cliques → pods, with states.")
@click.argument("name")
@cluster_options
def command(name: str, kubeconfig: str | None, namespace: str | None) -> None:
    run(_tree(name, kubeconfig, namespace))


async def _tree(name: str, kubeconfig: str | None, namespace: str | None) -> None:
    async with connect(kubeconfig, namespace) as connection:
        click.echo("\n".join(await lines(connection, name)))


async def lines(connection: Connection, name: str) -> list[str]:
    client, where = connection.client, connection.namespace
    pcs = await client.get(POD_CLIQUE_SET, name, where)
    mine = {names.PART_OF: name}
    gangs = (await client.list(POD_GANG, where, mine)).items
    groups = (await client.list(SCALING_GROUP, where, mine)).items
    cliques = (await client.list(POD_CLIQUE, where, mine)).items
    pods = (await client.list(POD, where, mine)).items
    by_clique: dict[str, list[Pod]] = defaultdict(list)
    for pod in pods:
        by_clique[pod.labels.get(names.POD_CLIQUE, "")].append(pod)
    drawn = [_clique(each, by_clique[each.name]) for each in cliques if names.SCALING_GROUP not in each.labels]
    for group in groups:
        members = [each for each in cliques if each.labels.get(names.SCALING_GROUP) == group.name]
        state = f"{group.name}  scaling group, {group.status.available_replicas}/{group.spec.replicas} available"
        drawn.append((state, [_clique(each, by_clique[each.name]) for each in _sorted(members)]))
    phases = ", ".join(f"{gang.name} {gang.status.phase or 'Pending'}" for gang in _sorted(gangs)) or "none yet"
    head = f"{name}  {pcs.status.available_replicas}/{pcs.spec.replicas} available   gangs: {phases}"
    return [head, *_draw(sorted(drawn))]


def _sorted(objects: Sequence[T]) -> list[T]:
    return sorted(objects, key=lambda each: each.name)


def _clique(clique: PodClique, pods: list[Pod]) -> Branch:
    status = clique.status
    minimum = clique.spec.min_available if clique.spec.min_available is not None else clique.spec.replicas
    head = f"{clique.name}  {status.ready_replicas}/{clique.spec.replicas} ready, minimum {minimum}"
    return head, [(f"{pod.name}  {_state(pod)}", []) for pod in _sorted(pods)]


def _state(pod: Pod) -> str:
    if pod.metadata.deleting:
        return "Terminating"
    if pod.spec.scheduling_gates:
        return f"Gated ({', '.join(gate.name for gate in pod.spec.scheduling_gates)})"
    where = f" on {pod.spec.node_name}" if pod.spec.node_name else ""
    return f"{pod.status.phase or 'Pending'}{where}"


def _draw(branches: list[Branch], indent: str = "") -> list[str]:
    drawn: list[str] = []
    for number, (text, below) in enumerate(branches):
        last = number == len(branches) - 1
        drawn.append(f"{indent}{'└─' if last else '├─'} {text}")
        drawn += _draw(below, indent + ("   " if last else "│  "))
    return drawn
