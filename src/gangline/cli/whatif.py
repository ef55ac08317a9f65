"""`gangline whatif -f FILE`: which gangs of the files would start now, where, who would make room, and why the others
would wait.

The cluster is copied into memory and the files are applied to the copy, where the same components work; the cluster is
only read."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from gangline.api.meta import Raw
from gangline.cli import manifests
from gangline.cli.connection import ClusterConnection, cluster_options, connect
from gangline.cli.ending import run
from gangline.cli.objects.apply import apply_one, kind_of
from gangline.errors import ApiError, BadInput
from gangline.rules.verdicts import reason

if TYPE_CHECKING:
    from gangline.whatif import WhatifAnswer
    from gangline.whatif.compare import GangOutcome

TOLD = ("nodes", "pods", "podgroups", "queues")
MARKS = {"starts": ("✓", "green"), "waits": ("✗", "red"), "starts in part": ("◐", "yellow")}


@click.command(
    help="Say what the objects of the files would do to a cluster: which gangs would start and where, which would "
    "wait and why, "
    "who would make room. The cluster is copied into memory for this and only read."
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
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True)
@cluster_options
def command(files: tuple[str, ...], output: str, kubeconfig: str | None, namespace: str | None) -> None:
    run(_whatif(manifests.read(files), output, kubeconfig, namespace))


async def _whatif(objects: list[Raw], output: str, kubeconfig: str | None, namespace: str | None) -> None:
    from gangline.whatif import Copy, compare

    async with connect(kubeconfig, namespace) as cluster:
        kinds = [item.kind for item in await cluster.served()]
        async with Copy(cluster.client, kinds) as copy:
            before = await copy.look()
            await _apply(objects, ClusterConnection(copy.client, cluster.namespace, "the copy"))
            await copy.settles()
            answer = compare(before, await copy.look(), reason)
        if output == "json":
            click.echo(json.dumps({"copied": dict(copy.copied), **asdict(answer)}, indent=2, ensure_ascii=False))
        else:
            click.echo(f"{_counted(copy.copied)} of {cluster.server} copied; nothing there is changed")
            click.echo("\n".join(lines(answer)))


async def _apply(objects: list[Raw], copy: ClusterConnection) -> None:
    for obj in objects:
        kind = await kind_of(copy, obj)
        try:
            await apply_one(copy, kind, obj)
        except ApiError as error:
            raise BadInput(f"{kind.kind} {obj['metadata'].get('name')} would be refused: {error}") from None


def lines(answer: WhatifAnswer) -> list[str]:
    if not answer.new and not answer.others:
        return ["nothing would start or stop"]
    return [line for gang in answer.new for line in _new(gang)] + [_other(gang) for gang in answer.others]


def _new(gang: GangOutcome) -> list[str]:
    mark, colour = MARKS[gang.fate]
    where = f" on {', '.join(f'{node} ({count})' for node, count in gang.nodes.items())}" if gang.nodes else ""
    first = f"{click.style(mark, fg=colour)} {gang.name} {gang.fate}: {_pods(gang.pods)}{where}"
    return [first, *(f"    {line}" for line in gang.why.splitlines())]


def _other(gang: GangOutcome) -> str:
    why = f" by {gang.why}" if gang.why else ""
    return f"{click.style('↷', fg='yellow')} {gang.name} {gang.fate}: {_pods(gang.pods)}{why}"


def _pods(count: int) -> str:
    return f"{count} pod{'' if count == 1 else 's'}"


def _counted(copied: Counter[str]) -> str:
    return ", ".join(f"{copied[kind]} {kind}" for kind in TOLD)
