"""Why a gang finds no nodes: its pods are placed one after the other until one finds none, and every node says why
not that one.

Works in a statement that is undone. `scheduler/why/trial.py` finds the part of the gang and the domain that got
furthest; nodes.py says what stands against the first pod that is left over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gangline.api.meta import Raw
from gangline.scheduler.model.gang import GangInfo, Group
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.resources import GPU, PODS, at
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.placing.place import GangPlacement
from gangline.scheduler.records import TopologyRule
from gangline.scheduler.session import Session
from gangline.scheduler.why.explain import STEPS
from gangline.scheduler.why.trial import Trial, Trials
from gangline.scheduler.why.verdict import counted
from gangline.why.amounts import amount, listed, plain
from gangline.why.nodes import NodeObstacle, node_facts
from gangline.why.objects import ClusterObjects

SHOWN_REASONS = 6
CLOSED = (
    "cordon",
    "taint",
    "label",
    "not-ready",
    "pressure",
    "lifecycle",
    "field",
    "volume",
    "mig",
    "gpu-memory",
    "size",
)


@dataclass(slots=True)
class NoRoom:
    """What a gang that found no nodes was told by each of them.

    `pods` of its part that found no room are `asked`, `placed` of them got a node; `stuck` is the first that did
    not."""

    gang: GangInfo
    stuck: TaskInfo
    asked: int
    placed: int
    facts: dict[str, list[NodeObstacle]]
    rule: TopologyRule | None = None
    level: str = ""
    domain: str = ""
    domains: tuple[tuple[str, int], ...] = ()
    """Domains that were tried, and how many of the pods each holds."""
    short: str = ""
    nodes: tuple[str, ...] = ()
    """Of the best domain; of the cluster where there is no topology."""
    part: str = ""
    beside: tuple[tuple[str, str], ...] = ()
    """Pods of the gang that did find a node, and which."""

    def proof(self) -> Raw:
        """What was counted: who is left over, beside whom, and what each node says."""
        told = {
            node: [{"code": fact.code, **({"resource": fact.resource} if fact.resource else {})} for fact in facts]
            for node, facts in self.facts.items()
        }
        return {"pod": self.stuck.name, "beside": dict(self.beside), "among": list(self.nodes), "nodes": told}

    def reasons(self) -> list[tuple[str, list[str]]]:
        """What nodes say, the most frequent first, each with the nodes that say it."""
        told: dict[str, list[str]] = {}
        for node, facts in self.facts.items():
            told.setdefault("; ".join(fact.text for fact in facts), []).append(node)
        return sorted(told.items(), key=lambda item: (-len(item[1]), item[0]))

    def codes(self) -> Counter[str]:
        return Counter(code for facts in self.facts.values() for code in {fact.code for fact in facts})


def find_room(session: Session, objects: ClusterObjects, gang: GangInfo, tasks: list[TaskInfo]) -> NoRoom | None:
    """None: there is room for all of them."""
    trials = Trials(session, STEPS)
    statement = session.statement()
    try:
        placement = GangPlacement(session, statement, gang, simulation=True)
        session.hooks.before_gang(gang)
        member, mine, nodes = trials.culprit(placement, statement, gang.root, tasks, session.all_nodes)
        if member is None:
            return None
        trial = trials.attempt(gang, member, mine, statement, placement, nodes)
        while trial.missing == 0 and isinstance(trial.member, Group):
            inner = trials.inner_culprit(trial)
            if inner is None:
                break
            trial = inner
        return _no_room(session, objects, trial)
    finally:
        statement.discard()


def _no_room(session: Session, objects: ClusterObjects, trial: Trial) -> NoRoom:
    area, nodes = trial.best
    inside = list(nodes) or list(session.all_nodes)
    stuck, placed = trial.tasks[-1], 0
    beside: list[tuple[str, str]] = []
    for task in trial.tasks:
        if not trial.placement._place_task(task, nodes):
            stuck = task
            break
        placed += 1
        beside.append((task.name, task.node))
    facts = {node.name: node_facts(session, objects, stuck, node) for node in inside}
    return NoRoom(
        trial.gang,
        stuck,
        len(trial.tasks),
        placed,
        {name: told for name, told in facts.items() if told},
        trial.rule,
        trial.level,
        area.name if trial.rule is not None else "",
        tuple((item.name, item.fits) for item, _ in trial.areas),
        _short(session, trial, inside),
        tuple(node.name for node in inside),
        trial.member.name,
        tuple(beside),
    )


def _short(session: Session, trial: Trial, nodes: Sequence[NodeInfo]) -> str:
    """What is missing altogether on nodes that are open, where that is so."""
    closed = Trials(session, 0).closed_to(trial.tasks[0])
    place = trial.resource
    if place == PODS or all(node.name in closed for node in nodes):
        return ""
    if place == GPU and any(task.shared for task in trial.tasks):
        return ""
    need = sum(at(task.request, place) for task in trial.tasks)
    short = need - trial.best[0].free
    return amount(short, session.cluster.names.names[place]) if short > 0 else ""


# ── words ──


def headline(no_room: NoRoom, session: Session) -> str:
    """The one sentence."""
    where = f" in one {no_room.level}" if no_room.level else ""
    if not no_room.nodes:
        return "there is no node" if not no_room.level else f"no node has the labels of topology level {no_room.level}"
    closed = [facts for facts in no_room.facts.values() if any(fact.code in CLOSED for fact in facts)]
    if no_room.placed == 0 and len(closed) == len(no_room.facts) == len(no_room.nodes):
        return _closed(no_room)
    if no_room.short:
        return f"{no_room.short} short{where}"
    resources = Counter(
        fact.resource for facts in no_room.facts.values() for fact in facts if fact.code in ("busy", "slots")
    )
    lacking = f": {_lacking(no_room, resources)}" if resources or no_room.facts else ""
    if no_room.asked == 1:
        return f"none of {counted(len(no_room.nodes), 'node')}{where} takes its pod{lacking}"
    return (
        f"{no_room.placed} of {counted(no_room.asked, 'pod')} find a node{where}, pod {no_room.stuck.name} finds none "
        f"beside the others{lacking}"
    )


def _lacking(no_room: NoRoom, resources: Counter[str]) -> str:
    text, nodes = no_room.reasons()[0] if no_room.reasons() else ("", [])
    return f"{_nodes(nodes, len(no_room.nodes))} {text}" if text else ""


def _closed(no_room: NoRoom) -> str:
    """No node is open to it, whatever is free there."""
    reasons = no_room.reasons()
    every = len(no_room.nodes)
    if len(reasons) == 1:
        who = (
            f"node {no_room.nodes[0]}, the only one,"
            if every == 1
            else f"each of {every} nodes ({listed(no_room.nodes)})"
        )
        return f"{who} {reasons[0][0]}"
    sizes = {fact.resource for facts in no_room.facts.values() for fact in facts if fact.code == "size"}
    if len(sizes) == 1 and all(any(fact.code == "size" for fact in facts) for facts in no_room.facts.values()):
        return f"no node is large enough: {_largest(no_room, next(iter(sizes)))}"
    return f"none of {counted(every, 'node')} may be used by it: " + "; ".join(
        f"{_nodes(nodes, every)} {text}" for text, nodes in reasons[:2]
    )


def _largest(no_room: NoRoom, resource: str) -> str:
    said = [
        (fact.text, node)
        for node, facts in no_room.facts.items()
        for fact in facts
        if fact.resource == resource and fact.code == "size"
    ]
    text, node = max(said, key=lambda item: (len(item[0]), item[0]))
    return f"node {node} {text}"


def _nodes(nodes: Sequence[str], every: int) -> str:
    if len(nodes) == every and every > 1:
        return f"each of {every} nodes"
    return f"node {nodes[0]}" if len(nodes) == 1 else f"nodes {listed(nodes)} each"


def lines(no_room: NoRoom) -> Iterator[str]:
    """The proof, node by node."""
    if no_room.asked > 1:
        yield (
            f"{no_room.placed} of "
            f"{counted(no_room.asked, 'pod')}{f' of {no_room.part}' if no_room.part not in ('', 'default') else ''} "
            "find a node" + (f" in {no_room.domain}" if no_room.domain else "") + f"; pod {no_room.stuck.name} does not"
        )
    for domain, fits in no_room.domains[:4] if no_room.rule is not None else ():
        yield f"{no_room.level} {domain} holds {fits} of {counted(no_room.asked, 'pod')}"
    reasons = no_room.reasons()
    for text, nodes in reasons[:SHOWN_REASONS]:
        yield f"{_nodes(nodes, len(no_room.nodes))} {text}"
    rest = sum(len(nodes) for _, nodes in reasons[SHOWN_REASONS:])
    if rest:
        yield f"and {counted(rest, 'more node')} with other reasons"


def asks(tasks: Sequence[TaskInfo], names: Sequence[str]) -> str:
    """What the pods ask for: `8 GPUs, 16 cores of CPU for 4 pods`."""
    totals: Counter[int] = Counter()
    for task in tasks:
        for place, need in enumerate(task.request):
            if need and place != PODS:
                totals[place] += need  # type: ignore[assignment]
    order = sorted(totals, key=lambda place: (place != GPU, place))
    told = [amount(totals[place], names[place]) for place in order[:4]]
    memory = sum(task.gpu.memory * task.gpu.count for task in tasks)
    told += [f"{memory} MiB of GPU memory"] if memory else []
    return f"{', '.join(told)} for {counted(len(tasks), 'pod')}" if told else counted(len(tasks), "pod")


__all__ = ["NoRoom", "asks", "find_room", "headline", "lines", "plain"]
