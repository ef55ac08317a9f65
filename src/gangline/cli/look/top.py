"""`gangline top`: nodes, queues and gangs of a cluster in one look, renewed until Ctrl-C.

On a terminal the screen is drawn anew every few seconds; elsewhere, and with --once, it is printed once. Everything it
shows comes from summaries.py; nothing is written.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
from typing import TYPE_CHECKING

import click

from gangline.cli.connection import ClusterConnection, cluster_options, connect
from gangline.cli.ending import run
from gangline.cli.terminal import moved
from gangline.errors import Unavailable

if TYPE_CHECKING:
    from gangline.dashboard.look import ClusterView

SECTIONS = ("nodes", "queues", "gangs")
CLEAR = moved("\x1b[H\x1b[2J")


EXAMPLES = """\b
Examples:
  gangline top                               # until Ctrl-C
  gangline top queues gangs -A
  gangline top --once
"""


@click.command(
    help="Show nodes, queues and gangs with their GPUs, updated every few seconds until Ctrl-C; or those that are "
    "named: `gangline top queues gangs`.",
    epilog=EXAMPLES,
)
@click.argument("sections", nargs=-1, type=click.Choice(SECTIONS))
@click.option("--once", is_flag=True, help="print it once and end; the default if the output is no terminal")
@click.option(
    "--interval", type=click.FloatRange(0.5), default=2.0, show_default=True, help="seconds between two updates"
)
@click.option("-A", "--all-namespaces", "everywhere", is_flag=True, help="gangs of every namespace")
@cluster_options
def command(
    sections: tuple[str, ...],
    once: bool,
    interval: float,
    everywhere: bool,
    kubeconfig: str | None,
    namespace: str | None,
) -> None:
    live = not once and sys.stdout.isatty()
    run(_top(sections or SECTIONS, live, interval, everywhere, kubeconfig, namespace), serves=live)


async def _top(
    sections: tuple[str, ...],
    live: bool,
    interval: float,
    everywhere: bool,
    kubeconfig: str | None,
    namespace: str | None,
) -> None:
    async with connect(kubeconfig, namespace) as connection:
        if not live:
            click.echo(await _shown(connection, sections, everywhere))
            return
        while True:
            click.echo(CLEAR + fitted(await _patient(connection, sections, everywhere)), nl=False)
            await asyncio.sleep(interval)


async def _patient(connection: ClusterConnection, sections: tuple[str, ...], everywhere: bool) -> str:
    """A server that is away for a moment ends nothing."""
    try:
        return await _shown(connection, sections, everywhere)
    except Unavailable as error:
        return f"{error}\n"


async def _shown(connection: ClusterConnection, sections: tuple[str, ...], everywhere: bool) -> str:
    from gangline.cli.look.sight import look_at

    return picture(await look_at(connection), sections, "" if everywhere else connection.namespace)


def picture(view: ClusterView, sections: tuple[str, ...], namespace: str) -> str:
    """All sections below one headline; gangs of one namespace, or of all."""
    from gangline.cli.look.summaries import SUMMARIES, headline

    parts = [headline(view), *(f"warning: {trouble}" for trouble in view.source.troubles)]
    for name in sections:
        summary = SUMMARIES[name]
        lines = [
            line for line in summary.lines(view) if summary.place(line)[0] in ("", namespace or summary.place(line)[0])
        ]
        unseen = "" if lines else summary.unseen(view)
        parts += ["", name.upper(), unseen or summary.table(lines, view.source.now, everywhere=not namespace)]
    return "\n".join(parts)


def fitted(text: str) -> str:
    """As much of it as the terminal shows; long lines are cut, and the rest is counted."""
    width, height = shutil.get_terminal_size()
    lines = [line if len(line) <= width else f"{line[: width - 1]}…" for line in text.splitlines()]
    if len(lines) < height:
        return "\n".join([*lines, ""])
    return "\n".join(
        [*lines[: height - 2], f"… {len(lines) - height + 2} more lines: name a section, or use --once", ""]
    )
