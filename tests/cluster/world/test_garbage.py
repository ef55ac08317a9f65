"""How often the garbage collector looks at an object."""

from __future__ import annotations

import asyncio

import msgspec

from gangline.api.kinds import CONFIG_MAP
from gangline.api.meta import Object
from gangline.cluster.world.upkeep.garbage import Collector
from gangline.cluster.world.upkeep.owner_graph import Item
from gangline.runtime import Context, ManualClock
from gangline.runtime.keys import Key
from gangline.runtime.queue import WorkQueue

OWNER = {"apiVersion": "example.com/v1", "kind": "Nobody", "name": "x", "uid": "uid-x"}


async def test_an_owner_of_a_kind_that_nobody_serves_is_looked_for_less_and_less_often() -> None:
    clock, looks = ManualClock(), 0
    queue, collector = WorkQueue(clock), Collector()
    context = Context(None, None, clock, None, None)  # type: ignore[arg-type]
    owned = {"metadata": {"name": "owned", "namespace": "default", "uid": "uid-owned", "ownerReferences": [OWNER]}}
    collector.graph.put(Item(CONFIG_MAP, msgspec.convert(owned, Object)))
    queue.add(Key("", "uid-owned"))
    for _ in range(100):
        looks += not queue.idle
        await collector._work(context, queue)
        await asyncio.sleep(0)
        clock.advance(0.1)
        await asyncio.sleep(0)
    queue.close()
    assert 5 < looks < 20
