"""The smallest changes that would start a gang that waits, each on its own.

Every remedy is tried before it is offered: in the statement that explain.py holds open (ending a gang, relaxing a
rule), or by counting room that is really there (opening nodes, asking for fewer pods). What cannot be tried within the
budget is not offered. Ordered by how little it changes.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from gangline.scheduler.fairness.accounts import RESOURCES, line
from gangline.scheduler.model.gang import GangInfo, PodSet
from gangline.scheduler.model.resources import GPU, Vector, at
from gangline.scheduler.model.status import ACTIVE_ALLOCATED
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.placing import domain_room
from gangline.scheduler.records import DEFAULT_POD_SET
from gangline.scheduler.why.bounds import QUOTA, QueueExcess
from gangline.scheduler.why.trial import Trial, Trials
from gangline.scheduler.why.verdict import VerdictRemedy, amount, counted

TRIED_GANGS = 6
TRIED_NUMBERS = 8
NAMED_NODES = 2
OPENED = {"node is unschedulable": "uncordoned", "node has NotReady condition": "ready"}


def of_room(trials: Trials, trial: Trial) -> tuple[VerdictRemedy, ...]:
    return (
        *_open_nodes(trials, trial),
        *_fewer_pods(trials, trial),
        *_end_a_gang(trials, trial),
        *_relax(trials, trial),
        *_more_nodes(trials, trial),
    )


def _open_nodes(trials: Trials, trial: Trial) -> Iterator[VerdictRemedy]:
    """Nodes that are closed for a reason someone can change, and have the room that is missing."""
    closed = trials.closed_to(trial.tasks[0])
    demand = domain_room.demand_of(trial.tasks)
    for area, nodes in trial.areas:
        missing = len(trial.tasks) - area.fits
        for reason, verb in OPENED.items():
            shut = [node for node in nodes if closed.get(node.name) == reason]
            rooms = sorted(
                ((domain_room.slots(node, demand, frozenset()), node.name) for node in shut),
                key=lambda item: (-item[0], item[1]),
            )
            enough = [name for room, name in rooms if room >= missing]
            if enough:
                yield VerdictRemedy("open", f"{' or '.join(sorted(enough)[:NAMED_NODES])} were {verb}")
                return
            if sum(room for room, _ in rooms) >= missing:
                yield VerdictRemedy(
                    "open", f"{_how_many(rooms, missing)} of {counted(len(shut), 'node')} in {area.name} were {verb}"
                )
                return


def _how_many(rooms: Sequence[tuple[int, str]], missing: int) -> int:
    total = 0
    for number, (room, _) in enumerate(rooms, 1):
        total += room
        if total >= missing:
            return number
    return len(rooms)


def _fewer_pods(trials: Trials, trial: Trial) -> Iterator[VerdictRemedy]:
    """The fewest pods left out of one pod set with which the others fit; a pod set keeps at least one."""
    leaves = {task.pod_set.name: task.pod_set for task in trial.tasks if task.pod_set is not None}
    choices: list[tuple[int, str]] = []
    for name, leaf in leaves.items():
        mine = [task for task in trial.tasks if task.pod_set is leaf]
        for number in _numbers(trial, leaf, len(mine), alone=len(leaves) == 1):
            left_out = {task.uid for task in mine[len(mine) - number :]}
            rest = [task for task in trial.tasks if task.uid not in left_out]
            if trials.steps > 0 and trials.fitting(trial, rest, trial.best[1]) == len(rest):
                choices.append((number, name))
                break
    if choices:
        number, name = min(choices)
        yield VerdictRemedy("fewer", fewer_text(leaves[name], leaves[name].min_available - number))


def _numbers(trial: Trial, leaf: PodSet, mine: int, alone: bool) -> Sequence[int]:
    """How many to leave out: what is missing when there is no other pod set, else one after the other."""
    most = min(mine, leaf.min_available - 1)
    if alone:
        return [trial.missing] if 0 < trial.missing <= most else []
    return range(1, min(most, TRIED_NUMBERS) + 1)


def fewer_text(leaf: PodSet, number: int) -> str:
    who = "it" if leaf.name == DEFAULT_POD_SET else leaf.name
    return f"{who} needed {counted(number, 'pod')} instead of {leaf.min_available}"


def _end_a_gang(trials: Trials, trial: Trial) -> Iterator[VerdictRemedy]:
    """The smallest other gang whose end would make room."""
    session, statement = trials.session, trial.statement
    holders = trials.held(trial.resource)
    able = holders[bisect_left(holders, (_gap(trial), "")) :]
    for held, uid in able[:TRIED_GANGS]:
        other = session.cluster.gangs[uid]
        if trials.steps <= 0:
            return
        if other is trial.gang:
            continue
        trials.steps -= len(trial.tasks) + len(other.tasks)
        mark = statement.checkpoint()
        for task in [task for task in other.tasks.values() if task.status & ACTIVE_ALLOCATED]:
            statement.evict(task)
        done = trial.placement.place_member(trial.member, trial.tasks, session.all_nodes)
        statement.rollback(mark)
        if done:
            yield VerdictRemedy("end", f"gang {other.name} ({_whose(trials, other, held, trial)}) ended")
            return


def _gap(trial: Trial) -> float:
    """What must come free at least: what all pods lack together or, where that is only scattered, what one lacks on the
    best node."""
    place = trial.resource
    area, nodes = trial.best
    short = sum(at(task.request, place) for task in trial.tasks) - area.free
    largest = max(at(task.request, place) for task in trial.tasks)
    return short if short > 0 else largest - max((at(node.later, place) for node in nodes), default=0)


def _whose(trials: Trials, gang: GangInfo, held: float, trial: Trial) -> str:
    what = amount(held, trials.cluster.names.names[trial.resource])
    account = trials.accounts.get(gang.queue)
    place = {"cpu": 0, "memory": 1, "gpu": 2}.get(trials.cluster.names.names[trial.resource])
    borrows = account is not None and place is not None and 0 <= account.deserved[place] < account.allocated[place]
    return f"queue {gang.queue}, {'borrowing' if borrows else 'holding'} {what}"


def _relax(trials: Trials, trial: Trial) -> Iterator[VerdictRemedy]:
    """All nodes instead of one domain."""
    if trial.rule is None or trials.steps <= 0:
        return
    if trials.fitting(trial, trial.tasks, trials.session.all_nodes) == len(trial.tasks):
        yield VerdictRemedy("relax", f"{trial.rule.required} were preferred instead of required")


def _more_nodes(trials: Trials, trial: Trial) -> Iterator[VerdictRemedy]:
    """New nodes like one that its pods may use, where nothing but room stands against them."""
    closed = trials.closed_to(trial.tasks[0])
    like = {node.allocatable for node in trials.session.all_nodes if node.name not in closed}
    plain_pods = all(task.shape.plain and not task.shared and not task.record.spread for task in trial.tasks)
    if not like or not plain_pods or trial.missing <= 0:
        return
    demand = domain_room.demand_of(trial.tasks).largest
    pods_per_node = max(_empty_slots(room, demand) for room in like)
    size = max((at(task.request, trial.resource) for task in trial.tasks), default=0)
    if pods_per_node < 1 or size <= 0:
        return
    number, pods = math.ceil(trial.missing / pods_per_node), min(trial.missing, pods_per_node)
    where = f" in {trial.best[0].name}" if trial.rule is not None else ""
    room = amount(pods * size, trials.cluster.names.names[trial.resource])
    yield VerdictRemedy(
        "nodes", f"there {'was' if number == 1 else 'were'} {counted(number, 'more node')} with {free(room)}{where}"
    )


def _empty_slots(room: Vector, demand: Vector) -> int:
    """How many of the largest pod an empty node holds, by every resource."""
    return min((int(at(room, place) // need) for place, need in enumerate(demand) if need > 0), default=0)


def free(room: str) -> str:
    """`8 GPUs` → `8 free GPUs`."""
    number, _, word = room.partition(" ")
    return f"{number} free {word}"


# ── queues ──


def of_capacity(
    trials: Trials, gang: GangInfo, tasks: Sequence[TaskInfo], excesses: Sequence[QueueExcess]
) -> tuple[VerdictRemedy, ...]:
    """Every bound on the way up raised, less in use, or fewer pods."""
    first = excesses[0]
    remedies = [VerdictRemedy(first.bound, " and ".join(item.raised for item in excesses))]
    if all(item.bound == QUOTA for item in excesses):
        remedies.append(VerdictRemedy("preemptible", "it could be preempted"))
    if len(excesses) == 1:
        remedies += _end_in_queue(trials, gang, first)
        remedies += _fewer_in_queue(tasks, first.needed - first.held, first.needed - first.allowed)
    return tuple(remedies)


def _end_in_queue(trials: Trials, gang: GangInfo, excess: QueueExcess) -> Iterator[VerdictRemedy]:
    """The smallest gang below that queue that holds as much as is too much."""
    session = trials.session
    holders = []
    for other in session.active_gangs():
        below = excess.account.uid in {account.uid for account in line(trials.accounts, other.queue)}
        if other is gang or not below or (excess.bound == QUOTA and other.preemptible):
            continue
        held = sum(_of(trials, task, excess.word) for task in other.tasks.values() if task.status & ACTIVE_ALLOCATED)
        if held >= excess.needed - excess.allowed:
            holders.append((held, other.uid))
    if holders:
        held, uid = min(holders)
        other = session.cluster.gangs[uid]
        yield VerdictRemedy(
            "end", f"gang {other.name} (queue {other.queue}, holding {amount(held, excess.word)}) ended"
        )


def _of(trials: Trials, task: TaskInfo, resource: str) -> float:
    names = trials.cluster.names
    return names.total_gpus(task.given) if resource == RESOURCES[GPU] else at(task.given, names.index(resource))


def _fewer_in_queue(tasks: Sequence[TaskInfo], asked: float, over: float) -> Iterator[VerdictRemedy]:
    leaves = {task.pod_set.name: task.pod_set for task in tasks if task.pod_set is not None}
    if len(leaves) != 1 or len(tasks) < 2 or asked <= 0:
        return
    without = math.ceil(over / (asked / len(tasks)))
    leaf = next(iter(leaves.values()))
    if 0 < without < len(tasks) and leaf.min_available - without > 0:
        yield VerdictRemedy("fewer", fewer_text(leaf, leaf.min_available - without))
