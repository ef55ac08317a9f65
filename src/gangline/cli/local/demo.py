"""`gangline demo`: the platform in memory, six scenes with visible progress, and an exit code that says whether all
went well.

Only the command; what is played is in scenes.py, which loads the whole platform."""

from __future__ import annotations

import click

from gangline.cli.ending import run

EXAMPLES = """\b
Examples:
  gangline demo
  gangline demo --log info                   # with what the components log
"""


@click.command(
    help="Start the platform in memory, play six scenes, stop. Exit code 0 if all went well.", epilog=EXAMPLES
)
@click.option(
    "--log", "level", default="error", type=click.Choice(["debug", "info", "warning", "error"]), show_default=True
)
def command(level: str) -> None:
    from gangline.cli.local.scenes import demo
    from gangline.runtime.logs import set_up

    set_up(level)
    run(demo())
