"""Which devices a pod's claims get on a node: a search over its devices that fills every request of every claim, or
finds that it cannot.

A device fits a request when the class's and the request's selectors hold, its taints are tolerated and its pool's
shared counters suffice; devices of one claim also agree with each other as the claim demands. The first answer in the
order of pools, slices and devices is taken. Nothing is changed here: what is found is booked by the plugin that asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gangline.rules.cel import CelError, CelSyntaxError
from gangline.rules.cel.devices import device_value, selects
from gangline.scheduler.matching import untolerated
from gangline.scheduler.model.dra import Devices, PublishedDevice
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.records import ClaimRecord, Counters, DeviceConstraint, DeviceId, DeviceRequest

MOST_STEPS = 20_000
"""So many devices are tried before the answer is no."""

Given = list[tuple[DeviceId, ...]]


class CannotTell(Exception):
    """A selector that cannot be evaluated for some device: nobody may guess what it would have chosen."""


def fitting(devices: Devices, node: NodeInfo, request: DeviceRequest) -> list[PublishedDevice]:
    """The node's devices that the request means, held ones included."""
    key = (node.name, request.device_class, request.selectors, request.tolerations)
    answer = devices.answers.get(key)
    if answer is None:
        answer = devices.answers[key] = [item for item in devices.on(node) if _means(devices, request, item)]
    return list(answer)


def _means(devices: Devices, request: DeviceRequest, offered: PublishedDevice) -> bool:
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
    return search.given() if search.fill() else None


@dataclass(frozen=True, slots=True)
class _Place:
    """How far a search has come: before a want, or in the middle of one that asks for a number of devices."""

    want: int
    request: DeviceRequest | None = None
    candidates: Sequence[PublishedDevice] = ()
    start: int = 0
    left: int = 0


@dataclass(slots=True)
class DeviceSearch:
    """Depth first, on a stack of its own: what one pod asks for may be deeper than Python's."""

    devices: Devices
    node: NodeInfo
    claims: Sequence[ClaimRecord]
    taken: list[tuple[int, DeviceRequest, PublishedDevice]] = field(default_factory=list)
    steps: int = 0
    wants: list[tuple[int, DeviceRequest]] = field(init=False)
    _mine: set[str] = field(default_factory=set)
    """Keys of the devices taken so far, but for those that are only looked into."""
    _rooms: dict[tuple[str, str], dict[tuple[str, str], float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.wants = [(place, request) for place, claim in enumerate(self.claims) for request in claim.requests]

    def given(self) -> Given:
        device_idses: list[list[DeviceId]] = [[] for _ in self.claims]
        for place, request, item in self.taken:
            device_idses[place].append(
                DeviceId(item.slice.driver, item.slice.pool, item.device.name, request.name, request.admin)
            )
        return [tuple(item) for item in device_idses]

    def fill(self) -> bool:
        """Meet every want."""
        ways = [iter((_Place(0),))]
        while ways:
            place = next(ways[-1], None)
            if place is None:
                ways.pop()
            elif place.want == len(self.wants):
                return True
            else:
                ways.append(self._ways(place))
        return False

    def _ways(self, place: _Place) -> Iterator[_Place]:
        """Where one can go on from a place, one after the other; what was taken for one is put back before the next."""
        if place.request is None:
            for request in self.wants[place.want][1].choices or (self.wants[place.want][1],):
                yield from self._begun(place.want, request)
        elif not place.left:
            yield _Place(place.want + 1)
        else:
            for number in range(place.start, len(place.candidates) - place.left + 1):
                if self._take(place.want, place.request, place.candidates[number]):
                    yield replace(place, start=number + 1, left=place.left - 1)
                    self._put_back(len(self.taken) - 1)

    def _begun(self, want: int, request: DeviceRequest) -> Iterator[_Place]:
        candidates = fitting(self.devices, self.node, request)
        if request.count is not None:
            yield _Place(want, request, candidates, 0, request.count)
        elif candidates and all(candidate.complete for candidate in candidates):
            before = len(self.taken)
            if all(self._take(want, request, candidate) for candidate in candidates):
                yield _Place(want + 1)
            self._put_back(before)

    def _take(self, want: int, request: DeviceRequest, offered: PublishedDevice) -> bool:
        self.steps += 1
        place = self.wants[want][0]
        if self.steps > MOST_STEPS or not self._free(request, offered) or not self._agrees(place, request, offered):
            return False
        self.taken.append((place, request, offered))
        if not request.admin:
            self._mine.add(offered.key)
        return True

    def _put_back(self, length: int) -> None:
        for _, request, item in self.taken[length:]:
            if not request.admin:
                self._mine.discard(item.key)
        del self.taken[length:]

    def _free(self, request: DeviceRequest, offered: PublishedDevice) -> bool:
        if request.admin:
            return True
        if self.devices.held.get(offered.key) or offered.key in self._mine:
            return False
        return not offered.device.counters or self._counted(offered)

    def _counted(self, offered: PublishedDevice) -> bool:
        """Whether the pool's shared counters have what the device takes, besides what devices in use take."""
        pool = offered.slice.driver, offered.slice.pool
        if pool not in self._rooms:
            self._rooms[pool] = self._free_counters(*pool)
        room = dict(self._rooms[pool])
        for _, request, item in self.taken:
            if not request.admin and (item.slice.driver, item.slice.pool) == pool:
                take_from(room, item.device.counters)
        return all(room.get(counter, 0) >= amount for counter, amount in flat(offered.device.counters))

    def _free_counters(self, driver: str, pool: str) -> dict[tuple[str, str], float]:
        """What the shared counters of a pool have, besides what devices take that are held."""
        slices = self.devices.pool(driver, pool)
        room = {counter: amount for record in slices for counter, amount in flat(record.counters)}
        for record in slices:
            for device in record.devices:
                if self.devices.held.get(f"{record.driver}/{record.pool}/{device.name}"):
                    take_from(room, device.counters)
        return room

    def _agrees(self, place: int, request: DeviceRequest, offered: PublishedDevice) -> bool:
        demands = [constraint for constraint in self.claims[place].constraints if concerns(constraint, request.name)]
        return all(self._holds(demand, place, offered) for demand in demands)

    def _holds(self, constraint: DeviceConstraint, place: int, offered: PublishedDevice) -> bool:
        name = constraint.same or constraint.different
        value = offered.device.attributes.get(name)
        if value is None:
            return False
        others = self._devices_concerned(constraint, place)
        if constraint.same:
            return all(other.device.attributes.get(name) == value for other in others)
        return all(other.device.attributes.get(name) != value for other in others)

    def _devices_concerned(self, constraint: DeviceConstraint, place: int) -> Iterator[PublishedDevice]:
        return (other for where, request, other in self.taken if where == place and concerns(constraint, request.name))


def concerns(constraint: DeviceConstraint, request: str) -> bool:
    """A constraint names requests, or sub-requests as `request/sub`; naming none concerns all."""
    return not constraint.requests or request in constraint.requests or request.partition("/")[0] in constraint.requests


def flat(counters: Counters) -> Iterator[tuple[tuple[str, str], float]]:
    return (((name, counter), amount) for name, inner in counters.items() for counter, amount in inner.items())


def take_from(room: dict[tuple[str, str], float], counters: Counters) -> None:
    for counter, amount in flat(counters):
        room[counter] = room.get(counter, 0) - amount


def configs(devices: Devices, claim: ClaimRecord) -> tuple[Mapping[str, object], ...]:
    """The configuration of the drivers: the classes' configurations for the requests of each, then the claim's
    own."""
    of_classes: list[Mapping[str, object]] = []
    for request in claim.requests:
        record = devices.classes.get(request.device_class)
        of_classes += [
            {"source": "FromClass", "requests": [request.name], **item}
            for item in (record.config if record is not None else ())
        ]
    return (*of_classes, *({"source": "FromClaim", **item} for item in claim.config))
