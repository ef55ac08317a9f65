"""Replays the recorded behaviour of KAI's services on the embedded server: pod grouper, admission, and controllers.

Each case runs in a fresh cluster, in the manner `compat: kai`. An area is one line in `AREAS`; areas that are not named there belong to the pod
grouper.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from conformance.kai_services import grouper
from conformance.kai_services.lab import Environment, read_environment
from conformance.results import Progress, Results
from conformance.shared import suite_folder

Check = Callable[[dict[str, Any], Environment], Awaitable[str]]
"""Replays one case; answers the first difference, or an empty text."""


def _areas() -> dict[str, Check]:
    areas: dict[str, Check] = {}
    for name, module in (("admission", "conformance.kai_services.admission"), ("status", "conformance.kai_services.status")):
        if importlib.util.find_spec(module) is not None:
            areas[name] = importlib.import_module(module).check
    return areas


def check_of(area: str) -> Check | None:
    """Who replays an area; None: nobody yet."""
    family = area.partition("-")[0] if area.startswith("admission-") else area
    return _areas().get(family) if family in ("admission", "status") else grouper.check


async def run(folder: Path, progress: Progress) -> Results:
    results = Results()
    environment = read_environment(folder) or read_environment(suite_folder("kai-services"))
    if environment is None:
        raise FileNotFoundError(f"no environment.json in {folder} or above it")
    files = sorted(path for path in folder.rglob("*.json") if path.name != "environment.json")
    for number, path in enumerate(files, 1):
        case = json.loads(path.read_text())
        name = f"{case['area']}/{case['name']}"
        progress(f"{number} of {len(files)}: {name}")
        results.add(name, await _safely(case, environment))
    return results


async def _safely(case: dict[str, Any], environment: Environment) -> str:
    check = check_of(case["area"])
    if check is None:
        return f"nothing replays area {case['area']} yet"
    try:
        return await check(case, environment)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
