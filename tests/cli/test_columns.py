"""What `kubectl get` shows of groups and queues on a platform: the phase, GPUs asked for and held, quota, and why a
gang waits, in one line each."""

from __future__ import annotations

from cli.test_whatif import cluster
from embedded import until
from gangline.api.kinds import POD_GROUP
from gangline.cli.connection import ClusterConnection
from gangline.cli.objects.get import _ask, as_text


async def table(here: ClusterConnection, kind: str) -> list[str]:
    answer = await _ask(here, await here.kind(kind), "", True, "", table=True)
    return as_text(answer, wide=False, everywhere=False).splitlines()


async def test_groups_and_queues_are_one_line_each_with_what_they_ask_for_hold_and_wait_for() -> None:
    async with cluster("01-gang", "04-waiting") as here:

        async def told() -> bool:
            groups = (await here.client.list(POD_GROUP)).items
            return sum(bool(group.status.scheduling_conditions) for group in groups) == 1

        await until(told)
        groups, queues = await table(here, "podgroups"), await table(here, "queues")
    assert groups[0].split() == ["NAME", "QUEUE", "PHASE", "MIN", "ASKED", "GPUS", "STARTS-BY", "AGE", "WHY"]
    assert len(groups) == 3
    waits = next(line for line in groups if "pg-large" in line)
    assert "Pending" in waits and waits.split()[4] == "40" and " large-0 waits: " in waits
    assert queues[0].split()[-3:] == ["QUOTA", "ASKED", "USED"]
    assert len(queues) == 3 and queues[1].split()[-2:] == queues[2].split()[-2:]
