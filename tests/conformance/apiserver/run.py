"""Replays the recorded kube-apiserver cases against freshly started embedded servers.

    python -m conformance.apiserver.run [--only TEXT] [--diff] [FOLDER]      for people: chosen cases, whole differences

Cases that need controllers run against a second server with the controllers of cluster/world/ as its clients.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import secrets
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from conformance.apiserver.compare import answers, difference
from conformance.apiserver.player import Player
from conformance.results import Progress, Results
from conformance.shared import suite_folder
from gangline.cluster.server.server import Server, ServerSettings

TOKEN = "admintoken"
AT_ONCE = 12
Case = dict[str, Any]


def settings() -> ServerSettings:
    """The recorded server's settings."""
    return ServerSettings(anonymous=True, tokens={TOKEN: "admin"}, service_account_admission=False)


def load(folder: Path) -> list[Case]:
    files = (
        [folder]
        if folder.is_file()
        else sorted((folder / "cases" if (folder / "cases").is_dir() else folder).rglob("*.json"))
    )
    return [
        case for case in (json.loads(file.read_text()) for file in files) if isinstance(case, dict) and "steps" in case
    ]


async def run(folder: Path, progress: Progress) -> Results:
    """Every case below a folder."""
    return await replay(load(folder), progress)


async def replay(cases: Iterable[Case], progress: Progress, full: bool = False) -> Results:
    cases = list(cases)
    results = Results()
    plain = [case for case in cases if not case.get("kcm")]
    if plain:
        server = Server(settings())
        await server.open()
        try:
            await _play(Player(server.handle, TOKEN, lagging=False), plain, results, progress, full)
        finally:
            await server.close()
    controlled = [case for case in cases if case.get("kcm")]
    if controlled:
        await _play_controlled(controlled, results, progress, full)
    return results


async def _play_controlled(cases: list[Case], results: Results, progress: Progress, full: bool) -> None:
    try:
        from conformance.apiserver.controllers import controlled_server
    except ImportError:
        for case in cases:
            results.add(_id(case), "needs controllers of cluster/world/ that are not there")
        return
    async with controlled_server(settings()) as server:
        await _play(Player(server.handle, TOKEN, lagging=True), cases, results, progress, full)


async def _play(player: Player, cases: list[Case], results: Results, progress: Progress, full: bool) -> None:
    slots = asyncio.Semaphore(AT_ONCE)
    order = {_id(case): index for index, case in enumerate(cases)}
    found: dict[str, str] = {}

    async def one(case: Case) -> None:
        async with slots:
            found[_id(case)] = await _check(player, case, full)
            progress(f"{len(found)} of {len(cases)}")

    await asyncio.gather(*(one(case) for case in cases if not case.get("serial")))
    for case in cases:
        if case.get("serial"):
            await one(case)
    for name in sorted(found, key=order.__getitem__):
        results.add(name, found[name])


async def _check(player: Player, case: Case, full: bool) -> str:
    namespace = "gn-" + secrets.token_hex(5)
    done = await player.play(case, namespace)
    return difference(case, answers(case, namespace, done), full)


def _id(case: Case) -> str:
    return f"{case['area']}/{case['name']}"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="", help="cases whose area/name contains this; several separated by commas")
    parser.add_argument("--diff", action="store_true", help="whole differences")
    parser.add_argument("folder", nargs="?", type=Path, default=suite_folder("apiserver"))
    options = parser.parse_args()
    wanted = options.only.split(",")
    cases = [case for case in load(options.folder) if any(text in _id(case) for text in wanted)]
    results = asyncio.run(replay(cases, lambda text: None, options.diff))
    for name, why in results.failed.items():
        print(f"FAILED {name}\n  {why}" if options.diff else f"FAILED {name}: {why}")
    _summary(results)
    return 1 if results.failed else 0


def _summary(results: Results) -> None:
    areas = sorted({name.split("/")[0] for name in [*results.passed, *results.failed]})
    for area in areas:
        passed = sum(name.startswith(area + "/") for name in results.passed)
        failed = sum(name.startswith(area + "/") for name in results.failed)
        print(f"{area:12} {passed:4} passed {failed:4} failed")
    print(f"{len(results.passed)} passed, {len(results.failed)} failed")


if __name__ == "__main__":
    sys.exit(main())
