"""Runs the unit tables recorded from KAI: one row is one call of one of our pure functions, compared with what
upstream's function gave.

Each table `units/<area>/<function>.json` has one entry in `TABLES`. A row with a key we do not know fails: nothing is
skipped silently.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from conformance.kai_core import units_fairness, units_gangs, units_placing
from conformance.kai_core.rows import Row, UnknownKey

Result = tuple[str, bool, str]
Check = Callable[[Row], str]

TABLES: Mapping[str, Check] = {**units_fairness.TABLES, **units_gangs.TABLES, **units_placing.TABLES}


def run(files: Sequence[Path], progress: Callable[[str], None] = lambda text: None) -> list[Result]:
    """Every row of every file as (id, passed, what differs)."""
    results: list[Result] = []
    for path in files:
        results.extend(run_file(path))
        progress(f"{path.parent.name}/{path.stem}")
    return results


def run_file(path: Path) -> Iterable[Result]:
    table = json.loads(path.read_text())
    check = TABLES.get(f"{table['area']}/{table['function']}")
    for case in table["cases"]:
        yield run_row(case, check)


def run_row(case: Mapping[str, Any], check: Check | None) -> Result:
    if check is None:
        return case["id"], False, "no function of ours stands behind this table"
    try:
        why = check(Row(case))
    except UnknownKey as unknown:
        why = str(unknown)
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
    return case["id"], not why, why
