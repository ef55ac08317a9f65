"""The page of the league, printed from the lines that it left. Pure: `--page` writes it (bench/league/__main__.py)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bench.league.figures import middle
from bench.league.rows import ROWS

OURS = "gangline"
HEAD = """# The league

One machine, one real control plane (etcd and kube-apiserver), the same simulated nodes, the same pods; each scheduler
in turn, every program a process of its own over HTTPS, with its limits raised. Printed by
`python bench/league --page docs/league.md --results FILE` from what `make bench BENCH=league` left; do not edit.

*seconds*: from the first object to the last bind (in the row of gangs that cannot run: until each has been told why).
*p50* and *p99*: of gangs, from the creation of their first pod to their last bind. *Partial-gang-seconds*: how long
gangs stood with some of their pods bound and others not. *Processor* is told in seconds until all is bound, of the
scheduler's programs and of API server and etcd. *Writes* are those of the scheduler's programs, until everything is at
rest.
"""
COLUMNS = (
    "scheduler",
    "seconds",
    "p50",
    "p99",
    "whole",
    "partial",
    "partial-gang-seconds",
    "processor: scheduler",
    "server",
    "writes per pod",
    "memory, MiB",
)


def page(results: Iterable[Mapping[str, Any]]) -> str:
    runs = list(results)
    found = middle(run for run in runs if "seconds" in run)
    absent = {(run["row"], run["peer"]): str(run["why"]) for run in runs if "why" in run}
    parts = [HEAD, *_conditions(found), *(f"{run['note']}\n" for run in runs if "note" in run)]
    for row in ROWS.values():
        of_row = sorted((run for run in found if run["row"] == row.name), key=_seconds)
        if of_row:
            parts.append(_section(row.title, of_row))
    parts.append(_not_run(absent))
    return "\n".join(parts)


def _conditions(found: Sequence[Mapping[str, Any]]) -> list[str]:
    scales = sorted({float(run.get("scale", 1)) for run in found})
    versions = {str(run["peer"]): str(run.get("version", "")) for run in found}
    told = ", ".join(f"{name} {version}".strip() for name, version in versions.items())
    sizes = " and ".join(f"{scale:g}" for scale in scales)
    loads = [float(run.get("load", 0)) for run in found]
    busy = f" Load of the machine meanwhile: {min(loads):g} to {max(loads):g}." if loads else ""
    return [f"Scale {sizes} (1 is what the titles say, nodes included). Run: {told}.{busy}\n"]


def _seconds(run: Mapping[str, Any]) -> float:
    return float("inf") if run.get("seconds") is None or _unfinished(run) else float(run["seconds"])


def _unfinished(run: Mapping[str, Any]) -> bool:
    """Fewer gangs than fit came to run, or some were told nothing."""
    return bool(run.get("whole", 0) < run.get("fits", 0) or ("told" in run and run["told"] < run["gangs"]))


def _section(title: str, runs: Sequence[Mapping[str, Any]]) -> str:
    lines = [f"## {title}\n", f"| {' | '.join(COLUMNS)} |", f"|{'---|' * len(COLUMNS)}"]
    lines += [f"| {' | '.join(_cells(run))} |" for run in runs]
    told = [_verdict(runs)] if len(runs) > 1 and any(run["peer"] == OURS for run in runs) else []
    behind = [
        f"{run['peer']}: a single that fits is bound in {run['behind_seconds']} s while the queue stands."
        for run in runs
        if run.get("behind_seconds") is not None
    ]
    return "\n".join([*lines, "", *told, *behind, ""])


def _cells(run: Mapping[str, Any]) -> list[str]:
    memory = run.get("memory_mib") or {}
    cells = [
        str(run["peer"]),
        f"{run['seconds']}" + (" (not all)" if _unfinished(run) else ""),
        str(run["p50"]),
        str(run["p99"]),
        f"{run['whole']} of {run['gangs']}",
        str(run["partial"]),
        str(run["partial_gang_seconds"]),
        str(run["cpu_seconds"]),
        str(run["server_cpu_seconds"]),
        str(run["writes_per_pod"]),
        f"{sum(memory.values())}" + (f" in {len(memory)}" if len(memory) > 1 else ""),
    ]
    return ["–" if cell == "None" else cell for cell in cells]


def _verdict(runs: Sequence[Mapping[str, Any]]) -> str:
    """Ours against the fastest of the others."""
    ours = next(run for run in runs if run["peer"] == OURS)
    others = [run for run in runs if run["peer"] != OURS and not _unfinished(run) and run.get("seconds")]
    if not others or not ours.get("seconds"):
        return "No other finished."
    fastest = min(others, key=_seconds)
    ratio = float(ours["seconds"]) / float(fastest["seconds"])
    return f"gangline takes {ratio:.2f} × the time of the fastest other ({fastest['peer']})."


def _not_run(absent: Mapping[tuple[str, str], str]) -> str:
    by_reason: dict[tuple[str, str], list[str]] = {}
    for (row, peer), why in absent.items():
        by_reason.setdefault((peer, why), []).append(row)
    lines = [f"- **{peer}**, {_rows(rows)}: {why}" for (peer, why), rows in by_reason.items()]
    return "\n".join(["## Not run\n", *(lines or ["Everything was run."]), ""])


def _rows(rows: Sequence[str]) -> str:
    return "every row" if len(rows) == len(ROWS) else ", ".join(rows)
