"""Which Chromium tests and pictures use; `python -m browser.chromium` prints it. `make browser` brings one.

`$CHROMIUM` names one; else one on the path, else Playwright's own."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome")
AXE = Path(__file__).parents[2] / ".cache" / "browser" / "axe.min.js"
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--hide-scrollbars")


def program() -> str:
    """The path of a Chromium; empty: there is none."""
    named = (os.environ.get("CHROMIUM", ""), *NAMES)
    return next((path for name in named if name and (path := shutil.which(name))), "") or _playwrights_own()


def _playwrights_own() -> str:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return ""
    with sync_playwright() as playwright:
        path = str(playwright.chromium.executable_path)
    return path if Path(path).exists() else ""


def missing() -> str:
    """Why no test runs in a browser; empty: they can."""
    try:
        import playwright.async_api  # noqa: F401
    except ImportError:
        return "Playwright is not installed: `make browser`"
    return "" if program() else "no Chromium is installed: `make browser`, or name one with CHROMIUM=PATH"


if __name__ == "__main__":
    if not program():
        sys.exit("no Chromium")
    print(program())
