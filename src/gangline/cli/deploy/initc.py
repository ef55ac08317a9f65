"""`gangline initc`: the init container's wait, for images that hold all of gangline. The script itself needs nothing of
it."""

from __future__ import annotations

import sys

import click

from gangline.operator import initc

EXAMPLES = """\b
Examples:
  gangline initc --podcliques=llm-0-prefill:2
"""


@click.command(epilog=EXAMPLES)
@click.option(
    "-p",
    "--podcliques",
    multiple=True,
    metavar="NAME:COUNT",
    help="A clique and how many ready pods it needs; may be repeated.",
)
def command(podcliques: tuple[str, ...]) -> None:
    """Wait until other cliques of the same gang have ready pods."""
    sys.exit(initc.main([f"--podcliques={podclique}" for podclique in podcliques]))
