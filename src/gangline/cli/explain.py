"""`gangline explain NAME`: why a gang waits, the proof, and what would start it.

NAME is a gang, or anything that has one: a PodCliqueSet, a PodGroup, a pod, a Job. The answer is the verdict that the
scheduler wrote on the PodGroup; where there is none, the gang's own conditions speak."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TypeVar

import click
import msgspec

from gangline.api import names
from gangline.api.builtin import Job
from gangline.api.core import Pod
from gangline.api.grove import PodCliqueSet, PodGang
from gangline.api.kai import PodGroup
from gangline.api.kinds import JOB, POD, POD_CLIQUE_SET, POD_GANG, POD_GROUP, Kind
from gangline.api.meta import Object
from gangline.cli.connection import cluster_options, connect
from gangline.cli.ending import run
from gangline.client import Client
from gangline.errors import BadInput, NotFound
from gangline.rules import verdicts
from gangline.rules.verdicts import GangAnswer

T = TypeVar("T", bound=Object)


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
    """One answer per gang that NAME stands for; one for a set that has none yet."""
    pcs = await _set(client, name, namespace)
    gangs = await _gangs(client, name, namespace, pcs)
    if pcs is not None and not gangs:
        return [verdicts.of_set(pcs)]
    groups = await _there(client, POD_GROUP, namespace)
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
    jobs = {job.uid: job for job in (await client.list(JOB, namespace)).items}
    return [_named(_of_group(group, jobs, pods), titles) for group in found]


def _of_group(group: PodGroup, jobs: Mapping[str, Job], pods: Sequence[Pod]) -> GangAnswer:
    owned = (jobs[owner.uid] for owner in group.metadata.owner_references if owner.uid in jobs)
    answer = verdicts.comeback(verdicts.of_group(group), group, next(owned, None), pods)
    return _with_failures(answer, verdicts.failures(pods, "", group.name))


def _of_gang(gang: PodGang, group: PodGroup | None, pods: Sequence[Pod]) -> GangAnswer:
    answer = verdicts.of_gang(gang, group)
    answer = verdicts.comeback(answer, group, None, pods) if group is not None else answer
    return _with_failures(answer, verdicts.failures(pods, gang.name, group.name if group is not None else ""))


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


async def _there(client: Client, kind: Kind[T], namespace: str) -> list[T]:
    """All of a kind; none where it is not served: each half of the system works without the kinds of the other."""
    try:
        return (await client.list(kind, namespace)).items
    except NotFound:
        return []


async def _set(client: Client, name: str, namespace: str) -> PodCliqueSet | None:
    try:
        return await client.get(POD_CLIQUE_SET, name, namespace)
    except NotFound:
        return None


async def _gangs(client: Client, name: str, namespace: str, pcs: PodCliqueSet | None) -> list[PodGang]:
    everything = await _there(client, POD_GANG, namespace)
    exact = [gang for gang in everything if gang.name == name]
    if exact or pcs is None:
        return exact
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
