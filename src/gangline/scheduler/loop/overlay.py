"""What was decided and the watch does not show yet.

Laid over every record that feed.py reads, so that a pod with a BindRequest on its way is never placed again and a pod
that is being evicted is never counted on. An entry goes when the watch has caught up with the write, or when the write
failed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from gangline.api.core import Pod
from gangline.api.kai import BindRequest
from gangline.scheduler.decisions import Bind, GangUpdate
from gangline.scheduler.records import DeviceId, GangRecord, TaskRecord
from gangline.scheduler.thought.booking import bound, evicted, updated_gang

Over = Callable[[TaskRecord], TaskRecord]


@dataclass(slots=True)
class _Binding:
    bind: Bind
    written: int | None = None
    """The revision of the BindRequest once it is written."""


class Overlay:
    """`seen` says up to which revision the watch of BindRequests has come."""

    def __init__(self, seen: Callable[[], int]) -> None:
        self._seen = seen
        self._binding: dict[str, _Binding] = {}
        self._evicting: dict[str, None] = {}
        self._gangs: dict[str, GangUpdate] = {}

    def binding(self, bind: Bind) -> None:
        self._binding[bind.task] = _Binding(bind)

    def says(self, uid: str, node: str) -> bool:
        """Whether the pod is on its way to this node: a request that says so is no news."""
        entry = self._binding.get(uid)
        return entry is not None and entry.bind.node == node

    def written(self, uid: str, revision: int) -> None:
        if uid in self._binding:
            self._binding[uid].written = revision

    def evicting(self, uid: str) -> None:
        self._evicting[uid] = None

    def updating(self, update: GangUpdate) -> None:
        self._gangs[update.gang] = update

    def updated(self, update: GangUpdate) -> None:
        """Its write is done, or failed for good; the watch tells the rest."""
        if self._gangs.get(update.gang) is update:
            del self._gangs[update.gang]

    def forget(self, uid: str) -> None:
        self._binding.pop(uid, None)
        self._evicting.pop(uid, None)

    def forget_gang(self, uid: str) -> None:
        self._gangs.pop(uid, None)

    def promise(self, uid: str, claim: str) -> tuple[DeviceId, ...] | None:
        """The devices that a request on its way gives to a pod's claim."""
        entry = self._binding.get(uid)
        return entry.bind.claims.get(claim) if entry is not None else None

    def of_pod(self, pod: Pod, request: BindRequest | None) -> Over:
        """What to lay over a pod's record."""
        entry = self._binding.get(pod.uid)
        if entry is not None and (
            pod.spec.node_name or pod.metadata.deleting or request is not None or self._shown(entry)
        ):
            del self._binding[pod.uid]
            entry = None
        if pod.metadata.deleting:
            self._evicting.pop(pod.uid, None)
        leaving = pod.uid in self._evicting

        def over(record: TaskRecord) -> TaskRecord:
            record = bound(record, entry.bind) if entry is not None else record
            return evicted(record) if leaving else record

        return over

    def _shown(self, entry: _Binding) -> bool:
        return entry.written is not None and self._seen() >= entry.written

    def of_gang(self, uid: str) -> Callable[[GangRecord], GangRecord]:
        update = self._gangs.get(uid)
        return (lambda record: record) if update is None else partial(updated_gang, update)
