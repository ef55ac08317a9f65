"""`gangline recording`: what is recorded, and a copy of it without names."""

from __future__ import annotations

import os
import zlib
from pathlib import Path

import click

from gangline.cli.command_group import CommandGroup
from gangline.cli.look.recorded import files_of, pieces_of, recording_option
from gangline.errors import BadInput

EXAMPLES = """\b
Examples:
  gangline recording info
  gangline recording redact .gangline/recording for-the-issue.jsonl.gz
"""


@click.group(
    cls=CommandGroup, help="Say what the scheduler's recording holds, or copy it without names.", epilog=EXAMPLES
)
def command() -> None:
    pass


@command.command(
    help="List the files of a recording: node pool, when each begins and was last written, its size.",
    short_help="list the files of a recording",
    epilog=EXAMPLES,
)
@recording_option
def info(place: str) -> None:
    from gangline.cli.columns import aligned
    from gangline.rules.values.times import timestamp

    rows = []
    for file in files_of(place):
        about = file.stat()
        rows.append((file.parent.name, file.name, timestamp(about.st_mtime), f"{about.st_size / 1e6:.2f} MB"))
    click.echo(aligned(("POOL", "SEGMENT", "LAST WRITTEN", "SIZE"), rows))


@command.command(
    short_help="copy a recording without names, to hand it on",
    epilog=EXAMPLES,
    help="Copy the recording IN (a folder or a file) to the file OUT without names: every name of a node, queue, gang, "
    "pod or label becomes a code. The copy still decides the same, and `gangline replay --recording OUT` proves it.",
)
@click.argument("source", metavar="IN", type=click.Path(exists=True))
@click.argument("target", metavar="OUT", type=click.Path(dir_okay=False))
def redact(source: str, target: str) -> None:
    from gangline.scheduler.recording.redacting import RecordingRedactor

    files, out = files_of(source), Path(target)
    redactor = RecordingRedactor()
    for piece in pieces_of(files):
        redactor.note(piece)
    try:
        handle = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise BadInput(f"{out} exists already; name another file") from None
    press = zlib.compressobj(6, zlib.DEFLATED, 31)
    with os.fdopen(handle, "wb") as stream:
        for piece in pieces_of(files):
            for line in redactor.lines(piece):
                stream.write(press.compress(line))
        stream.write(press.flush())
    click.echo(f"{out}: {redactor.cycles} cycles without names")
    if redactor.others:
        click.echo(f"warning: {redactor.others} of them decide otherwise than recorded", err=True)
