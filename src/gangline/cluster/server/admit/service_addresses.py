"""Cluster IPs and node ports of services: taken from the configured ranges, free of what other services hold.

Part of admission: it runs when everything else about a service is settled. What is taken is read from the store each
time it is asked for."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from typing import Any

from gangline.cluster.kinds.networking.address_families import family_problems
from gangline.cluster.kinds.networking.addresses import read_ip
from gangline.cluster.kinds.networking.services import mirror_address
from gangline.cluster.server.admit.chain import CREATE, UPDATE, WriteReview
from gangline.cluster.server.core import Core
from gangline.cluster.server.status import failure, invalid
from gangline.cluster.server.store.shelf import DELETED, ShelfKey, StoreChange
from gangline.errors import ApiError, Problem

SERVICES: ShelfKey = ("", "services")
Obj = dict[str, Any]


class ServiceAddresses:
    def __init__(self, core: Core) -> None:
        self._core = core
        self._network = ipaddress.ip_network(core.settings.service_range)
        self._ips: dict[str, tuple[str, str]] = {str(next(self._network.hosts())): ("default", "kubernetes")}
        self._ports: dict[tuple[str, int], tuple[str, str]] = {}
        for record in core.store.shelf(SERVICES).records.values():
            self._take(record.place, record.object())
        core.store.listeners.append(self._note)
        core.admission.add("", "services", (CREATE, UPDATE), mutate=self.allocate, name="Addresses")

    def _note(self, key: ShelfKey, change: StoreChange) -> None:
        if key != SERVICES:
            return
        self._ips = {address: place for address, place in self._ips.items() if place != change.record.place}
        self._ports = {port: place for port, place in self._ports.items() if place != change.record.place}
        if change.type != DELETED:
            self._take(change.record.place, change.record.object())

    def _take(self, place: tuple[str, str], service: Obj) -> None:
        spec = service.get("spec") or {}
        for address in spec.get("clusterIPs") or []:
            if address and address != "None":
                self._ips[address] = place
        for port in _node_ports(spec):
            self._ports[port] = place

    def allocate(self, review: WriteReview) -> None:
        assert review.object is not None
        spec = review.object.get("spec") or {}
        kind = spec.get("type", "ClusterIP")
        mirror_address(spec, (review.old or {}).get("spec"))
        if kind == "ExternalName":
            return
        problems = [*family_problems(spec, str(self._network.version))]
        if problems:
            raise invalid("", "Service", review.name, problems)
        place = (review.namespace, review.name)
        old = ((review.old or {}).get("spec")) or {}
        if not spec.get("clusterIP"):
            spec["clusterIP"] = (spec.get("clusterIPs") or [None])[0] or old.get("clusterIP") or self._free_ip()
            spec["clusterIPs"] = [spec["clusterIP"]]
        elif spec["clusterIP"] != "None":
            self._check_ip(review, place, spec)
        if kind in ("NodePort", "LoadBalancer"):
            self._allocate_ports(review, place, spec, old)

    def _free_ip(self) -> str:
        address = next((str(host) for host in self._network.hosts() if str(host) not in self._ips), None)
        if address is None:
            raise full_range("failed to allocate a serviceIP: range is full")
        return address

    def _check_ip(self, review: WriteReview, place: tuple[str, str], spec: Obj) -> None:
        given = spec.get("clusterIPs") or [spec["clusterIP"]]
        address = spec["clusterIP"]
        if review.old is not None and (review.old.get("spec") or {}).get("clusterIP") not in (None, "", address):
            return
        parsed = read_ip(address)
        if parsed is None:
            return
        inside = parsed in self._network
        why = "" if inside else "the provided network does not match the current range"
        if inside and self._ips.get(address, place) != place:
            why = "provided IP is already allocated"
        if why:
            shown = "[" + ",".join(f'"{item}"' for item in given) + "]"
            problem = Problem("spec.clusterIPs", f"Invalid value: {shown}: failed to allocate IP {address}: {why}")
            raise invalid("", "Service", review.name, [problem])

    def _allocate_ports(self, review: WriteReview, place: tuple[str, str], spec: Obj, old: Obj) -> None:
        if spec.get("type") == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is False:
            return
        kept = _kept_ports(spec, old)
        taken = {number for _, number in self._ports} | {number for _, number in _node_ports(spec)}
        asked: dict[tuple[str, int], int] = {}
        for index, port in enumerate(spec.get("ports") or []):
            protocol = port.get("protocol", "TCP")
            number = port.get("port") or 0
            wanted = port.get("nodePort") or kept.get(port.get("name") or "")
            if wanted is None:
                wanted = self._free_port(taken)
            elif why := self._port_problem(
                protocol, wanted, place, asked.get((protocol, wanted)) not in (None, number)
            ):
                raise invalid(
                    "",
                    "Service",
                    review.name,
                    [Problem(f"spec.ports[{index}].nodePort", f"Invalid value: {wanted}: {why}")],
                )
            port["nodePort"] = wanted
            taken.add(wanted)
            asked[protocol, wanted] = number
        if (
            spec.get("externalTrafficPolicy") == "Local"
            and spec.get("type") == "LoadBalancer"
            and not spec.get("healthCheckNodePort")
        ):
            spec["healthCheckNodePort"] = self._free_port(taken)

    def _free_port(self, taken: set[int]) -> int:
        first, last = self._core.settings.node_ports
        number = next((number for number in range(first, last + 1) if number not in taken), None)
        if number is None:
            raise full_range("failed to allocate a nodePort: range is full")
        return number

    def _port_problem(self, protocol: str, wanted: int, place: tuple[str, str], other: bool) -> str:
        first, last = self._core.settings.node_ports
        if not first <= wanted <= last:
            return f"provided port is not in the valid range. The range of valid ports is {first}-{last}"
        return (
            "provided port is already allocated" if self._ports.get((protocol, wanted), place) != place or other else ""
        )


def _kept_ports(spec: Obj, old: Obj) -> dict[str, int]:
    """Node ports that ports of the same name had before and nobody now asks for."""
    asked = {number for _, number in _node_ports(spec)}
    return {
        port.get("name") or "": port["nodePort"]
        for port in old.get("ports") or []
        if port.get("nodePort") and port["nodePort"] not in asked
    }


def _node_ports(spec: Obj) -> Iterator[tuple[str, int]]:
    for port in spec.get("ports") or []:
        if port.get("nodePort"):
            yield port.get("protocol", "TCP"), port["nodePort"]
    if spec.get("healthCheckNodePort"):
        yield "TCP", spec["healthCheckNodePort"]


def full_range(message: str) -> ApiError:
    """A real server answers 500, in the same words; nothing is broken here."""
    return failure(422, "Invalid", message)
