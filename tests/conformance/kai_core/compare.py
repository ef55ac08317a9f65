"""Compares what we decided with a recorded scenario: the expectation (README section 7) and the recorded decisions
(sections 8 and 10).

Each function gives the differences in words, an empty list means none. GPU group names are compared up to renaming on
each node.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from conformance.kai_core.scenario import NOW, Case
from gangline.scheduler.decisions import Bind, Commit, Evict
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.resources import CPU, GPU, MEMORY
from gangline.scheduler.model.status import ALLOCATED, Status
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.plugins.fit.numa import NumaPlugin
from gangline.scheduler.refusals import joined
from gangline.scheduler.session import Session
from gangline.scheduler.settings import seconds

EXPECT = frozenset(["jobs", "tasks", "nodes", "custom"])
WANTED = frozenset(
    (
        "status",
        "node",
        "gpus_required",
        "gpus_accepted",
        "cpu_milli_required",
        "memory_bytes_required",
        "gpu_groups",
        "skip_gpu_groups",
        "numa_zones",
        "error_message",
        "last_start_older_than",
    )
)


def expectation(case: Case, session: Session, errors: Mapping[str, str]) -> Iterator[str]:
    """Differences from `expect`. `errors`: the refusal text per job, where a later build keeps those of an earlier
    round."""
    expect = case["expect"]
    if set(expect) - EXPECT:
        yield f"expect: unknown key {sorted(set(expect) - EXPECT)}"
    for name, want in (expect.get("jobs") or {}).items():
        gang = session.cluster.gangs[name]
        yield from _wanted(name, want, list(gang.tasks.values()), gang, session, errors, whole=True)
    for uid, want in (expect.get("tasks") or {}).items():
        task = session.cluster.tasks.get(uid)
        if task is not None and task.gang is not None:
            yield from _wanted(uid, want, [task], task.gang, session, errors, whole=False)
    for name, want in (expect.get("nodes") or {}).items():
        yield from _node(name, want, session)


def _wanted(
    label: str,
    want: Mapping[str, Any],
    tasks: list[TaskInfo],
    gang: GangInfo,
    session: Session,
    errors: Mapping[str, str],
    whole: bool,
) -> Iterator[str]:
    if set(want) - WANTED:
        yield f"{label}: unknown key {sorted(set(want) - WANTED)}"
    for task in tasks:
        if task.status.label != want["status"]:
            yield f"{task.uid}: {task.status.label}, expected {want['status']}"
        if want.get("node") and task.node != want["node"]:
            yield f"{task.uid}: on {task.node or 'no node'}, expected on {want['node']}"
        if whole and "numa_zones" in want and sorted(zone for zone, _ in task.numa or ()) != sorted(want["numa_zones"]):
            yield f"{task.uid}: zones {task.numa}, expected {want['numa_zones']}"
    yield from _sums(label, want, tasks)
    if Status.from_label(want["status"]) & ALLOCATED and gang.last_start is None:
        yield f"{label}: no start time"
    older = want.get("last_start_older_than")
    if older and (gang.last_start is None or NOW - gang.last_start < seconds(older)):
        yield f"{label}: started at {gang.last_start}, expected to be older than {older}"
    if whole and want.get("error_message") and errors.get(gang.uid, "") != want["error_message"]:
        yield f"{label}: refused with {errors.get(gang.uid, '')!r}, expected {want['error_message']!r}"


def _sums(label: str, want: Mapping[str, Any], tasks: list[TaskInfo]) -> Iterator[str]:
    sums = {
        "gpus_required": sum(task.gpus for task in tasks),
        "gpus_accepted": sum(task.accepted_gpus for task in tasks),
        "cpu_milli_required": sum(task.request[CPU] for task in tasks),
        "memory_bytes_required": sum(task.request[MEMORY] for task in tasks),
    }
    for key, found in sums.items():
        wanted = want.get(key, 0)
        if (wanted or key == "gpus_required") and abs(found - wanted) > 1e-9:
            yield f"{label}: {key} {found}, expected {wanted}"


def _node(name: str, want: Mapping[str, Any], session: Session) -> Iterator[str]:
    node = session.cluster.nodes[name]
    for key, found in (("idle_gpus", node.idle[GPU]), ("releasing_gpus", node.releasing[GPU])):
        if found != want.get(key, 0):
            yield f"{name}: {key} {found}, expected {want.get(key, 0)}"
    for zone, amounts in (want.get("numa_available") or {}).items():
        numa = next(plugin for plugin in session.hooks.plugins if isinstance(plugin, NumaPlugin))
        free = numa.numa_available(node)[int(zone)]
        for resource, text in amounts.items():
            wanted = int(text) * (1000 if resource == "cpu" else 1)
            if free.get(resource, 0) != wanted:
                yield f"{name}: zone {zone} has {free.get(resource, 0)} {resource}, expected {wanted}"


def refusal_texts(session: Session) -> dict[str, str]:
    return {uid: joined(session.refused(uid)) for uid in session.cluster.gangs if session.refused(uid)}


# ── the recorded decisions ──


def states(session: Session) -> dict[str, dict[str, Any]]:
    """Our tasks in the form of the recording."""
    return {
        uid: {
            "status": task.status.label,
            "node": task.node if task.status & ~Status.PENDING & ~Status.GATED else "",
            "gpu_groups": list(task.gpu_groups),
        }
        for uid, task in session.cluster.tasks.items()
    }


def recorded_tasks(recorded: Mapping[str, Mapping[str, Any]], session: Session) -> Iterator[str]:
    """Differences of statuses, nodes and GPU groups from the recorded ones."""
    ours = session.cluster.tasks
    names = _Renaming()
    for uid, want in sorted(recorded.items()):
        task = ours[uid]
        if task.status.label != want["status"]:
            yield f"{uid}: {task.status.label}, upstream {want['status']}"
        if task.status.label not in ("Pending", "Gated") and task.node != want.get("node", ""):
            yield f"{uid}: on {task.node}, upstream on {want.get('node')}"
        elif want["status"] not in ("Pending", "Gated") and want.get("gpu_groups"):
            yield from names.compare(uid, task.node, list(task.gpu_groups), want["gpu_groups"])


class _Renaming:
    """A one-to-one matching of our group names with the recorded ones, per node."""

    def __init__(self) -> None:
        self._ours: dict[tuple[str, str], str] = {}
        self._theirs: dict[tuple[str, str], str] = {}

    def compare(self, uid: str, node: str, ours: list[str], theirs: list[str]) -> Iterator[str]:
        if len(ours) != len(theirs):
            yield f"{uid}: GPU groups {ours}, upstream {theirs}"
            return
        for mine, other in zip(ours, theirs, strict=True):
            if (
                self._ours.setdefault((node, mine), other) != other
                or self._theirs.setdefault((node, other), mine) != mine
            ):
                yield f"{uid}: GPU groups {ours} on {node}, upstream {theirs}"
                return


def recorded_commits(recorded: list[Mapping[str, Any]], session: Session) -> Iterator[str]:
    """Commits as multisets of (operation, task, node). The recording names, for an evicted task that was given another
    place, that place."""
    theirs = Counter((item["op"], item["task"], item.get("node", "")) for item in recorded)
    ours: Counter[tuple[str, str, str]] = Counter()
    given: dict[str, str] = {}
    for commit in reversed(session.commits):
        if isinstance(commit, Evict):
            ours["evict", commit.task, given.pop(commit.task, commit.node)] += 1
        else:
            given[commit.task] = commit.node
            ours[operation(commit), commit.task, commit.node] += 1
    for what, number in sorted((ours - theirs).items()):
        yield f"we commit {' '.join(what)}{f' ×{number}' if number > 1 else ''}, upstream does not"
    for what, number in sorted((theirs - ours).items()):
        yield f"upstream commits {' '.join(what)}{f' ×{number}' if number > 1 else ''}, we do not"


def operation(commit: Commit) -> str:
    return "bind" if isinstance(commit, Bind) else "evict" if isinstance(commit, Evict) else "pipeline"


def over_limits(case: Case, commits: list[Commit]) -> Iterator[str]:
    limits = case.get("limits") or {}
    for operation_name, key in (("bind", "binds"), ("evict", "evictions"), ("pipeline", "pipelines")):
        number = sum(operation(commit) == operation_name for commit in commits)
        if number > limits.get(key, 0):
            yield f"{number} {key}, at most {limits.get(key, 0)} allowed"
