"""Pods on their way in: what asking for a part of a GPU adds to a pod, and which GPU requests contradict themselves.

Only pods of our scheduler, outside the exempt namespaces. `complete` runs on CREATE, `problem` on CREATE and UPDATE:
what was wrong with a stored pod already keeps nobody from writing it. Both are plain functions. Chance (seven letters
in the name of a ConfigMap) is handed in. Nothing here asks the cluster."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from gangline.admission.scheduling.settings import AdmissionSettings
from gangline.api import names, resources
from gangline.api.meta import Raw
from gangline.rules.hooks import Denied, HookReview

VISIBLE_DEVICES, PORTION, OLD_PORTION = "NVIDIA_VISIBLE_DEVICES", "GPU_PORTION", "RUNAI_NUM_OF_GPUS"
MEMORY_LIMIT, MPS = "CUDA_DEVICE_MEMORY_LIMIT", "mps"
HARMLESS = ("void", "none")
SHARED = "shared-gpu"
LONGEST_LABEL, RANDOM_LETTERS = 63, 7
_FRACTION = re.compile(r"\+?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_COUNT = re.compile(r"[0-9]+")

Chance = Callable[[], str]
"""Seven random letters and digits, each time anew."""


class PodRefused(Exception):
    """A pod that cannot be completed; its text is for people."""


class GpuTarget(NamedTuple):
    """The container that gets the part of a GPU."""

    kind: str
    place: int

    @property
    def suffix(self) -> str:
        return f"i{self.place}" if self.kind == "initContainers" else str(self.place)


def ours(review: HookReview, settings: AdmissionSettings) -> bool:
    spec = review.obj.get("spec") or {}
    return spec.get("schedulerName") in settings.scheduler_names and review.namespace not in settings.exempt


def annotations_of(pod: Raw) -> Raw:
    return (pod.get("metadata") or {}).get("annotations") or {}


def fractional(pod: Raw) -> bool:
    return names.GPU_FRACTION in annotations_of(pod) or names.GPU_MEMORY in annotations_of(pod)


def containers(pod: Raw) -> Iterator[tuple[GpuTarget, Raw]]:
    for kind in ("initContainers", "containers"):
        for index, container in enumerate((pod.get("spec") or {}).get(kind) or ()):
            yield GpuTarget(kind, index), container


# --- completing


def complete(review: HookReview, settings: AdmissionSettings, chance: Chance) -> Raw | Denied:
    """The pod with everything that follows from its GPU request; most ask for nothing that does."""
    if not fractional(review.obj) and not settings.block_visible_devices:
        return review.obj
    pod = copy.deepcopy(review.obj)
    try:
        target = _target(pod)
        if target is not None:
            _share(pod, target, settings, chance)
        if settings.block_visible_devices:
            _block(pod, target, settings)
        if settings.runtime_class and fractional(pod) and not pod["spec"].get("runtimeClassName"):
            pod["spec"]["runtimeClassName"] = settings.runtime_class
    except PodRefused as refused:
        return Denied(str(refused))
    return pod


def _target(pod: Raw) -> GpuTarget | None:
    """The container a fraction is for: the one that an annotation names, else the first."""
    if not fractional(pod) or not (pod.get("spec") or {}).get("containers"):
        return None
    wanted = annotations_of(pod).get(names.GPU_FRACTION_CONTAINER)
    if wanted is None:
        return GpuTarget("containers", 0)
    gpu_target = next((place for place, container in containers(pod) if container.get("name") == wanted), None)
    if gpu_target is None:
        raise PodRefused(
            f"annotation {names.GPU_FRACTION_CONTAINER} names container {wanted!r}, which the pod does not have"
        )
    return gpu_target


def _share(pod: Raw, target: GpuTarget, settings: AdmissionSettings, chance: Chance) -> None:
    prefix = annotations_of(pod).get(names.SHARED_GPU_CONFIG_MAP)
    if prefix is None:
        prefix = _prefix(pod, target, settings, chance)
        pod["metadata"].setdefault("annotations", {})[names.SHARED_GPU_CONFIG_MAP] = prefix
    config_map = f"{prefix}-{target.suffix}"
    container = pod["spec"][target.kind][target.place]
    for name in (VISIBLE_DEVICES, OLD_PORTION, PORTION):
        _set_from(container, name, config_map)
    _add_volume(pod, config_map)
    _add_environment(container, f"{config_map}-evar")
    if settings.hami_core:
        _set_from(container, MEMORY_LIMIT, config_map, optional=True)


def _prefix(pod: Raw, target: GpuTarget, settings: AdmissionSettings, chance: Chance) -> str:
    """Of the ConfigMaps' names: short enough that the volume made from it still is a label."""
    meta = pod["metadata"]
    owners = meta.get("ownerReferences") or []
    base = owners[0]["name"] if owners else meta.get("name") or ""
    if not base and not settings.manner.fraction_needs_name:
        base = meta.get("generateName") or "pod"
    extra = RANDOM_LETTERS + len("-vol") + 2 + len(SHARED) + len(f"-{target.place}") + len("-evar")
    return f"{base[: LONGEST_LABEL - extra].rstrip('.-')}-{chance()}-{SHARED}"


def _set_from(container: Raw, name: str, config_map: str, *, optional: bool = False) -> None:
    source: Raw = {"name": config_map, "key": name} | ({"optional": True} if optional else {})
    kept = [item for item in container.get("env") or () if item.get("name") != name]
    container["env"] = [*kept, {"name": name, "valueFrom": {"configMapKeyRef": source}}]


def _add_volume(pod: Raw, config_map: str) -> None:
    name = re.sub(r"[^a-z0-9-]", "-", f"{config_map}-vol".lower()).strip("-")
    kept = [volume for volume in pod["spec"].get("volumes") or () if volume.get("name") != name]
    pod["spec"]["volumes"] = [*kept, {"name": name, "configMap": {"name": config_map}}]


def _add_environment(container: Raw, config_map: str) -> None:
    given = container.get("envFrom") or []
    if not any((item.get("configMapRef") or {}).get("name") == config_map for item in given):
        container["envFrom"] = [*given, {"configMapRef": {"name": config_map, "optional": False}}]


def _block(pod: Raw, target: GpuTarget | None, settings: AdmissionSettings) -> None:
    """Containers that ask for no GPU see none."""
    for place, container in containers(pod):
        if place == target or _asks_for_gpu(container):
            continue
        for item in container.setdefault("env", []):
            if item.get("name") == VISIBLE_DEVICES:
                item["value"] = "void"
                if not settings.manner.blocked_source_kept:
                    item.pop("valueFrom", None)
                break
        else:
            container["env"].append({"name": VISIBLE_DEVICES, "value": "void"})


def _asks_for_gpu(container: Raw) -> bool:
    requests = (container.get("resources") or {}).get("requests") or {}
    return any(
        resources.nanos(amount)
        for name, amount in requests.items()
        if name == names.NVIDIA_GPU or name.startswith(names.MIG_PREFIX)
    )


# --- checking


def problem(review: HookReview, settings: AdmissionSettings) -> Denied | None:
    """The first thing that is wrong with a pod's GPU request, unless the stored pod had it too: settings may have
    changed since."""
    wrong = _wrong(review, review.obj, settings)
    if wrong is None or (review.old is not None and wrong == _wrong(review, review.old, settings)):
        return None
    return Denied(wrong)


def _wrong(review: HookReview, pod: Raw, settings: AdmissionSettings) -> str | None:
    if fractional(pod) and not settings.gpu_sharing:
        return (
            f"pod {review.namespace}/{review.name or pod['metadata'].get('name', '')} asks for a part of a GPU, but "
            "GPU sharing is switched off here"
        )
    wrong = _contradiction(pod, settings) or _bad_number(annotations_of(pod))
    if wrong is None and settings.block_visible_devices:
        wrong = _own_devices(pod)
    return wrong


def _contradiction(pod: Raw, settings: AdmissionSettings) -> str | None:
    annotations = annotations_of(pod)
    if annotations.get(MPS) == "true" and not fractional(pod):
        return f"annotation {MPS} needs a part of a GPU: set {names.GPU_FRACTION} or {names.GPU_MEMORY} too"
    whole = _whole_gpu(pod, settings)
    if names.GPU_FRACTION in annotations and whole:
        return (
            f"annotation {names.GPU_FRACTION} and a limit on {names.NVIDIA_GPU} exclude each other: ask for a part or "
            "for whole GPUs"
        )
    if names.GPU_MEMORY in annotations and (names.GPU_FRACTION in annotations or whole):
        return (
            f"annotation {names.GPU_MEMORY} excludes {names.GPU_FRACTION} and limits on {names.NVIDIA_GPU}: choose one"
        )
    if names.GPU_FRACTION_DEVICES in annotations and not fractional(pod):
        return f"annotation {names.GPU_FRACTION_DEVICES} needs {names.GPU_FRACTION} or {names.GPU_MEMORY} beside it"
    return None


def _whole_gpu(pod: Raw, settings: AdmissionSettings) -> bool:
    for _, container in containers(pod):
        limit = ((container.get("resources") or {}).get("limits") or {}).get(names.NVIDIA_GPU)
        if limit is not None and (settings.manner.zero_gpu_limit_counts or resources.nanos(limit)):
            return True
    return False


def _bad_number(annotations: Raw) -> str | None:
    memory, fraction, devices = (
        annotations.get(key) for key in (names.GPU_MEMORY, names.GPU_FRACTION, names.GPU_FRACTION_DEVICES)
    )
    if memory is not None and not _is_count(memory):
        return f"annotation {names.GPU_MEMORY} must be a whole number of MiB above 0, not {memory!r}"
    if fraction is not None and not (_FRACTION.fullmatch(fraction) and 0 < float(fraction) < 1):
        return f"annotation {names.GPU_FRACTION} must be a number between 0 and 1, such as 0.5, not {fraction!r}"
    if devices is not None and not _is_count(devices):
        return f"annotation {names.GPU_FRACTION_DEVICES} must be a whole number above 0, not {devices!r}"
    return None


def _is_count(text: str) -> bool:
    return bool(_COUNT.fullmatch(text)) and 0 < int(text) < 2**64


def _own_devices(pod: Raw) -> str | None:
    """A container may not choose its devices itself: the device plugin does."""
    try:
        target = _target(pod)
    except PodRefused as refused:
        return str(refused)
    for place, container in containers(pod):
        for item in container.get("env") or () if place != target else ():
            if item.get("name") == VISIBLE_DEVICES and _chooses(item):
                return (
                    f"container {container.get('name')} sets {VISIBLE_DEVICES} itself, which the device plugin must "
                    f"do: remove it, or set it to {' or '.join(HARMLESS)}"
                )
    return None


def _chooses(variable: dict[str, Any]) -> bool:
    value = variable.get("value")
    return value not in HARMLESS if value else variable.get("valueFrom") is not None
