"""PodGang → annotations on the pods: YuniKorn has no object of its own for a gang.

Each group is a task group with its own minimum. YuniKorn first places placeholder pods for it, which must be as large
as the real pods. While a gang waits, YuniKorn reports only on its placeholders: the first pod owns them, and they carry
a label of the gang, so that their changes are seen.

Two surprises. On a timeout, YuniKorn starts the pods without the gang, unless its style is hard; here it always is. And
YuniKorn remembers an application for a while after its last pod, and places later pods under the same name one by one.
So a gang that is made anew, or starts again, gets a new name; the PodGang remembers the last one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from gangline.api import names, resources
from gangline.api.core import Pod
from gangline.api.grove import PodCliqueSet
from gangline.api.kinds import POD
from gangline.api.meta import Raw, condition
from gangline.errors import Problem
from gangline.operator.backends.contract import (
    Backend,
    Capabilities,
    Facts,
    GangObject,
    GangState,
    GroupInfo,
    Kinds,
    PodGangInfo,
    setting,
    with_metadata,
)
from gangline.operator.backends.losses import demand, lost_wishes, refusals
from gangline.operator.backends.places import affinity

if TYPE_CHECKING:
    from gangline.runtime import Reader

PREFIX = "yunikorn.apache.org/"
PATIENCE = 900
LONGEST = 63
BINARY = ("memory", "ephemeral-storage")
FOLLOWED = ("nodeSelector", "tolerations", "affinity", "topologySpreadConstraints")
"""Parts of a pod that its placeholder must share, so that it finds a place where the pod may go."""
TIMEOUT, REJECTED = "ResourceReservationTimeout", "ApplicationRejected"
QUEUE = f"{PREFIX}queue"
APPLICATION = f"{PREFIX}app-id"
USED = "grove.io/yunikorn-application"
"""Annotation of a PodGang: the last application under which pods of it were placed."""


class YunikornBackend(Backend):
    name = "yunikorn"
    scheduler_name = "yunikorn"
    gate = names.GATE_YUNIKORN
    gave_up: Mapping[str, float] = {TIMEOUT: 0.0, REJECTED: 60.0}
    """Why YuniKorn fails pods without placing them, and how old those must be until others take their place."""
    reads: Kinds = ()
    writes: Kinds = ()
    capabilities = Capabilities(queue=True)

    def matches(self, scheduler_name: str) -> bool:
        return "yunikorn" in scheduler_name

    def check(self, pcs: PodCliqueSet, facts: Facts) -> Iterable[Problem]:
        return refusals(pcs, self.name, self.capabilities)

    def gang_objects(self, gang: PodGangInfo, facts: Facts) -> Iterable[GangObject]:
        demand(gang, self.name, self.capabilities)
        return ()

    def prepare_pod(self, pod: Raw, gang: PodGangInfo) -> Raw:
        marks = {APPLICATION: application(gang)}
        queue = setting(gang, QUEUE, "queue")
        if queue:
            marks[QUEUE] = queue
        clique = pod["metadata"]["labels"][names.POD_CLIQUE]
        groups = [_task_group(group, gang) for group in gang.groups if _minimum(group, gang) > 0]
        if all(group["name"] != clique for group in groups):
            return with_metadata(pod, marks, {})
        patience = int(gang.facts.config.get("placeholderTimeoutInSeconds") or PATIENCE)
        return with_metadata(
            pod,
            marks,
            {
                f"{PREFIX}task-group-name": clique,
                f"{PREFIX}task-groups": json.dumps(groups, separators=(",", ":")),
                f"{PREFIX}schedulingPolicyParameters": f"placeholderTimeoutInSeconds={patience} "
                "gangSchedulingStyle=Hard",
            },
        )

    def notes(self, gang: Callable[[], PodGangInfo], facts: Facts) -> Mapping[str, str]:
        return _notes(gang())

    def gang_status(self, gang: PodGangInfo, read: Reader) -> GangState:
        lost = lost_wishes(gang, self.capabilities)
        pods = [pod for group in gang.groups for pod in group.pods]
        for pod in pods:
            if pod.status.reason == REJECTED:
                return GangState(_rejected(gang, pod), REJECTED, lost, blocked=True)
            if pod.status.reason == TIMEOUT:
                return GangState(f"YuniKorn gave up pod {pod.name}: {pod.status.reason}", pod.status.reason, lost)
        placeholders = [item for pod in pods for item in read.owned(POD, pod.uid)]
        for pod in (*pods, *placeholders):
            placed = condition(pod.status.conditions, "PodScheduled")
            if (
                placed is not None
                and placed.status == "False"
                and placed.reason in ("Unschedulable", "SchedulingSkipped")
            ):
                whose = "" if names.POD_CLIQUE in pod.labels else f"placeholder {pod.name}: "
                return GangState(f"YuniKorn: {whose}{placed.message}", placed.reason, lost)
        return GangState(lost=lost)


def _notes(gang: PodGangInfo) -> Mapping[str, str]:
    """The application under which pods of the gang were placed last."""
    placed = sorted(
        {
            pod.labels[APPLICATION]
            for group in gang.groups
            for pod in group.pods
            if pod.spec.node_name and APPLICATION in pod.labels
        }
    )
    used = placed[0] if placed else gang.annotations.get(USED, "")
    return {USED: used} if used else {}


def _rejected(gang: PodGangInfo, pod: Pod) -> str:
    queue = setting(gang, QUEUE, "queue")
    asked = f"queue {queue}" if queue else f"the queue of namespace {gang.namespace}"
    return (
        f"YuniKorn rejected the gang: {(pod.status.message or 'it does not say why').strip()}; see that {asked} exists "
        f"in YuniKorn's configuration and takes applications, or name another one with label {QUEUE}; it is tried "
        "again every minute"
    )


def application(gang: PodGangInfo) -> str:
    """The gang's application id: that of its living pods; else one that is new, which follows from those used or given
    up before."""
    pods = [pod for group in gang.groups for pod in group.pods if APPLICATION in pod.labels]
    over = {pod.labels[APPLICATION] for pod in pods if pod.status.reason in YunikornBackend.gave_up}
    alive = sorted({pod.labels[APPLICATION] for pod in pods if not pod.metadata.deleting} - over)
    if alive:
        return alive[0]
    full = f"{gang.namespace}-{gang.name}-{names.suffix(gang.uid)}"
    before = sorted(over | set(filter(None, (gang.annotations.get(USED),))))
    return _short(f"{full}-{names.suffix(*before)}" if before else full)


def _short(full: str) -> str:
    """A name that a label can hold."""
    return full if len(full) <= LONGEST else f"{full[: LONGEST - 6].rstrip('-.')}-{names.suffix(full)}"


def _minimum(group: GroupInfo, gang: PodGangInfo) -> int:
    return group.usual_minimum if gang.released else group.minimum


def _task_group(group: GroupInfo, gang: PodGangInfo) -> Raw:
    spec = group.template.spec.pod_spec if group.template else {}
    if group.places:
        spec = spec | {"affinity": affinity(spec.get("affinity"), group.places)}
    return {
        "name": group.name,
        "minMember": _minimum(group, gang),
        "minResource": requests(spec),
        "labels": {names.POD_GANG: gang.name},
    } | {key: spec[key] for key in FOLLOWED if spec.get(key)}


def requests(spec: Raw) -> dict[str, str]:
    """What a pod of this spec asks for: its containers together, or the largest step of its start; overhead on top."""
    steady, sidecars, peak = {}, dict[str, int](), dict[str, int]()
    for container in spec.get("initContainers") or ():
        needs = _needs(container)
        if container.get("restartPolicy") == "Always":
            sidecars = _plus(sidecars, needs)
        else:
            peak = _most(peak, _plus(needs, sidecars))
    steady = sidecars
    for container in spec.get("containers") or ():
        steady = _plus(steady, _needs(container))
    total = _plus(_most(steady, peak), resources.add(spec.get("overhead") or {}))
    return {
        name: (resources.binary if name in BINARY else resources.decimal)(amount)
        for name, amount in sorted(total.items())
    }


def _needs(container: Raw) -> dict[str, int]:
    """Requests of a container; a limit stands for a request that is not given."""
    given = container.get("resources") or {}
    return resources.add({**(given.get("limits") or {}), **(given.get("requests") or {})})


def _plus(amounts: dict[str, int], other: dict[str, int]) -> dict[str, int]:
    return {name: amounts.get(name, 0) + other.get(name, 0) for name in (*amounts, *other)}


def _most(amounts: dict[str, int], other: dict[str, int]) -> dict[str, int]:
    return {name: max(amounts.get(name, 0), other.get(name, 0)) for name in (*amounts, *other)}
