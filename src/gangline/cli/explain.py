"""`gangline explain NAME`: why a gang waits, the proof, and what would start it.

NAME is a gang, or anything that has one: a PodCliqueSet, a PodGroup, a pod, a Job. The answer is the verdict that the
scheduler wrote on the PodGroup; where there is none, the gang's own conditions speak."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

import click
import msgspec

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.grove import PodGang
from gangline.api.kai import PodGroup
from gangline.api.kinds import JOB, POD, POD_CLIQUE_SET, POD_GANG, POD_GROUP
from gangline.cli.connection import cluster_options, connect
from gangline.cli.ending import run
from gangline.client import Client
from gangline.errors import BadInput, NotFound
from gangline.rules import verdicts
from gangline.rules.verdicts import GangAnswer


@click.command(help="Say why a gang waits and what would start it. NAME: a gang, a set, a PodGroup, a pod or a Job.")
@click.argument("name")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True)
@cluster_options
def command(name: str, output: str, kubeconfig: str | None, namespace: str | None) -> None:
    run(_explain(name, output, kubeconfig, namespace))


async def _explain(name: str, output: str, kubeconfig: str | None, namespace: str | None) -> None:
    async with connect(kubeconfig, namespace) as connection:
        answers = await explain(connection.client, name, connection.namespace)
        if output == "json":
            click.echo(json.dumps([answer.data for answer in answers], indent=2, ensure_ascii=False))
        else:
            click.echo(
                "\n".join(line for answer in answers for line in (answer.text, answer.evicted, *answer.failed) if line)
            )


async def explain(client: Client, name: str, namespace: str) -> list[GangAnswer]:
    """One answer per gang that NAME stands for."""
    gangs = await _gangs(client, name, namespace)
    groups = (await client.list(POD_GROUP, namespace)).items
    titles = {group.name: verdicts.owner(group) for group in groups}
    pods = (await client.list(POD, namespace)).items
    if gangs:
        return [_named(_of_gang(gang, verdicts.group_of(gang, groups), pods), titles) for gang in gangs]
    found = await _groups(client, name, namespace, groups)
    if not found:
        raise BadInput(
            f"there is no gang, set, PodGroup, pod or Job {name!r} in namespace {namespace}; "
            "`gangline get podgangs` and `gangline get podgroups` list what there is"
        )
    return [
        _named(_with_failures(verdicts.of_group(group), verdicts.failures(pods, "", group.name)), titles)
        for group in found
    ]


def _of_gang(gang: PodGang, group: PodGroup | None, pods: Iterable[Pod]) -> GangAnswer:
    return _with_failures(
        verdicts.of_gang(gang, group), verdicts.failures(pods, gang.name, group.name if group is not None else "")
    )


def _with_failures(answer: GangAnswer, failed: tuple[str, ...]) -> GangAnswer:
    return msgspec.structs.replace(
        answer, failed=failed, data=answer.data | ({"failed": list(failed)} if failed else {})
    )


def _named(answer: GangAnswer, titles: Mapping[str, str]) -> GangAnswer:
    """Gangs that others would have to make room with are called by the names that users gave them."""
    return msgspec.structs.replace(
        answer, text=verdicts.renamed(answer.text, titles), evicted=verdicts.renamed(answer.evicted, titles)
    )


async def headline(client: Client, name: str, namespace: str) -> str | None:
    """The one sentence of a gang that waits; None as long as the scheduler has not judged it, or when it does not
    wait."""
    try:
        judged = [item for item in await explain(client, name, namespace) if item.judged]
    except BadInput:
        return None
    return judged[0].text.splitlines()[0] if judged else None


async def _gangs(client: Client, name: str, namespace: str) -> list[PodGang]:
    everything = (await client.list(POD_GANG, namespace)).items
    exact = [gang for gang in everything if gang.name == name]
    if exact:
        return exact
    try:
        await client.get(POD_CLIQUE_SET, name, namespace)
    except NotFound:
        return []
    return [gang for gang in everything if gang.labels.get(names.PART_OF) == name]


async def _groups(client: Client, name: str, namespace: str, groups: list[PodGroup]) -> list[PodGroup]:
    exact = [group for group in groups if group.name == name]
    if exact:
        return exact
    try:
        joined = (await client.get(POD, name, namespace)).annotations.get(names.POD_GROUP_NAME)
        return [group for group in groups if group.name == joined]
    except NotFound:
        pass
    try:
        uid = (await client.get(JOB, name, namespace)).uid
        return [group for group in groups if any(owner.uid == uid for owner in group.metadata.owner_references)]
    except NotFound:
        return []
