"""One bench in two trees, in turn: what the old code and the new one took, scenario by scenario.

    python bench/parts/two_trees.py OLD_TREE [--pairs N] [--figure NAME] bench/core.py [ARGUMENT …]

Each tree runs its own bench with its own `.venv`, so whatever else the machine does weighs on both. A JSON line for
each scenario compares the named figure of its lines (the best of all runs: others only add to it); the last line
compares processor seconds of the whole process with its children, start included (the median)."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

NEW_TREE = Path(__file__).parents[2]


class TreeRuns:
    """What the runs of one tree took."""

    def __init__(self, tree: Path) -> None:
        self.tree = tree
        self.processor: list[float] = []
        self.figures: defaultdict[str, list[float]] = defaultdict(list)

    def run(self, command: list[str], figure: str) -> None:
        python = str(self.tree / ".venv/bin/python")
        with subprocess.Popen([python, *command], cwd=self.tree, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            lines = [json.loads(text) for text in process.stdout if text.startswith("{")]
            _, status, usage = os.wait4(process.pid, 0)
        if os.waitstatus_to_exitcode(status):
            raise SystemExit(f"{self.tree}: {' '.join(command)} failed")
        self.processor.append(usage.ru_utime + usage.ru_stime)
        for line in lines:
            if isinstance(line.get(figure), int | float):
                self.figures[" ".join(str(line[key]) for key in ("scenario", "where") if key in line)].append(
                    line[figure]
                )


def compared(scenario: str, figure: str, old: float, new: float) -> dict[str, Any]:
    ratio = round(new / old, 3) if old else None
    return {"scenario": scenario, "figure": figure, "old": round(old, 4), "new": round(new, 4), "new_by_old": ratio}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("old", type=Path, help="a worktree of the code before, with its own .venv")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--figure", default="seconds", help="of the bench's lines; less is better")
    arguments, command = parser.parse_known_args()
    old, new = TreeRuns(arguments.old.absolute()), TreeRuns(NEW_TREE)
    for pair in range(arguments.pairs):
        for runs in (old, new) if pair % 2 == 0 else (new, old):
            runs.run(command, arguments.figure)
    for scenario in old.figures:
        if scenario in new.figures:
            best = min(old.figures[scenario]), min(new.figures[scenario])
            print(json.dumps(compared(scenario, arguments.figure, *best)))
    middle = statistics.median(old.processor), statistics.median(new.processor)
    print(json.dumps(compared(" ".join(command), "processor seconds of the process", *middle)))


if __name__ == "__main__":
    main()
