"""An address and a look at the cluster → the page that answers it, as data.

The table of contents of the dashboard: `page` is what service.py asks for each request. Tables are cut to a page of
rows here, before anything costly (a verdict, a GPU map) is made for them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import TypeVar
from urllib.parse import quote, urlencode

import msgspec

from gangline.dashboard import gangs as ganged
from gangline.dashboard import nodes as noded
from gangline.dashboard import queues as queued
from gangline.dashboard import selection
from gangline.dashboard.gang_parts import events, tree
from gangline.dashboard.gangs import ENDED, EVICTED, FAILED, RUNNING, STARTING, WAITING, CountedGang, GangTable
from gangline.dashboard.look import ClusterView, PodFact
from gangline.dashboard.map import cells as mapped
from gangline.dashboard.map.data import MapPage
from gangline.dashboard.model import (
    GangCounts,
    GangPage,
    GangsPage,
    MissingPage,
    NodePage,
    Overview,
    Page,
    PodLine,
    QueueLine,
    QueuePage,
    QueuesPage,
)
from gangline.dashboard.page_data import Table
from gangline.dashboard.past import times
from gangline.dashboard.past.data import GangMoment, TimePage
from gangline.dashboard.past.memory import PastMemory
from gangline.rules import trees

ROWS = 25
FIRST = 10
"""Gangs of a kind that the overview shows: its queues and nodes should be near."""
PODS = 200
CELLS = 50
GANGS = 50
QUEUES = 100
NEAR = 8
COMPARED = 1000
T = TypeVar("T")
Row = TypeVar("Row")
Query = Mapping[str, str]


class KnownPast(msgspec.Struct, frozen=True):
    """What is known beside what is seen now: what was seen before, and what was recorded of the gang asked for."""

    memory: PastMemory
    story: tuple[GangMoment, ...] = ()
    namespaces: frozenset[str] | None = None
    """Those whose gangs may be shown; None: all."""


def page(look: ClusterView, path: Sequence[str], query: Query, past: KnownPast | None = None) -> Page:
    """`path`: the parts of the address, already unquoted."""
    match path:
        case []:
            return overview(look, query)
        case ["gangs"]:
            return gangs_page(look, query)
        case ["queues"]:
            return queues_page(look, query)
        case ["map"]:
            return map_page(look, query)
        case ["time"]:
            return times_page(look, past or KnownPast(PastMemory()), query)
        case ["gang", namespace, name, "timeline"]:
            return timeline_page(look, namespace, name, past or KnownPast(PastMemory()))
        case ["gang", namespace, name]:
            return gang_page(look, namespace, name)
        case ["queue", name]:
            return queue_page(look, name, query)
        case ["node", name]:
            return node_page(look, name, query)
    hint = (
        "There are / (the overview), /map, /gangs, /queues, /time, /gang/NAMESPACE/NAME, "
        "/gang/NAMESPACE/NAME/timeline, /queue/NAME and /node/NAME. Each is also available as JSON, with ?format=json."
    )
    return MissingPage(source=look.source, text=f"There is no page /{'/'.join(path)}.", hint=hint)


# ── overview ──


def overview(look: ClusterView, query: Query) -> Overview:
    search = query.get("q", "").strip().lower()
    known, held = GangTable(look), noded.holders(look.pods)
    by_state = states(known)
    waiting = ganged.longest_first(
        gang for gang in (*by_state[WAITING], *by_state[EVICTED]) if ganged.matches(gang, search)
    )
    failed = ganged.longest_first(gang for gang in by_state[FAILED] if ganged.matches(gang, search))
    running = ganged.largest_first(
        gang for gang in (*by_state[RUNNING], *by_state[STARTING]) if ganged.matches(gang, search)
    )
    lines = queued.tree(look.queues, known.values())
    nodes = noded.in_order(fact for fact in look.nodes if search in fact.node.name.lower())
    nodes.sort(key=lambda fact: not fact.closed)
    return Overview(
        source=look.source,
        counts=counts(look, known, by_state, held),
        room=noded.room(look, held),
        loans=queued.loans(lines),
        waiting=table(waiting, query, "waiting", lambda gang: ganged.line(gang, known), FIRST),
        running=table(running, query, "running", ganged.line, FIRST),
        failed=table(failed, query, "failed", lambda gang: ganged.line(gang, known), FIRST),
        queues=table(
            [line for line in lines if search in f"{line.name} {line.title}".lower()],
            query,
            "queues",
            lambda line: line,
        ),
        nodes=table(nodes, query, "nodes", lambda fact: noded.node_line(fact, held.get(fact.node.name, ()))),
        search=query.get("q", "").strip(),
    )


def states(known: GangTable) -> dict[str, list[CountedGang]]:
    by_state: dict[str, list[CountedGang]] = {
        state: [] for state in (WAITING, EVICTED, STARTING, RUNNING, ENDED, FAILED)
    }
    for gang in known.values():
        by_state[gang.state].append(gang)
    return by_state


def counts(
    look: ClusterView, known: GangTable, by_state: Mapping[str, Sequence[CountedGang]], held: noded.Holders
) -> GangCounts:
    uses = [(fact, noded.NodeUse(fact, held.get(fact.node.name, ()))) for fact in look.nodes if fact.gpus]
    in_gangs = sum(gang.held for gang in known.values())
    return GangCounts(
        waiting=len(by_state[WAITING]) + len(by_state[EVICTED]),
        starting=len(by_state[STARTING]),
        running=len(by_state[RUNNING]),
        ended=len(by_state[ENDED]),
        evicted=len(by_state[EVICTED]),
        failed=len(by_state[FAILED]),
        pods=len(look.pods),
        pods_running=sum(fact.running for fact in look.pods),
        pods_pending=sum(not fact.node and not fact.ended for fact in look.pods),
        nodes=len(look.nodes),
        nodes_closed=sum(bool(fact.closed) for fact in look.nodes),
        gpus=sum(fact.gpus for fact in look.nodes),
        gpus_used=sum(use.whole for _, use in uses),
        gpus_shared=sum(len(use.groups) for _, use in uses),
        gpus_outside=round(
            max(sum(fact.gpus for fact in look.pods if fact.holds and not fact.reserves) - in_gangs, 0.0), 2
        ),
        gpus_wanted=round(sum(gang.asked - gang.held for gang in (*by_state[WAITING], *by_state[EVICTED])), 2),
    )


def table(rows: Sequence[T], query: Query, name: str, shown: Callable[[T], Row], size: int = ROWS) -> Table[Row]:
    """The rows of one page; `?waiting=25` begins the table of that name at its 26th row."""
    asked = query.get(name, "")
    start = int(asked) if asked.isdecimal() and asked.isascii() and len(asked) < 10 else 0
    start = start if start < len(rows) else 0
    return Table(rows=tuple(shown(row) for row in rows[start : start + size]), total=len(rows), start=start, size=size)


# ── the map ──


def map_page(look: ClusterView, query: Query) -> MapPage:
    whole = mapped.cells(look, GangTable(look), noded.holders(look.pods), query)
    nodes = [(node, domain.path) for domain in whole.domains for node in domain.nodes]
    rows = table(nodes, query, "rows", lambda row: mapped.map_row(*row, whole.gangs), CELLS)
    return msgspec.structs.replace(whole, rows=rows)


# ── gangs as chosen ──


def gangs_page(look: ClusterView, query: Query) -> GangsPage:
    known, choice = GangTable(look), selection.choice_of(query)
    chosen = selection.selected(known.values(), choice, look.queues)
    return GangsPage(
        source=look.source,
        choice=choice,
        options=selection.options(list(known.values()), look.queues),
        gangs=table(chosen, query, "gangs", lambda gang: ganged.line(gang, known), GANGS),
    )


# ── one gang ──


def gang_page(look: ClusterView, namespace: str, name: str) -> Page:
    known = GangTable(look)
    gang = known.called(namespace, name)
    if gang is None:
        return _no_gang(look, known, namespace, name)
    facts = [fact for fact in look.pods if known.of(fact) is gang]
    conditions = gang.gang.status.conditions if gang.gang is not None else ()
    return GangPage(
        source=look.source,
        gang=ganged.line(gang, known),
        tree=tree(look, gang, facts),
        events=events(look, gang, facts),
        conditions=tuple((item.type, item.status, item.message or item.reason) for item in conditions),
    )


def _no_gang(look: ClusterView, known: GangTable, namespace: str, name: str) -> GangsPage | MissingPage:
    """The gangs of the set of that name; else the gang of a pod of that name, or those with names like it."""
    if known.of_set(namespace, name):
        return gangs_page(look, {"namespace": namespace, "set": name})
    of_pod = [
        gang
        for fact in look.pods
        if (fact.pod.namespace, fact.pod.name) == (namespace, name) and (gang := known.of(fact))
    ]
    like = set() if of_pod else set(alike(name, [gang.title for gang in known.values()]))
    near = [*of_pod, *(gang for gang in known.values() if gang.title in like)]
    return MissingPage(
        source=look.source,
        text=f"There is no gang {name} in namespace {namespace}.",
        hint="It may have ended and be gone, or live in another namespace; the overview lists all that there are.",
        near=tuple((gang_address(gang.namespace, gang.name), f"{gang.namespace}/{gang.title}") for gang in near[:NEAR]),
    )


# ── the past ──


def times_page(look: ClusterView, past: KnownPast, query: Query) -> TimePage:
    return times.time_page(
        look,
        past.memory,
        past.namespaces,
        query,
        lambda rows, name: table(rows, query, name, lambda row: row),
        lambda rows, name: table(rows, query, name, lambda row: row),
    )


def timeline_page(look: ClusterView, namespace: str, name: str, past: KnownPast) -> Page:
    known = GangTable(look)
    gang = known.called(namespace, name)
    if gang is None:
        gone = times.gone_timeline(look, namespace, name, past.story, past.memory, past.namespaces)
        return gone or _no_gang(look, known, namespace, name)
    facts = [fact for fact in look.pods if known.of(fact) is gang]
    return times.timeline(look, known, gang, events(look, gang, facts), facts, past.story)


# ── queues ──


def queues_page(look: ClusterView, query: Query) -> QueuesPage:
    lines = queued.tree(look.queues, GangTable(look).values(), look.shares.gpus)
    return QueuesPage(
        source=look.source,
        queues=table(lines, query, "queues", lambda line: line, QUEUES),
        loans=queued.loans(lines),
        shares_at=look.shares.at,
        shares_problem=look.shares.problem,
    )


def queue_page(look: ClusterView, name: str, query: Query) -> Page:
    known = GangTable(look)
    lines = queued.tree(look.queues, known.values(), look.shares.gpus)
    mine = next((line for line in lines if line.name == name), None)
    if mine is None:
        return _missing(look, f"There is no queue {name}.", name, "queue", [line.name for line in lines])
    by_name = {queue.name: queue for queue in look.queues}
    path = queued.line_up(name, by_name)
    inside = [gang for gang in known.values() if name in queued.line_up(gang.queue, by_name)]
    return QueuePage(
        source=look.source,
        queue=mine,
        path=tuple(reversed(path)),
        below=tuple(_below(lines, mine.name)),
        loans=tuple(loan for loan in queued.loans(lines) if loan.queue == name or name in dict(loan.lenders)),
        waiting=table(
            ganged.longest_first(gang for gang in inside if gang.state in (WAITING, EVICTED)),
            query,
            "waiting",
            lambda gang: ganged.line(gang, known),
        ),
        running=table(
            ganged.largest_first(gang for gang in inside if gang.state in (RUNNING, STARTING)),
            query,
            "running",
            ganged.line,
        ),
    )


def _below(lines: Sequence[QueueLine], name: str) -> Iterable[QueueLine]:
    """A queue and those below it; lines come parents first, so a subtree ends where the depth is back."""
    place = next(number for number, line in enumerate(lines) if line.name == name)
    yield lines[place]
    for line in lines[place + 1 :]:
        if line.depth <= lines[place].depth:
            return
        yield line


# ── one node ──


def node_page(look: ClusterView, name: str, query: Query) -> Page:
    fact = next((node for node in look.nodes if node.node.name == name), None)
    if fact is None:
        return _missing(look, f"There is no node {name}.", name, "node", [node.node.name for node in look.nodes])
    known, pods = GangTable(look), noded.holders(look.pods).get(name, [])
    rows = sorted(pods, key=lambda pod: (-pod.gpus, pod.pod.namespace, pod.pod.name))
    return NodePage(
        source=look.source,
        node=noded.node_line(fact, pods),
        pods=table(rows, query, "pods", lambda row: pod_line(row, known), PODS),
        taints=tuple(
            f"{taint.key}{'=' if taint.value else ''}{taint.value}:{taint.effect}" for taint in fact.node.spec.taints
        ),
        labels=tuple(sorted(fact.node.labels.items())),
    )


def pod_line(fact: PodFact, known: GangTable) -> PodLine:
    gang = known.of(fact)
    return PodLine(
        namespace=fact.pod.namespace,
        name=fact.pod.name,
        state=trees.pod_state(fact.pod),
        node=fact.node,
        gpus=0.0 if fact.reserves else fact.gpus,
        gang=gang.name if gang is not None else "",
        title=gang.title if gang is not None else "",
        note="keeps a GPU that others share" if fact.reserves else "",
    )


# ── addresses ──


def _missing(look: ClusterView, text: str, name: str, kind: str, there: Sequence[str]) -> MissingPage:
    near = alike(name, there) or list(there[:NEAR])
    return MissingPage(
        source=look.source,
        text=text,
        near=tuple((address(kind, item), item) for item in near),
        hint="The overview lists all that there are." if near else f"This cluster has no {kind}s.",
    )


def alike(name: str, there: Sequence[str]) -> list[str]:
    """Names that hold this one, or are spelt much like it; of very many, only the first are compared letter by
    letter."""
    holding = [item for item in there if name and name in item]
    return holding[:NEAR] or get_close_matches(name, there[:COMPARED], NEAR)


def address(*parts: str) -> str:
    return "/" + "/".join(quote(part, safe="") for part in parts)


def gang_address(namespace: str, name: str) -> str:
    return address("gang", namespace, name)


def map_address(**chosen: str) -> str:
    """The map as it is when this is chosen on it."""
    return f"/map?{urlencode(chosen)}"
