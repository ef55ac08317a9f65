"""A gang without room in words: one sentence, the proof node by node, and what it asks for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from gangline.scheduler.model.resources import GPU, PODS
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.session import Session
from gangline.scheduler.why.verdict import amount, counted
from gangline.why.nodes.room import NoRoom, by_reason
from gangline.why.words.amounts import listed

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


def headline(no_room: NoRoom, session: Session) -> str:
    """The one sentence."""
    where = f" in one {no_room.level}" if no_room.level else ""
    if not no_room.nodes:
        return "there is no node" if not no_room.level else f"no node has the labels of topology level {no_room.level}"
    if no_room.placed == no_room.asked and not no_room.facts:
        return _not_together(no_room, where)
    closed = [facts for facts in no_room.facts.values() if any(fact.code in CLOSED for fact in facts)]
    if len(closed) == len(no_room.facts) == len(no_room.nodes):
        return _closed(no_room)
    if no_room.short:
        closed_too = [f"; {nodes_text(nodes, 0)} {text}" for text, nodes in by_reason(no_room.openable)[:1]]
        return f"{no_room.short} short{where}{''.join(closed_too)}"
    lacking = f": {_lacking(no_room)}" if no_room.facts else ""
    if no_room.asked == 1:
        return _alone(no_room, where, lacking)
    if no_room.placed == 0:
        return f"none of its {no_room.asked} pods finds a node{where}{lacking}"
    return (
        f"{no_room.placed} of {no_room.asked} pods find a node{where}, pod {no_room.stuck.name} finds none "
        f"beside the others{lacking}"
    )


def _alone(no_room: NoRoom, where: str, lacking: str) -> str:
    """Of a gang of one pod."""
    if len(no_room.nodes) == 1 and no_room.reasons():
        return f"node {no_room.nodes[0]}, the only one{where}, {no_room.reasons()[0][0]}"
    return f"none of {counted(len(no_room.nodes), 'node')}{where} takes its pod{lacking}"


def _not_together(no_room: NoRoom, where: str) -> str:
    """Every pod finds a node by itself, and yet the gang is not placed."""
    if not no_room.level:
        return "its pods would find nodes one by one, but the scheduler does not place them together"
    return (
        f"its {counted(no_room.asked, 'pod')} would find nodes{where}, but the scheduler takes no {no_room.level} as a "
        f"whole ({no_room.domain})"
    )


def _lacking(no_room: NoRoom) -> str:
    reasons = no_room.reasons()
    uneven = [item for item in reasons if any(fact.code == "spread" for fact in no_room.facts[item[1][0]])]
    text, nodes = (uneven or reasons)[0] if reasons else ("", [])
    return f"{nodes_text(nodes, len(no_room.nodes))} {text}" if text else ""


def _closed(no_room: NoRoom) -> str:
    """No node is open to it, whatever is free there."""
    reasons = no_room.reasons()
    every = len(no_room.nodes)
    where = f" in {no_room.level} {no_room.domain}" if no_room.level and no_room.domain else ""
    if len(reasons) == 1:
        who = (
            f"node {no_room.nodes[0]}, the only one{where},"
            if every == 1
            else f"each of {every} nodes{where} ({listed(no_room.nodes)})"
        )
        return f"{who} {reasons[0][0]}"
    sizes = {fact.resource for facts in no_room.facts.values() for fact in facts if fact.code == "size"}
    if len(sizes) == 1 and all(any(fact.code == "size" for fact in facts) for facts in no_room.facts.values()):
        return f"no node is large enough: {_largest(no_room, next(iter(sizes)))}"
    return f"none of {counted(every, 'node')}{where} may be used by it: " + "; ".join(
        f"{nodes_text(nodes, every)} {text}" for text, nodes in reasons[:2]
    )


def _largest(no_room: NoRoom, resource: str) -> str:
    largest = [
        (fact.text, node)
        for node, facts in no_room.facts.items()
        for fact in facts
        if fact.resource == resource and fact.code == "size"
    ]
    text, node = max(largest, key=lambda item: (len(item[0]), item[0]))
    return f"node {node} {text}"


def nodes_text(nodes: Sequence[str], every: int) -> str:
    if len(nodes) == every and every > 1:
        return f"each of {every} nodes"
    return f"node {nodes[0]}" if len(nodes) == 1 else f"each of the nodes {listed(nodes)}"


def lines(no_room: NoRoom) -> Iterator[str]:
    """The proof, node by node."""
    if no_room.asked > 1:
        whose = f" of {no_room.part}" if no_room.part not in ("", "default") else ""
        where = f" in {no_room.domain}" if no_room.domain else ""
        yield f"{no_room.placed} of {no_room.asked} pods{whose} find a node{where}; pod {no_room.stuck.name} does not"
    for domain, fits in no_room.domains[:4] if no_room.rule is not None else ():
        closed = [f"{nodes_text(nodes, 0)} {text}" for text, nodes in by_reason(no_room.elsewhere.get(domain, {}))]
        why = f": {'; '.join(closed[:2])}" if closed else ""
        yield f"{no_room.level} {domain} holds {fits} of {counted(no_room.asked, 'pod')}{why}"
    reasons = no_room.reasons()
    for text, nodes in reasons[:SHOWN_REASONS]:
        yield f"{nodes_text(nodes, len(no_room.nodes))} {text}"
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
    amounts = [amount(totals[place], names[place]) for place in order[:4]]
    memory = sum(task.gpu.memory * task.gpu.count for task in tasks)
    amounts += [f"{memory} MiB of GPU memory"] if memory else []
    return f"{', '.join(amounts)} for {counted(len(tasks), 'pod')}" if amounts else counted(len(tasks), "pod")
