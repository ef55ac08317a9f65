"""The pictures of the page in the README: `make pictures` starts a platform, plays examples, and lets a Chromium look.

Needs a Chromium (`make browser`, or `$CHROMIUM`); without one it says so and ends with code 1. Nothing here is imported
by the product.
"""

from __future__ import annotations

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

REPOSITORY = Path(__file__).parents[1]
PICTURES = REPOSITORY / "docs" / "pictures"
SCHEMES = {"dark": 0, "light": 1}
"""How Chromium numbers what a person prefers."""
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


def draw(page: str, scheme: str, target: Path, width: int = 1280, height: int = 900) -> None:
    told = [
        chromium.program(),
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        f"--window-size={width},{height}",
        f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}",
        "--virtual-time-budget=3000",
        f"--screenshot={target}",
        page,
    ]
    subprocess.run(told, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)


def main() -> None:
    if not chromium.program():
        raise SystemExit("no Chromium is installed: `make browser`, or name one with CHROMIUM=PATH")
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, platform(Path(folder)) as page:
        play(Path(folder), page)
        for scheme in SCHEMES:
            draw(page, scheme, PICTURES / f"page-{scheme}.png")
            print(f"docs/pictures/page-{scheme}.png")


if __name__ == "__main__":
    main()
