"""Pod and its BindRequest → TaskRecord.

The busiest reader: called for every pod event. What the pod asks for comes from `rules/requests.py`; here it is
joined with where the pod stands (its status, node, shared GPUs) and what it demands of a node.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from gangline.api import kai, names
from gangline.api.core import Pod
from gangline.api.meta import Raw
from gangline.rules import requests
from gangline.rules.requests import by_name
from gangline.rules.values import times
from gangline.scheduler.model.status import Status
from gangline.scheduler.objects import affinity
from gangline.scheduler.objects.devices import allocated_devices, made_for
from gangline.scheduler.objects.gangs import gang_uid, said_move, said_runtime
from gangline.scheduler.objects.nodes import zone_number
from gangline.scheduler.objects.reading import DEFAULTS, ObjectReading, not_negative
from gangline.scheduler.objects.templates import every_container, template_of
from gangline.scheduler.records import DEFAULT_POD_SET, DeviceId, TaskRecord

OBSERVED_ZONES = "kai.scheduler/numa-placement-observed"
PREDICTED_ZONES = "kai.scheduler/numa-placement-predicted"
APP = "app"

_PHASES = {"Succeeded": Status.SUCCEEDED, "Failed": Status.FAILED, "Unknown": Status.UNKNOWN}


def task_record(
    pod: Pod, binding: kai.BindOrder | None = None, claims: Iterable[Raw] = (), reading: ObjectReading = DEFAULTS
) -> TaskRecord:
    """`binding` is what a BindRequest that is being carried out orders for the pod, `claims` are the ResourceClaims it
    uses as far as they exist."""
    owned = list(claims)
    template = template_of(pod)
    asked = requests.request(pod, owned, template.amounts)
    not_negative("spec.containers.resources.requests", asked.amounts)
    spec, labels = pod.spec, pod.labels
    existing, missing, made = claim_references(pod, owned)
    zones = numa_placement(pod.annotations, binding)
    return TaskRecord(
        uid=pod.uid or gang_uid(pod.namespace, pod.name),
        gang=gang_of(pod, reading),
        name=pod.name,
        namespace=pod.namespace,
        pod_set=labels.get(names.SUB_GROUP) or DEFAULT_POD_SET,
        status=status_of(pod, binding, reading),
        node=node_of(pod, binding),
        created=times.seconds(pod.metadata.creation_timestamp) or 0.0,
        request=without_gpus(asked.amounts),
        overhead=template.overhead,
        gpu=asked.gpu,
        gpu_groups=gpu_groups_of(pod, binding),
        labels=labels,
        annotations=pod.annotations,
        node_selector=template.node_selector,
        node_affinity=template.node_affinity,
        pod_affinity=affinity.required_pods(spec.affinity, "podAffinity", reading),
        pod_anti_affinity=affinity.required_pods(spec.affinity, "podAntiAffinity", reading),
        preferred_affinity=affinity.preferred_pods(spec.affinity, "podAffinity", reading),
        preferred_anti_affinity=affinity.preferred_pods(spec.affinity, "podAntiAffinity", reading),
        spread=affinity.spread_terms(spec.topology_spread_constraints, labels)
        if spec.topology_spread_constraints
        else (),
        tolerations=template.tolerations,
        host_ports=template.host_ports,
        priority_class=spec.priority_class_name,
        priority=spec.priority or 0,
        volumes=tuple(volume_claims(pod)),
        config_maps=tuple(config_maps(pod)),
        claims=existing,
        missing_claims=missing,
        template_claims=made,
        extended=template.extended,
        extended_devices=extended_devices(binding, owned),
        numa_zones=tuple(zone for zone, _ in zones) or None,
        numa_amounts=tuple(amounts for _, amounts in zones),
        containers=template.containers,
        qos=pod.status.qos_class or template.qos,
        nominated_node=pod.status.nominated_node_name,
        utility=utility(labels, reading),
        signature=template.signature,
        gpu_resources=template.gpus,
        expected_runtime=said_runtime(pod.annotations, spec.active_deadline_seconds),
        last_checkpoint=times.seconds(pod.annotations.get(names.LAST_CHECKPOINT)),
        started=times.seconds(pod.status.start_time),
        move=said_move(pod.annotations),
        replaceable=names.POD_CLIQUE in labels,
        replaces=names.REPLACES in pod.annotations,
    )


def node_of(pod: Pod, binding: kai.BindOrder | None) -> str:
    return pod.spec.node_name or (binding.selected_node if binding else "")


def gpu_groups_of(pod: Pod, binding: kai.BindOrder | None) -> tuple[str, ...]:
    return (binding.selected_gpu_groups if binding else ()) or requests.gpu_groups(pod)


def without_gpus(amounts: Mapping[str, float]) -> dict[str, float]:
    return {name: value for name, value in amounts.items() if name != requests.GPU and not requests.is_mig(name)}


def gang_of(pod: Pod, reading: ObjectReading) -> str:
    """The gang a pod of ours belongs to, or will once it has one ("ns/"); pods of other schedulers belong to none
    ("")."""
    if pod.spec.scheduler_name not in reading.scheduler_names:
        return ""
    return gang_uid(pod.namespace, pod.annotations.get(names.POD_GROUP_NAME) or "")


def status_of(pod: Pod, binding: kai.BindOrder | None, reading: ObjectReading) -> Status:
    ended = _PHASES.get(pod.status.phase)
    if ended is not None:
        return ended
    deleted = times.seconds(pod.metadata.deletion_timestamp)
    if deleted is not None:
        stuck = pod.status.phase == "Running" and reading.now - deleted > reading.stuck_releasing
        return Status.STUCK_RELEASING if stuck else Status.RELEASING
    if pod.status.phase == "Running":
        return Status.RUNNING
    if pod.spec.node_name:
        return Status.BOUND
    if binding is not None:
        return Status.BINDING
    return Status.GATED if pod.spec.scheduling_gates else Status.PENDING


def utility(labels: Mapping[str, str], reading: ObjectReading) -> Literal["", "reservation", "scaling"]:
    app = labels.get(APP)
    if app == reading.reservation_app:
        return "reservation"
    return "scaling" if app == reading.scaling_app else ""


def volume_claims(pod: Pod) -> Iterator[str]:
    """Names of the PersistentVolumeClaims of its volumes, those made for the pod included."""
    for volume in pod.spec.volumes:
        if volume.get("persistentVolumeClaim"):
            yield str(volume["persistentVolumeClaim"].get("claimName") or "")
        elif volume.get("ephemeral"):
            yield f"{pod.name}-{volume.get('name')}"


def config_maps(pod: Pod) -> list[str]:
    """ConfigMaps without which its containers cannot start; those that the binder will make do not count."""
    references = [*_mounted_maps(pod), *_environment_maps(pod)]
    needed = {
        str(reference["name"]) for reference in references if reference.get("name") and not reference.get("optional")
    }
    ours = pod.annotations.get(names.SHARED_GPU_CONFIG_MAP)
    return sorted(name for name in needed if ours is None or not name.startswith(ours))


def _mounted_maps(pod: Pod) -> Iterator[Raw]:
    """References to ConfigMaps by volumes that a container mounts."""
    mounted = {mount.get("name") for container in every_container(pod) for mount in container.volume_mounts}
    for volume in pod.spec.volumes:
        if volume.get("name") in mounted:
            yield volume.get("configMap") or {}
            projected = (volume.get("projected") or {}).get("sources") or ()
            yield from (source.get("configMap") or {} for source in projected)


def _environment_maps(pod: Pod) -> Iterator[Raw]:
    """References to ConfigMaps by variables of containers."""
    for container in every_container(pod):
        yield from ((item.get("valueFrom") or {}).get("configMapKeyRef") or {} for item in container.env)
        yield from (item.get("configMapRef") or {} for item in container.env_from)


def claim_references(pod: Pod, claims: Iterable[Raw]) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Claims that exist, references without a claim, and which of the claims were made from a template."""
    if not pod.spec.resource_claims:
        return (), (), ()
    existing = {str((claim.get("metadata") or {}).get("name")) for claim in claims}
    named = requests.claim_names(pod)
    present, missing, made = [], [], []
    for reference in pod.spec.resource_claims:
        name = named.get(reference.name)
        if name is None or name not in existing:
            missing.append(name or reference.name)
            continue
        present.append(name)
        if reference.resource_claim_template_name:
            made.append(name)
    return tuple(present), tuple(missing), tuple(made)


def extended_devices(binding: kai.BindOrder | None, claims: Iterable[Raw]) -> tuple[DeviceId, ...]:
    """The devices it has for them: as the claim made for it says, else as its BindRequest does."""
    made = next((claim for claim in claims if made_for(claim)), None)
    given = (made.get("status") or {}).get("allocation") if made is not None else None
    if given is None and binding is not None:
        given = (binding.extended_resource_claim_allocation or {}).get("allocation")
    return tuple(allocated_devices(given)) if given else ()


def numa_placement(annotations: Mapping[str, str], binding: kai.BindOrder | None) -> list[tuple[int, dict[str, float]]]:
    """The zones the pod sits in with what it has there: as observed, else as its BindRequest says, else as
    predicted."""
    return (
        _zones(annotations.get(OBSERVED_ZONES))
        or _shares(binding.predicted_numa_zones if binding else ())
        or _zones(annotations.get(PREDICTED_ZONES))
    )


def _zones(text: str | None) -> list[tuple[int, dict[str, float]]]:
    try:
        return _shares(json.loads(text)) if text else []
    except (ValueError, TypeError, KeyError, AttributeError):
        return []


def _shares(placed: Iterable[Raw]) -> list[tuple[int, dict[str, float]]]:
    return [(zone_number(str(item["zone"])), by_name(item.get("amount") or {})) for item in placed]
