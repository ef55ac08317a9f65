"""`gangline replay`: decide recorded cycles again on the scheduler's own core, and compare, bit for bit."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from gangline.cli.look.recorded import files_of, moment, pieces_of, recording_option
from gangline.errors import BadInput

if TYPE_CHECKING:
    from gangline.scheduler.recording.replaying import ReplayedCycle

MOST_TOLD = 10


EXAMPLES = """\b
Examples:
  gangline replay                            # the last cycle
  gangline replay --at 10m
  gangline replay --all                      # after an upgrade
"""


@click.command(
    help="Decide recorded cycles again with this version's decision core and compare with what was decided then, bit "
    "for bit. Without an option, the last cycle; its decisions are shown. Nothing is touched. Exit code 1: something "
    "differs.",
    epilog=EXAMPLES,
)
@click.option("--at", metavar="TIME", help="the last cycle at or before this time: 2026-01-31T14:00:00Z, or 10m ago")
@click.option("--all", "every", is_flag=True, help="every cycle; differences are listed")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True)
@recording_option
def command(at: str | None, every: bool, output: str, place: str) -> None:
    from gangline.scheduler.recording.replaying import replayed

    if every and at is not None:
        raise click.UsageError("--all and --at exclude each other")
    files = files_of(place)
    if every:
        _all(replayed(pieces_of(files)), output)
        return
    until, chosen = moment(at, "--at"), None
    for file in reversed(files):
        for cycle in replayed(pieces_of([file])):
            if until is None or cycle.recorded.now <= until:
                chosen = cycle
        if chosen is not None:
            break
    if chosen is None:
        raise BadInput(f"no cycle was recorded {'' if at is None else f'at or before {at}'}".rstrip())
    _one_cycle(chosen, output)


def _all(cycles: Iterator[ReplayedCycle], output: str) -> None:
    count, first, last, other = 0, None, None, 0
    for cycle in cycles:
        count, last = count + 1, cycle.recorded.now
        first = last if first is None else first
        if not cycle.same:
            other += 1
            if output == "text" and other <= MOST_TOLD:
                click.echo(f"{_when(cycle)}: {'; '.join(cycle.differences)}")
    if first is None or last is None:
        raise BadInput("no cycle was recorded")
    if output == "json":
        click.echo(json.dumps({"cycles": count, "same": count - other, "first": first, "last": last}))
    else:
        from gangline.rules.values.times import timestamp

        result = "all decide the same again" if not other else f"{other} decide otherwise now"
        click.echo(f"{count} cycles from {timestamp(first)} to {timestamp(last)}: {result}")
    if other:
        sys.exit(1)


def _one_cycle(cycle: ReplayedCycle, output: str) -> None:
    from gangline.scheduler.recording.replaying import as_data
    from gangline.scheduler.why.verdict import counted

    decided = cycle.decided
    if output == "json":
        summary = {"now": cycle.recorded.now, "same": cycle.same, "differences": cycle.differences}
        click.echo(json.dumps(summary | {"then": as_data(cycle.recorded.decisions), "again": as_data(decided)}))
    else:
        counts = (
            f"{counted(len(cycle.recorded.changes), 'change')}; {counted(len(decided.binds), 'pod')} placed, "
            f"{len(decided.evictions)} evicted, {len(decided.nominations)} nominated, "
            f"{counted(len(decided.refusals), 'gang')} refused"
        )
        click.echo(f"{_when(cycle)}: {counts}")
        for commit in decided.commits:
            click.echo(
                f"  {type(commit).__name__.lower():<9} {cycle.pods[commit.task]} {commit.node} ({commit.action})"
            )
        click.echo("decides the same again" if cycle.same else "decides otherwise now: " + "; ".join(cycle.differences))
    if not cycle.same:
        sys.exit(1)


def _when(cycle: ReplayedCycle) -> str:
    from gangline.rules.values.times import micro_timestamp

    return f"cycle {cycle.number} at {micro_timestamp(cycle.recorded.now)}"
