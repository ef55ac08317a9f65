"""`gangline`: the commands. This file only lists them; each has a file of its own, in the room of its job.

Commands are imported when they are called, so that `gangline --help` answers at once. Rooms: `objects` reads and writes
objects, `look` shows a cluster, `care` examines it, `deploy` brings components into one, `local` needs none.
"""

from __future__ import annotations

import gc
import importlib
import os
import signal
import sys
from typing import NamedTuple

import click

from gangline import __version__
from gangline.cli.command_group import CommandGroup
from gangline.cli.hints import hint
from gangline.cli.terminal import guarded_output
from gangline.errors import GanglineError

YOUNG = 20_000
"""Objects made between two looks for cycles. A command makes tens of thousands while it starts, and all of them stay;
components choose for themselves (runtime/process/memory.py)."""


class CommandEntry(NamedTuple):
    module: str
    """Below `gangline.cli`; it has a `command`."""
    purpose: str
    section: str


START = "Start without a cluster"
USE = "Look at a cluster, and change it"
ASK = "Ask why, and what if"
PAST = "Look back"
OPERATE = "Install and operate"
OTHER = "Other"
"""What commands are for; `gangline --help` lists them below these."""

COMMANDS = {
    "up": CommandEntry("local.up", "start the platform on this machine, until Ctrl-C", START),
    "demo": CommandEntry("local.demo", "start the platform, play six scenes, and stop", START),
    "examples": CommandEntry("local.examples", "write the examples into a folder", START),
    "simulate": CommandEntry("local.simulate", "play a list of jobs in virtual time: how long each waits", START),
    "apply": CommandEntry("objects.apply", "create or change objects from files", USE),
    "get": CommandEntry("objects.get", "show gangs, queues, nodes or any objects", USE),
    "delete": CommandEntry("objects.delete", "delete objects by name or from files", USE),
    "queue": CommandEntry("objects.queue", "change quota, limit and other settings of a queue", USE),
    "tree": CommandEntry("look.tree", "show a PodCliqueSet with its cliques and pods", USE),
    "top": CommandEntry("look.top", "show nodes, queues and gangs, updated every few seconds", USE),
    "dashboard": CommandEntry("look.dashboard", "serve the dashboard: what waits and why, who uses the GPUs", USE),
    "explain": CommandEntry("explain", "say why a gang waits, and what would start it", ASK),
    "whatif": CommandEntry("whatif", "show what a change would do to a cluster, without making it", ASK),
    "idle": CommandEntry("look.idle", "show why GPUs are idle", ASK),
    "fairshare": CommandEntry("fairshare", "show the fair share of each queue", ASK),
    "history": CommandEntry("look.history", "show what happened to a gang", PAST),
    "why-evicted": CommandEntry("look.why_evicted", "show why a pod was evicted, and for which gang", PAST),
    "replay": CommandEntry("look.replay", "decide recorded cycles again, and compare the results", PAST),
    "recording": CommandEntry("look.recording", "list recordings, or copy one without names", PAST),
    "install": CommandEntry("deploy.install", "install gangline into a cluster", OPERATE),
    "uninstall": CommandEntry("deploy.uninstall", "remove gangline from a cluster", OPERATE),
    "run": CommandEntry("deploy.run", "run one component against a cluster", OPERATE),
    "rights": CommandEntry("deploy.rights", "print the rights (RBAC) that components need", OPERATE),
    "doctor": CommandEntry("care.doctor", "check a cluster: what is wrong, and what to do about it", OPERATE),
    "bundle": CommandEntry("care.bundle", "collect data about a problem into a file, without secrets", OPERATE),
    "completion": CommandEntry("local.completion", "print a completion script for bash, zsh or fish", OTHER),
    "initc": CommandEntry("deploy.initc", "wait in an init container for cliques that start first", OTHER),
}


class Commands(CommandGroup):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"gangline.cli.{COMMANDS[name].module}").command
        command.short_help = COMMANDS[name].purpose  # shells show it beside the name
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        widest = max(map(len, COMMANDS))
        for title in dict.fromkeys(entry.section for entry in COMMANDS.values()):
            with formatter.section(title):
                listed = [(name, entry.purpose) for name, entry in COMMANDS.items() if entry.section == title]
                formatter.write_dl([(name.ljust(widest), purpose) for name, purpose in listed])


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="gangline %(version)s")
def group() -> None:
    """Gang scheduling for Kubernetes: all pods of a job start, or none.

    Start with `gangline demo`, or `gangline up` and then kubectl. Every command has --help, with examples.
    """


def main() -> None:
    """The console script: errors of ours are one line, never a traceback; nothing printed commands the terminal."""
    gc.set_threshold(YOUNG)
    with guarded_output():
        _main()


def _main() -> None:
    try:
        if os.path.basename(sys.argv[0]).startswith("kubectl_complete-gangline"):
            from gangline.cli.completion.kubectl_plugin import answer

            click.echo(answer(sys.argv[1:]))
            return
        group(standalone_mode=False, prog_name=_called(), complete_var="_GANGLINE_COMPLETE", color=_colour())
    except click.exceptions.Abort:
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except GanglineError as error:
        click.echo(f"error: {str(error).rstrip()}", err=True)
        if advice := hint(error):
            click.echo(f"hint: {advice}", err=True)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        _say_no_more()
        sys.exit(128 + signal.SIGPIPE)
    except OSError as error:
        _say_no_more()
        click.echo(f"error: {error.strerror or error}{f': {error.filename}' if error.filename else ''}", err=True)
        sys.exit(1)


def _called() -> str:
    """How we were called: alone, or as a plugin of kubectl."""
    return "kubectl gangline" if os.path.basename(sys.argv[0]).startswith("kubectl-gangline") else "gangline"


def _colour() -> bool | None:
    """Colours only on a terminal, which click sees to; and nowhere for those who say so (no-color.org)."""
    return False if os.environ.get("NO_COLOR") else None


def _say_no_more() -> None:
    """What could not be written is not tried again when the process ends: the reader left, or its disk is full."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
