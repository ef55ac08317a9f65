"""A reconcile that fails in a way nobody foresaw tells it on its object, so that the user sees more than silence.

Expected failures are reported by the reconciles themselves. The queue tries again in either case, later and
later, and other objects are not held up."""

from __future__ import annotations

from typing import Any

from gangline.api.kinds import Kind
from gangline.errors import ApiError, GanglineError
from gangline.operator.status import error_list
from gangline.runtime import Again, Context, Key
from gangline.runtime.clock import timestamp
from gangline.runtime.controller import Reconcile

UNEXPECTED = "ERR_UNEXPECTED"


async def guarded(kind: Kind[Any], reconcile: Reconcile, ctx: Context, key: Key) -> Again | None:
    """`reconcile`, with what it raises unexpectedly written in status.lastErrors before it goes on its way."""
    try:
        return await reconcile(ctx, key)
    except GanglineError:
        raise
    except Exception as error:
        await _tell(kind, ctx, key, f"{type(error).__name__}: {error}")
        raise


async def _tell(kind: Kind[Any], ctx: Context, key: Key, text: str) -> None:
    live = ctx.read.get(kind, key.name, key.namespace)
    if live is None or any(
        (last_error.code, last_error.description) == (UNEXPECTED, text) for last_error in live.status.last_errors
    ):
        return
    errors = error_list(live.status.last_errors, [(UNEXPECTED, text)], timestamp(ctx.clock.now()))
    try:
        await ctx.client.patch(kind, key.name, key.namespace, {"status": {"lastErrors": errors}}, subresource="status")
    except ApiError:
        return  # the first failure is the one to log
