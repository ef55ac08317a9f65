"""Clusters that grow: pods that fit nowhere bring nodes after a while, gangs start whole on them, and nodes that nobody
needs go again."""

from __future__ import annotations

from gangline.api.kinds import DEPLOYMENT, NODE, POD, POD_CLIQUE_SET
from journeys.growing import come, go, grows, nodes, stays
from journeys.story import told

POOLS = """
nodes:
- {name: small, gpus: 1, grow: {most: 2, delay: 300, idle: 600}}
- {name: big, gpus: 8, topology: {example.com/rack: 2}, grow: {most: 3, delay: 300, idle: 600}}
"""
SHAPES = """
provisioners:
- name: flexible
  shapes: [{name: one, gpus: 1}, {name: four, gpus: 4}, {name: eight, gpus: 8}]
  most: 4
  delay: 300
  batch: 100
  empty: 600
"""

# --- pools of a cluster autoscaler ------------------------------------------------------------------------------------


async def test_a_gang_brings_the_nodes_it_needs_after_their_delay_and_starts_whole() -> None:
    async with told(grows(POOLS), moved=True) as story:
        await story.gang("a", 4, gpus=4)
        await stays(story, 100)
        await story.shares()
        await come(story, "big-0", "big-1", within=400)
        await story.shares(a=4)
        assert sorted((await story.nodes_of("a")).items()) == [("big-0", 2), ("big-1", 2)]
        [told_once, *_] = await story.events("TriggeredScaleUp")
        assert told_once.message == "pod triggered scale-up: a node of pool big comes"


async def test_the_smallest_pool_in_which_a_pod_fits_grows() -> None:
    async with told(grows(POOLS), moved=True) as story:
        await story.pod("little", gpus=1)
        await come(story, "small-0", within=400)
        assert await story.run_on("little") == ["small-0"]
        await story.pod("large", gpus=2)
        await come(story, "big-0", "small-0", within=400)
        assert await story.run_on("large") == ["big-0"]


async def test_a_pool_does_not_grow_beyond_its_most_and_the_rest_waits() -> None:
    async with told(grows(POOLS), moved=True) as story:
        for number in range(4):
            await story.gang(f"a{number}", 1, gpus=8, labels={"gang": "a"})
        await come(story, "big-0", "big-1", "big-2", within=400)
        await story.shares(a=3)
        await stays(story, 400)
        await story.shares(a=3)


async def test_what_can_never_fit_brings_nothing() -> None:
    async with told(grows(POOLS), moved=True) as story:
        await story.pod("huge", gpus=9)
        await stays(story, 400)
        await story.waits("huge")
        assert await nodes(story) == []


async def test_a_node_that_held_nothing_for_long_enough_goes_and_a_used_one_stays() -> None:
    async with told(grows(POOLS), moved=True) as story:
        await story.pod("stays", gpus=8)
        await story.pod("goes", gpus=8)
        await come(story, "big-0", "big-1", within=400)
        where = await story.runs("stays", "goes")
        await story.client.delete(POD, "goes", "default")
        await story.leaves("goes")
        await stays(story, 100)
        await go(story, leaving=(where["stays"],), within=900)
        await story.runs("stays")


async def test_bystanders_bring_nodes_too() -> None:
    async with told(grows(POOLS), moved=True) as story:
        await story.client.create(
            DEPLOYMENT,
            {
                "metadata": {"name": "web", "namespace": "default"},
                "spec": {
                    "replicas": 2,
                    "selector": {"matchLabels": {"app": "web"}},
                    "template": {
                        "metadata": {"labels": {"app": "web"}},
                        "spec": {
                            "containers": [
                                {"name": "main", "image": "app", "resources": {"limits": {"nvidia.com/gpu": "1"}}}
                            ]
                        },
                    },
                },
            },
        )
        await come(story, "small-0", "small-1", within=400)
        await story.running(2)


# --- shapes of a provisioner ------------------------------------------------------------------------------------------


async def test_a_provisioner_brings_the_smallest_shape_for_all_that_waits_together() -> None:
    async with told(grows(SHAPES), moved=True) as story:
        await story.gang("a", 4, gpus=1)
        await come(story, "flexible-0", within=700)
        await story.shares(a=4)
        [node] = await story.all(NODE)
        assert node.labels["node.kubernetes.io/instance-type"] == "four"
        assert node.labels["karpenter.sh/nodepool"] == "flexible"


async def test_pods_that_come_a_moment_later_share_the_node_that_is_ordered() -> None:
    async with told(grows(SHAPES), moved=True) as story:
        await story.gang("a", 1, gpus=4)
        await story.settles()
        story.advance(5)
        await story.gang("b", 1, gpus=4)
        await come(story, "flexible-0", within=700)
        await story.shares(a=1, b=1)
        [node] = await story.all(NODE)
        assert node.labels["node.kubernetes.io/instance-type"] == "eight"


async def test_a_provisioned_node_goes_soon_after_its_last_pod() -> None:
    async with told(grows(SHAPES), moved=True) as story:
        await story.pod("p", gpus=1)
        await come(story, "flexible-0", within=700)
        await story.runs("p")
        await story.client.delete(POD, "p", "default")
        await story.leaves("p")
        await stays(story, 100)
        await go(story, within=900)


async def test_a_set_that_is_scaled_out_gets_the_nodes_of_its_new_replica() -> None:
    async with told(grows(SHAPES), moved=True) as story:
        await story.apply("examples/01-gang/llm.yaml")
        await come(story, "flexible-0", within=700)
        await story.running(5, of="llm")
        await story.client.patch(POD_CLIQUE_SET, "llm", "default", {"spec": {"replicas": 2}})
        await come(story, "flexible-0", "flexible-1", within=700)
        await story.running(10, of="llm")
