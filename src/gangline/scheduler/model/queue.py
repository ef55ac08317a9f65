"""A queue of the queue tree: what it is promised, and exact running sums of what its gangs hold and ask for.

Sums are whole numbers (GPUs in hundredths), so that they do not depend on the order of events. Fair shares are
computed from them per cycle by the proportion plugin; nothing here divides anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from gangline.scheduler.model.resources import CPU, MEMORY, ResourceNames, Vector, half_up
from gangline.scheduler.records import QueueRecord


class QueueAmount(NamedTuple):
    """CPU in milli-cores, memory in bytes, GPUs in hundredths of a device."""

    cpu: int = 0
    memory: int = 0
    gpu: int = 0


NOTHING = QueueAmount()


def amount_of(vector: Vector, names: ResourceNames) -> QueueAmount:
    return QueueAmount(int(vector[CPU]), int(vector[MEMORY]), half_up(names.total_gpus(vector) * 100))


class QueueInfo:
    """`gangs` are the uids of gangs that name this queue. `held`, `held_firm` (non-preemptible part) and `asked`
    (pending) are the sums of its own gangs only; `asked_gpu_memory` is Σ devices × MiB of pending GPU-memory
    requests, not part of `asked`."""

    __slots__ = (
        "asked",
        "asked_gpu_memory",
        "children",
        "created",
        "gangs",
        "held",
        "held_firm",
        "name",
        "parent",
        "record",
        "title",
    )

    def __init__(self, record: QueueRecord) -> None:
        self.record = record
        self.name = record.name
        self.title = record.display_name or record.name
        self.parent = record.parent
        self.created = record.created
        self.children: list[str] = []
        self.gangs: dict[str, None] = {}
        self.held = QueueAmount()
        self.held_firm = QueueAmount()
        self.asked = QueueAmount()
        self.asked_gpu_memory = 0

    @property
    def is_leaf(self) -> bool:
        return not self.children

    @property
    def priority(self) -> int:
        return self.record.priority


@dataclass(slots=True)
class Booking:
    """How one task is counted in its queue's sums."""

    queue: QueueInfo
    held: QueueAmount = NOTHING
    firm: QueueAmount = NOTHING
    asked: QueueAmount = NOTHING
    gpu_memory: int = 0

    def apply(self, sign: int) -> None:
        queue = self.queue
        if self.held is not NOTHING:
            queue.held = moved(queue.held, self.held, sign)
        if self.firm is not NOTHING:
            queue.held_firm = moved(queue.held_firm, self.firm, sign)
        if self.asked is not NOTHING:
            queue.asked = moved(queue.asked, self.asked, sign)
        queue.asked_gpu_memory += sign * self.gpu_memory


def moved(total: QueueAmount, by: QueueAmount, sign: int) -> QueueAmount:
    return QueueAmount(total.cpu + sign * by.cpu, total.memory + sign * by.memory, total.gpu + sign * by.gpu)
