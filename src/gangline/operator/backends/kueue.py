"""PodGang → labels and annotations on the pods: Kueue makes its Workload from them.

Kueue admits by quota and places nothing; pods keep the name of whichever scheduler does. A group has exactly the size
it announces, and Kueue deletes what is above: so only the pods that make up the minima are announced, and each
surplus pod is a workload of its own. The surprise: pods of a group that serves keep Kueue's finalizer until others take
their place; whoever owns such a group takes it off pods that have ended, and that is the operator.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from gangline.api import names
from gangline.api.grove import GangPack, PodCliqueSet
from gangline.api.kinds import KUEUE_QUEUE, KUEUE_WORKLOAD
from gangline.api.meta import Raw
from gangline.errors import Problem
from gangline.operator.backends.contract import (
    GROUP,
    SIZE,
    Backend,
    CannotTranslate,
    Capabilities,
    Facts,
    GangObject,
    GangState,
    Kinds,
    PodGangInfo,
    above_minimum,
    first_condition,
    group_of,
    labels_and_annotations,
    setting,
    with_metadata,
)
from gangline.operator.backends.losses import demand, levelled, lost_wishes, refusals

if TYPE_CHECKING:
    from gangline.runtime import Reader

PREFIX = "kueue.x-k8s.io/"
QUEUE = f"{PREFIX}queue-name"
PRIORITY = f"{PREFIX}priority-class"
"""A WorkloadPriorityClass; without one Kueue goes by the pods' own priority."""
HELD = f"{PREFIX}admission-gated-by"
"""Kueue (0.19 and newer) reserves no quota for a pod that has this annotation: without it the surplus could take what
the minimum needs."""
NO_QUEUE = "names no queue"
LABEL_IT = f"label the PodCliqueSet with {QUEUE}"


class KueueBackend(Backend):
    name = "kueue"
    scheduler_name = names.DEFAULT_SCHEDULER
    gate = names.GATE_KUEUE
    held = (HELD,)
    finalizers = (f"{PREFIX}managed",)
    reads: Kinds = (KUEUE_WORKLOAD, KUEUE_QUEUE)
    writes: Kinds = ()
    capabilities = Capabilities(
        groups=SIZE, required=(GROUP,), preferred=(GROUP,), queue=True, reuse=False, places=False
    )

    def matches(self, scheduler_name: str) -> bool:
        return False

    def check(self, pcs: PodCliqueSet, facts: Facts) -> Iterable[Problem]:
        yield from refusals(pcs, self.name, self.capabilities)
        queues = list(dict.fromkeys(place[QUEUE] for place in labels_and_annotations(pcs) if place.get(QUEUE)))
        if len(queues) > 1:
            yield Problem(
                "spec",
                f"names several queues ({', '.join(queues)}); all cliques of a set go to one",
                hint=f"set {QUEUE} once, on the PodCliqueSet",
            )
        if not queues and not facts.config.get("queue"):
            yield Problem("spec", NO_QUEUE, "FieldValueRequired", hint=LABEL_IT)

    def gang_objects(self, gang: PodGangInfo, facts: Facts) -> Iterable[GangObject]:
        demand(levelled(gang, self.capabilities), self.name, self.capabilities)
        if not setting(gang, QUEUE, "queue"):
            raise CannotTranslate(f"gang {gang.name} {NO_QUEUE}; {LABEL_IT}")
        return ()

    def prepare_pod(self, pod: Raw, gang: PodGangInfo) -> Raw:
        group = group_of(pod, levelled(gang, self.capabilities))
        notes = _topology(group.constraint) if group is not None else {}
        marks = {QUEUE: setting(gang, QUEUE, "queue")}
        priority = setting(gang, PRIORITY, "priorityClass")
        if priority:
            marks[PRIORITY] = priority
        if group is None or above_minimum(pod, gang):
            return with_metadata(pod, marks, notes | {HELD: self.gate})
        return with_metadata(
            pod,
            marks | {f"{PREFIX}pod-group-name": gang.name},
            notes
            | {
                f"{PREFIX}pod-group-total-count": str(gang.usual_minimum),
                f"{PREFIX}pod-group-serving": "true",
                f"{PREFIX}role-hash": group.name,
            },
        )

    def gang_status(self, gang: PodGangInfo, read: Reader) -> GangState:
        lost = lost_wishes(levelled(gang, self.capabilities), self.capabilities)
        queue = setting(gang, QUEUE, "queue")
        if gang.facts.serves(KUEUE_QUEUE) and read.get(KUEUE_QUEUE, queue, gang.namespace) is None:
            return GangState(
                f"LocalQueue {queue} does not exist in namespace {gang.namespace}: create it, or label the "
                f"PodCliqueSet with another {QUEUE}",
                "QueueDoesNotExist",
                lost,
                blocked=True,
            )
        live: Any = read.get(KUEUE_WORKLOAD, gang.name, gang.namespace)
        status = live.status if live is not None else None
        for type, state, reason in (("Evicted", "True", "Evicted"), ("QuotaReserved", "False", "QuotaPending")):
            condition = first_condition(status, type, state)
            if condition is not None:
                return GangState(
                    f"Kueue: {condition.get('message') or condition.get('reason')}",
                    str(condition.get("reason") or reason),
                    lost,
                )
        return GangState(lost=lost)


def _topology(pack: GangPack | None) -> dict[str, str]:
    """Kueue takes one of the two: the guarantee where there is one, else the wish."""
    if pack is None:
        return {}
    if pack.required:
        return {f"{PREFIX}podset-required-topology": pack.required}
    return {f"{PREFIX}podset-preferred-topology": pack.preferred} if pack.preferred else {}
