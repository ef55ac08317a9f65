"""Reads one recorded scenario into the core's neutral records, exactly as the suite's README (sections 2 to 5) says.

Every key is accounted for: a key that is not known here fails the case (`UnknownKey`). A scenario keeps the changing
part of its tasks and claims between rounds in `Live`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from conformance.kai_core.rows import UnknownKey
from gangline.rules.requests import GpuRequest
from gangline.scheduler.model.status import ACTIVE_USED, ALLOCATED, Status
from gangline.scheduler.records import (
    DEFAULT_POD_SET,
    ClaimRecord,
    ContainerRecord,
    DeviceClassRecord,
    DeviceId,
    DeviceRecord,
    DeviceRequest,
    GangRecord,
    GroupRecord,
    NodeRecord,
    NodeTerm,
    NumaRecord,
    PodSetRecord,
    PodTerm,
    QueueRecord,
    Record,
    Requirement,
    Share,
    SliceRecord,
    TaskRecord,
    TopologyRecord,
    TopologyRule,
    ZoneRecord,
    plain_gang,
)
from gangline.scheduler.settings import DEFAULT_PLUGINS, PluginSetting, SchedulerSettings, read_config, seconds

Case = Mapping[str, Any]
NOW = 1_800_000_000.0
MINUTE = 60.0

KNOWN: dict[str, str] = {
    "case": "id name mode actions rounds session special limits config cluster expect resolved actual",
    "cluster": "nodes queues departments jobs topologies dra no_default_department",
    "node": "gpus gpu_memory_mib cpu_cores memory_bytes max_pods gpu_memory_synced mig_strategy mig_instances labels "
    "numa gpu_name",
    "numa": "policy scope resources zones",
    "zone": "id allocatable available",
    "queue": "name parent priority gpu_quota gpu_weight gpu_limit cpu_quota_milli cpu_limit_milli memory_quota_mb "
    "memory_limit_mb"
    " reclaim_min_runtime",
    "department": "name gpu_quota gpu_limit cpu_limit_milli",
    "job": "name namespace queue priority preemptibility preemption_delay gpus_per_task gpu_memory_mib_per_task"
    " fraction_devices_per_task cpu_cores_per_task memory_bytes_per_task best_effort keep_releasing stale_for"
    " staleness_grace qos_class sub_groups tasks age_minutes",
    "group": "name min_sub_groups topology pod_sets groups",
    "pod_set": "name min_available topology",
    "topology rule": "topology required preferred",
    "topology": "name levels",
    "task": "state node gpu_groups sub_group gpus priority mig legacy_mig node_affinity pod_labels pod_affinity_key"
    " pod_anti_affinity_key claims pvcs annotations name",
    "dra": "device_classes slices claims",
    "slice": "name node devices device_class",
    "claim": "name namespace labels device_class count status",
    "claim status": "allocated_devices reserved_for reserved_for_fillers",
    "device": "driver pool device request",
    "session": "staleness_grace dynamic_resources",
    "special": "bind_always_fails victim_invariant_blocker",
}
_KNOWN = {kind: frozenset(names.split()) for kind, names in KNOWN.items()}


def check_keys(kind: str, found: Mapping[str, Any]) -> Mapping[str, Any]:
    unknown = sorted(set(found) - _KNOWN[kind])
    if unknown:
        raise UnknownKey(f"{kind}: unknown key {', '.join(unknown)}")
    return found


@dataclass(slots=True)
class Live:
    """What changes between rounds: per task its status, node and GPU groups; per claim what it holds."""

    tasks: dict[str, tuple[Status, str, tuple[str, ...]]] = field(default_factory=dict)
    claims: dict[tuple[str, str], tuple[tuple[DeviceId, ...] | None, tuple[str, ...]]] = field(default_factory=dict)


def live_of(case: Case) -> Live:
    """The state that the case begins with."""
    live = Live()
    for job in case["cluster"]["jobs"]:
        for number, task in enumerate(job["tasks"]):
            check_keys("task", task)
            groups = tuple(task.get("gpu_groups") or ())
            live.tasks[f"{job['name']}-{number}"] = (Status.from_label(task["state"]), task.get("node", ""), groups)
    for claim in (case["cluster"].get("dra") or {}).get("claims") or ():
        live.claims[claim.get("namespace", ""), claim["name"]] = _claim_state(check_keys("claim", claim))
    return live


def _claim_state(claim: Mapping[str, Any]) -> tuple[tuple[DeviceId, ...] | None, tuple[str, ...]]:
    status = claim.get("status")
    if status is None:
        return None, ()
    check_keys("claim status", status)
    devices = status.get("allocated_devices")
    allocated = (
        None
        if devices is None
        else tuple(
            DeviceId(device["driver"], device["pool"], device["device"], device.get("request", ""))
            for device in devices
        )
    )
    fillers = tuple(f"pod-{number}" for number in range(status.get("reserved_for_fillers") or 0))
    return allocated, (*(status.get("reserved_for") or ()), *fillers)


# ── settings ──


def settings_of(case: Case) -> SchedulerSettings:
    session = check_keys("session", case.get("session") or {})
    plugins = list(DEFAULT_PLUGINS)
    if "config" in case:
        plugins = list(read_config(case["config"]).plugins)
    if "limits" not in case:
        plugins = [plugin for plugin in plugins if plugin.name != "predicates"]
    if any(node.get("numa") for node in case["cluster"]["nodes"].values()):
        plugins.append(PluginSetting("numa"))
    return SchedulerSettings(
        actions=tuple(case["actions"]),
        plugins=tuple(plugins),
        staleness_grace=seconds(session.get("staleness_grace", "0")),
        max_consolidation_victims=-1,
        signatures=False,
        dynamic_resources=bool(session.get("dynamic_resources")),
        default_gpu_memory=100,
        leaves_unsolved=True,
        joins_steps=True,
        fewest_moves=False,
    )


# ── records ──


def records_of(case: Case, live: Live) -> Iterator[Record]:
    check_keys("case", case)
    cluster = check_keys("cluster", case["cluster"])
    yield from (_node(name, check_keys("node", node)) for name, node in cluster["nodes"].items())
    yield from _queues(cluster)
    for topology in cluster.get("topologies") or ():
        check_keys("topology", topology)
        yield TopologyRecord(topology["name"], tuple(topology["levels"]))
    yield from _dra(cluster.get("dra") or {}, live)
    jobs = sorted(cluster["jobs"], key=lambda job: -job.get("priority", 0))
    devices = {
        (claim.get("namespace", ""), claim["name"]): claim for claim in (cluster.get("dra") or {}).get("claims") or ()
    }
    for place, job in enumerate(jobs):
        check_keys("job", job)
        minutes = job.get("age_minutes", len(jobs) - place)
        yield _gang(job, NOW - minutes * MINUTE, live)
        yield from _tasks(job, live, devices, cluster["nodes"])


def _node(name: str, node: Mapping[str, Any]) -> NodeRecord:
    strategy = node.get("mig_strategy", "")
    gpus = node.get("gpus", 0)
    memory = node.get("gpu_memory_mib", 100)
    allocatable = {
        "cpu": node.get("cpu_cores", 20000) * 1000,
        "memory": node.get("memory_bytes", 20_000_000_000),
        "pods": node.get("max_pods", 110),
        "gpu": 0 if strategy == "mixed" else gpus,
        **(node.get("mig_instances") or {}),
    }
    labels = {
        "kai.scheduler/type": name,
        "nvidia.com/gpu.count": str(gpus),
        "nvidia.com/gpu.memory": str(memory),
        "nvidia.com/mig.strategy": strategy,
        "node-role.kubernetes.io/mig-enabled": str(bool(strategy)).lower(),
        **(node.get("labels") or {}),
    }
    return NodeRecord(
        name,
        allocatable,
        labels,
        gpu_memory=memory - memory % 100,
        gpu_memory_synced=node.get("gpu_memory_synced", True),
        gpu_count=int(gpus),
        mig_enabled=bool(strategy),
        mig_strategy=strategy,
        numa=_numa(node.get("numa")),
    )


def _numa(numa: Mapping[str, Any] | None) -> NumaRecord | None:
    if numa is None:
        return None
    check_keys("numa", numa)
    zones = [check_keys("zone", zone) for zone in numa["zones"]]
    return NumaRecord(
        numa["policy"],
        numa["scope"],
        tuple(numa["resources"]),
        tuple(
            ZoneRecord(place, zone.get("allocatable") or {}, zone.get("available") or {})
            for place, zone in enumerate(zones)
        ),
    )


def _queues(cluster: Mapping[str, Any]) -> Iterable[QueueRecord]:
    departments = list(cluster.get("departments") or ())
    default = not departments and not cluster.get("no_default_department")
    for place, queue in enumerate(cluster["queues"]):
        check_keys("queue", queue)
        minimum = queue.get("reclaim_min_runtime")
        yield QueueRecord(
            queue["name"],
            "default" if default else queue.get("parent", ""),
            queue.get("priority", 100),
            NOW + place * MINUTE,
            _share(queue, "cpu", "milli", 1),
            _share(queue, "memory", "mb", 1_000_000),
            Share(queue.get("gpu_quota", 0), queue.get("gpu_limit", 0) or -1, queue.get("gpu_weight", 0)),
            reclaim_min_runtime=None if minimum is None else seconds(minimum),
        )
    if default:
        yield QueueRecord("default", created=NOW, cpu=Share(-1, -1, 1), memory=Share(-1, -1, 1), gpu=Share(-1, -1, -1))
    for place, department in enumerate(departments):
        check_keys("department", department)
        quota = department.get("gpu_quota", 0)
        yield QueueRecord(
            department["name"],
            created=NOW + place * MINUTE,
            cpu=Share(-1, department.get("cpu_limit_milli", -1), 1),
            memory=Share(-1, -1, 1),
            gpu=Share(quota, department.get("gpu_limit", 0) or -1, quota),
        )


def _share(queue: Mapping[str, Any], resource: str, unit: str, factor: int) -> Share:
    quota, limit = queue.get(f"{resource}_quota_{unit}", -1), queue.get(f"{resource}_limit_{unit}", -1)
    return Share(quota if quota == -1 else quota * factor, limit if limit == -1 else limit * factor, 1)


def _gang(job: Mapping[str, Any], created: float, live: Live) -> GangRecord:
    preemptible = {"preemptible": True, "non-preemptible": False}.get(job.get("preemptibility", ""))
    started = any(live.tasks[f"{job['name']}-{number}"][0] & ALLOCATED for number in range(len(job["tasks"])))
    grace, stale = job.get("staleness_grace"), job.get("stale_for")
    return GangRecord(
        job["name"],
        job["queue"],
        namespace=job.get("namespace", ""),
        priority=job.get("priority", 0),
        preemptible=preemptible,
        created=created,
        tree=_tree(job),
        preemption_delay=seconds(job.get("preemption_delay", "0")),
        staleness_grace=None if grace is None else seconds(grace),
        stale_since=None if stale is None else NOW - seconds(stale),
        last_start=NOW - 60 if started else None,
    )


def _tree(job: Mapping[str, Any]) -> GroupRecord:
    root = job.get("sub_groups")
    if root is None:
        return plain_gang(len(job["tasks"]))
    tree = _group(root)
    if any(not task.get("sub_group") for task in job["tasks"]) and DEFAULT_POD_SET not in set(_leaf_names(tree)):
        extra = PodSetRecord(DEFAULT_POD_SET, len(job["tasks"]))
        tree = GroupRecord(tree.name, tree.min_groups, tree.topology, tree.groups, (*tree.pod_sets, extra))
    return tree


def _leaf_names(group: GroupRecord) -> Iterator[str]:
    yield from (leaf.name for leaf in group.pod_sets)
    for child in group.groups:
        yield from _leaf_names(child)


def _group(group: Mapping[str, Any]) -> GroupRecord:
    check_keys("group", group)
    leaves = [check_keys("pod_set", leaf) for leaf in group.get("pod_sets") or ()]
    return GroupRecord(
        group.get("name", ""),
        group.get("min_sub_groups"),
        _rule(group.get("topology")),
        tuple(_group(child) for child in group.get("groups") or ()),
        tuple(PodSetRecord(leaf["name"], leaf.get("min_available", 0), _rule(leaf.get("topology"))) for leaf in leaves),
    )


def _rule(rule: Mapping[str, Any] | None) -> TopologyRule | None:
    if rule is None:
        return None
    check_keys("topology rule", rule)
    return TopologyRule(rule.get("topology", ""), rule.get("required", ""), rule.get("preferred", ""))


def _tasks(
    job: Mapping[str, Any], live: Live, claims: Mapping[tuple[str, str], Mapping[str, Any]], nodes: Mapping[str, Any]
) -> Iterator[TaskRecord]:
    namespace = job.get("namespace", "")
    request: dict[str, float] = (
        {}
        if job.get("best_effort")
        else {
            "cpu": round(job.get("cpu_cores_per_task", 1) * 1000),
            "memory": job.get("memory_bytes_per_task", 1_000_000_000),
        }
    )
    for number, task in enumerate(job["tasks"]):
        uid = f"{job['name']}-{number}"
        status, node, groups = live.tasks[uid]
        gpu = _gpu(
            job, task, [claims[namespace, name] for name in task.get("claims") or () if (namespace, name) in claims]
        )
        if gpu.kind in ("Fraction", "GpuMemory") and node in nodes and status & ACTIVE_USED:
            groups = (*groups, *[f"fresh-{uid}-{place}" for place in range(gpu.count - len(groups))])
        labels = dict(task.get("pod_labels") or {})
        terms = tuple(Requirement(key, "In", (value,)) for key, value in sorted(labels.items()))
        if task.get("priority") is not None:
            labels["kai.scheduler/task-priority"] = str(task["priority"])
        affinity = task.get("node_affinity")
        observed = json.loads((task.get("annotations") or {}).get("kai.scheduler/numa-placement-observed", "[]"))
        containers: tuple[ContainerRecord, ...] = (
            ContainerRecord(
                {**request, **({"nvidia.com/gpu": gpu.count} if gpu.kind == "Regular" and gpu.count else {}), **gpu.mig}
            ),
        )
        yield TaskRecord(
            uid,
            job["name"],
            namespace=namespace,
            pod_set=task.get("sub_group") or DEFAULT_POD_SET,
            status=status,
            node=node,
            request=request,
            gpu=gpu,
            gpu_groups=groups,
            labels=labels,
            annotations=task.get("annotations") or {},
            node_affinity=None
            if not affinity
            else (NodeTerm((Requirement("kai.scheduler/type", "In", tuple(affinity)),)),),
            pod_affinity=_pod_terms(task.get("pod_affinity_key"), terms),
            pod_anti_affinity=_pod_terms(task.get("pod_anti_affinity_key"), terms),
            volumes=tuple(task.get("pvcs") or ()),
            claims=tuple(task.get("claims") or ()),
            containers=containers,
            numa_zones=tuple(int(share["zone"].rpartition("-")[2]) for share in observed) if observed else None,
            numa_amounts=tuple(
                {name: _amount(name, text) for name, text in share["amount"].items()} for share in observed
            ),
            qos=job.get("qos_class", ""),
        )


def _amount(resource: str, text: str) -> float:
    return float(text) * (1000 if resource == "cpu" else 1)


def _pod_terms(key: str | None, selector: tuple[Requirement, ...]) -> tuple[PodTerm, ...]:
    return (PodTerm(key, selector),) if key else ()


def _gpu(job: Mapping[str, Any], task: Mapping[str, Any], claims: list[Mapping[str, Any]]) -> GpuRequest:
    return replace(_asked(job, task, claims), legacy_mig=bool(task.get("legacy_mig")))


def _asked(job: Mapping[str, Any], task: Mapping[str, Any], claims: list[Mapping[str, Any]]) -> GpuRequest:
    if task.get("mig"):
        return GpuRequest("MigInstance", mig=task["mig"])
    devices = job.get("fraction_devices_per_task") or 1
    if job.get("gpu_memory_mib_per_task"):
        return GpuRequest("GpuMemory", devices, 0, job["gpu_memory_mib_per_task"])
    gpus = task.get("gpus", job.get("gpus_per_task", 0))
    if gpus != int(gpus):
        return GpuRequest("Fraction", devices, gpus)
    dra: dict[str, int] = {}
    for claim in claims:
        if "gpu" in claim["device_class"].lower():
            dra[claim["device_class"]] = dra.get(claim["device_class"], 0) + (claim.get("count") or 1)
    return GpuRequest("Regular", int(gpus), 1 if gpus else 0, dra=dra)


def _dra(dra: Mapping[str, Any], live: Live) -> Iterator[Record]:
    check_keys("dra", dra)
    for name in dra.get("device_classes") or ():
        yield DeviceClassRecord(name)
    for slice_ in dra.get("slices") or ():
        check_keys("slice", slice_)
        devices = tuple(
            DeviceRecord(str(number), slice_.get("device_class", "")) for number in range(slice_.get("devices", 0))
        )
        yield SliceRecord(slice_["name"], slice_["node"], "nvidia.com/gpu", slice_["node"], devices)
    for claim in dra.get("claims") or ():
        key = (claim.get("namespace", ""), claim["name"])
        allocated, reserved = live.claims[key]
        yield ClaimRecord(
            claim["name"],
            key[0],
            claim.get("labels") or {},
            (DeviceRequest("request", claim["device_class"], claim.get("count", 1)),),
            allocated,
            None,
            reserved,
        )
