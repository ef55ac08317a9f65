"""Devices of new nodes: like those that there are, as many as are asked for, and as claims select them.

Asked by new_nodes.py for a node that pods with device claims could use. What a selector asks for is read only where it
names an attribute or a capacity plainly; whether that will do is tried, as every change is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gangline.api import kinds
from gangline.api.meta import Raw
from gangline.rules.values.merge_patch import merge_patch
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.records import DeviceRequest
from gangline.scheduler.session import Session
from gangline.why.changes import ObjectChange
from gangline.why.objects import ClusterObjects, dig

NAMED = r"""\[["']([\w.-]+)["']\](?:\.(\w+)|\[["']([\w.-]+)["']\])"""
ATTRIBUTE = re.compile(rf"""device\.attributes{NAMED}\s*==\s*(?:"([^"]*)"|'([^']*)'|(true|false)|(\d+))""")
CAPACITY = re.compile(
    rf"""device\.capacity{NAMED}\.(?:compareTo\(quantity\(["']([\w.]+)["']\)\)\s*>=\s*0|"""
    r"""isGreaterThan\(quantity\(["']([\w.]+)["']\)\))"""
)
DRIVER = re.compile(r"""device\.driver\s*==\s*["']([\w.-]+)["']""")


def claimed_devices(session: Session, task: TaskInfo) -> int:
    """Devices that the pod's claims ask for."""
    claims = (session.cluster.devices.records.get((task.namespace, name)) for name in task.record.claims)
    return sum(request.count or 1 for claim in claims if claim is not None for request in claim.requests)


def requests_of(session: Session, tasks: Sequence[TaskInfo]) -> list[DeviceRequest]:
    """What the pods' claims ask for; of alternatives, the first."""
    claims = [
        session.cluster.devices.records.get((task.namespace, name)) for task in tasks for name in task.record.claims
    ]
    asked = [request for claim in claims if claim is not None for request in claim.requests]
    return [request.choices[0] if request.choices else request for request in asked]


def new_slices(
    session: Session, objects: ClusterObjects, like: str, name: str, tasks: Sequence[TaskInfo], wanted: int
) -> Iterator[ObjectChange]:
    """The devices of the new node, as those of the one it is like, and as many as are wanted."""
    drivers = _drivers(session, tasks)
    slices = [
        raw
        for raw in objects.raws(kinds.RESOURCE_SLICE)
        if dig(raw, "spec", "nodeName") and (not drivers or dig(raw, "spec", "driver") in drivers)
    ]
    mine = [slice_ for slice_ in slices if dig(slice_, "spec", "nodeName") == like]
    for number, item in enumerate(mine or slices[:1] or _first_slices(session, tasks)):
        devices = list(item["spec"].get("devices") or ())
        short = wanted - len(devices) if number == 0 and devices else 0
        devices += [{**devices[-1], "name": f"{devices[-1]['name']}-more-{place + 1}"} for place in range(short)]
        devices = [_as_selected(session, tasks, item["spec"], device) for device in devices]
        there = {"nodeName": name, "pool": {"name": name, "generation": 1}, "devices": devices}
        spec = merge_patch(item["spec"], there)
        yield ObjectChange(kinds.RESOURCE_SLICE, f"{name}-{number}", {"spec": spec}, how="new")


def _first_slices(session: Session, tasks: Sequence[TaskInfo]) -> list[Raw]:
    """Where no node has a device yet: one of the driver that the claims' classes are of."""
    classes = {request.device_class for request in requests_of(session, tasks)} - {""}
    drivers = _drivers(session, tasks) or classes & session.cluster.devices.classes.keys()
    return [
        {"spec": {"driver": driver, "pool": {"resourceSliceCount": 1}, "devices": [{"name": "device"}]}}
        for driver in sorted(drivers)
    ]


def _drivers(session: Session, tasks: Sequence[TaskInfo]) -> set[str]:
    """Drivers that the classes of the claims name; none where any will do."""
    known = session.cluster.devices.classes
    asked = [known[request.device_class] for request in requests_of(session, tasks) if request.device_class in known]
    named = {driver for item in asked for driver in (item.driver, *DRIVER.findall(" ".join(item.selectors)))}
    return named - {""}


def _as_selected(session: Session, tasks: Sequence[TaskInfo], slice_: Raw, device: Raw) -> Raw:
    """The device with the attributes and capacities that selectors of claims and of their classes name."""
    classes, driver = session.cluster.devices.classes, str(slice_.get("driver") or "")
    for request in requests_of(session, tasks):
        known = classes.get(request.device_class)
        for expression in (*(known.selectors if known is not None else ()), *request.selectors):
            device = merge_patch(device, _wished(expression, driver))
    return device


def _wished(expression: str, driver: str) -> Raw:
    attributes: Raw = {}
    for domain, name, other, text, quoted, truth, number in ATTRIBUTE.findall(expression):
        value: Raw = {"int": int(number)} if number else {"string": text or quoted}
        attributes[_qualified(domain, name or other, driver)] = {"bool": truth == "true"} if truth else value
    capacity: Raw = {
        _qualified(domain, name or other, driver): {"value": least or above}
        for domain, name, other, least, above in CAPACITY.findall(expression)
    }
    return {**({"attributes": attributes} if attributes else {}), **({"capacity": capacity} if capacity else {})}


def _qualified(domain: str, name: str, driver: str) -> str:
    return name if domain == driver else f"{domain}/{name}"
