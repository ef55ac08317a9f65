"""Releases of Kubernetes that a plane may be of: the one that everything is tested on, and newer ones for what changed
in the Workload API.

Each has a Go module of our own that names its programs; a release says how its programs are told to serve that API.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Release:
    name: str
    serves: tuple[str, ...]
    """The versions of scheduling.k8s.io that have the Workload API."""
    gates: tuple[str, ...]
    """Without these there is no gang."""
    more: tuple[str, ...] = ()
    """Gates of single fields and kinds of the Workload API."""

    @property
    def runtime_config(self) -> str:
        return ",".join(f"scheduling.k8s.io/{version}=true" for version in self.serves)


_TOPOLOGY = "TopologyAwareWorkloadScheduling"

RELEASES: Mapping[str, Release] = {
    item.name: item
    for item in (
        Release("1.35", ("v1alpha1",), ("GenericWorkload", "GangScheduling")),
        Release(
            "1.36",
            ("v1alpha2",),
            ("GenericWorkload", "GangScheduling"),
            ("WorkloadAwarePreemption", _TOPOLOGY, "DRAWorkloadResourceClaims"),
        ),
        Release(
            "1.37",
            ("v1beta1", "v1alpha3"),
            ("GenericWorkload",),
            (_TOPOLOGY, "DRAWorkloadResourceClaims", "CompositePodGroup", "PodGroupPreemptionPolicy"),
        ),
    )
}
USUAL = RELEASES["1.35"]


def switched_on(*gates: str) -> str:
    """Gates as a program is told of them."""
    return ",".join(f"{gate}=true" for gate in gates)
