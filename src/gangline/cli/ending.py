"""How a command ends: Ctrl-C and SIGTERM, in whatever state it is.

The first signal asks: the command's task is cancelled and tidies up. Should that hang, it is cancelled once more, and
then the process ends, within ten seconds of the signal. The second signal ends it at once. A thread sees to this
(`signals.py`), so that a loop which is blocked cannot keep a process alive. Nobody waits for what other
threads still think, such as a long cycle of a scheduler. Nothing here knows what a command does.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from gangline.cli.signals import EndingSignal, watched


def run(
    work: Coroutine[Any, Any, None], serves: bool = False, loop: Callable[[], asyncio.AbstractEventLoop] | None = None
) -> None:
    """Run a command until it is done or a signal ends it. `serves`: being ended is how it ends well. `loop`: makes
    another loop than the usual one."""
    ending = EndingSignal()
    with watched(ending), asyncio.Runner(loop_factory=loop) as runner:
        runner.run(_guarded(work, ending))
    if ending.number and not serves:
        sys.exit(128 + ending.number)


class _Threads(ThreadPoolExecutor):
    """Of a command's loop: waited for at its end, unless a signal ends it."""

    def __init__(self, ending: EndingSignal) -> None:
        super().__init__(thread_name_prefix="asyncio")
        self._ending = ending

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        signalled = bool(self._ending.number)
        super().shutdown(wait and not signalled, cancel_futures=cancel_futures or signalled)


async def _guarded(work: Coroutine[Any, Any, None], ending: EndingSignal) -> None:
    loop = asyncio.get_running_loop()
    loop.set_default_executor(_Threads(ending))
    ending.of(loop, asyncio.current_task())
    if ending.number:
        work.close()
        return
    try:
        await work
    except asyncio.CancelledError:
        if not ending.number:
            raise
