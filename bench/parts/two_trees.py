"""One bench in two trees, in turn: processor seconds of the old code and of the new.

    python bench/parts/two_trees.py OLD_TREE [--pairs N] bench/core.py [ARGUMENT …]

Each tree runs its own bench with its own `.venv`. Whatever else the machine does weighs on both, and the processor time
of a process with its children (user and system) hardly knows it; the median of all pairs is told, as one JSON line."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
from pathlib import Path

NEW_TREE = Path(__file__).parents[2]


def processor_seconds(tree: Path, command: list[str]) -> float:
    """Of the bench and of the processes that it started and waited for."""
    process = subprocess.Popen([str(tree / ".venv/bin/python"), *command], cwd=tree, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status):
        raise SystemExit(f"{tree}: {' '.join(command)} failed")
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("old", type=Path, help="a worktree of the code before, with its own .venv")
    parser.add_argument("--pairs", type=int, default=5)
    arguments, command = parser.parse_known_args()
    old: list[float] = []
    new: list[float] = []
    for pair in range(arguments.pairs):
        order = ((arguments.old, old), (NEW_TREE, new))
        for tree, seconds in order if pair % 2 == 0 else order[::-1]:
            seconds.append(processor_seconds(tree, command))
    line = {
        "bench": " ".join(command),
        "old": round(statistics.median(old), 3),
        "new": round(statistics.median(new), 3),
        "new_by_old": round(statistics.median(after / before for after, before in zip(new, old, strict=True)), 3),
        "spread_old": round(max(old) / min(old) - 1, 3),
        "spread_new": round(max(new) / min(new) - 1, 3),
    }
    print(json.dumps(line))


if __name__ == "__main__":
    main()
