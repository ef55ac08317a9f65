"""What a pod asks for: amounts of every resource, and how it wants its GPUs.

The scheduler, binder, grouper, admission and controllers must all read a pod the same way, so they ask here. A pod is
the typed view of api/core.py; claims are plain data. Amounts are in the scheduler's units: millicores, bytes, GPUs,
pods, MIG slices; every other extended resource in thousandths. Nothing here knows a node: what a GPU-memory request
is worth is known only once a node is chosen.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from gangline.api import names, resources
from gangline.api.core import Container, Pod
from gangline.api.meta import Raw

GpuKind: TypeAlias = Literal["Regular", "Fraction", "GpuMemory", "MigInstance"]
REGULAR: Final = "Regular"
FRACTION: Final = "Fraction"
GPU_MEMORY: Final = "GpuMemory"
MIG: Final = "MigInstance"

GPU = "gpu"
PODS = "pods"
BYTES = ("memory", "ephemeral-storage", "storage")
EXTENDED_CLAIM = "resource.kubernetes.io/extended-resource-claim"
LARGEST = 2**63 - 1

_MIG_SLICE = re.compile(r"^nvidia.com/mig-(\d+)g\.(\d+)gb$")

Quantities = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class GpuRequest:
    """How a pod wants GPUs: `count` devices, each a `portion` or with `memory` MiB; MIG slices; devices of DRA
    classes."""

    kind: GpuKind = REGULAR
    count: int = 0
    portion: float = 0.0
    memory: int = 0
    mig: Mapping[str, float] = field(default_factory=dict)
    dra: Mapping[str, int] = field(default_factory=dict)
    legacy_mig: bool = False

    @property
    def gpus(self) -> float:
        """Devices times portion, in hundredths, so that ten tenths are one."""
        return whole_hundredths(self.portion) * self.count / 100

    @property
    def dra_gpus(self) -> int:
        return min(sum(self.dra.values()), LARGEST)

    @property
    def any(self) -> bool:
        """Does it need a GPU of any kind?"""
        return self.gpus > 0 or self.dra_gpus > 0 or self.kind in (GPU_MEMORY, MIG)

    @property
    def shared(self) -> bool:
        return self.kind in (FRACTION, GPU_MEMORY)

    def memory_as_gpus(self, device_memory: float | None) -> float:
        """A GPU-memory request in GPUs of the given size; nothing when the size is unknown."""
        if self.memory <= 0 or not device_memory or device_memory <= 0:
            return 0.0
        return self.count * (self.memory / device_memory)


@dataclass(frozen=True, slots=True)
class PodRequest:
    """All a pod asks for. `amounts` has the key `gpu` for whole and fractional GPUs and those of claims."""

    amounts: Quantities
    gpu: GpuRequest


def whole_hundredths(portion: float) -> int:
    return math.floor(portion * 100 + 0.5)


def mig_gpus(name: str) -> int:
    """How many GPU slices one MIG instance takes; names of another form count nothing."""
    match = _MIG_SLICE.match(name)
    return int(match.group(1)) if match else 0


def request(pod: Pod, claims: Iterable[Raw] = (), known: Quantities | None = None) -> PodRequest:
    """What a pod asks for; `claims` are the ResourceClaims it uses, `known` its `pod_amounts` where they have been
    worked out before."""
    amounts = pod_amounts(pod) if known is None else known
    gpu = gpu_request(pod, amounts, claims)
    shown = {name: value for name, value in amounts.items() if value and not is_gpu(name) and not is_mig(name)}
    shown.update({name: float(count) for name, count in gpu.mig.items()})
    gpus = gpu.gpus + gpu.dra_gpus
    return PodRequest(shown | ({GPU: float(gpus)} if gpus else {}), gpu)


def pod_amounts(pod: Pod) -> dict[str, float]:
    """Containers and sidecars together, or an init container with the sidecars before it; overhead and a pod slot on
    top."""
    steady: dict[str, float] = {}
    sidecars: dict[str, float] = {}
    peak: dict[str, float] = {}
    for container in pod.spec.init_containers:
        needs = container_amounts(container)
        if container.restart_policy == "Always":
            _add(sidecars, needs)
        else:
            _add(needs, sidecars)
            _raise(peak, needs)
    for container in pod.spec.containers:
        _add(steady, container_amounts(container))
    _add(steady, sidecars)
    _raise(steady, peak)
    overhead = amounts_of(pod.spec.overhead)
    _add(steady, {name: value for name, value in overhead.items() if not is_gpu(name) and not is_mig(name)})
    steady[PODS] = 1.0
    return steady


def container_amounts(container: Container) -> dict[str, float]:
    return amounts_of(container.resources.requests)


def amounts_of(quantities: Mapping[str, Any]) -> dict[str, float]:
    """A resource list in the scheduler's units; names that are no resource a node can have are left out."""
    amounts: dict[str, float] = {}
    for name, value in quantities.items():
        amount = amount_of(name, value)
        if amount is not None:
            amounts[name] = amount
    return amounts


def by_name(quantities: Mapping[str, Any]) -> dict[str, float]:
    """Amounts with every maker's GPUs under the one name `gpu`."""
    amounts: dict[str, float] = {}
    for name, value in amounts_of(quantities).items():
        key = GPU if is_gpu(name) else name
        amounts[key] = amounts.get(key, 0.0) + value
    return amounts


def amount_of(name: str, value: Any) -> float | None:
    if name == "cpu":
        return float(resources.milli(value))
    if name in BYTES or name == PODS or is_gpu(name) or is_mig(name):
        return float(resources.units(value))
    if "/" in name or name.startswith(("hugepages-", "attachable-volumes-")):
        return float(resources.milli(value))
    return None


def is_gpu(name: str) -> bool:
    return name.endswith(GPU)


def is_mig(name: str) -> bool:
    return name.startswith(names.MIG_PREFIX)


def _add(total: dict[str, float], more: Quantities) -> None:
    for name, value in more.items():
        total[name] = total.get(name, 0.0) + value


def _raise(total: dict[str, float], floor: Quantities) -> None:
    for name, value in floor.items():
        total[name] = max(total.get(name, 0.0), value)


def gpu_request(pod: Pod, amounts: Quantities, claims: Iterable[Raw] = ()) -> GpuRequest:
    """Annotations decide over container requests: a fraction over GPU memory, MIG over both."""
    mig = {name: int(value) for name, value in amounts.items() if is_mig(name) and value}
    shared = _shared(pod.annotations)
    dra = gpu_devices(claims)
    legacy = _legacy_mig(pod.annotations)
    if legacy:
        return GpuRequest(MIG, mig=legacy, legacy_mig=True)
    if shared is not None:
        return GpuRequest(shared.kind, shared.count, shared.portion, shared.memory, dra=dra)
    devices = int(sum(value for name, value in amounts.items() if is_gpu(name)))
    portion = 1.0 if devices >= 1 else 0.0
    return GpuRequest(MIG if mig else REGULAR, devices, portion, mig=mig, dra=dra)


def _shared(annotations: Mapping[str, str]) -> GpuRequest | None:
    memory = _integer(annotations.get(names.GPU_MEMORY))
    memory = memory if memory is not None and memory > 0 else 0
    fraction = _number(annotations.get(names.GPU_FRACTION))
    portion = fraction if fraction is not None and 0 < fraction <= 1 else 0.0
    if not portion and not memory:
        return None
    count = _integer(annotations.get(names.GPU_FRACTION_DEVICES))
    kind: GpuKind = FRACTION if portion else GPU_MEMORY
    if count is None:
        return GpuRequest(kind, 1, portion, 0 if portion else memory)
    return GpuRequest(kind, count, portion, memory)


def _legacy_mig(annotations: Mapping[str, str]) -> dict[str, int]:
    """MIG profiles as annotations: the old style, the last one by name counts."""
    profiles: dict[str, int] = {}
    for name in sorted(annotations):
        count = _integer(annotations[name]) if is_mig(name) else None
        if count is not None:
            profiles = {name: count}
    return profiles


def _integer(text: str | None) -> int | None:
    try:
        return int(text, 10) if text is not None and text.strip() == text else None
    except ValueError:
        return None


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text else None
    except ValueError:
        return None
    return value if value is not None and math.isfinite(value) else None


def gpu_devices(claims: Iterable[Raw]) -> dict[str, int]:
    """How many devices of which GPU-like class; claims that stand for extended resources are counted in the pod
    itself."""
    counts: dict[str, int] = {}
    for claim in claims:
        if (claim.get("metadata", {}).get("annotations") or {}).get(EXTENDED_CLAIM) == "true":
            continue
        exact = [
            e for r in claim_requests(claim) if (e := r.get("exactly")) and is_gpu_class(e.get("deviceClassName", ""))
        ]
        if exact:
            name = exact[0]["deviceClassName"]
            counts[name] = min(counts.get(name, 0) + sum(_device_count(item) for item in exact), LARGEST)
    return counts


def claim_requests(claim: Raw) -> list[Raw]:
    devices = (claim.get("spec") or {}).get("devices") or {}
    return list(devices.get("requests") or ())


def is_gpu_class(name: str) -> bool:
    return GPU in name.lower()


def is_gpu_driver(name: str) -> bool:
    """Whether the devices of a driver count as GPUs."""
    return GPU in name.lower()


def _device_count(exactly: Raw) -> int:
    mode = exactly.get("allocationMode") or "ExactCount"
    if mode == "ExactCount":
        return max(int(exactly.get("count") or 0), 0) or 1
    return 1 if mode == "All" else 0


def claim_names(pod: Pod) -> dict[str, str]:
    """Reference name in the pod → ResourceClaim name, for claims that exist or were made from a template."""
    statuses = pod.status.resource_claim_statuses
    made = {str(s.get("name")): str(s["resourceClaimName"]) for s in statuses if s.get("resourceClaimName")}
    by_reference = {}
    for reference in pod.spec.resource_claims:
        name = reference.resource_claim_name or (
            made.get(reference.name) if reference.resource_claim_template_name else None
        )
        if name:
            by_reference[reference.name] = name
    return by_reference


def extended_claim_name(pod: Pod) -> str:
    """The ResourceClaim that was made for its extended resources; "" when there is none."""
    return str((pod.status.extended_resource_claim_status or {}).get("resourceClaimName") or "")


def gpu_groups(pod: Pod) -> tuple[str, ...]:
    """The shared GPUs a placed pod sits on."""
    labels = pod.labels
    if names.GPU_GROUP not in labels:
        return ()
    prefix = names.GPU_GROUP + "/"
    return (labels[names.GPU_GROUP], *(labels[key] for key in sorted(labels) if key.startswith(prefix)))
