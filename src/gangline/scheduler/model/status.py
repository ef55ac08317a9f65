"""What state a task is in, and the sets of states that the rules speak of.

Statuses are bits, so that a set of statuses is a number and membership is `status & SET`. Nothing here knows how a
status is derived from a pod (that is `objects/pods.py`).
"""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    PENDING = 1
    GATED = 2
    ALLOCATED = 4
    PIPELINED = 8
    BINDING = 16
    BOUND = 32
    RUNNING = 64
    RELEASING = 128
    STUCK_RELEASING = 256
    SUCCEEDED = 512
    FAILED = 1024
    UNKNOWN = 2048

    @property
    def label(self) -> str:
        """The name as people and recorded cases write it: StuckInReleasing, Pending…"""
        return _LABELS[self]

    @classmethod
    def from_label(cls, label: str) -> Status:
        return _BY_LABEL[label]


_LABELS = {status: status.name.title() for status in Status} | {Status.STUCK_RELEASING: "StuckInReleasing"}
_BY_LABEL = {label: status for status, label in _LABELS.items()}

ALLOCATED = Status.ALLOCATED | Status.BOUND | Status.BINDING | Status.RUNNING
ACTIVE_ALLOCATED = ALLOCATED | Status.PIPELINED
ACTIVE_USED = ACTIVE_ALLOCATED | Status.RELEASING | Status.STUCK_RELEASING
ALIVE = ACTIVE_ALLOCATED | Status.PENDING | Status.GATED
