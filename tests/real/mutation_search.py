"""Asks a real kube-apiserver and the embedded one what mutated cases say, and prints what they answer differently.

    python -m real.mutation_search [--seed N] [--first N] [--count N] [--area TEXT] [--full] [FOLDER]

The same seed and number make the same case, so that a difference can be looked at again with `--first N --count 1`.
Cases come from the corpus and, where a folder is given, from recorded ones."""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import secrets
import sys
import tempfile
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import aiohttp

from conformance.apiserver.compare import answers, difference, loosen
from conformance.apiserver.run import load
from real.mutations import Pool, mutated
from real.pair import Pair, pair
from real.plane import program
from real.scripts import Case, scripts

AT_ONCE = 6
_NAMESPACE = re.compile(r"gn-[0-9a-f]{10}")
PATIENCE = 120.0
APART = ("gc",)
"""Areas that need controllers on both sides."""


def bases(folder: Path | None, area: str) -> list[Case]:
    found = list(scripts()) + (load(folder) if folder else [])
    return [
        case
        for case in found
        if case["area"] not in APART and not case.get("serial") and area in f"{case['area']}/{case['name']}"
    ]


async def compared(both: Pair, case: Case, full: bool) -> tuple[str, bool]:
    """What differs, and whether it is more than words. Asked twice before it is told: the real server answers by chance
    while it takes in a new definition."""
    case = both.hooks.written_into(case)
    first = await _once(both, case, full)
    return await _once(both, case, full) if first[0] else first


async def _once(both: Pair, case: Case, full: bool) -> tuple[str, bool]:
    namespace = "gn-" + secrets.token_hex(5)
    played = await asyncio.gather(both.real.play(case, namespace), both.plain.play(case, namespace))
    told, have = (answers(case, namespace, [_own(step, namespace) for step in side]) for side in played)
    strict = {**case, "area": "mutated"}
    words = difference({**strict, "steps": told}, have, full)
    return words, bool(words) and loosen(told) != loosen(have)


def _own(value: Any, namespace: str) -> Any:
    """Without what lists say of other cases, which are played meanwhile."""
    if isinstance(value, dict):
        return {key: _own(item, namespace) for key, item in value.items()}
    if isinstance(value, list):
        return [_own(item, namespace) for item in value if not _foreign(item, namespace)]
    return value


def _foreign(item: Any, namespace: str) -> bool:
    answer = isinstance(item, dict) and "headers" in item
    named = _NAMESPACE.findall(json.dumps(item)) if isinstance(item, dict | str) and not answer else []
    return bool(named) and namespace not in named


async def search(options: argparse.Namespace) -> int:
    known = bases(options.folder, options.area)
    pool, slots, found = Pool(known), asyncio.Semaphore(AT_ONCE), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        async with pair(Path(folder), controllers="") as both:

            async def one(number: int) -> None:
                random = Random(f"{options.seed}/{number}")
                case = mutated(random.choice(known), pool, random)
                async with slots:
                    try:
                        told, grave = await asyncio.wait_for(compared(both, case, options.full), PATIENCE)
                    except (TimeoutError, aiohttp.ClientError) as error:
                        told, grave = f"no answer: {error!r}", True
                found["cases"] += 1
                found["requests"] += len(case["steps"])
                if told:
                    found["differ" if grave else "differ in words"] += 1
                    print(
                        f"{number} {'GRAVE' if grave else 'words'} {case['area']}/{case['name']}\n  {told}", flush=True
                    )
                    if options.full:
                        for step in case["steps"]:
                            print("   ", json.dumps(step, ensure_ascii=False)[:700])

            await asyncio.gather(*(one(number) for number in range(options.first, options.first + options.count)))
    print(json.dumps(dict(found)))
    return 1 if found["differ"] else 0


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", default="1")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--area", default="")
    parser.add_argument("--full", action="store_true", help="whole differences, and the requests")
    parser.add_argument("folder", nargs="?", type=Path)
    options = parser.parse_args()
    for name in ("etcd", "kube-apiserver"):
        if not program(name).exists():
            sys.exit(f"skipped: {name} is not built (make real)")
    return asyncio.run(search(options))


if __name__ == "__main__":
    sys.exit(main())
