"""`gangline history GANG`: what became of a gang, from the scheduler's recording."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import click

from gangline.cli.look.recorded import (
    files_of,
    moment,
    not_recorded,
    pieces_of,
    recorded_gangs,
    recording_option,
    since_option,
)
from gangline.errors import BadInput

if TYPE_CHECKING:
    from gangline.scheduler.recording.stories import GangStory
    from gangline.scheduler.records import GangRecord

EXAMPLES = """\b
Examples:
  gangline history llm-0                 # of one gang
  gangline history llm                   # of every gang of the set llm
  gangline history train -n team-a --since 2h
  gangline history llm-0 -o json
"""


@click.command(
    help="Show what happened to a gang: queued, refused and why, overtaken by whom, placed where, evicted by whom, "
    "ended; each with its time. GANG: the name of a gang, of its set or Job, or of a PodGroup. Read from "
    "the scheduler's recording on this machine.",
    epilog=EXAMPLES,
)
@click.argument("gang", shell_complete=recorded_gangs)
@click.option("-n", "--namespace", metavar="NAME", default="", help="only in this namespace (default: in all)")
@since_option
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True)
@recording_option
def command(gang: str, namespace: str, since: str | None, output: str, place: str) -> None:
    from gangline.scheduler.recording.stories import Storyteller

    start = moment(since, "--since")
    name = gang.rpartition("/")[2]
    of_set = re.compile(rf"{re.escape(name)}-\d+(?:-.+)?")

    def wanted(title: str, record: GangRecord) -> bool:
        mine = name in (title, record.name, record.uid) or of_set.fullmatch(title) is not None
        return mine and namespace in ("", record.namespace)

    teller = Storyteller(wanted)
    for piece in pieces_of(files_of(place, start)):
        teller.take(piece)
    stories = [story for story in teller.stories() if start is None or story.events[-1].moment >= start]
    if not stories:
        raise BadInput(_unknown(name, namespace, teller.names, place))
    if output == "json":
        click.echo(json.dumps([story.as_data() for story in stories], indent=2))
    else:
        click.echo("\n\n".join(_text(story) for story in stories))


def _unknown(name: str, namespace: str, known: set[tuple[str, str]], place: str) -> str:
    from gangline.rules.values.nearest import did_you_mean

    elsewhere = sorted(where for where, title in known if title == name)
    if elsewhere:
        return f"there is no {name} in namespace {namespace}; it was recorded in {', '.join(elsewhere)}"
    return not_recorded(f"gang {name!r}", place, did_you_mean(name, (title for _, title in known), 3))


def _text(story: GangStory) -> str:
    from gangline.rules.values.times import timestamp

    pool = f", node pool {story.pool}" if story.pool not in ("", "default") else ""
    lines = [f"{story.gang} (namespace {story.namespace or '-'}, queue {story.queue}{pool})"]
    lines += [f"  {timestamp(event.moment)}  {event.what:<9}  {' '.join(event.text.split())}" for event in story.events]
    return "\n".join(lines)
