"""`gangline completion SHELL`: the lines that make a shell complete commands, options, and names from the cluster."""

from __future__ import annotations

import click

VARIABLE = "_GANGLINE_COMPLETE"
"""How a shell asks us; click reads it."""
NO_SPACE = "[[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace"
"""For bash: the value of a setting follows at once."""
SHELLS = ("bash", "zsh", "fish")
EXAMPLES = """\b
Examples:
  source <(gangline completion bash)         # or into ~/.bashrc
  source <(gangline completion zsh)          # or into ~/.zshrc
  gangline completion fish | source          # or into config.fish
"""


@click.command(
    help="Print what makes a shell complete commands, options and names; kinds, gangs, queues and namespaces come from "
    "the cluster. `kubectl gangline` is completed where kubectl itself is, without more.",
    epilog=EXAMPLES,
)
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    from click.shell_completion import get_completion_class

    from gangline.cli import group

    completion = get_completion_class(shell)
    assert completion is not None
    script = completion(group, {}, "gangline", VARIABLE).source()
    click.echo(script.replace("    return 0\n", f"    {NO_SPACE}\n    return 0\n") if shell == "bash" else script)
