"""`gangline completion SHELL`: the lines that make a shell complete commands, options, and names from the cluster."""

from __future__ import annotations

import click

VARIABLE = "_GANGLINE_COMPLETE"
"""How a shell asks us; click reads it."""
SHELLS = {
    "bash": "source <(gangline completion bash)       # or into ~/.bashrc",
    "zsh": "source <(gangline completion zsh)        # or into ~/.zshrc, after compinit",
    "fish": "gangline completion fish | source        # or into ~/.config/fish/completions/gangline.fish",
}


@click.command(
    help="Print what makes a shell complete commands, options and names; kinds, gangs, queues and namespaces come from "
    "the cluster.\n\n\b\n" + "\n".join(SHELLS.values())
)
@click.argument("shell", type=click.Choice(list(SHELLS)))
def command(shell: str) -> None:
    from click.shell_completion import get_completion_class

    from gangline.cli import group

    completion = get_completion_class(shell)
    assert completion is not None
    click.echo(completion(group, {}, "gangline", VARIABLE).source())
