"""How a command ends: Ctrl-C and SIGTERM, in whatever state it is.

The first signal asks: the command's task is cancelled and tidies up. Should that hang, it is cancelled once more, and
then the process ends, within ten seconds of the signal. The second signal ends it at once. A thread sees to this
(`signals.py`), so that a loop which is blocked cannot keep a process alive. Nothing here knows what a command does.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from typing import Any

from gangline.cli.signals import Ending, watched


def run(work: Coroutine[Any, Any, None], serves: bool = False) -> None:
    """Run a command until it is done or a signal ends it. `serves`: being ended is how it ends well."""
    ending = Ending()
    with watched(ending):
        asyncio.run(_guarded(work, ending))
    if ending.number and not serves:
        sys.exit(128 + ending.number)


async def _guarded(work: Coroutine[Any, Any, None], ending: Ending) -> None:
    ending.of(asyncio.get_running_loop(), asyncio.current_task())
    if ending.number:
        work.close()
        return
    try:
        await work
    except asyncio.CancelledError:
        if not ending.number:
            raise
