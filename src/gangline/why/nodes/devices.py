"""What a node lacks of the devices that a pod claims: which claim, of which class, by which selector or constraint.

Asked by facts.py once the dynamic-resources plugin has said no; the plugin's own search decides here as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gangline.scheduler.matching import node_matches
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.placing.devices import CannotTell, choose, concerns, fitting
from gangline.scheduler.records import ClaimRecord, DeviceConstraint, DeviceRequest, TolerationRecord
from gangline.scheduler.session import Session
from gangline.scheduler.why.verdict import counted
from gangline.why.nodes.labels import term_text
from gangline.why.words.amounts import listed


def asked_devices(request: DeviceRequest) -> str:
    if request.choices:
        return " or ".join(dict.fromkeys(map(asked_devices, request.choices)))
    count = "all devices" if request.count is None else counted(request.count, "device")
    return f"{count} of class {request.device_class}"


def lacking_devices(session: Session, task: TaskInfo, node: NodeInfo, refused: str) -> str:
    """Which claim finds no device here, of which class, and how many there are."""
    claims = [
        claim
        for name in task.record.claims
        if (claim := session.cluster.devices.records.get((task.namespace, name))) is not None
    ]
    elsewhere = next((text for claim in claims if (text := _allocated_elsewhere(claim, node))), "")
    if elsewhere:
        return elsewhere
    open_claims = [claim for claim in claims if not claim.allocated]
    lacking = [text for claim in open_claims for text in _lacking_requests(session, claim, node)]
    lacking = lacking or [text for claim in open_claims for text in _disagreeing(session, claim, node)]
    lacking = lacking or [
        f"{asked_devices(request)} for ResourceClaim {claim.name}" for claim in claims for request in claim.requests
    ]
    return f"cannot give {' and '.join(lacking)}" if lacking else refused


def eviction_helps(session: Session, task: TaskInfo, node: NodeInfo) -> bool:
    """Whether the node has a device that each request of the pod's claims means, and some of its devices are held."""
    devices = session.cluster.devices
    claims = [devices.records.get((task.namespace, name)) for name in task.record.claims]
    if not any(devices.held.get(item.key) for item in devices.on(node)):
        return False
    try:
        return all(
            any(fitting(devices, node, way) for way in _ways(request))
            for claim in claims
            if claim is not None
            for request in claim.requests
        )
    except CannotTell:
        return False


def _ways(request: DeviceRequest) -> Sequence[DeviceRequest]:
    return request.choices or (request,)


def _allocated_elsewhere(claim: ClaimRecord, node: NodeInfo) -> str:
    if not claim.allocated or claim.nodes is None or node_matches(claim.nodes, node):
        return ""
    where = " or ".join(term_text(term) for term in claim.nodes) or "no node"
    return (
        f"cannot use ResourceClaim {claim.name}: its devices are allocated already, and usable only where {where} "
        "(status.allocation.nodeSelector)"
    )


def _lacking_requests(session: Session, claim: ClaimRecord, node: NodeInfo) -> Iterator[str]:
    """Requests that the node could not meet even alone."""
    for request in claim.requests:
        if not _met(session, replace(claim, requests=(request,), constraints=()), node):
            yield f"{asked_devices(request)} for ResourceClaim {claim.name} ({_free_devices(session, node, request)})"


def _met(session: Session, claim: ClaimRecord, node: NodeInfo) -> bool:
    try:
        return choose(session.cluster.devices, node, [claim]) is not None
    except CannotTell:
        return False


def _disagreeing(session: Session, claim: ClaimRecord, node: NodeInfo) -> Iterator[str]:
    """Constraints without which the node could give the devices."""
    for constraint in claim.constraints:
        if not _met(session, replace(claim, constraints=(constraint,)), node):
            field, word = ("matchAttribute", "agree") if constraint.same else ("distinctAttribute", "differ")
            asked = [asked_devices(request) for request in claim.requests if concerns(constraint, request.name)]
            yield (
                f"{' and '.join(asked)} for ResourceClaim {claim.name} that {word} in "
                f"{constraint.same or constraint.different} (constraints.{field}): "
                f"{_values_there(session, claim, constraint, node)}"
            )


def _values_there(session: Session, claim: ClaimRecord, constraint: DeviceConstraint, node: NodeInfo) -> str:
    there = {
        item.key: item.device.attributes.get(constraint.same or constraint.different)
        for request in claim.requests
        for way in _ways(request)
        for item in fitting(session.cluster.devices, node, way)
    }
    values = [str(next(iter(value.values()))) for value in there.values() if value]
    if not values:
        return f"none of its {counted(len(there), 'device')} has that attribute"
    return f"its {counted(len(there), 'device')} have {listed(values)}"


def _free_devices(session: Session, node: NodeInfo, request: DeviceRequest) -> str:
    devices = session.cluster.devices
    try:
        there = {item.key: item for way in _ways(request) for item in fitting(devices, node, way)}
    except CannotTell as error:
        return str(error)
    if not there:
        return _unselected(session, node, request)
    free = sum(not devices.held.get(key) for key in there)
    return f"it has {free} of {len(there)} free"


def _unselected(session: Session, node: NodeInfo, request: DeviceRequest) -> str:
    """None: with the taints or the selectors that none of its devices meets, the request's own or those of its
    class."""
    devices = session.cluster.devices
    known = devices.classes.get(request.device_class)
    of_class = fitting(devices, node, replace(request, selectors=()))
    if request.selectors and of_class:
        of = counted(len(of_class), "device")
        return f"none of its {of} of that class meets the selector {' && '.join(request.selectors)}"
    there = devices.on(node)
    meant = fitting(devices, node, replace(request, tolerations=(TolerationRecord(operator="Exists"),)))
    if meant:
        taints = sorted({f"{taint.key}:{taint.effect}" for item in meant for taint in item.device.taints})
        of = counted(len(meant), "device")
        return f"its {of} of that class {'has' if len(meant) == 1 else 'have'} taint {listed(taints)}, not tolerated"
    if known is not None and known.selectors and there:
        return (
            f"none of its {counted(len(there), 'device')} meets the selector of DeviceClass {request.device_class}: "
            + (" && ".join(known.selectors))
        )
    return "it has none"
