"""Every admission hook of the two halves, as one list: for the webhook, the embedded server and the installer.

The hooks themselves stand in `admission/` and look up what they need through a Reader. Serves nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gangline.admission.scheduling.settings import SCHEDULER, WORKLOAD
from gangline.api.kinds import NAMESPACE, QUEUE, Kind
from gangline.api.meta import Raw, as_raw
from gangline.components.options import ComponentOptions, operator_settings, operator_settings_now
from gangline.config import manner
from gangline.rules.hooks import Hook
from gangline.rules.schedulers import SERVED, served
from gangline.runtime import Reader

if TYPE_CHECKING:
    from gangline.operator.memory.probes import Probes


class EmptyReader:
    """A Reader of an empty cluster."""

    def get(self, kind: Kind[Any], name: str, namespace: str = "") -> None:
        return None

    def by(self, kind: Kind[Any], index: str, value: str) -> list[Any]:
        return []

    def count(self, kind: Kind[Any], index: str, value: str) -> int:
        return 0

    def owned(self, kind: Kind[Any], uid: str) -> list[Any]:
        return []

    def list(self, kind: Kind[Any], namespace: str = "", labels: Any = None) -> list[Any]:
        return []


def hooks(options: ComponentOptions, read: Reader, probes: Probes | None = None) -> Iterable[Hook]:
    """Every admission hook of the two halves; `read` is what they may look up, `probes` what is known of fields that
    the server drops."""
    from gangline.admission.scheduling import kai
    from gangline.admission.sets import authorizer, podcliqueset, topologybinding
    from gangline.operator.checks import backend_check, backend_move, schedulers

    settings = operator_settings(options)
    now = operator_settings_now(options) or settings
    if WORKLOAD in options.admission.halves:
        check = backend_check(now, lambda: probes.dropped if probes is not None else frozenset())
        yield from podcliqueset.hooks(settings, lambda: read, check, backend_move(now))
        yield from topologybinding.hooks(topologybinding.Schedulers(*schedulers(settings)))
        yield from authorizer.hooks(settings, lambda: read)
    if SCHEDULER not in options.admission.halves:
        return

    def find_queue(name: str) -> Raw | None:
        queue = read.get(QUEUE, name)
        return None if queue is None else as_raw(queue)

    def labels(namespace: str) -> Mapping[str, str]:
        queue = read.get(NAMESPACE, namespace)
        return {} if queue is None else queue.labels

    how, admission = manner(options.compat), options.admission
    schedulers_served = served(how) if admission.scheduler_names == SERVED else admission.scheduler_names
    yield from kai.hooks(
        replace(admission, manner=how, scheduler_names=schedulers_served), find_queue=find_queue, labels=labels
    )
