"""PodGang → PodGroup of Volcano (scheduling.volcano.sh/v1beta1, Volcano ≥ 1.14).

One sub-group policy per group keeps its own minimum. While every minimum is zero (an update releases the gang) the
former minima stay. Topology goes by HyperNode tiers whose name is the node label; a tier that no HyperNode has would
silently bind nothing, so it stands in the way. A wish has no level there: Volcano packs as tightly as it can.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from gangline.api import names
from gangline.api.grove import GangPack, PodCliqueSet
from gangline.api.kinds import HYPER_NODE, VOLCANO_POD_GROUP, VOLCANO_QUEUE
from gangline.api.meta import Raw, status_of
from gangline.errors import Problem
from gangline.operator.backends.contract import (
    GANG,
    GROUP,
    Backend,
    CannotTranslate,
    Capabilities,
    Facts,
    GangObject,
    GangState,
    GroupInfo,
    Kinds,
    PodGangInfo,
    first_condition,
    live_spec,
)
from gangline.operator.backends.losses import demand, every_constraint, levelled, lost_wishes, refusals
from gangline.rules.values.text import subdomain_problem

if TYPE_CHECKING:
    from gangline.runtime import Reader

OWNS = ("minMember", "queue", "priorityClassName", "subGroupPolicy", "networkTopology")
MINIMA = ("minMember", "subGroupPolicy")


class VolcanoBackend(Backend):
    name = "volcano"
    scheduler_name = names.VOLCANO
    gate = names.GATE_VOLCANO
    reads: Kinds = (VOLCANO_QUEUE, HYPER_NODE)
    writes: Kinds = (VOLCANO_POD_GROUP,)
    capabilities = Capabilities(required=(GANG, GROUP), preferred=(GANG, GROUP), both=True, queue=True)

    def matches(self, scheduler_name: str) -> bool:
        return names.VOLCANO in scheduler_name

    def check(self, pcs: PodCliqueSet, facts: Facts) -> Iterable[Problem]:
        if facts.manner.topology_for_kai_only:
            yield from every_constraint(pcs, self.name)
        else:
            yield from refusals(pcs, self.name, self.capabilities)
        queues = _queues(pcs)
        malformed = [(path, queue, wrong) for path, queue in queues if (wrong := subdomain_problem(queue))]
        for path, queue, wrong in malformed:
            yield Problem("spec", f"{path}: {queue!r} is no queue name: {wrong}", value=queue)
        distinct = list(dict.fromkeys(queue for _, queue in queues))
        if len(distinct) > 1:
            yield Problem(
                "spec",
                f"names several queues ({', '.join(distinct)}); all cliques of a set go to one",
                hint=f"set {names.VOLCANO_QUEUE} once, on the PodCliqueSet",
            )
        elif not malformed:
            yield from _closed(distinct[0], facts)

    def gang_objects(self, gang: PodGangInfo, facts: Facts) -> Iterable[GangObject]:
        levelled_gang = levelled(gang, self.capabilities)
        demand(levelled_gang, self.name, self.capabilities)
        meta: Raw = {"name": gang.name, "namespace": gang.namespace, "labels": dict(gang.labels)}
        spec: Raw = {"queue": _queue(gang)}
        if gang.priority_class:
            spec["priorityClassName"] = gang.priority_class
        spec |= {
            "minMember": max(gang.minimum, 1),
            "subGroupPolicy": [_policy(group, facts) for group in levelled_gang.groups],
        }
        spec |= _network(levelled_gang.constraint, facts)
        if gang.released:
            live = live_spec(gang, VOLCANO_POD_GROUP, gang.name) or {}
            spec |= {key: live[key] for key in MINIMA if key in live}
        yield GangObject(VOLCANO_POD_GROUP, {"metadata": meta, "spec": spec}, owns=OWNS)

    def prepare_pod(self, pod: Raw, gang: PodGangInfo) -> Raw:
        meta = pod["metadata"]
        notes = {**(meta.get("annotations") or {}), names.VOLCANO_GROUP: gang.name, names.KUBE_GROUP: gang.name}
        return pod | {"metadata": meta | {"annotations": notes}}

    def gang_status(self, gang: PodGangInfo, read: Reader) -> GangState:
        lost = lost_wishes(levelled(gang, self.capabilities), self.capabilities)
        queue = _queue(gang)
        if gang.facts.serves(VOLCANO_QUEUE) and read.get(VOLCANO_QUEUE, queue) is None:
            return GangState(
                f"queue {queue} does not exist: create a Queue of {VOLCANO_QUEUE.group}, or name another one with "
                f"annotation {names.VOLCANO_QUEUE}",
                "QueueDoesNotExist",
                lost,
                blocked=True,
            )
        for _, live in gang.live:
            refused = first_condition(status_of(live), "Unschedulable", "True")
            if refused is not None:
                return GangState(str(refused.get("message", "")), str(refused.get("reason", "Unschedulable")), lost)
        return GangState(lost=lost)


def _queue(gang: PodGangInfo) -> str:
    return gang.annotations.get(names.VOLCANO_QUEUE, "").strip() or names.DEFAULT_VOLCANO_QUEUE


def _policy(group: GroupInfo, facts: Facts) -> Raw:
    return {
        "name": group.name,
        "labelSelector": {"matchLabels": {names.POD_CLIQUE: group.name}},
        "matchLabelKeys": [names.POD_CLIQUE],
        "subGroupSize": max(group.minimum, 1),
        "minSubGroups": 1,
    } | _network(group.constraint, facts)


def _network(pack: GangPack | None, facts: Facts) -> Raw:
    """A bound is a tier by name; a wish is soft, without a level; with both the bound is enough, because lower tiers
    are tried first."""
    if pack is None or facts.manner.topology_for_kai_only:
        return {}
    if not pack.required:
        return {"networkTopology": {"mode": "soft"}} if pack.preferred else {}
    tier = str((facts.config.get("tiers") or {}).get(pack.required, pack.required))
    nodes = facts.read.list(HYPER_NODE) if facts.read is not None and facts.serves(HYPER_NODE) else []
    if not any((node.spec or {}).get("tierName") == tier for node in nodes):
        raise CannotTranslate(
            f"no HyperNode has tierName {tier}, so Volcano would bind nothing; make HyperNodes from node label "
            f"{pack.required}, or name its tier under `tiers` in the profile's config"
        )
    return {"networkTopology": {"mode": "hard", "highestTierName": tier}}


def _queues(pcs: PodCliqueSet) -> list[tuple[str, str]]:
    """Path and name of the queue of the set, where it names one, and of each clique: its own, else the set's, else the
    default one."""
    own = pcs.annotations.get(names.VOLCANO_QUEUE, "").strip()
    own_queue = [(f"metadata.annotations[{names.VOLCANO_QUEUE}]", own)] if own else []
    return own_queue + [
        (
            f"spec.template.cliques[{index}].annotations[{names.VOLCANO_QUEUE}]",
            template.annotations.get(names.VOLCANO_QUEUE, "").strip() or own or names.DEFAULT_VOLCANO_QUEUE,
        )
        for index, template in enumerate(pcs.spec.template.cliques)
    ]


def _closed(queue: str, facts: Facts) -> Iterable[Problem]:
    if facts.read is None:
        return
    live = facts.read.get(VOLCANO_QUEUE, queue)
    state = status_of(live).get("state") if live is not None else ""
    if live is None:
        yield Problem(
            "spec",
            f"queue {queue} does not exist",
            "FieldValueNotFound",
            hint=f"create a Queue of {VOLCANO_QUEUE.group}",
        )
    elif state != "Open":
        yield Problem("spec", f"queue {queue} is {state or 'not open'}", hint="use a queue that is Open")
