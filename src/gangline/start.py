"""Where `gangline` begins: Ctrl-C ends it quietly while the rest of it is still being read from disk.

The console script and `python -m gangline` call `main`, which hands over to `cli/`. A command that runs for a while
(`cli/ending.py`) handles signals by itself from then on. Nothing but the standard library is imported before that.
"""

from __future__ import annotations

import os
import signal


def _end_quietly(number: int, frame: object) -> None:
    """Nothing has begun that would have to be tidied up; an exception could show up in the middle of an import."""
    os._exit(128 + number)


def main() -> None:
    signal.signal(signal.SIGINT, _end_quietly)
    from gangline.cli import main as command_line

    command_line()
