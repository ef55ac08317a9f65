"""The help of commands as people read it: sections, one line per command, and an example of each that fits a screen.

That the examples name commands and options that exist is seen on the page that is printed from them
(docs/reference/cli.md, tests/documents/test_guides.py)."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from gangline.cli import COMMANDS, group

WIDE = 80


def helped(*words: str) -> str:
    return CliRunner().invoke(group, [*words, "--help"], prog_name="gangline").output


def everything() -> Iterator[tuple[str, ...]]:
    context = click.Context(group)
    for name in COMMANDS:
        yield (name,)
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from ((name, below) for below in command.commands)


def test_commands_are_listed_by_what_they_are_for() -> None:
    lines = helped().splitlines()
    titles = [line for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert titles == [
        "Options:",
        "Start without a cluster:",
        "Look at a cluster, and change it:",
        "Ask why, and what if:",
        "Look back:",
        "Install and operate:",
        "Other:",
    ]
    listed = [line.split()[0] for line in lines if line.startswith("  ") and line.split()[0] in COMMANDS]
    assert listed == list(COMMANDS)
    assert "  explain      say why a gang waits, and what would start it" in lines


@pytest.mark.parametrize("words", list(everything()), ids=" ".join)
def test_every_command_has_an_example_that_fits_a_screen(words: tuple[str, ...]) -> None:
    lines = helped(*words).splitlines()
    examples = [line for line in lines[lines.index("  Examples:") + 1 :] if "gangline " in line]
    assert any(f"gangline {' '.join(words)}" in line for line in examples)
    assert [line for line in lines if len(line) > WIDE] == []
