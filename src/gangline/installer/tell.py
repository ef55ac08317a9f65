"""The fourth beat: conditions on a Config or a shard, and an event when something keeps it from being deployed.

A status is written only when it says something new, even while the cache has not seen the last one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gangline.api.kinds import Kind
from gangline.api.meta import Raw
from gangline.installer.status import DEPLOYED, RECONCILING, begun, merged
from gangline.runtime import Context
from gangline.runtime.clock import timestamp


class ConfigTeller:
    def __init__(self) -> None:
        self._written: dict[str, Any] = {}
        """By uid, each object as it was when its status was written last."""

    def conditions(self, obj: Any) -> list[Raw]:
        """The newest that are known."""
        written = self._written.get(obj.uid)
        newest = obj if written is None or _revision(obj) >= _revision(written) else written
        return list(newest.status.get("conditions") or ())

    async def begin(self, ctx: Context, kind: Kind[Any], obj: Any) -> None:
        """Say that work on a new generation has begun, so that nobody takes the old answer for the new one."""
        reconciling: Raw = next(
            (condition for condition in self.conditions(obj) if condition.get("type") == RECONCILING), {}
        )
        if reconciling.get("observedGeneration") != obj.metadata.generation:
            await self.tell(ctx, kind, obj, begun(obj.metadata.generation))

    async def tell(self, ctx: Context, kind: Kind[Any], obj: Any, news: Sequence[Raw]) -> None:
        before = self.conditions(obj)
        conditions = merged(before, news, timestamp(ctx.clock.now()))
        if conditions is None:
            return
        known = {item.get("message") for item in before if item.get("type") == DEPLOYED}
        for item in news:
            if item["type"] == DEPLOYED and item["status"] == "False" and item["message"] not in known:
                ctx.events.tell(kind, obj, "NotDeployed", item["message"], warning=True)
        self._written[obj.uid] = await ctx.client.patch(
            kind, obj.name, "", {"status": {"conditions": conditions}}, subresource="status"
        )


def _revision(obj: Any) -> int:
    return int(obj.metadata.resource_version)
