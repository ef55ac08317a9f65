"""The pictures of the page in the README: `make pictures` starts a platform, plays examples, and lets a Chromium look.

Needs a Chromium (`make browser`, or `$CHROMIUM`); without one it says so and ends with code 1. Nothing here is imported
by the product.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from browser import chromium
from browser.fleet import StillLife, fleet
from gangline.dashboard.service import Dashboard

REPOSITORY = Path(__file__).parents[1]
PICTURES = REPOSITORY / "docs" / "pictures"
SCHEMES = ("dark", "light")
NODES = 300
"""Of the map."""
PLAYED = ("01-gang", "04-waiting", "06-company/queues.yaml", "06-company/load.yaml")
WAITING, RUNNING = 2, 5
"""So many gangs wait and run when the picture is taken, at least."""


@contextmanager
def platform(home: Path) -> Iterator[str]:
    """A platform in memory; gives the address of its page."""
    told = [sys.executable, "-m", "gangline", "up", "--memory", "--port", "0", "--dashboard-port", "0"]
    environment = os.environ | {"GANGLINE_HOME": str(home)}
    with subprocess.Popen(told, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield _address(process)
        finally:
            process.terminate()


def _address(process: subprocess.Popen[str]) -> str:
    address = ""
    for line in process.stdout or ():
        if line.startswith("dashboard"):
            address = line.split()[1]
        if line.startswith("ready"):
            return address
    raise SystemExit("the platform did not start")


def play(home: Path, page: str) -> None:
    files = [word for name in PLAYED for word in ("-f", str(REPOSITORY / "examples" / name))]
    told = [sys.executable, "-m", "gangline", "apply", *files, "--kubeconfig", str(home / "kubeconfig")]
    subprocess.run(told, check=True, stdout=subprocess.DEVNULL)
    ends = time.monotonic() + 60
    while not _settled(_data(page)):
        if time.monotonic() > ends:
            raise SystemExit("the examples did not come to rest")
        time.sleep(0.5)


def _data(page: str) -> dict[str, Any]:
    with urllib.request.urlopen(f"{page}/?format=json") as answer:
        shown: dict[str, Any] = json.load(answer)
    return shown


def _settled(shown: dict[str, Any]) -> bool:
    return len(shown["waiting"]["rows"]) >= WAITING and len(shown["running"]["rows"]) >= RUNNING


async def draw(page: str, scheme: str, target: Path) -> None:
    """The page as a person with this preference sees it."""
    from playwright.async_api import async_playwright

    wanted: Any = scheme
    async with async_playwright() as playwright:
        program = await playwright.chromium.launch(executable_path=chromium.program(), args=list(chromium.ARGUMENTS))
        context = await program.new_context(viewport={"width": 1280, "height": 900}, color_scheme=wanted)
        shown = await context.new_page()
        await shown.goto(page)
        if page.endswith("/map"):
            await shown.wait_for_selector("#plane[data-drawn]")
        await shown.screenshot(path=str(target))
        await program.close()
    print(f"docs/pictures/{target.name}")


async def draw_map() -> None:
    """The map of a fleet that is larger than a platform on one machine."""
    dashboard = Dashboard(StillLife(fleet(NODES)))
    url = await dashboard.start()
    try:
        for scheme in SCHEMES:
            await draw(f"{url}/map", scheme, PICTURES / f"map-{scheme}.png")
    finally:
        await dashboard.stop()


def main() -> None:
    if missing := chromium.missing():
        raise SystemExit(missing)
    PICTURES.mkdir(exist_ok=True)
    asyncio.run(draw_map())
    with tempfile.TemporaryDirectory() as folder, platform(Path(folder)) as page:
        play(Path(folder), page)
        for scheme in SCHEMES:
            asyncio.run(draw(page, scheme, PICTURES / f"page-{scheme}.png"))


if __name__ == "__main__":
    main()
