"""Which gangs a reader wants to see, and in which order: read from the address, so that a choice can be shared.

Between pages.py, which asks, and gangs.py, which counts. A word that no gang knows selects nothing and is shown as it
was asked for; an order that does not exist is the usual one. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from gangline.api.kai import Queue
from gangline.dashboard.gangs import ENDED, EVICTED, FAILED, RUNNING, STARTING, WAITING, CountedGang, matches
from gangline.dashboard.model import GangChoice, GangOptions
from gangline.dashboard.nodes import natural
from gangline.dashboard.queues import line_up

STATES = (WAITING, EVICTED, STARTING, RUNNING, ENDED, FAILED)
MOST = 200
"""Options of a list to choose from; with more of them, the name goes into the address."""
MOST_LETTERS = 300
Key = Callable[[CountedGang], tuple[object, ...]]
ORDERS: dict[str, Key] = {
    "state": lambda gang: (STATES.index(gang.state), gang.since or 0.0),
    "name": lambda gang: (natural(gang.title),),
    "namespace": lambda gang: (gang.namespace,),
    "queue": lambda gang: (gang.queue,),
    "user": lambda gang: (gang.user,),
    "priority": lambda gang: (gang.priority,),
    "gpus": lambda gang: (max(gang.asked, gang.held),),
    "since": lambda gang: (gang.since or 0.0,),
}
"""Equals come by name, whichever way round."""
USUAL = "state"


def choice_of(query: Mapping[str, str]) -> GangChoice:
    """`?queue=…&namespace=…&set=…&user=…&priority=…&state=…&q=…&sort=-gpus`; a minus turns the order round."""
    asked = {name: query.get(name, "").strip()[:MOST_LETTERS] for name in GangChoice.__struct_fields__}
    sort = asked.pop("sort")
    return GangChoice(**asked, sort=sort if sort.removeprefix("-") in ORDERS else USUAL)


def selected(gangs: Iterable[CountedGang], choice: GangChoice, queues: Sequence[Queue]) -> list[CountedGang]:
    by_name = {queue.name: queue for queue in queues}
    word = choice.q.lower()
    chosen = [
        gang for gang in gangs if _fits(gang, choice) and _in_queue(gang, choice.queue, by_name) and matches(gang, word)
    ]
    order = ORDERS[choice.sort.removeprefix("-")]
    named = sorted(chosen, key=lambda gang: natural(gang.title))
    return sorted(named, key=order, reverse=choice.sort.startswith("-"))


def _fits(gang: CountedGang, choice: GangChoice) -> bool:
    return (
        (not choice.namespace or gang.namespace == choice.namespace)
        and (not choice.set or gang.set == choice.set)
        and (not choice.user or gang.user == choice.user)
        and (not choice.priority or gang.priority == choice.priority)
        and (not choice.state or gang.state == choice.state)
    )


def _in_queue(gang: CountedGang, queue: str, by_name: Mapping[str, Queue]) -> bool:
    """A queue stands for all queues below it, too."""
    return not queue or gang.queue == queue or queue in line_up(gang.queue, by_name)


def options(gangs: Sequence[CountedGang], queues: Sequence[Queue]) -> GangOptions:
    """What there is to choose from."""
    return GangOptions(
        queues=_some({queue.name for queue in queues} | {gang.queue for gang in gangs}),
        namespaces=_some({gang.namespace for gang in gangs}),
        users=_some({gang.user for gang in gangs}),
        priorities=_some({gang.priority for gang in gangs}),
        states=STATES,
    )


def _some(names: set[str]) -> tuple[str, ...]:
    return tuple(sorted(name for name in names if name)[:MOST])
