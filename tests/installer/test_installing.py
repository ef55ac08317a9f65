"""A Config and its shards on a whole cluster: deployed, changed, repaired, removed, and told of."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from gangline.api.kinds import (
    CONFIG,
    SCHEDULING_SHARD,
)
from installer.ground import Ground, ground


@pytest.fixture
async def cluster() -> AsyncIterator[Ground]:
    async with ground() as found:
        yield found


async def test_a_config_and_two_shards_become_deployments_at_work(cluster: Ground) -> None:
    await cluster.config()
    await cluster.shard("default")
    await cluster.shard("blue", partitionLabelValue="blue")
    await cluster.ready(CONFIG, "kai-config")
    await cluster.ready(SCHEDULING_SHARD, "default")
    await cluster.ready(SCHEDULING_SHARD, "blue")
    assert await cluster.deployments() == [
        "admission", "binder", "gangline-operator", "kai-scheduler-blue", "kai-scheduler-default", "node-scale-adjuster", "pod-grouper",
        "podgroup-controller", "queue-controller"]
