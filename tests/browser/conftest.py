"""A page in a Chromium, for the tests of this folder; without one they are skipped, with what to do about it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from browser import chromium
from browser.fleet import StillLife, lived
from gangline.dashboard.look import ClusterView
from gangline.dashboard.past.kept_file import write_kept
from gangline.dashboard.service import Dashboard

MISSING = chromium.missing()
PROGRAM = "" if MISSING else chromium.program()


class Visit:
    """A browser's page and what went wrong on it."""

    def __init__(self, page: Any, url: str) -> None:
        self.page, self.url, self.wrongs = page, url, list[str]()
        page.on("console", lambda line: self.wrongs.append(line.text) if line.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.wrongs.append(str(error)))

    async def go(self, path: str) -> Any:
        return await self.page.goto(f"{self.url}{path}", wait_until="load")

    async def barriers(self) -> list[str]:
        """What axe-core calls serious or critical."""
        await self.page.evaluate(chromium.AXE.read_text())
        report = await self.page.evaluate("axe.run()")
        return [
            f"{item['id']}: {item['help']}: {item['nodes'][0]['html'][:160]}"
            for item in report["violations"]
            if item["impact"] in ("serious", "critical")
        ]


Headers = dict[str, str] | None
Visited = Callable[..., AbstractAsyncContextManager[Visit]]


@asynccontextmanager
async def visiting(
    dashboard: Dashboard, width: int = 1280, height: int = 900, scheme: str = "light", headers: Headers = None
) -> AsyncIterator[Visit]:
    from playwright.async_api import async_playwright

    url = await dashboard.start()
    try:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=PROGRAM, args=list(chromium.ARGUMENTS))
            size: Any = {"width": width, "height": height}
            wanted: Any = scheme
            context = await browser.new_context(viewport=size, color_scheme=wanted, extra_http_headers=headers)
            yield Visit(await context.new_page(), url)
            await browser.close()
    finally:
        await dashboard.stop()


@pytest.fixture
def visited(tmp_path: Path) -> Visited:
    """`async with visited(view) as visit`: a browser on a dashboard, or on one that shows this view."""
    if MISSING:
        pytest.skip(MISSING)

    def of(shown: ClusterView | Dashboard, **how: Any) -> AbstractAsyncContextManager[Visit]:
        if isinstance(shown, Dashboard):
            return visiting(shown, **how)
        write_kept(tmp_path, lived(shown))
        return visiting(Dashboard(StillLife(shown), kept=tmp_path), **how)

    return of


@pytest.fixture
def axe() -> None:
    if not chromium.AXE.exists():
        pytest.skip("axe-core is not there: `make browser`")
