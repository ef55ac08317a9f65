"""Startup order (SO1–SO4): pods are scheduled together, and start when the cliques before theirs are ready.

Every pod takes ten seconds from its start to being ready, in time that the test moves; so what is ready after each ten
seconds is the order itself."""

from __future__ import annotations

import pytest

from gangline.api import names
from journeys.sets import GROUP, WL3, WL4, WL5, WL6, Workload, is_ready, sets_in_time

A = "0-pc-a"
B0, B1, C0, C1 = (f"0-{GROUP}-{replica}-{clique}" for clique in ("pc-b", "pc-c") for replica in (0, 1))
SECONDS = 10


@pytest.mark.parametrize(
    ("workload", "order"),
    [
        pytest.param(WL3, [{A}, {B0, B1}, {C0, C1}], id="SO1_in_order_a_then_b_then_c_of_both_replicas"),
        pytest.param(
            WL4, [{A, B1}, {B0, C1}, {C0}], id="SO2_in_order_inside_the_base_gang_and_the_scaled_gang_by_itself"
        ),
        pytest.param(WL5, [{A}, {C0, C1}, {B0, B1}], id="SO3_as_said_a_then_c_then_b"),
        pytest.param(
            WL6, [{A, B1}, {B0, C1}, {C0}], id="SO4_as_said_inside_the_base_gang_and_the_scaled_gang_by_itself"
        ),
    ],
)
async def test_SO_cliques_become_ready(workload: Workload, order: list[set[str]]) -> None:
    async with sets_in_time() as sets:
        await sets.nodes(10)
        manifest = workload.manifest()
        for clique in manifest["spec"]["template"]["cliques"]:
            clique["annotations"] = {names.READY_SECONDS: str(SECONDS)}
        await sets.story.apply(manifest)
        await sets.story.settles()
        assert all(pod.spec.node_name for pod in await sets.pods()) and len(await sets.pods()) == 10
        seen: set[str] = set()
        for expected in order:
            sets.story.advance(SECONDS)
            await sets.story.settles()
            pods = await sets.pods()
            ready = {pod.labels[names.POD_CLIQUE].removeprefix("w-") for pod in pods if is_ready(pod)}
            assert ready - seen == expected
            seen = ready
        assert all(is_ready(pod) for pod in await sets.pods())
