"""Queues as a tree: quota, limit, what they hold and ask for, who borrows, and who leaves quota unused.

What a queue holds is what the queue controller wrote in its status. A queue whose parent is missing, or which is its
own ancestor, stands at the root with a note. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from gangline.api import resources
from gangline.api.kai import Queue, QueueResource, QueueResources
from gangline.dashboard.gangs import EVICTED, RUNNING, STARTING, WAITING, CountedGang
from gangline.dashboard.model import QueueAmounts, QueueLine, QueueLoan
from gangline.rules import requests

UNLIMITED = -1
Shares = Mapping[str, float]
NO_SHARES: Shares = {}


def tree(queues: Sequence[Queue], gangs: Iterable[CountedGang], shares: Shares = NO_SHARES) -> list[QueueLine]:
    """Every queue once, parents before children; `shares` are their GPUs, where they are known."""
    known = {queue.name: queue for queue in queues}
    below: dict[str, list[Queue]] = defaultdict(list)
    for queue in sorted(queues, key=lambda queue: queue.name):
        below[queue.spec.parent_queue].append(queue)
    counts = _counts(gangs, known)
    lines: dict[str, QueueLine] = {}
    for root, problem in _roots(below, known):
        waiting = [(root, 0, problem)]
        while waiting:
            queue, depth, wrong = waiting.pop()
            if queue.name not in lines:
                lines[queue.name] = _line(
                    queue, depth, bool(below.get(queue.name)), counts, wrong, shares.get(queue.name)
                )
                waiting += [(child, depth + 1, "") for child in reversed(below.get(queue.name, ()))]
    return list(lines.values())


def _roots(below: Mapping[str, Sequence[Queue]], known: Mapping[str, Queue]) -> Iterable[tuple[Queue, str]]:
    """Where to begin, with what is wrong there: those without a parent, then those whose parent is missing, then all
    others."""
    yield from ((queue, "") for queue in below.get("", ()))
    for parent, children in sorted(below.items()):
        if parent and parent not in known:
            yield from ((queue, f"its parent {parent} does not exist") for queue in children)
    yield from ((queue, "it is its own ancestor") for queue in known.values())


def _counts(gangs: Iterable[CountedGang], known: Mapping[str, Queue]) -> dict[str, Counter[str]]:
    """How many gangs wait and run in a queue and below it."""
    own: dict[str, Counter[str]] = defaultdict(Counter)
    for gang in gangs:
        own[gang.queue][gang.state] += 1
    total: dict[str, Counter[str]] = defaultdict(Counter)
    for name, counted in own.items():
        for item in line_up(name, known):
            total[item] += counted
    return total


def line_up(name: str, known: Mapping[str, Queue]) -> list[str]:
    """A queue and those above it, itself first; ends at a parent that is missing or seen before."""
    chain: list[str] = []
    while name in known and name not in chain:
        chain.append(name)
        name = known[name].spec.parent_queue
    return chain


def _line(
    queue: Queue, depth: int, has_children: bool, counts: Mapping[str, Counter[str]], problem: str, share: float | None
) -> QueueLine:
    given, counted = queue.spec.resources or QueueResources(), counts.get(queue.name, Counter())
    gpu = _amounts(queue, given.gpu, _gpus, 1.0)
    gpu = msgspec.structs.replace(gpu, fair=share)
    over = gpu.allocated - gpu.quota if gpu.quota is not None else 0.0
    return QueueLine(
        name=queue.name,
        title=queue.spec.display_name or queue.name,
        parent=queue.spec.parent_queue,
        depth=depth,
        leaf=not has_children,
        gpu=gpu,
        cpu=_amounts(queue, given.cpu, _of("cpu"), 1e-3),
        memory=_amounts(queue, given.memory, _of("memory"), 1e6),
        priority=queue.spec.priority,
        weight=given.gpu.over_quota_weight,
        borrows=max(over, 0.0),
        unused=max(-over, 0.0),
        waiting=counted[WAITING] + counted[EVICTED],
        running=counted[RUNNING] + counted[STARTING],
        problem=problem,
    )


def _amounts(queue: Queue, given: QueueResource, read: Any, unit: float) -> QueueAmounts:
    """What is held was asked for: a status does not count requests by GPU memory."""
    allocated = read(queue.status.allocated)
    return QueueAmounts(
        quota=_bound(given.quota, unit),
        limit=_bound(given.limit, unit),
        allocated=allocated,
        requested=max(read(queue.status.requested), allocated),
    )


def _bound(given: float, unit: float) -> float | None:
    return None if given <= UNLIMITED else given * unit


def _gpus(amounts: Mapping[str, Any]) -> float:
    """GPUs of every maker, of claims for classes of GPUs, and the GPU slices of MIG instances."""
    return sum(
        _number(value) * (requests.mig_gpus(name) if requests.is_mig(name) else 1)
        for name, value in amounts.items()
        if requests.is_gpu(name) or requests.is_mig(name) or _is_claimed(name)
    )


def _is_claimed(name: str) -> bool:
    """A device class: its name, unlike that of other resources, has no slash."""
    return "/" not in name and requests.is_gpu_class(name)


def _of(name: str) -> Any:
    return lambda amounts: _number(amounts.get(name, 0))


def _number(value: Any) -> float:
    try:
        return resources.number(value)
    except resources.QuantityError:
        return 0.0


def loans(lines: Sequence[QueueLine]) -> tuple[QueueLoan, ...]:
    """Who holds more than its quota, largest first, and which of its siblings leave theirs unused."""
    siblings: dict[str, list[QueueLine]] = defaultdict(list)
    for line in lines:
        siblings[line.parent].append(line)
    lent = [
        QueueLoan(
            queue=line.name,
            gpus=line.borrows,
            held=line.gpu.allocated,
            quota=line.gpu.quota or 0.0,
            lenders=tuple((item.name, item.unused) for item in siblings[line.parent] if item.unused > 0),
        )
        for line in lines
        if line.borrows > 0
    ]
    return tuple(sorted(lent, key=lambda loan: (-loan.gpus, loan.queue)))
