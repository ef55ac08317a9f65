"""A watch for whoever awaits it: the same lines as watch.py gives, as an asynchronous iterator.

Clients in this process iterate; connections over HTTP take lines by themselves, without a task for each watcher.
"""

from __future__ import annotations

import asyncio
from functools import partial

from gangline.cluster.server.call import ServerCall
from gangline.cluster.server.core import Core
from gangline.cluster.server.store.shelf import Shelf
from gangline.cluster.server.store.watch import StoreWatch
from gangline.cluster.server.store.watch_lines import DEFAULT_SECONDS, WatchForm, watch_plan
from gangline.cluster.server.verbs.reads import read_filter


def open_watch(core: Core, call: ServerCall, shelf: Shelf, form: WatchForm) -> WatchStream:
    """Refuses at once what cannot be watched; the watch does the rest."""
    wanted = read_filter(call)
    begin = watch_plan(core, call, shelf, wanted)
    seconds = call.number("timeoutSeconds") or DEFAULT_SECONDS
    return WatchStream(core, call, shelf, wanted, begin, seconds, form)


class WatchStream(StoreWatch):
    """Whoever iterates must `aclose` it in the end."""

    def __aiter__(self) -> WatchStream:
        return self

    async def __anext__(self) -> bytes:
        while True:
            lines = self.take()
            if lines:
                return lines
            if self.ended:
                raise StopAsyncIteration
            future = self.loop.create_future()
            self.wait(partial(_finish, future))
            try:
                await future
            finally:
                self.give_up()

    async def aclose(self) -> None:
        self.close()


def _finish(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
