"""Limits and quotas that stand against a gang, at every level up to the top, and the fields that would hold it.

Reads the books that the proportion plugin keeps in an open session. The rules are those of scheduler/fairness; here
they are put in words with the field they stand in, and in changes of Queue objects, in the field's own unit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from gangline.api import kinds
from gangline.api.meta import Raw
from gangline.scheduler.fairness import Amounts
from gangline.scheduler.fairness.accounts import EACH, RESOURCES, UNLIMITED, line, plus
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.plugins.capacity.proportion import ProportionPlugin
from gangline.scheduler.session import Session
from gangline.scheduler.why import bounds
from gangline.scheduler.why.bounds import QUOTA, QueueExcess
from gangline.scheduler.why.verdict import amount, plain
from gangline.why.changes import ObjectChange
from gangline.why.objects import ClusterObjects

FIELD_UNIT = (1.0, 1e6, 1.0)
"""What 1 means in spec.resources of a Queue: a millicore, a megabyte, a GPU."""


DUST = 1e-6
"""What the sum of parts of GPUs may be off by."""
GPU_PLACE = RESOURCES.index("gpu")


def excess_text(excess: QueueExcess) -> str:
    """The queue, its bound with the field it stands in, what is in use and what is asked."""
    field = f"Queue/{excess.account.uid} spec.resources.{excess.word}.{excess.bound}"
    more = plain(excess.needed - excess.held, excess.word)
    whose = "work that cannot be preempted holds" if excess.bound == QUOTA else "in use are"
    return (
        f"queue {excess.account.name} has a {excess.bound} of {amount(excess.allowed, excess.word)} "
        f"({field}: {field_value(excess.allowed, excess.resource)}); {whose} {plain(excess.held, excess.word)}, "
        f"and {more} more {'is' if more == '1' else 'are'} asked"
    )


def figures(excess: QueueExcess) -> Raw:
    """The same as data; amounts in the core's units."""
    return {
        "queue": excess.account.uid,
        "bound": excess.bound,
        "resource": excess.word,
        "allowed": excess.allowed,
        "held": excess.held,
        "asked": excess.needed - excess.held,
    }


def books(session: Session) -> ProportionPlugin | None:
    return next((plugin for plugin in session.hooks.plugins if isinstance(plugin, ProportionPlugin)), None)


def excesses(session: Session, gang: GangInfo, tasks: Sequence[TaskInfo]) -> list[QueueExcess]:
    """Every queue on the way up and every resource that stands against these tasks."""
    proportion = books(session)
    if proportion is None or gang.queue not in proportion.accounts:
        return []
    return bounds.excesses(proportion, gang, tasks)


def raised(objects: ClusterObjects, over: Sequence[QueueExcess]) -> tuple[ObjectChange, ...]:
    """One change per queue that names all its fields."""
    by_queue: dict[str, Raw] = {}
    for item in over:
        fields = by_queue.setdefault(item.account.uid, {})
        fields.setdefault(item.word, {})[item.bound] = field_value(item.needed, item.resource, up_to=True)
    return tuple(ObjectChange(kinds.QUEUE, name, {"spec": {"resources": fields}}) for name, fields in by_queue.items())


def field_value(value: float, resource: int, up_to: bool = False) -> float:
    """An amount in the unit of the field, whole where it can be."""
    if value == UNLIMITED:
        return -1
    written = value / FIELD_UNIT[resource]
    if up_to and resource != GPU_PLACE and not float(written).is_integer():
        return int(written) + 1
    if float(written).is_integer():
        return int(written)
    return math.ceil(written * 100 - DUST) / 100 if up_to else round(written, 2)


def firmness(gang: GangInfo) -> str:
    declared = gang.record.preemptible is False
    return (
        "preemptibility: non-preemptible" if declared else f"priority {gang.priority}, 100 and above is not preempted"
    )


def entitled(session: Session, gang: GangInfo, tasks: Sequence[TaskInfo]) -> tuple[ObjectChange, ...]:
    """Quotas on the whole way up with which the queue may take back what it needs."""
    proportion = books(session)
    if proportion is None or gang.queue not in proportion.accounts:
        return ()
    asked: Amounts = proportion.quota_of(tasks)
    fields: dict[str, Raw] = {}
    for account in line(proportion.accounts, gang.queue):
        wanted = plus(account.allocated, asked)
        for place in EACH:
            if asked[place] and account.deserved[place] != UNLIMITED and account.deserved[place] < wanted[place]:
                value = field_value(wanted[place], place, up_to=True)
                fields.setdefault(account.uid, {}).setdefault(RESOURCES[place], {})["quota"] = value
                if account.limit[place] != UNLIMITED and account.limit[place] < wanted[place]:
                    fields[account.uid][RESOURCES[place]]["limit"] = value
    return tuple(ObjectChange(kinds.QUEUE, name, {"spec": {"resources": given}}) for name, given in fields.items())
