"""A stream of small work never starves a gang: whether or not anybody says how long things run, its turn comes."""

from __future__ import annotations

import pytest

from gangline.api import names
from gangline.api.kinds import POD
from journeys.story import Story, told

GPUS = 4
"""Two nodes of two GPUs: all of them are what the gang asks for."""
WAITING = 3
"""So many of the small pods wait at any time: a free GPU is asked for before anybody notices that it is free."""


class Stream:
    """One-GPU pods that come for ever; the oldest one that runs ends when the test says so."""

    def __init__(self, story: Story, runtime: str) -> None:
        self._story = story
        self._noted = {names.EXPECTED_RUNTIME: runtime} if runtime else {}
        self._made = 0
        self.running: list[str] = []

    async def comes(self, count: int) -> None:
        for _ in range(count):
            await self._story.pod(f"small-{self._made:03}", gpus=1, annotations=self._noted)
            self._made += 1
        await self.look()

    async def look(self) -> None:
        await self._story.settles()
        pods = await self._story.pods(phase="Running")
        self.running = sorted(pod.name for pod in pods if pod.name.startswith("small-"))

    async def one_ends(self) -> None:
        await self._story.client.delete(POD, self.running[0], "default")


MOST_OVERTAKING = 2 * 4 * GPUS + 2 * GPUS
"""Where nothing is known, small pods pass until they have started with eight times the gang's GPUs; then all that run
must end."""


@pytest.mark.parametrize(
    ("runtime", "most"), [("", MOST_OVERTAKING), ("1h", 2 * GPUS)], ids=["nothing is known", "runtimes are known"]
)
async def test_a_stream_of_small_pods_does_not_starve_a_gang(runtime: str, most: int) -> None:
    async with told(moved=True) as story:
        await story.nodes(2, gpus=GPUS // 2)
        stream = Stream(story, runtime)
        await stream.comes(GPUS)
        assert len(stream.running) == GPUS
        await story.gang("big", 2, gpus=GPUS // 2)
        await stream.comes(WAITING)
        ended = 0
        while not (await story.get_pod("big-0")).spec.node_name:
            assert ended < most, f"{ended} small pods came and went, and the gang still waits\n{await story.picture()}"
            story.advance(5.0)
            await stream.one_ends()
            await stream.comes(1)
            ended += 1
        await story.runs("big-0", "big-1")
