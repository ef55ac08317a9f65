"""Where `gangline` begins and ends: Ctrl-C ends it quietly while the rest of it is still being read from disk, and when
a command is done, the process is gone at once, however much it holds.

The console script and `python -m gangline` call `main`, which hands over to `cli/`. A command that runs for a while
(`cli/ending.py`) handles signals by itself from then on. Nothing but the standard library is imported before that.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys


def _end_quietly(number: int, frame: object) -> None:
    """Nothing has begun that would have to be tidied up; an exception could show up in the middle of an import."""
    os._exit(128 + number)


LOADED_AT_ONCE = 50_000
"""New containers before garbage in cycles is looked for: what is imported stays, and looking through it again and again
takes a tenth of the time that a command needs to start."""


def main() -> None:
    signal.signal(signal.SIGINT, _end_quietly)
    gc.set_threshold(LOADED_AT_ONCE)
    from gangline.cli import main as command_line

    try:
        command_line()
    except SystemExit as end:
        if not isinstance(end.code, int):
            raise
        _leave(end.code)
    _leave(0)


def _leave(code: int) -> None:
    """End at once, and leave it to the system to free the memory. Freeing a large cluster here would take longer than a
    process has to end."""
    atexit._run_exitfuncs()
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            stream.flush()
        except (OSError, ValueError):  # whoever read it left, its disk is full, or it was closed
            code = code or 1
    os._exit(code)
