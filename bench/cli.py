"""How long commands take to start: `make bench BENCH=cli`, one JSON line per command.

Processor seconds of a process of its own, the best of several: what a person waits for on a machine that does nothing
else. The aim is 0.15 s."""

from __future__ import annotations

import json
import os
import sys

RUNS = 7
AIM = 0.15
NOWHERE = "/nowhere"
CALLS = (
    ("--help",),
    ("get", "--help"),
    ("explain", "--help"),
    ("top", "--help"),
    ("queue", "set", "--help"),
    ("doctor", "--help"),
    ("run", "--help"),
    ("up", "--help"),
    ("tree", "llm", "--kubeconfig", NOWHERE),
    ("get", "gangs", "--kubeconfig", NOWHERE),
    ("explain", "llm", "--kubeconfig", NOWHERE),
)
"""Help, and commands up to their first request: without a kubeconfig they say so and end with 1."""


def seconds(words: tuple[str, ...]) -> float:
    """Processor time of one call."""
    program = [sys.executable, "-c", "from gangline.cli import main; main()", *words]
    with open(os.devnull, "w") as nowhere:
        actions = [(os.POSIX_SPAWN_DUP2, nowhere.fileno(), stream) for stream in (1, 2)]
        child = os.posix_spawn(sys.executable, program, os.environ, file_actions=actions)
        _, status, used = os.wait4(child, 0)
    if os.waitstatus_to_exitcode(status) != (NOWHERE in words):
        raise SystemExit(f"gangline {' '.join(words)} ended with {status}")
    return used.ru_utime + used.ru_stime


def main() -> None:
    for words in CALLS:
        best = min(seconds(words) for _ in range(RUNS))
        print(json.dumps({"bench": "cli", "call": " ".join(words), "cpu_seconds": round(best, 3), "aim": AIM}))


if __name__ == "__main__":
    main()
