"""Words for clusters that grow and shrink: what may grow, as a nodes file says it, and nodes that come and go in time
the test moves."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from gangline.api.kinds import NODE
from gangline.cluster.world.component import AUTOSCALER, components
from gangline.cluster.world.settings import read_settings
from gangline.runtime import Component
from journeys.story import Story

STEP = 20.0
"""Seconds that pass between two looks of the test."""


def grows(nodes_file: str) -> Component:
    """The autoscaler of a cluster with such nodes."""
    return next(component for component in components(read_settings(nodes_file)) if component.name == AUTOSCALER)


async def nodes(story: Story) -> list[str]:
    return sorted(node.name for node in (await story.client.list(NODE)).items)


async def come(story: Story, *wanted: str, within: float) -> None:
    """These nodes, and no others, are there and take pods before so many seconds have passed."""

    async def there() -> bool:
        return await nodes(story) == sorted(wanted)

    await _before(story, there, f"nodes {', '.join(wanted) or 'all gone'}", within)
    await story.until(lambda: story.welcomed(list(wanted)), f"{', '.join(wanted)} taking pods")


async def go(story: Story, *, within: float, leaving: tuple[str, ...] = ()) -> None:
    """All nodes but those that are left go before so many seconds have passed."""
    await come(story, *leaving, within=within)


async def stays(story: Story, seconds: float) -> None:
    """So many seconds pass, and the nodes are those that were there before."""
    before = await nodes(story)
    await _before(story, _never, "", seconds, must=False)
    after = await nodes(story)
    assert after == before, f"{before} became {after}\n{await story.picture()}"


async def _before(
    story: Story, condition: Callable[[], Awaitable[bool]], what: str, seconds: float, must: bool = True
) -> None:
    while True:
        await story.settles()
        if await condition():
            return
        if seconds <= 0:
            break
        step = min(STEP, seconds)
        story.advance(step)
        seconds -= step
    assert not must, f"{what} did not come in time\n{await story.picture()}"


async def _never() -> bool:
    return False
