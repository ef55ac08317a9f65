"""Replays the recorded behaviour of KAI's services on the embedded server: pod grouper, admission, and controllers.

Each case runs in a fresh cluster, in the manner `compat: kai`. Areas that are not named in `FAMILIES` belong to the pod
grouper."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from conformance.kai_services import admission, grouper, status
from conformance.kai_services.lab import Environment, read_environment
from conformance.results import Progress, Results
from conformance.shared import suite_folder

Check = Callable[[dict[str, Any], Environment], Awaitable[str]]
"""Replays one case; answers the first difference, or an empty text."""


FAMILIES: dict[str, Check] = {"admission": admission.check, "status": status.check}


def check_of(area: str) -> Check:
    """Who replays an area."""
    return FAMILIES.get(area.partition("-")[0], grouper.check)


def case_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.json") if path.name != "environment.json")


async def run(folder: Path, progress: Progress) -> Results:
    results = Results()
    environment = read_environment(folder) or read_environment(suite_folder("kai-services"))
    if environment is None:
        raise FileNotFoundError(f"no environment.json in {folder} or above it")
    files = case_files(folder)
    for number, path in enumerate(files, 1):
        case = json.loads(path.read_text())
        name = f"{case['area']}/{case['name']}"
        progress(f"{number} of {len(files)}: {name}")
        results.add(name, await _safely(case, environment))
    return results


async def _safely(case: dict[str, Any], environment: Environment) -> str:
    try:
        return await check_of(case["area"])(case, environment)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
