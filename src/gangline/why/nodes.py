"""Why one node will not do for one pod: every fact, with the object and field it stands in, and the change that
would clear it.

Asked on the model as it stands (siblings may be placed for the moment). The predicates decide; the facts here say
what they saw. What no fact covers is told in the predicate's own words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from gangline.api import kinds, names
from gangline.api.meta import Raw
from gangline.rules.values import times
from gangline.scheduler.matching import BLOCKING, matches, node_matches, untolerated
from gangline.scheduler.model.gpu import device_memory
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.resources import GPU, PODS, at, is_mig
from gangline.scheduler.model.task import TaskInfo, share_of
from gangline.scheduler.placing.devices import CannotTell, fitting
from gangline.scheduler.plugins.fit.affinity import term_matches
from gangline.scheduler.records import DeviceRequest, NodeTerm, PodTerm, Requirement
from gangline.scheduler.session import Session
from gangline.scheduler.why.verdict import counted, spoken
from gangline.why.amounts import amount, plain
from gangline.why.objects import ClusterObjects, dig

HOSTNAME = "kubernetes.io/hostname"
OPENABLE = ("cordon", "taint", "label", "not-ready", "pressure")
"""Facts that a change of the node itself clears."""


@dataclass(frozen=True, slots=True)
class NodeObstacle:
    """`code` for machines; `text` completes "node n …"; `patch` is the merge patch of the node that clears it, if
    there is one.

    `lasting`: no eviction changes it."""

    code: str
    text: str
    patch: Raw | None = None
    lasting: bool = True
    resource: str = ""


def node_facts(session: Session, objects: ClusterObjects, task: TaskInfo, node: NodeInfo) -> list[NodeObstacle]:
    """Everything that keeps this pod off this node; empty where it fits."""
    facts = [
        *_state(objects, node),
        *_taints(objects, task, node),
        *_labels(task, node),
        *_gpu_kind(task, node),
        *_resources(session, task, node),
        *_ports(task, node),
        *_pods(session, task, node),
        *_volumes(session, objects, task, node),
    ]
    refused = session.hooks.refused_on(task, node)
    known = any(fact.lasting or fact.code in ("port", "pod-affinity", "anti-affinity", "slots") for fact in facts)
    if refused is not None and not known:
        facts.append(_told(session, objects, task, node, refused))
    return facts


def _told(session: Session, objects: ClusterObjects, task: TaskInfo, node: NodeInfo, refused: str) -> NodeObstacle:
    if "claim" in refused:
        return NodeObstacle("devices", _devices(session, task, node, refused), lasting=False)
    if "enough capacity" in refused:
        return NodeObstacle("quota", refused.partition("Details: ")[2] or refused, lasting=False)
    return NodeObstacle(
        "refused", refused.removeprefix("node(s) ").replace(f"node: <{node.name}>", "").strip(", "), lasting=False
    )


def _state(objects: ClusterObjects, node: NodeInfo) -> Iterator[NodeObstacle]:
    live = objects.raw(kinds.NODE, node.name) or {}
    if dig(live, "spec", "unschedulable"):
        yield NodeObstacle("cordon", "is cordoned (spec.unschedulable: true)", {"spec": {"unschedulable": False}})
    for condition in dig(live, "status", "conditions") or ():
        kind, status = condition.get("type"), condition.get("status")
        if kind == "Ready" and status != "True":
            yield NodeObstacle(
                "not-ready", f"is NotReady{_since(objects, condition)}{_because(condition)}", _healed(live)
            )
        elif kind in ("MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable") and status != "False":
            yield NodeObstacle("pressure", f"has condition {kind}{_since(objects, condition)}{_because(condition)}")


def _healed(live: Raw) -> Raw | None:
    """A simulated node is as ready as its annotation lets it be."""
    noted = dig(live, "metadata", "annotations") or {}
    return {"metadata": {"annotations": {names.HEALTH: None}}} if names.HEALTH in noted else None


def _since(objects: ClusterObjects, condition: Mapping[str, str]) -> str:
    at_time = condition.get("lastTransitionTime")
    began = times.seconds(at_time)
    return "" if began is None else f" since {at_time} ({spoken(max(objects.now - began, 0))})"


def _because(condition: Mapping[str, str]) -> str:
    why = condition.get("message") or condition.get("reason")
    return f": {why}" if why else ""


def _taints(objects: ClusterObjects, task: TaskInfo, node: NodeInfo) -> Iterator[NodeObstacle]:
    bad = [taint for taint in node.record.taints if untolerated((taint,), task.record.tolerations) is not None]
    live = objects.raw(kinds.NODE, node.name) or {}
    for taint in bad:
        if taint.key == "node.kubernetes.io/unschedulable" and dig(live, "spec", "unschedulable"):
            continue
        written = f"{taint.key}={taint.value}:{taint.effect}" if taint.value else f"{taint.key}:{taint.effect}"
        lifecycle = taint.key.startswith("node.kubernetes.io/")
        if lifecycle and not node.ready:
            continue
        kept = [
            item
            for item in dig(live, "spec", "taints") or ()
            if item.get("effect") not in BLOCKING
            or not any(item.get("key") == other.key and item.get("effect") == other.effect for other in bad)
        ]
        patch = None if lifecycle else {"spec": {"taints": kept}}
        yield NodeObstacle(
            "lifecycle" if lifecycle else "taint", f"has taint {written}, which the pod does not tolerate", patch
        )


def _labels(task: TaskInfo, node: NodeInfo) -> Iterator[NodeObstacle]:
    record = task.record
    for key, value in record.node_selector.items():
        if node.labels.get(key) != value:
            yield _label_fact("nodeSelector", Requirement(key, "In", (value,)), node)
    if record.node_affinity is not None and not node_matches(record.node_affinity, node):
        yield from _affinity(record.node_affinity, node)


def _affinity(terms: tuple[NodeTerm, ...], node: NodeInfo) -> Iterator[NodeObstacle]:
    """What the nearest of the alternative terms asks for and the node has not."""
    lacking = [[label for label in term.labels if not matches(label, node.labels)] for term in terms]
    fields = [[field for field in term.fields if not matches(field, {"metadata.name": node.name})] for term in terms]
    nearest = min(range(len(terms)), key=lambda place: len(lacking[place]) + len(fields[place]), default=None)
    if nearest is None:
        return
    for requirement in lacking[nearest]:
        yield _label_fact("nodeAffinity", requirement, node)
    for requirement in fields[nearest]:
        yield NodeObstacle(
            "field",
            f"is not {requirement.operator} {', '.join(requirement.values)} (nodeAffinity by {requirement.key})",
        )


def _label_fact(field: str, requirement: Requirement, node: NodeInfo) -> NodeObstacle:
    value = node.labels.get(requirement.key)
    has = f"has {requirement.key}={value}" if value is not None else f"has no label {requirement.key}"
    return NodeObstacle(
        "label", f"{has}, but {field} asks for {requirement_text(requirement)}", label_patch(requirement)
    )


def requirement_text(requirement: Requirement) -> str:
    key, values = requirement.key, requirement.values
    if requirement.operator == "In":
        return f"{key}={values[0]}" if len(values) == 1 else f"{key} in ({', '.join(values)})"
    if requirement.operator in ("Exists", "DoesNotExist"):
        return f"{key} {'to be there' if requirement.operator == 'Exists' else 'to be absent'}"
    return f"{key} {requirement.operator} {', '.join(values)}"


def label_patch(requirement: Requirement) -> Raw | None:
    if requirement.key == HOSTNAME:
        return None
    return {"metadata": {"labels": {requirement.key: wished(requirement)}}}


def wished(requirement: Requirement) -> str | None:
    """A value that the requirement is content with; None: no label."""
    if requirement.operator == "In":
        return requirement.values[0] if requirement.values else None
    if requirement.operator == "Exists":
        return "true"
    if requirement.operator in ("Gt", "Lt") and requirement.values and requirement.values[0].lstrip("-").isdigit():
        return str(int(requirement.values[0]) + (1 if requirement.operator == "Gt" else -1))
    return None


def _gpu_kind(task: TaskInfo, node: NodeInfo) -> Iterator[NodeObstacle]:
    gpu = task.gpu
    if gpu.memory > 0 and not node.record.gpu_memory_synced:
        yield NodeObstacle("gpu-memory", f"does not say how much memory its GPUs have (label {names.GPU_MEMORY_LABEL})")
    elif gpu.memory > 0 and gpu.memory > node.gpu_memory:
        yield NodeObstacle(
            "gpu-memory",
            f"has GPUs with {node.gpu_memory} MiB of memory each; the pod asks for {gpu.memory} MiB of one "
            f"(annotation {names.GPU_MEMORY})",
        )
    if gpu.kind == "MigInstance":
        for profile, count in gpu.mig.items():
            if not _offers(node, profile):
                has = ", ".join(sorted(name for name in node.record.allocatable if is_mig(name))) or "no MIG profile"
                yield NodeObstacle("mig", f"has no {profile} ({int(count)} asked); it has {has}")
        if node.mig_enabled and node.record.mig_strategy == "single":
            yield NodeObstacle("mig", "has MIG strategy single, which gives whole GPUs only")
    elif task.needs_gpu and node.mig_enabled and node.record.mig_strategy == "mixed":
        yield NodeObstacle("mig", "has its GPUs cut into MIG instances (strategy mixed); the pod asks for whole ones")


def _offers(node: NodeInfo, resource: str) -> bool:
    return float(node.record.allocatable.get(resource, 0)) > 0


def _resources(session: Session, task: TaskInfo, node: NodeInfo) -> Iterator[NodeObstacle]:
    resource_names = session.cluster.names.names
    for place, need in enumerate(task.request):
        name = resource_names[place]
        if (
            not need
            or place == PODS
            or (place == GPU and task.shared)
            or (name in task.gpu.mig and not _offers(node, name))
        ):
            continue
        if place in task.backed and not at(node.allocatable, place):
            continue
        total, free = at(node.allocatable, place), at(node.later, place)
        if need > total:
            has = f"has {amount(total, name)}" if total else f"has no {_word(name)}"
            yield NodeObstacle("size", f"{has}; the pod asks for {amount(need, name)}", resource=name)
        elif need > free:
            yield NodeObstacle(
                "busy",
                f"has {plain(max(free, 0), name)} of {amount(total, name)} free; the pod asks for {amount(need, name)}",
                lasting=False,
                resource=name,
            )
    if at(node.later, PODS) < 1:
        yield NodeObstacle(
            "slots",
            f"has no pod slot left: {int(at(node.allocatable, PODS))} of {int(at(node.allocatable, PODS))} pods "
            "(status.allocatable.pods)",
            lasting=False,
            resource="pods",
        )
    if task.shared:
        yield from _shared(session, task, node)


def _word(resource: str) -> str:
    return {"gpu": "GPU", "cpu": "CPU", "memory": "memory"}.get(resource, resource)


def _shared(session: Session, task: TaskInfo, node: NodeInfo) -> Iterator[NodeObstacle]:
    gpu = task.gpu
    if gpu.memory > 0 and (not node.record.gpu_memory_synced or gpu.memory > node.gpu_memory):
        return
    devices = int(at(node.allocatable, GPU))
    portion = share_of(gpu.memory, node.gpu_memory) if gpu.memory > 0 else gpu.portion
    asked = f"{gpu.memory} MiB of a GPU" if gpu.memory > 0 else f"{portion:g} of a GPU"
    asked += f" on each of {gpu.count} devices" if gpu.count > 1 else ""
    if devices < gpu.count:
        has = counted(devices, "GPU") if devices else "no GPU"
        yield NodeObstacle("size", f"has {has}; the pod asks for {asked}", resource="gpu")
        return
    enough = int(at(node.later, GPU)) + len(node.shared.fitting(device_memory(task, node.gpu_memory)))
    if enough < gpu.count:
        yield NodeObstacle(
            "busy",
            f"has {counted(enough, 'device')} with that much free of {counted(devices, 'GPU')}; the pod asks "
            f"for {asked}",
            lasting=False,
            resource="gpu",
        )
    elif at(node.later, PODS) < 2 and int(at(node.later, PODS)) >= 1:
        yield NodeObstacle(
            "slots",
            "has one pod slot left; a shared GPU needs one more for its reservation",
            lasting=False,
            resource="pods",
        )


def _ports(task: TaskInfo, node: NodeInfo) -> Iterator[NodeObstacle]:
    for mine in task.record.host_ports:
        holder = next(
            (
                placed.task
                for placed in node.placed.values()
                if placed.task is not task
                and any(
                    other.port == mine.port and other.protocol == mine.protocol
                    for other in placed.task.record.host_ports
                )
            ),
            None,
        )
        if holder is not None:
            yield NodeObstacle(
                "port", f"has host port {mine.port}/{mine.protocol} taken by pod {holder.name}", lasting=False
            )


def _pods(session: Session, task: TaskInfo, node: NodeInfo) -> Iterator[NodeObstacle]:
    """Inter-pod affinity, as the pods stand at this moment."""
    record = task.record
    for term in record.pod_anti_affinity:
        other = _in_domain(session, node, term, task, lambda other, term=term: term_matches(term, task, other))
        if other is not None:
            yield NodeObstacle(
                "anti-affinity",
                f"shares {term.topology_key}={node.labels.get(term.topology_key)} with pod {other.name}, which "
                f"podAntiAffinity {_selector(term)} keeps apart",
                lasting=False,
            )
    for term in record.pod_affinity:
        if term.topology_key not in node.labels:
            yield NodeObstacle(
                "label",
                f"has no label {term.topology_key}, which podAffinity goes by",
                {"metadata": {"labels": {term.topology_key: node.name}}},
            )
        elif not _affine(session, node, term, task):
            yield NodeObstacle(
                "pod-affinity",
                f"has no pod with {_selector(term)} in its {term.topology_key} (podAffinity)",
                lasting=False,
            )
    if session.cluster.shunning:
        for placed_node in session.cluster.nodes.values():
            for placed in placed_node.placed.values():
                for term in placed.task.record.pod_anti_affinity:
                    value = node.labels.get(term.topology_key)
                    near = value is not None and placed_node.labels.get(term.topology_key) == value
                    if (
                        near
                        and placed.task is not task
                        and placed.task.gang is not task.gang
                        and term_matches(term, placed.task, task)
                    ):
                        yield NodeObstacle(
                            "anti-affinity",
                            f"holds pod {placed.task.name}, whose podAntiAffinity keeps this one away",
                            lasting=False,
                        )
                        return


def _affine(session: Session, node: NodeInfo, term: PodTerm, task: TaskInfo) -> bool:
    if _in_domain(session, node, term, task, lambda other: term_matches(term, task, other)) is not None:
        return True
    anybody = any(
        term_matches(term, task, placed.task)
        for item in session.cluster.nodes.values()
        for placed in item.placed.values()
        if placed.task is not task
    )
    return not anybody and term_matches(term, task, task)


def _in_domain(session: Session, node: NodeInfo, term: PodTerm, task: TaskInfo, wanted: object) -> TaskInfo | None:
    assert callable(wanted)
    value = node.labels.get(term.topology_key)
    if value is None:
        return None
    for item in session.cluster.nodes.values():
        if item.labels.get(term.topology_key) == value:
            for placed in item.placed.values():
                if placed.task is not task and wanted(placed.task):
                    return placed.task
    return None


def _selector(term: PodTerm) -> str:
    return ", ".join(requirement_text(item) for item in term.selector or ()) or "any pod"


def _volumes(session: Session, objects: ClusterObjects, task: TaskInfo, node: NodeInfo) -> Iterator[NodeObstacle]:
    for name in task.record.volumes:
        claim = session.cluster.volume_claims.get((task.namespace, name))
        if claim is None or claim.nodes is None or node_matches(claim.nodes, node):
            continue
        where = (
            " or ".join(
                " and ".join(requirement_text(label) for label in (*term.labels, *term.fields)) for term in claim.nodes
            )
            or "no node"
        )
        volume = (objects.raw(kinds.PVC, name, task.namespace) or {}).get("spec", {}).get("volumeName", "")
        of = f" (PersistentVolume {volume})" if volume else ""
        near = _nearest(claim.nodes, node)
        yield NodeObstacle(
            "volume", f"{near}, but the volume of PersistentVolumeClaim {name}{of} can be used only where {where}"
        )


def _nearest(terms: Iterable[NodeTerm], node: NodeInfo) -> str:
    for term in terms:
        for label in term.labels:
            if not matches(label, node.labels):
                value = node.labels.get(label.key)
                return f"has {label.key}={value}" if value is not None else f"has no label {label.key}"
    return "is elsewhere"


def _devices(session: Session, task: TaskInfo, node: NodeInfo, refused: str) -> str:
    """Which claim finds no device here, of which class, and how many there are."""
    said = []
    for name in task.record.claims:
        claim = session.cluster.devices.records.get((task.namespace, name))
        for request in claim.requests if claim is not None else ():
            classes = request.device_class or " or ".join(choice.device_class for choice in request.choices)
            count = "all devices" if request.count is None else counted(request.count, "device")
            said.append(
                f"{count} of class {classes} for ResourceClaim {name} (it has {_free_devices(session, node, request)})"
            )
    return f"cannot give {' and '.join(said)}" if said else refused


def _free_devices(session: Session, node: NodeInfo, request: DeviceRequest) -> str:
    devices = session.cluster.devices
    try:
        there = [item for choice in (request.choices or (request,)) for item in fitting(devices, node, choice)]
    except CannotTell as error:
        return str(error)
    free = sum(not devices.held.get(item.key) for item in there)
    return f"{free} of {len(there)} free" if there else "none"
