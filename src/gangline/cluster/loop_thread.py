"""An event loop in a thread of its own, for callers that have none: work goes in as a coroutine, its answer comes back.

Used by the library for synchronous code. Nothing here knows what the work is.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

Answer = TypeVar("Answer")


class LoopThread:
    """Runs from the moment it is made until `stop`."""

    def __init__(self, name: str) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._turn, name=name, daemon=True)
        self._thread.start()

    def _turn(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    def run(self, work: Coroutine[Any, Any, Answer]) -> Answer:
        """Do this on the loop, and wait for it; what it raises is raised here."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()

    def stop(self) -> None:
        self.run(self.loop.shutdown_default_executor())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()
