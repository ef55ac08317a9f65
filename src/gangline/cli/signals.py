"""Signals that end a command: a thread waits for them, cancels the command's task, and ends a process that hangs.

Nothing here knows what a command does; `ending.py` runs one under this watch.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)
ONCE_MORE, AT_LAST = 3.5, 7.0
"""Seconds after the first signal. Of the ten that a command has, three are for a large process to go."""


class EndingSignal:
    """Which signal came, and whom it cancels."""

    def __init__(self) -> None:
        self.number = 0
        self.over = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Any] | None = None

    def of(self, loop: asyncio.AbstractEventLoop, task: asyncio.Task[Any] | None) -> None:
        self._loop, self._task = loop, task

    def cancel(self) -> None:
        """From the watching thread."""
        if self._loop is not None and self._task is not None:
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._task.cancel)


@contextlib.contextmanager
def watched(ending: EndingSignal) -> Iterator[None]:
    """Signals wake a thread through a pipe that the interpreter writes to at once, whatever its main thread does."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are the main thread's
        return
    read_end, tell = os.pipe()
    os.set_blocking(tell, False)
    before = {number: signal.signal(number, _note) for number in SIGNALS}
    woken = signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
    watcher = threading.Thread(target=_watch, args=(read_end, ending), name="ending", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ending.over = True
        os.write(tell, b"\0")
        watcher.join()
        signal.set_wakeup_fd(woken)
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(read_end)
        os.close(tell)


def _note(number: int, frame: object) -> None:
    """The signal is in the pipe already."""


def _watch(read_end: int, ending: EndingSignal) -> None:
    first = 0.0
    steps: list[float] = []
    while True:
        wait = max(first + steps[0] - time.monotonic(), 0.0) if steps else None
        readable, _, _ = select.select([read_end], [], [], wait)
        number = os.read(read_end, 1)[0] if readable else 0
        if ending.over:
            return
        if number in SIGNALS:
            if ending.number:
                os._exit(128 + number)
            ending.number, first, steps = number, time.monotonic(), [ONCE_MORE, AT_LAST]
            ending.cancel()
        elif not readable and len(steps) > 1:
            steps.pop(0)
            ending.cancel()
        elif not readable:
            os.write(2, f"error: not stopped {AT_LAST:.0f} s after it was asked to; ended all the same\n".encode())
            os._exit(1)
