"""What one cycle places → BindRequests: one for what it places of a gang, one for many pods that stand for themselves.

So a decision is one write: it is there as a whole or not at all, even after a crash. loop/requests/writer.py sends
them; upstream's form, one per pod, is in decision_objects.py. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kai import PodGroup
from gangline.api.kinds import POD_GROUP, reference
from gangline.api.meta import Raw
from gangline.rules import requests
from gangline.scheduler.decisions import Bind, Nominate
from gangline.scheduler.objects.pods import volume_claims
from gangline.scheduler.thought.decision_objects import bind_target, membership, received_gpu
from gangline.scheduler.thought.options import SchedulerOptions
from gangline.scheduler.why.verdict import counted

MOST_PODS, MOST_SINGLES = 1000, 100
"""Of one request: of a gang (an object of about 250 KB), and of pods that have nothing to do with each other."""
NODES_TOLD = 3
LONGEST_NAME = 240


@dataclass(frozen=True, slots=True)
class PlacedPod:
    """A pod that was given a node. `group`: the PodGroup it is in, as far as it is known."""

    bind: Bind
    pod: Pod
    gang: str
    group: PodGroup | None = None

    @property
    def alone(self) -> bool:
        """Nothing has to be prepared for it but the bind."""
        bind = self.bind
        prepared = bind.received == requests.FRACTION or bind.claims or bind.extended is not None
        return not prepared and not any(volume_claims(self.pod))


@dataclass(frozen=True, slots=True)
class RequestDraft:
    """One request to write, and the pods it speaks for."""

    body: Raw
    placed: tuple[PlacedPod, ...]

    @property
    def name(self) -> str:
        return str(self.body["metadata"]["name"])

    @property
    def group(self) -> PodGroup | None:
        """The gang that gets the event; for pods that stand for themselves the pod gets it."""
        return self.placed[0].group if len(self.placed) > 1 and self.body["spec"]["gang"] else None

    @property
    def news(self) -> str:
        return f"assigned {placing([item.bind for item in self.placed])}"


def placing(members: Sequence[Bind | Nominate]) -> str:
    """How many pods go to which nodes."""
    nodes = list(dict.fromkeys(member.node for member in members))
    more = f" and {len(nodes) - NODES_TOLD} more" if len(nodes) > NODES_TOLD else ""
    return f"{len(members)} pods to {counted(len(nodes), 'node')}: {', '.join(nodes[:NODES_TOLD])}{more}"


def drafts(placed: Iterable[PlacedPod], options: SchedulerOptions, fresh: Callable[[], str]) -> Iterator[RequestDraft]:
    """`fresh` gives a word that no other request has in its name."""
    by_gang: dict[tuple[str, str], list[PlacedPod]] = {}
    for item in placed:
        by_gang.setdefault((item.pod.namespace, item.gang), []).append(item)
    singles: list[PlacedPod] = []
    for members in by_gang.values():
        if len(members) == 1 and members[0].alone:
            singles += members
        else:
            for part in _parts(members, MOST_PODS):
                yield _draft(part, members[0].gang, len(members), options, fresh())
    for _, together in groupby(sorted(singles, key=_namespace), _namespace):
        for part in _parts(list(together), MOST_SINGLES):
            yield _draft(part, part[0].gang if len(part) == 1 else "", 1, options, fresh())


def _namespace(item: PlacedPod) -> str:
    return item.pod.namespace


def _parts(members: Sequence[PlacedPod], most: int) -> Iterator[Sequence[PlacedPod]]:
    return (members[start : start + most] for start in range(0, len(members), most))


def _draft(placed: Sequence[PlacedPod], gang: str, size: int, options: SchedulerOptions, word: str) -> RequestDraft:
    """`size`: how many pods of a gang were placed together."""
    labels = {options.node_pool_key: options.node_pool} if options.node_pool and options.node_pool_key else {}
    group = placed[0].group if gang else None
    meta: Raw = {
        "name": f"{(gang or 'pods')[:LONGEST_NAME]}-{word[:8]}",
        "namespace": placed[0].pod.namespace,
        "labels": labels,
    }
    if group is not None:
        meta["ownerReferences"] = [reference(POD_GROUP, group, controller=False)]
    spec: Raw = {
        "gang": gang,
        "podCount": len(placed),
        "nodeCount": len({item.bind.node for item in placed}),
        "backoffLimit": options.bind_tries,
        "pods": [_order(item, size, options.pool_name) for item in placed],
    }
    return RequestDraft({"metadata": meta, "spec": spec}, tuple(placed))


def _order(item: PlacedPod, size: int, pool: str) -> Raw:
    bind, pod = item.bind, item.pod
    order = bind_target(bind, pod) | {"podUID": pod.uid}
    if bind.received == requests.FRACTION:
        order["receivedGPU"] = received_gpu(bind)
    others = f", together with {counted(size - 1, 'more pod')} of {item.gang}" if size > 1 else ""
    placed = {names.PLACED: f"by {bind.action} at node-pool {pool}{others}"}
    return order | {"annotations": {**bind.annotations, **membership(pod, item.gang), **placed}}
