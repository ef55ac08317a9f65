"""`make properties`: the property tests with fresh random input, round after round, for a set time. A failing seed is
printed with the command that tries it again."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--seconds", type=float, default=120.0, help="no round begins later; 0: one round")
    asked.add_argument("--seed", type=int, default=int(time.time()), help="of the first round; each has the next one")
    asked.add_argument("--examples", type=int, default=0, help="so many at least of each slow property")
    asked.add_argument("tests", nargs="*", default=[str(HERE)])
    options = asked.parse_args()
    started, seed = time.monotonic(), options.seed
    while True:
        code = _round(seed, options.examples, options.tests)
        if code:
            print(f"seed {seed} fails; again: make properties SECONDS=0 SEED={seed}")
            return code
        print(f"seed {seed} holds", flush=True)
        seed += 1
        if time.monotonic() - started >= options.seconds:
            return 0


def _round(seed: int, examples: int, tests: list[str]) -> int:
    words = ["-n", "0", "-x", "-p", "no:cacheprovider", "-m", "hypothesis", f"--hypothesis-seed={seed}", *tests]
    words[:0] = ["--timeout", "0", "-o", "faulthandler_timeout=0"] if examples else []
    environment = {**os.environ, "HYPOTHESIS_PROFILE": "searching", "LEAST_EXAMPLES": str(examples)}
    return subprocess.run([sys.executable, "-m", "pytest", *words], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
