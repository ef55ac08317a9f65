"""Programs that never outlive the process that started them, however that ends: Linux is told to kill them with it.

`leashed(command)` is the command to start instead: this file sets the leash and becomes the program, under the same
process id. With `group=True` it stays beside the program and takes everything along that was started in its session.
Elsewhere than on Linux there is no leash, and who starts a program ends it."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SIGNAL_AT_PARENTS_DEATH = 1


def leashed(command: Sequence[str], group: bool = False) -> list[str]:
    return [
        sys.executable,
        "-I",
        "-S",
        str(Path(__file__).resolve()),
        str(os.getpid()),
        "group" if group else "alone",
        *command,
    ]


def _set(holder: int, at_death: signal.Signals) -> None:
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:
        prctl(SIGNAL_AT_PARENTS_DEATH, int(at_death), 0, 0, 0)
    if os.getppid() != holder:
        sys.exit(1)


def _stay(command: Sequence[str]) -> int:
    """Until the program ends or its holder does; nobody of the session is left then."""
    os.setsid()

    def end_all(*_: Any) -> None:
        os.killpg(0, signal.SIGKILL)

    signal.signal(signal.SIGTERM, end_all)
    return subprocess.run(command, check=False).returncode


def main(holder: str, manner: str, *command: str) -> None:
    if manner == "group":
        _set(int(holder), signal.SIGTERM)
        sys.exit(_stay(command))
    _set(int(holder), signal.SIGKILL)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(*sys.argv[1:])
