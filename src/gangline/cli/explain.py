"""`gangline explain NAME`: why a gang waits or what became of it, the proof, and what would start it.

NAME is a gang, or anything that has one: a set, a PodGroup, a pod, a Job, a Deployment; `job/NAME` says which. The
cluster is read as it stands now and the scheduler's own cycle is run on what was read: an answer is never older than
the objects it names, and a remedy is told only after it was tried (docs/decisions/0005). `--fix N -o yaml` prints
the N-th remedy as objects to apply, `--try` plays the remedies on a copy of the whole platform.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from gangline.cli.completion.cluster_names import gangs_of_cluster
from gangline.cli.connection import ClusterConnection, cluster_options, connect
from gangline.cli.ending import run
from gangline.cli.quiet import quiet
from gangline.errors import BadInput

if TYPE_CHECKING:
    from gangline.client import Client
    from gangline.rules.verdicts import GangAnswer
    from gangline.why.changes import Remedy

PAUSE = 2.0
"""Seconds between two looks of --watch."""
OVER = ("runs", "has finished", "has failed", "was evicted")


EXAMPLES = """\b
Examples:
  gangline explain                           # every gang that waits
  gangline explain job/train
  gangline explain large --fix 1 -o yaml     # the first remedy as objects
  gangline explain large --try               # play the remedies on a copy
  gangline explain large --watch             # until it runs
"""


@click.command(
    help="Show why a workload waits or what happened to it, and what would start it. NAME: a gang, set, PodGroup, "
    "pod, Job or another workload, as in job/train; without it, every gang that waits.",
    epilog=EXAMPLES,
)
@click.argument("name", required=False, default="", shell_complete=gangs_of_cluster)
@click.option("-A", "--all-namespaces", "everywhere", is_flag=True, help="look in every namespace")
@click.option(
    "--fix",
    "number",
    type=click.IntRange(min=1),
    metavar="N",
    help="show the N-th remedy alone; with -o yaml as objects to apply",
)
@click.option(
    "--try", "tried", is_flag=True, help="play each remedy on a copy of the cluster with the whole platform, and report"
)
@click.option(
    "-w", "--watch", "watched", is_flag=True, help="print it again when it changes, until the workload runs or ends"
)
@click.option("-o", "--output", type=click.Choice(["text", "json", "yaml"]), default="text", show_default=True)
@cluster_options
def command(
    name: str,
    everywhere: bool,
    number: int | None,
    tried: bool,
    watched: bool,
    output: str,
    kubeconfig: str | None,
    namespace: str | None,
) -> None:
    with quiet():
        run(_explain(name, everywhere, number, tried, watched, output, kubeconfig, namespace))


async def _explain(
    name: str,
    everywhere: bool,
    number: int | None,
    tried: bool,
    watched: bool,
    output: str,
    kubeconfig: str | None,
    namespace: str | None,
) -> None:
    async with connect(kubeconfig, namespace) as connection:
        if watched:
            await _watch(connection, name, everywhere, output)
            return
        answers = await explained(connection, name, everywhere, _warn)
        from gangline.why.words.printed import printed, printed_fix

        if tried:
            click.echo("\n".join(await _played(connection, answers, number)))
        elif number is not None:
            click.echo(printed_fix(answers, number, output), nl=False)
        else:
            click.echo(printed([answer for answer, _ in answers], output))


def _warn(text: str) -> None:
    click.echo(f"warning: {text}", err=True)


def _hush(text: str) -> None:
    """The answer was printed already, or nobody reads it."""


async def _watch(connection: ClusterConnection, name: str, everywhere: bool, output: str) -> None:
    shown: list[tuple[str, ...]] = []
    tell = _warn
    while True:
        answers = [answer for answer, _ in await explained(connection, name, everywhere, tell)]
        from gangline.why.words.printed import printed

        tell = _hush
        now = [(item.data["gang"], item.data["state"], item.data["cause"], *item.data["facts"]) for item in answers]
        if now != shown:
            changed = _since(shown, now) if shown and output == "text" else []
            click.echo("\n".join([*changed, printed(answers, output)]))
        shown = now
        if name and all(item.data["state"] in OVER and item.data["cause"] != "surplus" for item in answers):
            return
        await asyncio.sleep(PAUSE)


def _since(before: list[tuple[str, ...]], now: list[tuple[str, ...]]) -> list[str]:
    """What stands between two answers of --watch: the time, and who waits no more."""
    from gangline.rules.values.times import timestamp

    gone = sorted({gang for gang, *_ in before} - {gang for gang, *_ in now})
    return ["", timestamp(time.time()), *(f"{gang} waits no more" for gang in gone)]


async def explained(
    connection: ClusterConnection, name: str, everywhere: bool = False, tell: Callable[[str], None] = _hush
) -> list[tuple[GangAnswer, list[Remedy]]]:
    """Asks before it loads what answers: a command that cannot reach its cluster says so at once."""
    served = [item.kind for item in await connection.served()]
    from gangline.explaining.explain import explain_name

    return await explain_name(
        connection.client, name, connection.namespace, everywhere=everywhere, served=served, tell=tell
    )


async def explain(client: Client, name: str, namespace: str) -> list[GangAnswer]:
    """One answer per gang that NAME stands for."""
    from gangline.explaining.explain import explain_name

    return [answer for answer, _ in await explain_name(client, name, namespace)]


async def headline(client: Client, name: str, namespace: str) -> str | None:
    """The one sentence of a gang that waits; None as long as the scheduler has not judged it, or when it does not
    wait."""
    try:
        judged = [item for item in await explain(client, name, namespace) if item.judged]
    except BadInput:
        return None
    return judged[0].text.splitlines()[0] if judged else None


async def _played(
    connection: ClusterConnection, answers: list[tuple[GangAnswer, list[Remedy]]], number: int | None
) -> list[str]:
    """What each remedy does on a copy of the platform."""
    from gangline.explaining.platform_trial import play

    served = [item.kind for item in await connection.served()]
    lines = []
    for answer, remedies in answers:
        lines.append(answer.text.splitlines()[0])
        for place, remedy in enumerate(remedies, 1):
            if number in (None, place):
                outcome = await play(connection.client, served, answer.data, remedy.changes)
                lines.append(f"  {place}. {answer.data['remedies'][place - 1]['text']}\n     → {outcome}")
        if not remedies:
            lines.append("  no change is known that would start it")
    return [*lines, "tried on a copy; nothing in the cluster was changed"]
