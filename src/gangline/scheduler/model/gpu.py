"""Shared GPUs of one node: how much memory of each group (one physical device that several pods share) is used,
leaving, or promised.

A device that is opened for sharing leaves the node's idle whole GPUs; one whose users are all leaving counts as a
releasing whole GPU. `SharedGpus` keeps the three sums per group and answers by how much the node's idle and releasing
GPU counts must move. It is owned by `Node` and changed only there.
"""

from __future__ import annotations

from gangline.scheduler.model.journal import UndoJournal
from gangline.scheduler.model.status import Status
from gangline.scheduler.model.task import TaskInfo, share_of

WHOLE_GPU = "-2"


def device_memory(task: TaskInfo, gpu_memory: int) -> int:
    """Memory that the task takes of each of its devices on a node with so much memory per device."""
    return task.gpu.memory if task.gpu.memory > 0 else int(task.gpu.portion * gpu_memory)


class SharedGpus:
    """`used`, `releasing`, `allocated` are MiB per group; `marked` holds the groups counted as one releasing GPU."""

    __slots__ = ("allocated", "devices", "gpu_memory", "journal", "marked", "releasing", "used")

    def __init__(self, devices: int, gpu_memory: int, journal: UndoJournal) -> None:
        self.devices = devices
        self.gpu_memory = gpu_memory
        self.journal = journal
        self.used: dict[str, int] = {}
        self.releasing: dict[str, int] = {}
        self.allocated: dict[str, int] = {}
        self.marked: dict[str, bool] = {}

    def _bump(self, amounts: dict[str, int], group: str, by: int) -> int:
        value = amounts.get(group, 0) + by
        self.journal.set_item(amounts, group, value)
        return value

    def _mark(self, group: str) -> None:
        self.journal.set_item(self.marked, group, True)

    def _unmark(self, group: str) -> None:
        self.journal.pop_item(self.marked, group)

    def live(self) -> int:
        """How many devices are in use by sharing."""
        return sum(memory > 0 for memory in self.used.values())

    def _crowded(self, idle: float, used: float) -> bool:
        return self.devices < int(idle) + int(used) + self.live()

    def add(self, group: str, memory: int, status: Status, idle: float, used: float) -> tuple[int, int]:
        """Count a task in; answers by how much (idle, releasing) whole GPUs of the node change."""
        now = self._bump(self.used, group, memory)
        if status == Status.RELEASING:
            leaving = self._bump(self.releasing, group, memory)
            self._bump(self.allocated, group, memory)
            if now != leaving:
                return 0, 0
            fresh = group not in self.marked
            if fresh:
                self._mark(group)
            return -self._crowded(idle, used), int(fresh)
        if status == Status.PIPELINED:
            leaving = self._bump(self.releasing, group, -memory)
            return 0, -(now - memory == leaving + memory)
        self._bump(self.allocated, group, memory)
        first = now <= memory and self._crowded(idle, used)
        revived = group in self.marked
        if revived:
            self._unmark(group)
        return -first, -revived

    def remove(self, group: str, memory: int, status: Status, idle: float, used: float) -> tuple[int, int]:
        """Count a task out; the answer as for `add`."""
        now = self._bump(self.used, group, -memory)
        if status == Status.RELEASING:
            self._bump(self.releasing, group, -memory)
            self._bump(self.allocated, group, -memory)
            if now > 0:
                return 0, 0
            freed = not self._crowded(idle, used)
            marked = group in self.marked
            if marked:
                self._unmark(group)
            return int(freed), -marked
        if status == Status.PIPELINED:
            leaving = self._bump(self.releasing, group, memory)
            return 0, int(now + memory == leaving - memory or (now == 0 and leaving == 0))
        self._bump(self.allocated, group, -memory)
        freed = now <= 0 and not self._crowded(idle, used)
        marks = self.fully_releasing(group) and group not in self.marked
        if marks:
            self._mark(group)
        return int(freed), int(marks)

    def fully_releasing(self, group: str) -> bool:
        used = self.used.get(group, 0)
        return used != 0 and self.releasing.get(group) == used

    def fits(self, group: str, memory: int) -> bool:
        """Room for so much memory once leaving tasks are gone, on a device that is not leaving as a whole."""
        allocated, releasing = self.allocated.get(group, 0), self.releasing.get(group, 0)
        return (
            self.used.get(group, 0) != 0
            and self.gpu_memory - allocated + releasing - memory >= 0
            and allocated != releasing
        )

    def fits_now(self, group: str, memory: int) -> bool:
        return group in self.allocated and self.gpu_memory - self.allocated[group] - memory >= 0

    def fitting(self, memory: int) -> list[str]:
        """Groups with room, by name."""
        return sorted(group for group in self.used if self.fits(group, memory))

    def idle_portions(self) -> float:
        return sum(1 - share_of(memory, self.gpu_memory) for memory in self.allocated.values() if memory > 0)

    def idle_memory(self) -> int:
        return sum(self.gpu_memory - memory for memory in self.allocated.values() if memory > 0)

    def _partly_releasing(self) -> list[int]:
        return [memory for group, memory in self.releasing.items() if memory > 0 and not self.fully_releasing(group)]

    def releasing_portions(self) -> float:
        return sum(share_of(memory, self.gpu_memory) for memory in self._partly_releasing())

    def releasing_memory(self) -> int:
        return sum(self._partly_releasing())

    def used_portion(self, group: str) -> float:
        return self.used.get(group, 0) / self.gpu_memory
