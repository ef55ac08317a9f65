"""What somebody may have meant who wrote a word that is not known; nothing here prints.

`CommandGroup` is a command that has commands below it, and says so of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

LIKENESS = 0.6


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'explain'?`, or nothing where no known word is like it."""
    from difflib import get_close_matches

    alike = {name.lower(): name for name in known if 2 * len(name) > len(word)}
    near = get_close_matches(word.lower(), alike, 1, LIKENESS)
    return f"; did you mean {alike[near[0]]!r}?" if near else ""


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
