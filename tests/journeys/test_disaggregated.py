"""The disaggregated inference service of examples/07-disaggregated, as docs/guide/disaggregated-inference.md tells
it."""

from __future__ import annotations

from gangline.api.core import Pod
from gangline.api.kinds import HPA, POD_CLIQUE, POD_CLIQUE_SET, POD_GANG, SCALING_GROUP, SERVICE
from gangline.client.wire import JSON_PATCH
from journeys.story import Story

FOLDER = "examples/07-disaggregated"
PODS = 8
"""2 routers, 2 × 2 prefill, 1 leader and 1 worker of decode."""


async def start(story: Story) -> None:
    await story.nodes(4, gpus=8)
    await story.apply(FOLDER)
    await story.running(PODS, of="llama")


async def test_router_prefill_and_decode_start_as_one_gang_and_the_second_prefill_as_its_own(story: Story) -> None:
    await start(story)
    gangs = {
        gang.name: {group.name: group.min_replicas for group in gang.spec.podgroups}
        for gang in await story.all(POD_GANG)
    }
    assert gangs == {
        "llama-0": {"llama-0-router": 1, "llama-0-p-0-prefill": 2, "llama-0-d-0-dleader": 1, "llama-0-d-0-dworker": 1},
        "llama-0-p-0": {"llama-0-p-1-prefill": 2},
    }
    assert [item.name for item in await story.all(HPA)] == ["llama-0-p"]
    assert "llama-0" in {item.name for item in await story.all(SERVICE)}
    decode = {pod.spec.node_name for pod in await story.pods(of="llama") if "-d-0-" in pod.name}
    assert len(decode) == 1


async def test_the_router_waits_for_prefill_and_decode_and_finds_them_by_name(story: Story) -> None:
    await start(story)
    router = next(pod for pod in await story.pods(of="llama") if "-router-" in pod.name)
    assert router.spec.subdomain == "llama-0" and router.spec.hostname.startswith("llama-0-router-")
    cliques = {item.name: item.spec.starts_after for item in await story.all(POD_CLIQUE)}
    assert cliques["llama-0-router"] == ("llama-0-p-0-prefill", "llama-0-d-0-dleader")
    assert cliques["llama-0-d-0-dworker"] == ("llama-0-d-0-dleader",) and cliques["llama-0-p-1-prefill"] == ()


async def test_prefill_grows_and_shrinks_by_whole_replicas_while_decode_stays(story: Story) -> None:
    await start(story)
    decode = {pod.uid for pod in await story.pods(of="llama") if "-d-0-" in pod.name}
    await story.client.patch(SCALING_GROUP, "llama-0-p", "default", {"spec": {"replicas": 4}}, subresource="scale")
    await story.running(PODS + 4, of="llama")
    assert {gang.name for gang in await story.all(POD_GANG)} == {"llama-0", "llama-0-p-0", "llama-0-p-1", "llama-0-p-2"}
    await story.client.patch(SCALING_GROUP, "llama-0-p", "default", {"spec": {"replicas": 1}}, subresource="scale")
    await story.running(PODS - 2, of="llama")
    assert decode <= {pod.uid for pod in await story.pods(of="llama")}


async def test_a_new_image_for_the_router_replaces_routers_and_nothing_else(story: Story) -> None:
    await start(story)
    others = {pod.uid for pod in await story.pods(of="llama") if "-router-" not in pod.name}
    change = [
        {
            "op": "replace",
            "path": "/spec/template/cliques/0/spec/podSpec/containers/0/image",
            "value": "example/router:2",
        }
    ]
    await story.client.patch(POD_CLIQUE_SET, "llama", "default", change, content_type=JSON_PATCH)

    async def updated() -> bool:
        pcs = await story.client.get(POD_CLIQUE_SET, "llama", "default")
        routers = [pod for pod in await story.pods(of="llama") if "-router-" in pod.name]
        return bool((pcs.status.update_progress or {}).get("updateEndedAt")) and all(
            _image(pod) == "example/router:2" for pod in routers
        )

    await story.until(updated, "the update of the routers")
    await story.running(PODS, of="llama")
    pcs = await story.client.get(POD_CLIQUE_SET, "llama", "default")
    progressing = next(condition for condition in pcs.status.conditions if condition.type == "Progressing")
    assert (progressing.status, progressing.reason) == ("True", "UpdateComplete")
    assert others == {pod.uid for pod in await story.pods(of="llama") if "-router-" not in pod.name}


def _image(pod: Pod) -> str:
    return str(pod.spec.containers[0].image)
