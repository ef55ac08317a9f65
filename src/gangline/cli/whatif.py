"""`gangline whatif`: what would become of gangs after a change of files, nodes or quotas: which would start and where,
who would make room, and why the others would wait.

The cluster is read, and the scheduler's own core is asked about the changed picture (whatif/); nothing is touched."""

from __future__ import annotations

import sys
import time
from functools import partial
from typing import TYPE_CHECKING

import click

from gangline.cli import manifests
from gangline.cli.connection import ClusterConnection, cluster_options, connect
from gangline.cli.ending import run
from gangline.cli.objects.apply import apply_one
from gangline.cli.quiet import quiet
from gangline.cli.terminal import moved
from gangline.errors import ApiError, BadInput

if TYPE_CHECKING:
    from gangline.api.kinds import Kind
    from gangline.api.meta import Object, Raw
    from gangline.client import Client
    from gangline.whatif import WhatifChanges

CLEAR_LINE = moved("\x1b[G\x1b[K")
EXIT_WAITING = 3
"""The exit code of `--fail-if-waiting` when something would wait; 1 is an error, 2 a wrong command line."""
NODE_FILE = ("v1", "Node")
EXAMPLES = """\b
Examples:
  gangline whatif -f job.yaml                # would it start now, and where?
  gangline whatif -f job.yaml --fail-if-waiting    # for scripts: exit code 3
  gangline whatif --drain node-7             # who moves, who finds no place?
  gangline whatif --add-nodes node-1=4       # four more like node-1
  gangline whatif --add-nodes gpus:8,cpu:96,memory:1Ti=2 -f job.yaml
  gangline whatif --quota team-a.gpu.quota=64 --without team-b/sweep-3
"""


@click.command(
    help="Say what changes would do to a cluster: which gangs would start and where, which would wait and why, who "
    "would make room. The scheduler's own core is asked; the cluster is only read. All changes may be combined.",
    epilog=EXAMPLES,
)
@click.option("-f", "--filename", "files", multiple=True, metavar="FILE", help="apply a file, folder or - (repeatable)")
@click.option("--drain", multiple=True, metavar="NODE", help="take a node out of use, its pods go (repeatable)")
@click.option(
    "--add-nodes",
    multiple=True,
    metavar="SHAPE=N",
    help="add N nodes; SHAPE is a node they are like, an instance type, or amounts as in gpus:8,cpu:96,memory:1Ti "
    "(repeatable)",
)
@click.option(
    "--quota",
    multiple=True,
    metavar="QUEUE.FIELD=V",
    help="change a queue: gpu.quota, gpu.limit, gpu.overQuotaWeight, also of cpu (cores) and memory (bytes, as in "
    "64Gi), priority; quota alone is of GPUs; the units of `gangline queue set` (repeatable)",
)
@click.option(
    "--without", multiple=True, metavar="GANG", help="take a gang away, as NAME or NAMESPACE/NAME (repeatable)"
)
@click.option(
    "--fail-if-waiting", is_flag=True, help="end with code 3 if a gang would wait, still wait, or lose its place"
)
@click.option("-o", "--output", type=click.Choice(["text", "json", "yaml"]), default="text", show_default=True)
@cluster_options
def command(
    files: tuple[str, ...],
    drain: tuple[str, ...],
    add_nodes: tuple[str, ...],
    quota: tuple[str, ...],
    without: tuple[str, ...],
    fail_if_waiting: bool,
    output: str,
    kubeconfig: str | None,
    namespace: str | None,
) -> None:
    from gangline.whatif import WhatifChanges

    changes = WhatifChanges(drain, add_nodes, quota, without)
    if not files and not changes:
        raise click.UsageError("say what would change: -f, --drain, --add-nodes, --quota or --without")
    objects = manifests.read(files)
    with quiet():
        run(_whatif(objects, changes, fail_if_waiting, output, kubeconfig, namespace))


async def _whatif(
    objects: list[Raw],
    changes: WhatifChanges,
    fail_if_waiting: bool,
    output: str,
    kubeconfig: str | None,
    namespace: str | None,
) -> None:
    from gangline.whatif import WhatifQuestion, ask

    progress = Progress()
    async with connect(kubeconfig, namespace) as cluster:
        apply = partial(apply_all, objects=objects, namespace=cluster.namespace)
        question = WhatifQuestion(changes, objects, cluster.namespace, apply)
        try:
            counts, answer = await ask(cluster.client, question, time.time(), progress.tell)
        finally:
            progress.clear()
        from gangline.cli.whatif_text import shown

        click.echo(shown(counts, answer, output, cluster.server))
    if fail_if_waiting and answer.waits:
        sys.exit(EXIT_WAITING)


class Progress:
    """One line on a terminal that says what is being done; elsewhere nothing."""

    def __init__(self) -> None:
        self._on = sys.stderr is not None and sys.stderr.isatty()

    def tell(self, text: str) -> None:
        if self._on:
            click.echo(f"{CLEAR_LINE}{text} …", err=True, nl=False)

    def clear(self) -> None:
        if self._on:
            click.echo(CLEAR_LINE, err=True, nl=False)


async def apply_all(client: Client, objects: list[Raw], namespace: str) -> None:
    """The files on a server that is not the cluster, one object after the other; nodes are the model's."""
    stage = ClusterConnection(client, namespace, "the stage")
    served = await _kinds(stage)
    for obj in objects:
        called = (str(obj["apiVersion"]), str(obj["kind"]))
        if called == NODE_FILE:
            continue
        if called not in served:
            served = await _kinds(stage)
        if called not in served:
            raise BadInput(f"the cluster serves no {called[1]} of {called[0]}")
        try:
            await apply_one(stage, served[called], obj)
        except ApiError as error:
            raise BadInput(f"{called[1]} {obj['metadata'].get('name')} would be refused: {error}") from None


async def _kinds(stage: ClusterConnection) -> dict[tuple[str, str], Kind[Object]]:
    return {(item.kind.api_version, item.kind.kind): item.kind for item in await stage.served()}
