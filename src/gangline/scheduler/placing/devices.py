"""Which devices a pod's claims get on a node: a search over its devices that fills every request of every claim, or
finds that it cannot.

A device fits a request when the class's and the request's selectors hold, its taints are tolerated and its pool's
shared counters suffice; devices of one claim also agree with each other as the claim demands. The first answer in the
order of pools, slices and devices is taken. Nothing is changed here: what is found is booked by the plugin that asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gangline.rules.cel import CelError, CelSyntaxError
from gangline.rules.cel.devices import device_value, selects
from gangline.scheduler.matching import untolerated
from gangline.scheduler.model.dra import Devices, Published
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.records import ClaimRecord, Counters, DeviceConstraint, DeviceId, DeviceRequest

MOST_STEPS = 20_000
"""So many devices are tried before the answer is no."""

Given = list[tuple[DeviceId, ...]]


class CannotTell(Exception):
    """A selector that cannot be evaluated for some device: nobody may guess what it would have chosen."""


def fitting(devices: Devices, node: NodeInfo, request: DeviceRequest) -> list[Published]:
    """The node's devices that the request means, held ones included."""
    key = (node.name, request.device_class, request.selectors, request.tolerations)
    answer = devices.answers.get(key)
    if answer is None:
        answer = devices.answers[key] = [item for item in devices.on(node) if _means(devices, request, item)]
    return list(answer)


def _means(devices: Devices, request: DeviceRequest, offered: Published) -> bool:
    if offered.device.device_class:
        return offered.device.device_class == request.device_class
    record = devices.classes.get(request.device_class)
    if record is None or record.driver not in ("", offered.slice.driver):
        return False
    expressions = (*record.selectors, *request.selectors)
    if not expressions:
        return untolerated(offered.device.taints, request.tolerations) is None
    value = device_value(offered.slice.driver, offered.device.attributes, offered.device.capacity)
    try:
        chosen = all(selects(expression, value) for expression in expressions)
    except (CelError, CelSyntaxError) as error:
        raise CannotTell(
            f"a selector of request {request.name} cannot be evaluated for device {offered.device.name}: {error}"
        ) from None
    return chosen and untolerated(offered.device.taints, request.tolerations) is None


def choose(devices: Devices, node: NodeInfo, claims: Sequence[ClaimRecord]) -> Given | None:
    """Free devices for every claim, in their order; None when they do not suffice."""
    search = DeviceSearch(devices, node, claims)
    return search.given() if search.fill(0) else None


@dataclass(slots=True)
class DeviceSearch:
    devices: Devices
    node: NodeInfo
    claims: Sequence[ClaimRecord]
    taken: list[tuple[int, DeviceRequest, Published]] = field(default_factory=list)
    steps: int = 0
    wants: list[tuple[int, DeviceRequest]] = field(init=False)

    def __post_init__(self) -> None:
        self.wants = [(place, request) for place, claim in enumerate(self.claims) for request in claim.requests]

    def given(self) -> Given:
        device_idses: list[list[DeviceId]] = [[] for _ in self.claims]
        for place, request, item in self.taken:
            device_idses[place].append(
                DeviceId(item.slice.driver, item.slice.pool, item.device.name, request.name, request.admin)
            )
        return [tuple(item) for item in device_idses]

    def fill(self, at: int) -> bool:
        """Fill the wants from this one on."""
        if at == len(self.wants):
            return True
        place, request = self.wants[at]
        return any(self._meet(at, place, choice) for choice in request.choices or (request,))

    def _meet(self, at: int, place: int, request: DeviceRequest) -> bool:
        candidates = fitting(self.devices, self.node, request)
        if request.count is not None:
            return self._some(at, place, request, candidates, 0, request.count)
        if not candidates or not all(candidate.complete for candidate in candidates):
            return False
        before = len(self.taken)
        if all(self._take(place, request, candidate) for candidate in candidates) and self.fill(at + 1):
            return True
        del self.taken[before:]
        return False

    def _some(
        self, at: int, place: int, request: DeviceRequest, candidates: list[Published], start: int, left: int
    ) -> bool:
        if not left:
            return self.fill(at + 1)
        for number in range(start, len(candidates) - left + 1):
            if self._take(place, request, candidates[number]):
                if self._some(at, place, request, candidates, number + 1, left - 1):
                    return True
                self.taken.pop()
        return False

    def _take(self, place: int, request: DeviceRequest, offered: Published) -> bool:
        self.steps += 1
        if self.steps > MOST_STEPS or not self._free(request, offered) or not self._agrees(place, request, offered):
            return False
        self.taken.append((place, request, offered))
        return True

    def _free(self, request: DeviceRequest, offered: Published) -> bool:
        if request.admin:
            return True
        if self.devices.held.get(offered.key) or any(
            other.key == offered.key and not theirs.admin for _, theirs, other in self.taken
        ):
            return False
        return not offered.device.counters or self._counted(offered)

    def _counted(self, offered: Published) -> bool:
        """Whether the pool's shared counters have what the device takes, besides what devices in use take."""
        slices = self.devices.pool(offered.slice.driver, offered.slice.pool)
        room = {counter: amount for record in slices for counter, amount in flat(record.counters)}
        mine = {other.key for _, theirs, other in self.taken if not theirs.admin}
        for record in slices:
            for device in record.devices:
                key = f"{record.driver}/{record.pool}/{device.name}"
                if self.devices.held.get(key) or key in mine:
                    for counter, amount in flat(device.counters):
                        room[counter] = room.get(counter, 0) - amount
        return all(room.get(counter, 0) >= amount for counter, amount in flat(offered.device.counters))

    def _agrees(self, place: int, request: DeviceRequest, offered: Published) -> bool:
        demands = [constraint for constraint in self.claims[place].constraints if concerns(constraint, request.name)]
        return all(self._holds(demand, place, offered) for demand in demands)

    def _holds(self, constraint: DeviceConstraint, place: int, offered: Published) -> bool:
        name = constraint.same or constraint.different
        value = offered.device.attributes.get(name)
        if value is None:
            return False
        others = self._others(constraint, place)
        if constraint.same:
            return all(other.device.attributes.get(name) == value for other in others)
        return all(other.device.attributes.get(name) != value for other in others)

    def _others(self, constraint: DeviceConstraint, place: int) -> Iterator[Published]:
        return (other for where, request, other in self.taken if where == place and concerns(constraint, request.name))


def concerns(constraint: DeviceConstraint, request: str) -> bool:
    """A constraint names requests, or sub-requests as `request/sub`; naming none concerns all."""
    return not constraint.requests or request in constraint.requests or request.partition("/")[0] in constraint.requests


def flat(counters: Counters) -> Iterator[tuple[tuple[str, str], float]]:
    return (((name, counter), amount) for name, inner in counters.items() for counter, amount in inner.items())


def configs(devices: Devices, claim: ClaimRecord) -> tuple[Mapping[str, object], ...]:
    """What drivers are told besides the devices: the classes' configurations for the requests of each, then the claim's
    own."""
    of_classes: list[Mapping[str, object]] = []
    for request in claim.requests:
        record = devices.classes.get(request.device_class)
        of_classes += [
            {"source": "FromClass", "requests": [request.name], **item}
            for item in (record.config if record is not None else ())
        ]
    return (*of_classes, *({"source": "FromClaim", **item} for item in claim.config))
