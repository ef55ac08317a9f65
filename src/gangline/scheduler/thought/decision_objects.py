"""Decisions → the objects and patches that carry them out. Pure: loop/carrier.py sends them.

The forms are the wire contract with every binder, dashboard and controller that reads KAI's objects.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from gangline.api import names, resources
from gangline.api.core import Pod
from gangline.api.kai import PodGroup, SchedulingCondition
from gangline.api.kinds import POD, reference
from gangline.api.meta import Raw, as_raw
from gangline.rules import requests
from gangline.rules.gangs.evictions import EvictionCharge, EvictionNote, note
from gangline.rules.values.times import timestamp
from gangline.scheduler.decisions import Bind, Evict, ExtendedBind, GangUpdate, Refuse
from gangline.scheduler.records import DeviceId
from gangline.scheduler.refusals import QueueFigures, QueueTriple
from gangline.scheduler.thought.options import SchedulerOptions
from gangline.scheduler.victims.ledger import EvictionEntry

UNSCHEDULABLE = "Unschedulable"
UNSCHEDULABLE_ON_POOL = "UnschedulableOnNodePool"
BACKS_OFF = 1
TOO_LONG = 16_000
MOST_CHARGES = 24
"""So many evictions of a gang are kept in its note, the last ones."""


# --- BindRequest ------------------------------------------------------------------------------------------------------


def bind_request(bind: Bind, pod: Pod, group: str, options: SchedulerOptions) -> Raw:
    """The request that tells the binder where a pod goes; named like the pod, so there is only ever one. A pod that is
    not marked as a member of its group yet is marked by the bind."""
    labels = {names.SELECTED_NODE: bind.node}
    if options.node_pool and options.node_pool_key:
        labels[options.node_pool_key] = options.node_pool
    spec: Raw = bind_target(bind, pod) | {"receivedGPU": received_gpu(bind), "backoffLimit": options.bind_tries}
    return {
        "metadata": {
            "name": pod.name,
            "namespace": pod.namespace,
            "labels": labels,
            "annotations": {**bind.annotations, **membership(pod, group)},
            "ownerReferences": [reference(POD, pod, controller=False)],
        },
        "spec": spec,
    }


def bind_target(bind: Bind, pod: Pod) -> Raw:
    """Where a pod goes, and what it gets there."""
    target: Raw = {"podName": pod.name, "selectedNode": bind.node, "receivedResourceType": bind.received}
    if bind.received == requests.FRACTION:
        target["selectedGPUGroups"] = list(bind.gpu_groups)
    if bind.claims:
        target["resourceClaimAllocations"] = list(claim_allocations(bind, pod))
    if bind.extended is not None:
        target["extendedResourceClaimAllocation"] = extended_allocation(bind.extended, bind.node)
    if bind.numa_zones:
        target["predictedNUMAZones"] = numa_zones(bind, pod)
    return target


def received_gpu(bind: Bind) -> Raw:
    return {"count": bind.gpu_count, "portion": f"{bind.gpu_portion:.2f}"}


def membership(pod: Pod, group: str) -> dict[str, str]:
    """The mark of a pod that is not marked as a member of its group yet; the bind writes it."""
    return {} if names.POD_GROUP_NAME in pod.annotations else {names.POD_GROUP_NAME: group}


def claim_allocations(bind: Bind, pod: Pod) -> Iterable[Raw]:
    for name, claim in requests.claim_names(pod).items():
        if claim in bind.claims:
            yield {"name": name, "allocation": allocation(bind.claims[claim], bind.node, bind.configs.get(claim, ()))}


def allocation(devices: Iterable[DeviceId], node: str, configs: Iterable[Mapping[str, object]] = ()) -> Raw:
    """Devices of one node, usable there, with the configuration of their drivers."""
    written = [dict(config) for config in configs]
    results = [
        {
            "request": device.request,
            "driver": device.driver,
            "pool": device.pool,
            "device": device.device,
            **({"adminAccess": True} if device.admin else {}),
        }
        for device in devices
    ]
    here = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
    return {
        "devices": {"results": results} | ({"config": written} if written else {}),
        "nodeSelector": {"nodeSelectorTerms": [here]},
    }


def extended_allocation(given: ExtendedBind, node: str) -> Raw:
    """The claim that the binder makes for a pod's extended resources, with its devices and who uses them."""
    requests_ = [
        {
            "name": request.name,
            "exactly": {
                "deviceClassName": request.device_class,
                "allocationMode": "ExactCount",
                "count": request.count,
            },
        }
        for request in given.requests
    ]
    uses = [
        {"containerName": use.container, "resourceName": use.resource, "requestName": use.request} for use in given.uses
    ]
    return {
        "allocation": allocation(given.devices, node, given.configs),
        "deviceRequests": requests_,
        "containerMappings": uses,
    }


def numa_zones(bind: Bind, pod: Pod) -> list[Raw]:
    """Each zone with what the pod is expected to have there."""
    asked = [name for container in pod.spec.containers for name in container.resources.requests]
    gpu = next((name for name in asked if requests.is_gpu(name)), names.NVIDIA_GPU)
    shares = zip(bind.numa_zones or (), bind.numa_amounts, strict=True)
    return [
        {
            "zone": f"node-{zone}",
            "amount": {
                gpu if name == requests.GPU else name: quantity(name, amount) for name, amount in amounts.items()
            },
        }
        for zone, amounts in shares
    ]


def quantity(name: str, amount: float) -> str:
    """An amount of the model as Kubernetes writes it: CPU and extended resources are counted in thousandths there."""
    whole = name in (requests.GPU, "memory") or name.startswith("hugepages-")
    return resources.canonical(f"{int(amount)}" if whole else f"{int(amount)}m")


_NEW_GROUP = re.compile(r"^new-")


def opens_group(name: str) -> bool:
    """Whether the name stands for a GPU that is not shared yet."""
    return bool(_NEW_GROUP.match(name))


# --- PodGroup ---------------------------------------------------------------------------------------------------------


def gang_stamps(update: GangUpdate, eviction: EvictionNote | None = None) -> Raw:
    """The merge patch of a gang's time stamps; one that does not apply is removed. `eviction`: who evicted pods of it
    just now."""
    stamps = {
        names.LAST_START: update.last_start,
        names.LAST_EVICTION: update.last_eviction,
        names.STALE_SINCE: update.stale_since,
    }
    annotations = {key: None if value is None else timestamp(value) for key, value in stamps.items()}
    return {"metadata": {"annotations": annotations | ({} if eviction is None else {names.EVICTION: note(eviction)})}}


def eviction_of(evictions: Sequence[Evict], now: float, lately: Sequence[EvictionEntry]) -> EvictionNote:
    """What is noted about pods of one gang that were evicted together. `lately`: what the ledger has of the gang."""
    first = evictions[0]
    charges = tuple(
        EvictionCharge(entry.moment, entry.action, round(entry.lost, 1), entry.broken)
        for entry in lately[-MOST_CHARGES:]
    )
    size, words = first.gang_size, first.message
    return EvictionNote(first.action, timestamp(now), first.preemptor, len(evictions), size, words, charges)


def eviction_annotations(first: Evict, pods: int) -> dict[str, str]:
    """The same facts on the event, as upstream names them."""
    namespace, _, name = first.preemptor.partition("/")
    return {
        "num-evicted-pods": str(pods),
        "evictor-action-type": first.action,
        "evictor-pod-group-name": name,
        "evictor-pod-group-namespace": namespace,
    }


def group_condition(
    group: PodGroup, text: str, reasons: list[Raw], options: SchedulerOptions, now: float
) -> list[Raw] | None:
    """The scheduling conditions with this node pool's last; None when that is what stands there."""
    stored = list(group.status.scheduling_conditions)
    message = f"Node-Pool '{options.pool_name}': {text}" if group.spec.scheduling_backoff == BACKS_OFF else text
    message = (" ".join(message.split()) if options.one_line else message)[:TOO_LONG]
    if stored and _same(stored[-1], message, reasons, options):
        return None
    last = max((int(item.transition_id) for item in stored if item.transition_id.isdigit()), default=0)
    others = [as_raw(item) for item in stored if item.node_pool != options.pool_name]
    return [
        *others,
        {
            "type": UNSCHEDULABLE_ON_POOL,
            "nodePool": options.pool_name,
            "reason": UNSCHEDULABLE,
            "message": message,
            "reasons": reasons,
            "status": "True",
            "transitionID": str(last + 1),
            "lastTransitionTime": timestamp(now),
        },
    ]


def _same(last: SchedulingCondition, message: str, reasons: list[Raw], options: SchedulerOptions) -> bool:
    return (
        last.type == UNSCHEDULABLE_ON_POOL
        and last.node_pool == options.pool_name
        and last.status == "True"
        and last.message == message
        and _plain(last.reasons) == _plain(reasons)
    )


def _plain(reasons: Iterable[Raw]) -> list[Raw]:
    """Without the figures, which change with every other gang."""
    return [{key: value for key, value in reason.items() if key != "details"} for reason in reasons]


def reasons_of(refuse: Refuse) -> list[Raw]:
    queues = refuse.queues or (None,) * len(refuse.reasons)
    return [
        {
            "reason": reason,
            "message": refusal.reason,
            **({"details": {"queueDetails": queue_details(queue)}} if queue else {}),
        }
        for reason, refusal, queue in zip(refuse.reasons, refuse.refusals, queues, strict=True)
    ]


def queue_details(queue: QueueFigures) -> Raw:
    return {
        "name": queue.name,
        "queueRequestedResources": _list(queue.requested),
        "queueDeservedResources": _list(queue.deserved),
        "queueAllocatedResources": _list(queue.allocated),
        "queueAllocatedNonPreemptibleResources": _list(queue.allocated_firm),
        "queueResourceLimits": _list(queue.limit),
        "podGroupRequestedResources": _list(queue.asked),
        "podGroupRequestedNonPreemptibleResources": _list(queue.asked_firm),
    }


def _list(figures: QueueTriple) -> Raw:
    """A ResourceList; what is unlimited is not in it."""
    cpu, memory, gpu = figures
    written = {
        "cpu": (cpu, f"{round(cpu)}m"),
        "memory": (memory, f"{round(memory)}"),
        names.NVIDIA_GPU: (gpu, f"{round(gpu * 1000)}m"),
    }
    return {name: resources.canonical(text) for name, (amount, text) in written.items() if amount >= 0}


# --- Pod --------------------------------------------------------------------------------------------------------------


def pod_condition(message: str, now: float, reason: str = UNSCHEDULABLE) -> Raw:
    """The strategic merge patch of a pod's status: not scheduled, and why."""
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": reason,
        "message": message[:TOO_LONG],
        "lastTransitionTime": timestamp(now),
    }
    return {"status": {"conditions": [condition]}}


def disruption(evict: Evict, now: float) -> Raw:
    """The strategic merge patch of a pod that is about to be evicted: by which action, for whom, why."""
    whom = f" to make room for {evict.preemptor}" if evict.preemptor else ""
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "PreemptionByScheduler",
        "message": f"{evict.action}{whom}: {evict.message}"[:TOO_LONG],
        "lastTransitionTime": timestamp(now),
    }
    return {"status": {"conditions": [condition]}}
