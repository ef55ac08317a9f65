"""Replays the recorded scenarios of the KAI scheduler core and compares: `run(folder, progress)` for every case file
below a folder.

Scenario files have the key `test`, unit tables `function`; the latter are run by `units.py`. One scenario is one
case; it passes when the expectation and the recorded decisions both hold (README section 10).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from conformance.kai_core import compare, units
from conformance.kai_core.rows import UnknownKey
from conformance.kai_core.scenario import NOW, Case, Live, check_keys, live_of, records_of, settings_of
from conformance.results import Progress, Results
from gangline.errors import Refusal
from gangline.scheduler.cycle import run_actions
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.status import Status
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.plugin import Plugin, PluginClass
from gangline.scheduler.session import Session

Check = Callable[[Session], Iterator[str]]


def run(folder: Path, progress: Progress) -> Results:
    """Every case below the folder."""
    results = Results()
    tables: list[Path] = []
    for path in sorted(folder.rglob("*.json")):
        document = json.loads(path.read_text())
        if "function" in document:
            tables.append(path)
        elif "test" in document:
            for case in document["cases"]:
                progress(case["id"])
                results.add(case["id"], run_case(case))
    for case_id, passed, why in units.run(tables, progress):
        results.add(case_id, "" if passed else why or "differs")
    return results


def run_case(case: Case) -> str:
    """The first differences in words; empty when the case passes."""
    try:
        problems = list(_rounds(case) if case["mode"] == "rounds" else _single(case))
    except UnknownKey as unknown:
        return str(unknown)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "; ".join(problems[:6])


def _single(case: Case) -> Iterator[str]:
    session = open_session(case, live_of(case))
    run_actions(session, tuple(case["actions"]))
    actual = case["actual"]
    yield from compare.expectation(case, session, compare.refusal_texts(session))
    yield from compare.over_limits(case, session.commits)
    yield from compare.recorded_tasks(actual["tasks"], session)
    yield from compare.recorded_commits(actual["commits"], session)


def _rounds(case: Case) -> Iterator[str]:
    recorded = {number: item for item in case["actual"]["rounds"] for number in item["rounds"]}
    until, after = case["rounds"]["until_match"], case["rounds"]["after_match"]
    live = live_of(case)
    for number in range(1, until + after + 1):
        session = open_session(case, live)
        run_actions(session, tuple(case["actions"]))
        problems = [
            *compare.over_limits(case, session.commits),
            *compare.recorded_tasks(recorded[number]["tasks"], session),
            *compare.recorded_commits(recorded[number].get("commits") or [], session),
        ]
        errors = compare.refusal_texts(session)
        if number > until:
            problems += compare.expectation(case, session, errors)
        live = write_back(case, session)
        if number == until:
            problems += compare.expectation(case, open_session(case, live), errors)
        yield from (f"round {number}: {problem}" for problem in problems)


def write_back(case: Case, session: Session) -> Live:
    """What the next round begins with."""
    live = Live()
    keeps = {job["name"] for job in case["cluster"]["jobs"] if job.get("keep_releasing")}
    for uid, task in session.cluster.tasks.items():
        status, node = task.status, task.node
        if status == Status.PIPELINED or (status == Status.RELEASING and task.record.gang not in keeps):
            status, node = Status.PENDING, ""
        elif status == Status.BINDING:
            status = Status.RUNNING
        live.tasks[uid] = (status, node, task.gpu_groups)
    for key, state in session.cluster.devices.claims.items():
        live.claims[key] = (state.allocated, state.reserved_for)
    return live


def open_session(case: Case, live: Live) -> Session:
    cluster = ClusterModel.build(records_of(case, live))
    return Session(cluster, settings_of(case), NOW, extra=list(_specials(case)))


def _specials(case: Case) -> Iterator[PluginClass]:
    special = check_keys("special", case.get("special") or {})
    if special.get("bind_always_fails"):
        yield BindFails
    blocker = special.get("victim_invariant_blocker")
    if blocker:
        yield lambda session, arguments: Blocker(blocker["task"], blocker["error"])


class BindFails(Plugin):
    """Every bind is refused."""

    name = "bind-fails"

    def before_bind(self, task: TaskInfo, node: NodeInfo) -> Refusal:
        return Refusal(self.name, "no bind today")


class Blocker(Plugin):
    """A check that no eviction can change and that one task never passes."""

    name = "blocker"

    def __init__(self, task: str, error: str) -> None:
        self._task = task
        self._error = error

    def victim_invariant(self, task: TaskInfo, gang: GangInfo) -> Refusal | None:
        return Refusal(self.name, self._error, resolvable=False) if task.uid == self._task else None

    def before_task(self, task: TaskInfo, gang: GangInfo) -> Refusal | None:
        return self.victim_invariant(task, gang)
