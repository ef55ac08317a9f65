"""How often the told cause is true and the told remedy works, on random clusters. JSON lines.

    python bench/truth.py [--clusters N] [--wide N] [--spread N] [--seed S] [--nodes N] [--show]

Each cluster has a gang that may wait. Of those that do: the cause is counted again by tests/truth/checker.py from the
plain objects; the first remedy is applied to them and the cycle is run on a model built anew; a smaller change of the
same kind must not do. The wide clusters have more to trip over (tests/truth/wide_clusters.py), those of
spread_clusters.py ask for an even spread. Then the times of a verdict of the running scheduler and of a whole answer,
on a full cluster of so many nodes."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from gangline.api import kinds
from gangline.api.meta import Raw
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.settings import shard_settings
from gangline.scheduler.snapshots.whole import records_from_objects
from gangline.scheduler.why.explain import explain_waiting
from gangline.why.answers import titles_of
from gangline.why.causes import cause_of
from gangline.why.remedies import remedies
from gangline.why.subjects import find
from truth.clusters import NOW, cluster, full_cluster, judged_cluster, objects_of
from truth.spread_clusters import spread_cluster
from truth.wide_clusters import wide_cluster


def random_clusters(name: str, make: Callable[[int], list[Raw]], count: int, seed: int, shown: bool) -> dict[str, Any]:
    answers, began = [], time.perf_counter()
    for number in range(seed, seed + count):
        checked = judged_cluster(make(number))
        if checked is None:
            continue
        answers.append(checked)
        if shown and (checked.wrong or not checked.minimal):
            why = checked.wrong or ("less would do" if checked.works else "the remedy does not work")
            print(f"# {name} {number}: {why}\n{checked.text}\n", file=sys.stderr)
    return {
        "bench": "truth",
        name: count,
        "waiting": len(answers),
        "causes_right": sum(not answer.wrong for answer in answers),
        "remedies_work": sum(answer.works for answer in answers),
        "minimal": sum(answer.minimal for answer in answers),
        "seconds": round(time.perf_counter() - began, 1),
    }


def _milliseconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def times(size: int) -> dict[str, Any]:
    raws = full_cluster(size)
    built = ClusterModel.build(records_from_objects(raws).records)
    waiting = sorted(built.waiting)
    verdicts = sorted(
        _milliseconds(partial(explain_waiting, built, shard_settings(), NOW, gangs=[gang])) for gang in waiting
    )
    began = time.perf_counter()
    objects = objects_of(raws)
    (subject,) = find(objects, waiting[0].partition("/")[2], "default")
    cause = cause_of(objects, subject, titles_of(objects))
    remedies(objects, subject, cause, titles_of(objects))
    return {
        "bench": "truth",
        "nodes": size,
        "pods": len(objects.raws(kinds.POD)),
        "waiting": len(waiting),
        "verdict_ms_p50": round(verdicts[len(verdicts) // 2], 1),
        "verdict_ms_p99": round(verdicts[-1], 1),
        "answer_seconds": round(time.perf_counter() - began, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clusters", type=int, default=2000)
    parser.add_argument("--wide", type=int, default=500)
    parser.add_argument("--spread", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--nodes", type=int, default=500)
    parser.add_argument("--show", action="store_true", help="print answers that are wrong")
    given = parser.parse_args()
    for name, make, count in (
        ("clusters", cluster, given.clusters),
        ("wide_clusters", wide_cluster, given.wide),
        ("spread_clusters", spread_cluster, given.spread),
    ):
        if count:
            print(json.dumps(random_clusters(name, make, count, given.seed, given.show)), flush=True)
    if given.nodes:
        print(json.dumps(times(given.nodes)), flush=True)


if __name__ == "__main__":
    main()
