"""How long `gangline whatif` takes, and how often it is right. JSON lines.

    python bench/whatif.py [--nodes N] [--pods N] [--repeat N] [--cases N] [--seed S]

The first lines are the whole command as a user starts it (`wall`: process, reading over TLS, answer; `cpu`: seconds of
the command's own process; the best of the tries, after one that compiles), against an embedded server in another
process that holds so many nodes and pods. `--cases` compares the answer to random questions with what the whole
platform then does (tests/whatif/cases.py). Where several Jobs make pods anew at once, whose pod comes first decides who
gets the room, there as in any cluster: a case that differs is played again, and counted apart (`several_ends`) if the
platform itself comes to different ends and the answer is one of them."""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from gangline.api import kinds
from gangline.api.meta import Raw
from gangline.local import Platform, PlatformSettings, write_kubeconfig
from truth.clusters import full_cluster
from whatif.cases import compared

READY = "ready"
MORE_PLAYS = 6
"""Of a case whose answer differs from what happened."""
EXAMPLE = Path(__file__).parents[1] / "examples" / "03-job" / "train.yaml"


def filled(nodes: int, pods: int) -> list[Raw]:
    """Nodes of eight GPUs, gangs of four on them until there are so many pods; twenty gangs wait."""
    objects = full_cluster(nodes)
    placed = [obj for obj in objects if obj["kind"] == "Pod" and obj["spec"].get("nodeName")]
    surplus = {obj["metadata"]["name"].rpartition("-")[0] for obj in placed[pods:]}
    return [obj for obj in objects if _gang(obj) not in surplus]


def _gang(obj: Raw) -> str:
    name = str(obj["metadata"]["name"])
    return name.rpartition("-")[0] if obj["kind"] == "Pod" else name


async def serve(folder: Path, nodes: int, pods: int) -> None:
    platform = Platform(PlatformSettings(components=()))
    await platform.open()
    for obj in filled(nodes, pods):
        kind = kinds.known(obj["apiVersion"], obj["kind"])
        assert kind is not None
        platform.server.plant(kind.group, kind.plural, obj)
    write_kubeconfig(platform, await platform.listen(), folder / "kubeconfig")
    print(READY, flush=True)
    await asyncio.Event().wait()


def timed(kubeconfig: Path, repeat: int, *arguments: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "gangline", "whatif", "--kubeconfig", str(kubeconfig), "-o", "json", *arguments]
    compiled = {"PYTHONPYCACHEPREFIX": str(kubeconfig.parent / "compiled")}
    usual = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    walls, used, answer = [], [], ""
    for _ in range(repeat + 1):
        began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        answer = subprocess.run(command, check=True, capture_output=True, text=True, env=usual | compiled).stdout
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        walls.append(time.perf_counter() - began)
        used.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    told = json.loads(answer)
    fates = [gang["fate"] for gang in (*told["new"], *told["others"])]
    return {
        **told["read"],
        "wall": round(min(walls), 2),
        "cpu": round(min(used), 2),
        "fates": {fate: fates.count(fate) for fate in set(fates)},
    }


def speed(nodes: int, pods: int, repeat: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        arguments = [sys.executable, __file__, "--serve", folder, "--nodes", str(nodes), "--pods", str(pods)]
        server = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None and server.stdout.readline().strip() == READY
            scenes = {
                "file": ("-f", str(EXAMPLE)),
                "drain": ("--drain", "n0", "--drain", "n1"),
                "add-nodes": ("--add-nodes", "n0=10"),
                "all": (
                    *("-f", str(EXAMPLE), "--drain", "n0", "--add-nodes", "n1=4"),
                    *("--quota", "a.gpu.quota=64", "--without", "x2"),
                ),
            }
            for name, words in scenes.items():
                line = timed(Path(folder) / "kubeconfig", repeat, *words)
                print(json.dumps({"bench": "whatif", "scenario": name, **line}), flush=True)
        finally:
            server.kill()
            server.wait()


def agreement(cases: int, seed: int) -> None:
    logging.disable(logging.CRITICAL)
    several: list[int] = []
    wrong: list[int] = []
    for number in range(seed, seed + cases):
        found = asyncio.run(compared(number))
        if not found.same:
            others = [asyncio.run(compared(number)) for _ in range(MORE_PLAYS)]
            (several if any(play.real == found.told for play in others) else wrong).append(number)
            print(f"# case {number}: told {found.told}, real {found.real}", file=sys.stderr)
            print(f"#   played again: {[play.real for play in others]}", file=sys.stderr)
    told = {"cases": cases, "same": cases - len(several) - len(wrong), "several_ends": several, "differ": wrong}
    print(json.dumps({"bench": "whatif", "scenario": "agreement", **told}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=500)
    parser.add_argument("--pods", type=int, default=4000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--cases", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve is not None:
        asyncio.run(serve(given.serve, given.nodes, given.pods))
        return
    speed(given.nodes, given.pods, given.repeat)
    if given.cases:
        agreement(given.cases, given.seed)


if __name__ == "__main__":
    main()
