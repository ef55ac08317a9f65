"""The shape of a binder plugin: something done before a pod is bound, and how it is undone.

`prepare` may be interrupted after any write and is then run again from its start, so every write must find what an
earlier run did. It raises NotYet to wait, CannotBind to give up. `undo` leaves nothing behind and succeeds when there
is nothing to undo.
"""

from __future__ import annotations

from collections.abc import Mapping

from gangline.binder.attempt import BindAttempt
from gangline.binder.settings import BinderSettings


class BinderPlugin:
    name: str
    priority: int
    """Higher is prepared earlier, and undone later."""

    def __init__(self, settings: BinderSettings, arguments: Mapping[str, str]) -> None:
        self.settings = settings
        self.arguments = arguments

    async def prepare(self, attempt: BindAttempt) -> None:
        return None

    async def undo(self, attempt: BindAttempt) -> None:
        return None
