"""A command that has commands below it, and names the one that was meant when it does not know a word."""

from __future__ import annotations

from typing import Any

import click

from gangline.cli.completion.suggestions import did_you_mean

HELP = ("help", "-help", "?")
"""What other programs call --help."""


class CommandGroup(click.Group):
    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        known = self.list_commands(ctx)
        if args and args[0] not in known:
            asks_help = f"; help is `{ctx.command_path} --help`" if args[0] in HELP else ""
            meant = asks_help or did_you_mean(args[0], known) or f"; there {_listed(known)}"
            ctx.fail(f"no command {args[0]!r}{meant}")
        return super().resolve_command(ctx, args)


def _listed(known: list[str]) -> str:
    return f"{'is' if len(known) == 1 else 'are'}: {', '.join(known)}"
