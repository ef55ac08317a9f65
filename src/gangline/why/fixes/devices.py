"""Devices of new nodes: like those that there are, as many as are asked for, and as claims select them.

Asked by new_nodes.py for a node that pods with device claims could use. What a selector asks for is read from its
expression (device_wishes.py); whether that will do is tried, as every change is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from gangline.api import kinds
from gangline.api.meta import Raw
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.placing.devices import concerns
from gangline.scheduler.records import ClaimRecord, DeviceConstraint, DeviceRequest
from gangline.scheduler.session import Session
from gangline.why.changes import ObjectChange
from gangline.why.fixes.device_wishes import as_selected
from gangline.why.objects import ClusterObjects, dig

DRIVER = re.compile(r"""device\.driver\s*==\s*["']([\w.-]+)["']""")
Wanted = list[tuple[DeviceRequest, int]]
"""What is asked for, and of how many devices."""


def claims_of(session: Session, tasks: Iterable[TaskInfo]) -> list[ClaimRecord]:
    """Each claim of these pods once."""
    names = dict.fromkeys((task.namespace, name) for task in tasks for name in task.record.claims)
    return [claim for name in names if (claim := session.cluster.devices.records.get(name)) is not None]


def new_slices(
    session: Session, objects: ClusterObjects, like: str, name: str, tasks: Sequence[TaskInfo], together: bool
) -> Iterator[ObjectChange]:
    """The devices of the new node: as many as its pods ask for, and no fewer than the node has that it is like.

    `together`: it must hold all the pods; else any of them."""
    wanted = _of_all(session, tasks) if together else _of_any(session, tasks)
    constraints = [item for claim in claims_of(session, tasks) for item in claim.constraints]
    every = [raw for raw in objects.raws(kinds.RESOURCE_SLICE) if dig(raw, "spec", "nodeName")]
    by_driver: dict[str, Wanted] = {}
    for request, count in wanted:
        by_driver.setdefault(_driver_of(session, request, every), []).append((request, count))
    by_driver = by_driver or {str(dig(raw, "spec", "driver")): [] for raw in every if _is_on(raw, like)}
    for number, (driver, of_driver) in enumerate(sorted(by_driver.items())):
        slice_ = _slice_like(every, like, driver)
        devices = _tailored(session, slice_, driver, of_driver)
        spec = slice_["spec"] | {
            "nodeName": name,
            "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
            "devices": _agreeing(devices, of_driver, constraints, driver),
        }
        yield ObjectChange(kinds.RESOURCE_SLICE, f"{name}-{number}", {"spec": spec}, how="new")


def _of_all(session: Session, tasks: Sequence[TaskInfo]) -> Wanted:
    return [(request, request.count or 1) for claim in claims_of(session, tasks) for request in _first_ways(claim)]


def _of_any(session: Session, tasks: Sequence[TaskInfo]) -> Wanted:
    """For each kind of request the most that one pod asks for."""
    most: Counter[tuple[str, str, tuple[str, ...]]] = Counter()
    requests = {}
    for task in tasks:
        mine: Counter[tuple[str, str, tuple[str, ...]]] = Counter()
        for request, count in _of_all(session, [task]):
            key = (request.name, request.device_class, request.selectors)
            requests[key] = request
            mine[key] += count
        most |= mine
    return [(requests[key], count) for key, count in most.items()]


def _first_ways(claim: ClaimRecord) -> list[DeviceRequest]:
    """Its requests; of alternatives, the first."""
    return [request.choices[0] if request.choices else request for request in claim.requests]


def _driver_of(session: Session, request: DeviceRequest, every: Sequence[Raw]) -> str:
    """The driver whose devices a request can mean."""
    known = session.cluster.devices.classes.get(request.device_class)
    given = [known.driver] if known is not None and known.driver else []
    named = given or DRIVER.findall(" ".join(_selectors(session, request)))
    published = [str(dig(raw, "spec", "driver")) for raw in every]
    return next(iter((*named, *published)), request.device_class)


def _is_on(slice_: Raw, node: str) -> bool:
    return bool(dig(slice_, "spec", "nodeName") == node)


def _slice_like(every: Sequence[Raw], like: str, driver: str) -> Raw:
    """One of that driver, of the node that the new one is like if it has any."""
    there = [raw for raw in every if dig(raw, "spec", "driver") == driver]
    blank: Raw = {"spec": {"driver": driver, "devices": [{"name": "device"}]}}
    return next((raw for raw in there if _is_on(raw, like)), there[0] if there else blank)


def _tailored(session: Session, slice_: Raw, driver: str, wanted: Wanted) -> list[Raw]:
    """As many as are wanted and at least as many as were there, each with what its request selects."""
    there = [dict(item) for item in dig(slice_, "spec", "devices") or ()] or [{"name": "device"}]
    devices: list[Raw] = []
    for request, count in wanted:
        for _ in range(count):
            device = _numbered(there, len(devices))
            for expression in _selectors(session, request):
                device = as_selected(device, driver, expression)
            devices.append(device)
    last = devices[-1] if devices else {}
    alike = {key: value for key, value in last.items() if key != "name"}
    return devices + [
        {**there[place], **alike, "name": there[place]["name"]} for place in range(len(devices), len(there))
    ]


def _numbered(there: Sequence[Raw], place: int) -> Raw:
    """The device at a place, or one more like the last, which nothing taints."""
    more = place - len(there) + 1
    device = dict(there[min(place, len(there) - 1)])
    device.pop("taints", None)
    return device if more <= 0 else device | {"name": f"{device['name']}-more-{more}"}


def _selectors(session: Session, request: DeviceRequest) -> tuple[str, ...]:
    known = session.cluster.devices.classes.get(request.device_class)
    return (*(known.selectors if known is not None else ()), *request.selectors)


def _agreeing(devices: list[Raw], wanted: Wanted, constraints: Sequence[DeviceConstraint], driver: str) -> list[Raw]:
    """With one value, or different ones, of the attributes in which a claim wants its devices to agree or to differ."""
    asked = [request.name for request, count in wanted for _ in range(count)]
    for constraint in constraints:
        domain, _, name = (constraint.same or constraint.different).rpartition("/")
        key = name if domain in ("", driver) else f"{domain}/{name}"
        value: Raw = {}
        for place, request in enumerate(asked):
            if not concerns(constraint, request):
                continue
            given = devices[place].get("attributes") or {}
            value = value or given.get(key) or {"string": name}
            mine = value if constraint.same else {"string": f"{name}-{place}"}
            devices[place] = {**devices[place], "attributes": {**given, key: mine}}
    return devices
