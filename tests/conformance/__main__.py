"""`make conformance`: replay what upstream decided or created, and hold the line.

    python tests/conformance [--suite S ...] [--cases FOLDER] [--verbose] [--allow-nothing]

Without `--cases`, each suite's recorded cases run and the ratchet holds: an unlisted case that fails, or a listed one
that passes, fails the run. With `--cases`, the lists are ignored and every case below the folder must pass. Where there
is no recorded case, nothing was shown: that is said, and ends with a code of its own unless it is allowed."""

from __future__ import annotations

import argparse
import asyncio
import importlib
import inspect
import sys
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # behind the standard library, which has an `operator` too

from conformance.results import Results
from conformance.shared import known_failures, suite_folder

SUITES = {
    "kai-core": "conformance.kai_core.run",
    "apiserver": "conformance.apiserver.run",
    "kai-services": "conformance.kai_services.run",
    "grove": "conformance.grove.run",
}
SHOWN = 25
NOTHING = 5
"""How a run ends in which no case was replayed, as pytest's does."""


def main() -> int:
    arguments = _arguments()
    suites = arguments.suite or ([_suite_of(arguments.cases)] if arguments.cases else list(SUITES))
    tally, folders = Tally(), {suite: arguments.cases or suite_folder(suite) for suite in suites}
    for suite, folder in folders.items():
        if folder.exists():
            report(suite, run_suite(suite, folder), tally, strict=bool(arguments.cases), verbose=arguments.verbose)
        else:
            print(f"{suite}: not run, no recorded cases at {folder}")
    if not (tally.passed or tally.failed or tally.known):
        places = ", ".join(dict.fromkeys(str(item) for item in folders.values()))
        print(f"nothing was run: no recorded cases at {places}; CASES=folder names another folder")
        return 0 if arguments.allow_nothing else NOTHING
    if tally.known:
        print(f"{tally.known} more are known to fail (tests/conformance/known-failures)")
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


@dataclass(slots=True)
class Tally:
    passed: int = 0
    failed: int = 0
    """Cases that fail and are not listed, and cases that are listed and pass."""
    known: int = 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="conformance", description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--suite", action="append", choices=list(SUITES), help="only this suite (may be repeated)")
    parser.add_argument(
        "--cases", type=Path, help="run every case below this folder; the lists of known failures are ignored"
    )
    parser.add_argument(
        "--allow-nothing",
        action="store_true",
        help=f"where there are no recorded cases, end with 0 instead of {NOTHING}",
    )
    parser.add_argument("--verbose", action="store_true", help="show every failing case, not the first few")
    return parser.parse_args()


def _suite_of(folder: Path) -> str:
    """The suite a folder belongs to, by the name of one of its parents."""
    named = [part for part in folder.resolve().parts if part in SUITES]
    if not named:
        sys.exit(f"which suite is {folder}? Say --suite {'|'.join(SUITES)}")
    return named[-1]


def run_suite(suite: str, folder: Path) -> Results:
    module = importlib.import_module(SUITES[suite])
    started = time.monotonic()
    live = sys.stderr.isatty()

    def progress(text: str) -> None:
        if live:
            print(f"\r{suite}: {text}"[:118].ljust(118), end="", file=sys.stderr, flush=True)

    try:
        answer = module.run(folder, progress)
        results: Results = asyncio.run(answer) if inspect.iscoroutine(answer) else answer
    except FileNotFoundError as error:
        print(f"{suite}: not run, {error}")
        return Results()
    if live:
        print(file=sys.stderr)
    print(
        f"{suite}: {len(results.passed)} of {len(results.passed) + len(results.failed)} cases pass "
        f"({time.monotonic() - started:.0f} s)"
    )
    return results


def report(suite: str, results: Results, tally: Tally, *, strict: bool, verbose: bool) -> None:
    """Print what is not as it should be, and count it."""
    known = set() if strict else known_failures(suite)
    new = {case: why for case, why in results.failed.items() if case not in known}
    healed = sorted(known & set(results.passed))
    for case, why in list(new.items())[: None if verbose else SHOWN]:
        print(f"  FAILED {case}: {why}")
    if len(new) > SHOWN and not verbose:
        print(f"  … and {len(new) - SHOWN} more (--verbose shows all)")
    for case in healed:
        print(f"  PASSES NOW {case}: take it off tests/conformance/known-failures/{suite}.txt")
    tally.passed += len(results.passed) - len(healed)
    tally.failed += len(new) + len(healed)
    tally.known += len(results.failed) - len(new)


if __name__ == "__main__":
    sys.exit(main())
