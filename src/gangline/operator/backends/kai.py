"""PodGang → PodGroup of the KAI scheduler (scheduling.run.ai/v2alpha2).

One sub-group per group with its own minimum, one more per group of groups; topology at all three levels. The queue is
set when the PodGroup is made and then belongs to users and KAI.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from gangline.api import names
from gangline.api.grove import CliqueTemplate, GangPack, PodCliqueSet
from gangline.api.kai import PodGroup
from gangline.api.kinds import POD_GROUP, QUEUE
from gangline.api.meta import Raw, as_raw
from gangline.errors import Problem
from gangline.operator.backends.contract import (
    EVERY,
    Backend,
    CannotTranslate,
    Capabilities,
    Facts,
    GangObject,
    GangState,
    Kinds,
    PodGangInfo,
)
from gangline.operator.backends.losses import lost_wishes
from gangline.rules.schedulers import SERVED

if TYPE_CHECKING:
    from gangline.runtime import Reader

TAKEN_OVER = (names.QUEUE, names.NODE_POOL)
NEVER = "-1s"
OWNS = ("minMember", "minSubGroup", "priorityClassName", "topologyConstraint", "subGroups", "stalenessGracePeriod")


class KaiBackend(Backend):
    name = "kai"
    scheduler_name = names.KAI_SCHEDULER
    gate = names.GATE_KAI
    reads: Kinds = (QUEUE,)
    writes: Kinds = (POD_GROUP,)
    capabilities = Capabilities(topology=True, required=EVERY, preferred=EVERY, both=True, queue=True)

    def matches(self, scheduler_name: str) -> bool:
        return scheduler_name in SERVED

    def check(self, pcs: PodCliqueSet, facts: Facts) -> Iterable[Problem]:
        queues = _queues(pcs)
        if len(queues) > 1:
            yield Problem(
                "spec",
                f"names several queues ({', '.join(queues)}); all cliques of a set go to one",
                hint=f"set {names.QUEUE} once, on the PodCliqueSet",
            )
        if not queues and facts.manner.queue_mandatory:
            yield Problem(
                "spec", "names no queue", "FieldValueRequired", hint=f"label the PodCliqueSet with {names.QUEUE}"
            )

    def gang_objects(self, gang: PodGangInfo, facts: Facts) -> Iterable[GangObject]:
        if gang.constrained and not _topology(gang):
            raise CannotTranslate(
                f"gang {gang.name} has a topology constraint but names no topology; set topologyName in the "
                "PodCliqueSet"
            )
        queue = _queue(gang)
        asked = {} if gang.facts.manner.queue_set_once else {names.ASKED_QUEUE: queue}
        meta: Raw = {
            "name": group_name(gang),
            "namespace": gang.namespace,
            "labels": _labels(gang),
            "annotations": dict(gang.annotations) | {names.SKIP_GROUPER: "true"} | asked,
        }
        again = bool(asked) and _asked_before(gang) not in ("", queue)
        once: Raw = {"spec": {"queue": queue}}
        yield GangObject(POD_GROUP, {"metadata": meta, "spec": _spec(gang)}, once=once, again=again, owns=OWNS)

    def prepare_pod(self, pod: Raw, gang: PodGangInfo) -> Raw:
        meta = pod["metadata"]
        notes = {**(meta.get("annotations") or {}), names.SKIP_GROUPER: "true", names.POD_GROUP_NAME: group_name(gang)}
        marks = {**meta["labels"], names.SUB_GROUP: meta["labels"][names.POD_CLIQUE]}
        return pod | {"metadata": meta | {"annotations": notes, "labels": marks}}

    def links(self, gang: Callable[[], PodGangInfo]) -> Mapping[str, str]:
        return {names.POD_GROUP_NAME: group_name(gang())}

    def notes(self, gang: Callable[[], PodGangInfo], facts: Facts) -> Mapping[str, str]:
        return {names.SKIP_GROUPER: "true"} if facts.manner.skip_note_lingers and gang().lessened else {}

    def gang_status(self, gang: PodGangInfo, read: Reader) -> GangState:
        lost = lost_wishes(gang, self.capabilities)
        missing = _missing_queue(gang, read)
        if missing:
            return GangState(missing, "QueueDoesNotExist", lost, blocked=True)
        for _, live in gang.live:
            if isinstance(live, PodGroup):
                start = None if gang.facts.manner.plain_conditions else _start(live)
                for condition in live.status.scheduling_conditions:
                    if condition.status == "True":
                        return GangState(condition.message, condition.reason or condition.type, lost, start=start)
        return GangState(lost=lost)


def _start(group: PodGroup) -> Raw | None:
    """When the scheduler starts the gang, as it promised."""
    return as_raw(group.status.start) if group.status.start is not None else None


def group_name(gang: PodGangInfo) -> str:
    """The PodGroup's name; one that is there already is kept."""
    kept = [live.name for kind, live in gang.live if kind is POD_GROUP and not live.metadata.deleting]
    if kept:
        return kept[0]
    return gang.name if gang.facts.manner.group_named_like_gang else names.kai_pod_group(gang.name, gang.uid)


def _asked_before(gang: PodGangInfo) -> str:
    """The queue that the PodGroup which is there was last asked into; "" where that is not known."""
    live = next((obj for kind, obj in gang.live if kind is POD_GROUP), None)
    return live.annotations.get(names.ASKED_QUEUE, "") if live is not None else ""


def _labels(gang: PodGangInfo) -> dict[str, str]:
    """The gang's labels; queue and node pool only at creation, because KAI and users may take them over."""
    live = next((obj for kind, obj in gang.live if kind is POD_GROUP), None)
    theirs = {key: live.labels[key] for key in TAKEN_OVER if key in live.labels} if live is not None else {}
    ours = {key: value for key, value in gang.labels.items() if live is None or key not in TAKEN_OVER}
    return ours | theirs


def _spec(gang: PodGangInfo) -> Raw:
    topology = _topology(gang)
    spec: Raw = {"minMember": gang.minimum, "topologyConstraint": _constraint(gang.constraint, topology) or {}}
    if gang.priority_class:
        spec["priorityClassName"] = gang.priority_class
    grace = "" if gang.facts.manner.staleness_unset else _grace(gang)
    if grace:
        spec["stalenessGracePeriod"] = grace
    parents = [
        {"name": parent.name, "minSubGroup": len(parent.groups)} | _with_constraint(parent.constraint, topology)
        for parent in gang.parents
    ]
    leaves = [
        {"name": group.name, "minMember": group.minimum}
        | ({"parent": group.parent} if group.parent else {})
        | _with_constraint(group.constraint, topology)
        for group in gang.groups
    ]
    return spec | {"subGroups": parents + leaves}


def _grace(gang: PodGangInfo) -> str:
    """How long KAI lets a gang below its minimum live: what the set says, else the set's own termination delay.

    It is for ever in two cases, because KAI must not end the whole gang: the operator may end a part of it (one replica
    of a scaling group, whose place may stay empty for long while the rest serves), or the operator is told to end
    nothing."""
    grace = gang.annotations.get(names.STALENESS_GRACE, "")
    if grace or gang.pcs is None:
        return grace or NEVER
    template = gang.pcs.spec.template
    in_parts = (
        bool(template.pod_clique_scaling_groups) or gang.pcs.annotations.get(names.GANG_TERMINATION) == "disabled"
    )
    return NEVER if in_parts else template.termination_delay or NEVER


def _with_constraint(pack: GangPack | None, topology: str) -> Raw:
    constraint = _constraint(pack, topology)
    return {"topologyConstraint": constraint} if constraint else {}


def _constraint(pack: GangPack | None, topology: str) -> Raw | None:
    if pack is None:
        return None
    levels = {"requiredTopologyLevel": pack.required, "preferredTopologyLevel": pack.preferred}
    return {"topology": topology} | {key: value for key, value in levels.items() if value}


def _topology(gang: PodGangInfo) -> str:
    return gang.topology or gang.annotations.get(names.TOPOLOGY, "")


def _queue(gang: PodGangInfo) -> str:
    queues = _queues(gang.pcs) if gang.pcs is not None else ()
    if len(queues) > 1:
        raise CannotTranslate(
            f"gang {gang.name} names several queues ({', '.join(queues)}); set {names.QUEUE} once, on the PodCliqueSet"
        )
    if not queues and gang.facts.manner.queue_mandatory:
        raise CannotTranslate(f"gang {gang.name} names no queue; label the PodCliqueSet with {names.QUEUE}")
    return queues[0] if queues else str(gang.facts.config.get("queue") or names.DEFAULT_QUEUE)


def _missing_queue(gang: PodGangInfo, read: Reader) -> str:
    """The queue that the gang's PodGroup names and that is not there, in words."""
    live = next((obj for kind, obj in gang.live if kind is POD_GROUP and not obj.metadata.deleting), None)
    queue = live.spec.queue if isinstance(live, PodGroup) else ""
    if live is None or not queue or not gang.facts.serves(QUEUE) or read.get(QUEUE, queue) is not None:
        return ""
    return (
        f"queue {queue} does not exist: create that Queue of {QUEUE.group}, or name another one in spec.queue of "
        f"PodGroup {live.name}"
    )


def _queues(pcs: PodCliqueSet) -> tuple[str, ...]:
    """The queues that a set and its cliques name: one where they agree."""
    own = pcs.labels.get(names.QUEUE) or pcs.annotations.get(names.QUEUE) or ""
    of_cliques = [_queue_of(template) for template in pcs.spec.template.cliques]
    return tuple(dict.fromkeys(queue for queue in (own, *of_cliques) if queue))


def _queue_of(template: CliqueTemplate) -> str:
    return template.labels.get(names.QUEUE) or template.annotations.get(names.QUEUE) or ""
