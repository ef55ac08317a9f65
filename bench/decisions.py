"""How good decisions are: published traces played in the lab, one JSON line per experiment and setting.

    python bench/decisions.py [openb] [philly] [disruption] [small] [--seeds N] [--gpus N] [--first N] [--runtimes
    exact,noisy:3,learned,none]

openb is the arrival experiment (130 % of the GPUs asked for, nothing leaves): GPUs allocated, the mean over seeds,
beside KAI's packing and the figure that the authors of FGD published. philly is a hundred days of jobs on 704 GPUs in
one queue: waits beside today's greedy order. disruption plays the same with all actions, in one queue and, its first 31
days, with a queue per virtual cluster: evictions and GPU-hours lost beside those of evictions that are free. All need
the traces at ../shared/traces; where they are absent, small plays a generated trace instead."""

from __future__ import annotations

import argparse
import csv
import json
import math
import random
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from gangline.lab.arrivals import inflated
from gangline.lab.builtin_settings import BUILT_IN, quiet
from gangline.lab.engine import Experiment, Simulation
from gangline.lab.fleet import ONE_QUEUE, equal_machines, one_queue, queues_by_demand
from gangline.lab.formats import FORMATS
from gangline.lab.formats.openb import read_nodes
from gangline.lab.formats.rows import TraceText
from gangline.lab.jobs import Machine, TraceJob
from gangline.lab.measures import figures
from gangline.lab.runtimes import expected_runtimes
from gangline.lab.selection import last_moment, selected
from gangline.scheduler.records import QueueRecord
from gangline.scheduler.settings import DEFAULT_ACTIONS

TRACES = Path(__file__).parents[2] / "shared" / "traces"
LOAD = 1.3
FIRST_SEED = 42


def text(path: Path) -> TraceText:
    return TraceText(path.name, path.read_text())


def played(
    setting: str,
    jobs: Sequence[TraceJob],
    machines: Sequence[Machine],
    runtimes: str = "none",
    drops: bool = False,
    actions: tuple[str, ...] = ("allocate",),
    queues: Sequence[QueueRecord] = (),
    until: float = math.inf,
) -> dict[str, Any]:
    """`queues`: a queue per name in the trace, instead of one for all."""
    began = time.process_time()
    experiment = Experiment(
        setting,
        jobs,
        machines,
        queues or one_queue(),
        quiet(BUILT_IN[setting](), actions),
        expected_runtimes(runtimes, jobs, 0),
        one_queue="" if queues else ONE_QUEUE,
        drops=drops,
        until=until,
    )
    answer = figures(Simulation(experiment).run())
    return {**answer, "wall_s": round(time.process_time() - began, 1)}


# ── openb ──


def openb(folder: Path, seeds: int, only: Sequence[str]) -> Iterator[dict[str, Any]]:
    machines = read_nodes(text(folder / "openb_node_list_gpu_node.csv"))
    gpus = sum(machine.gpus for machine in machines)
    published = _published(folder / "allocated_at_130.csv")
    for file in sorted(folder.glob("openb_pod_list_*.csv")):
        workload = file.stem.removeprefix("openb_pod_list_")
        if only and workload not in only:
            continue
        pods = FORMATS["openb"](text(file))
        for setting in ("greedy", "native"):
            found = [
                played(setting, inflated(pods, gpus, LOAD, FIRST_SEED + turn), machines, drops=True)
                for turn in range(seeds)
            ]
            shares = [answer["gpus_allocated_percent"] for answer in found]
            yield {
                "experiment": "openb",
                "workload": workload,
                "settings": setting,
                "seeds": seeds,
                "gpus_allocated_percent": round(sum(shares) / len(shares), 2),
                "each": shares,
                "fgd": published.get((workload, "FGD")),
                "best_fit": published.get((workload, "BestFit")),
                "cpu_s": round(sum(answer["wall_s"] for answer in found), 1),
            }


def _published(file: Path) -> dict[tuple[str, str], float]:
    found: dict[tuple[str, str], list[float]] = {}
    for row in csv.DictReader(file.read_text().splitlines()):
        found.setdefault((row["workload"], row["policy"]), []).append(float(row["gpus_allocated_percent"]))
    return {key: round(sum(values) / len(values), 2) for key, values in found.items()}


# ── waits ──


def waits(name: str, jobs: Sequence[TraceJob], gpus: int, runtimes: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Greedy once, then native with each knowledge of runtimes, and how many times greedy's figures those are."""
    machines = equal_machines(gpus, 8)
    greedy = played("greedy", jobs, machines)
    yield {"experiment": name, "gpus": gpus, "runtimes": "any", **greedy}
    for kind in runtimes:
        ours = played("native", jobs, machines, kind)
        yield {"experiment": name, "gpus": gpus, "runtimes": kind, "times_greedy": _ratios(ours, greedy), **ours}


def _ratios(ours: dict[str, Any], greedy: dict[str, Any]) -> dict[str, float]:
    pairs = {"mean_all": ("all", "mean_h"), "mean_large": (">=16", "mean_h"), "p99_large": (">=16", "p99_h")}
    return {
        name: round(ours["waits"][size][key] / (greedy["waits"][size][key] or 1.0), 3)
        for name, (size, key) in pairs.items()
    }


DAYS = 31


def disruption(jobs: Sequence[TraceJob], gpus: int, first: int | None) -> Iterator[dict[str, Any]]:
    """What evictions cost: where they are free (greedy), and where they have a price."""
    machines, until = equal_machines(gpus, 8), last_moment(jobs, DAYS)
    queues, early = queues_by_demand(jobs, gpus), selected(jobs, first, None, until)
    for setting in ("greedy", "native"):
        whole = played(setting, jobs[:first], machines, "exact", actions=DEFAULT_ACTIONS)
        yield {"experiment": "disruption", "gpus": gpus, "queues_played": 1, **whole}
    for setting in ("greedy", "native"):
        part = played(setting, early, machines, actions=DEFAULT_ACTIONS, queues=queues, until=until)
        yield {"experiment": "disruption", "gpus": gpus, "queues_played": len(queues), "days": DAYS, **part}


def generated(number: int = 1500, seed: int = 7) -> list[TraceJob]:
    """Mostly one-GPU jobs with a long tail, some gangs, busier by day, asking for about 70 % of 64 GPUs."""
    chance = random.Random(seed)
    jobs, now = [], 0.0
    for place in range(number):
        now += chance.expovariate(1 / (160 if (now // 43_200) % 2 else 480))
        gpus = chance.choices((1, 2, 4, 8, 16, 32), (72, 10, 8, 6, 3, 1))[0]
        pods = max(gpus // 8, 1)
        jobs.append(TraceJob(f"job-{place}", now, chance.lognormvariate(7.4, 1.6), pods, gpus / pods))
    return jobs


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help="openb, philly, disruption, small; by default what there is data for")
    parser.add_argument("--seeds", type=int, default=10, help="of openb")
    parser.add_argument("--workload", action="append", default=[], help="of openb; default: all there are")
    parser.add_argument("--gpus", type=int, default=704, help="of philly and disruption")
    parser.add_argument("--first", type=int, help="only the first N jobs of philly and disruption")
    parser.add_argument("--runtimes", default="exact,noisy:3,learned,none")
    arguments = parser.parse_args()
    there = TRACES.is_dir()
    names = arguments.names or (["openb", "philly", "disruption"] if there else ["small"])
    runtimes = arguments.runtimes.split(",")
    for name in names:
        if name == "small":
            lines = waits("small", generated(), 64, runtimes)
        elif not there:
            print(f"{name}: no traces at ../shared/traces", file=sys.stderr)
            continue
        elif name == "openb":
            lines = openb(TRACES / "openb", arguments.seeds, arguments.workload)
        else:
            jobs = sorted(FORMATS["philly"](text(TRACES / "philly" / "philly.csv")), key=lambda job: job.arrival)
            if name == "disruption":
                lines = disruption(jobs, arguments.gpus, arguments.first)
            else:
                lines = waits("philly", jobs[: arguments.first], arguments.gpus, runtimes)
        for line in lines:
            print(json.dumps(line), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
