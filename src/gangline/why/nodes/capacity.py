"""What a node lacks of what a pod asks for: amounts, pod slots, kinds of GPU, shares of GPUs, devices."""

from __future__ import annotations

from collections.abc import Iterator

from gangline.api import names
from gangline.scheduler.model.gpu import device_memory
from gangline.scheduler.model.gpu_pools import absent
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.resources import GPU, PODS, at, is_mig
from gangline.scheduler.model.task import TaskInfo, share_of
from gangline.scheduler.session import Session
from gangline.scheduler.why.verdict import amount, counted, plain
from gangline.why.nodes.devices import asked_devices
from gangline.why.nodes.obstacles import NodeObstacle


def gpu_kind_facts(task: TaskInfo, node: NodeInfo) -> Iterator[NodeObstacle]:
    yield from _other_maker(task, node)
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


def _other_maker(task: TaskInfo, node: NodeInfo) -> Iterator[NodeObstacle]:
    """GPUs under another resource name than the pod asks for."""
    missing = absent(node, task) if node.other_gpus(task) else None
    if missing is not None:
        has = f"; it has {', '.join(node.gpu_names)}" if node.gpu_names else ""
        yield NodeObstacle("gpu-kind", missing.replace("node(s) offer", "offers") + has)


def _offers(node: NodeInfo, resource: str) -> bool:
    return float(node.record.allocatable.get(resource, 0)) > 0


def resource_facts(session: Session, task: TaskInfo, node: NodeInfo) -> Iterator[NodeObstacle]:
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
            yield _too_small(session, task, place, total)
        elif need > free:
            yield NodeObstacle(
                "busy",
                f"has {plain(max(free, 0), name)} of {amount(total, name)} free{beside(task, node)}; the pod asks for "
                f"{amount(need, name)}",
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


def _too_small(session: Session, task: TaskInfo, place: int, total: float) -> NodeObstacle:
    name = session.cluster.names.names[place]
    has = f"has {amount(total, name)}" if total else f"has no {_word(name)}"
    asked = amount(task.request[place], name) + (_by_claims(session, task) if place == GPU else "")
    return NodeObstacle("size", f"{has}; the pod asks for {asked}", resource=name)


def _by_claims(session: Session, task: TaskInfo) -> str:
    """The claims by which it asks for devices."""
    shares = [
        f"{asked_devices(request)} by ResourceClaim {name}"
        for name in task.record.claims
        if (claim := session.cluster.devices.records.get((task.namespace, name))) is not None
        for request in claim.requests
    ]
    return f" ({', '.join(shares)})" if shares else ""


def beside(task: TaskInfo, node: NodeInfo) -> str:
    """How many pods of its own gang were put on the node for the moment, which take of what is free."""
    mine = [placed.task for placed in node.placed.values() if placed.task.gang is task.gang and placed.task is not task]
    count = sum(item.record.node != node.name for item in mine) if task.gang is not None else 0
    return f" once {counted(count, 'pod')} of this gang {'is' if count == 1 else 'are'} there" if count else ""


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
            f"has {counted(enough, 'device')} with that much free of {counted(devices, 'GPU')}{beside(task, node)}; "
            f"the pod asks for {asked}",
            lasting=False,
            resource="gpu",
        )
    if at(node.later, PODS) < 2 and int(at(node.later, PODS)) >= 1:
        yield NodeObstacle(
            "slots",
            "has one pod slot left; a shared GPU needs one more for its reservation",
            lasting=False,
            resource="pods",
        )
