"""How API objects are read into records."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest

from gangline.api import kai, resources
from gangline.api.builtin import PriorityClass
from gangline.api.core import Node, PersistentVolumeClaim, Pod
from gangline.rules.gangs.priorities import priorities
from gangline.scheduler import objects
from gangline.scheduler.model.status import Status
from gangline.scheduler.objects import ObjectReading, ObjectUnreadable
from gangline.scheduler.objects.gangs import level_aliases
from gangline.scheduler.records import GroupRecord, PodSetRecord, Requirement, Share, TaskRecord, TopologyRule
from gangline.scheduler.refusals import QueueFigures
from gangline.scheduler.thought.decision_objects import queue_details

OURS = {"schedulerName": "kai-scheduler"}


def pod(
    *, meta: dict[str, Any] | None = None, spec: dict[str, Any] | None = None, status: dict[str, Any] | None = None
) -> Pod:
    body = {"metadata": {"name": "p", "namespace": "ns", "uid": "u", **(meta or {})}, "spec": {**OURS, **(spec or {})}}
    return msgspec.convert({**body, "status": {"phase": "Pending", **(status or {})}}, Pod)


def task(
    reading: ObjectReading | None = None, binding: kai.BindOrder | None = None, **parts: dict[str, Any]
) -> TaskRecord:
    return objects.task_record(pod(**parts), binding, reading=reading or ObjectReading())


# --- pods -------------------------------------------------------------------------------------------------------------


def test_a_pod_belongs_to_the_gang_its_annotation_names() -> None:
    marked = {"annotations": {"pod-group-name": "llm-0"}, "labels": {"kai.scheduler/subgroup-name": "decode"}}
    assert (task(meta=marked).gang, task(meta=marked).pod_set) == ("ns/llm-0", "decode")
    assert task(meta=marked, spec={"schedulerName": "default-scheduler"}).gang == ""
    assert (task().gang, task().pod_set) == ("ns/", "default"), "one of ours that nobody has grouped yet"


def test_where_a_pod_stands() -> None:
    on_node = {"nodeName": "n1"}
    assert task().status is Status.PENDING
    assert task(spec={"schedulingGates": [{"name": "g"}]}).status is Status.GATED
    assert task(spec=on_node).status is Status.BOUND
    assert task(spec=on_node, status={"phase": "Running"}).status is Status.RUNNING
    assert task(status={"phase": "Succeeded"}).status is Status.SUCCEEDED
    assert task(status={"phase": "Failed"}).status is Status.FAILED


def test_an_order_holds_its_node_and_its_gpus() -> None:
    bound = task(binding=kai.BindOrder(pod_name="p", selected_node="n1", selected_gpu_groups=("g1",)))
    assert (bound.status, bound.node, bound.gpu_groups) == (Status.BINDING, "n1", ("g1",))


def test_a_pod_that_will_not_go_away_is_stuck_after_two_minutes() -> None:
    gone = {"deletionTimestamp": "1970-01-01T00:01:00Z"}
    running = {"phase": "Running"}
    assert task(ObjectReading(now=180), meta=gone, status=running).status is Status.RELEASING
    assert task(ObjectReading(now=181), meta=gone, status=running).status is Status.STUCK_RELEASING
    assert task(ObjectReading(now=9999), meta=gone).status is Status.RELEASING


def test_gpus_stand_apart_from_the_other_amounts() -> None:
    asks = {"containers": [{"resources": {"requests": {"cpu": "2", "nvidia.com/gpu": "4"}}}]}
    read = task(spec=asks)
    assert read.request == {"cpu": 2000, "pods": 1} and (read.gpu.kind, read.gpu.count, read.gpu.portion) == (
        "Regular",
        4,
        1,
    )


def test_a_negative_request_is_refused_by_name() -> None:
    with pytest.raises(ObjectUnreadable, match=r"spec.containers.resources.requests\[cpu\]: must not be negative"):
        task(spec={"containers": [{"resources": {"requests": {"cpu": "-1"}}}]})


def test_required_node_affinity_keeps_alternatives_apart_and_drops_empty_terms() -> None:
    terms = [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}, {}]
    wanted = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
    found = task(spec={"affinity": wanted}).node_affinity
    assert found is not None and [term.labels for term in found] == [(Requirement("zone", "In", ("a",)),)]
    assert task().node_affinity is None


def test_a_namespace_selector_is_resolved_to_names() -> None:
    term = {
        "topologyKey": "rack",
        "labelSelector": {"matchLabels": {"app": "x"}},
        "namespaceSelector": {"matchLabels": {"team": "a"}},
    }
    spec = {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}
    reading = ObjectReading(namespaces={"one": {"team": "a"}, "two": {"team": "b"}})
    assert task(reading, spec=spec).pod_anti_affinity[0].namespaces == ("one",)
    everywhere = {**term, "namespaceSelector": {}}
    spec = {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [everywhere]}}}
    assert task(reading, spec=spec).pod_anti_affinity[0].every_namespace


def test_config_maps_count_only_where_a_container_cannot_start_without_them() -> None:
    spec = {
        "volumes": [
            {"name": "v", "configMap": {"name": "mounted"}},
            {"name": "w", "configMap": {"name": "not-mounted"}},
            {"name": "s", "configMap": {"name": "shared-gpu-0"}},
        ],
        "containers": [
            {
                "volumeMounts": [{"name": "v"}, {"name": "s"}],
                "env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "from-env"}}}],
                "envFrom": [{"configMapRef": {"name": "maybe", "optional": True}}],
            }
        ],
    }
    assert task(spec=spec, meta={"annotations": {"runai/shared-gpu-configmap": "shared-gpu"}}).config_maps == (
        "from-env",
        "mounted",
    )


def test_observed_zones_decide_over_predicted_ones() -> None:
    observed = {"kai.scheduler/numa-placement-observed": '[{"zone": "node-1", "amount": {}}]'}
    predicted = {"kai.scheduler/numa-placement-predicted": '[{"zone": "node-0", "amount": {}}]'}
    assert task(meta={"annotations": observed | predicted}).numa_zones == (1,)
    assert task(meta={"annotations": predicted}).numa_zones == (0,)
    assert task(meta={"annotations": {"kai.scheduler/numa-placement-observed": "?"}}).numa_zones is None


def test_pods_that_demand_the_same_of_nodes_share_a_signature_whatever_they_ask_for() -> None:
    small = task(spec={"containers": [{"resources": {"requests": {"cpu": "1"}}}]})
    large = task(meta={"name": "q"}, spec={"containers": [{"resources": {"requests": {"cpu": "8"}}}]})
    picky = task(spec={"nodeSelector": {"zone": "a"}})
    assert small.signature == large.signature != picky.signature


# --- nodes ------------------------------------------------------------------------------------------------------------


def node(labels: dict[str, str] | None = None, **parts: Any) -> Node:
    return msgspec.convert({"metadata": {"name": "n1", "labels": labels or {}}, **parts}, Node)


def test_a_node_offers_gpus_under_one_name_and_nothing_that_is_zero() -> None:
    offers = {"cpu": "8", "memory": "1Gi", "nvidia.com/gpu": "8", "example.com/nic": "0", "pods": "110"}
    record = objects.node_record(node(status={"allocatable": offers}))
    assert record.allocatable == {"cpu": 8000, "memory": 2**30, "gpu": 8, "pods": 110}


@pytest.mark.parametrize(
    ("label", "memory", "synced"),
    [("16384", 16300, True), (str(80 * 2**30), 81900, True), (None, 100, False), ("big", 100, False)],
)
def test_gpu_memory_is_a_multiple_of_a_hundred_mebibytes(label: str | None, memory: int, synced: bool) -> None:
    record = objects.node_record(node({"nvidia.com/gpu.memory": label} if label else None))
    assert (record.gpu_memory, record.gpu_memory_synced) == (memory, synced)


def test_a_node_that_is_not_ready_says_every_reason() -> None:
    conditions = [
        {"type": "Ready", "status": "False"},
        {"type": "DiskPressure", "status": "Unknown"},
        {"type": "Other", "status": "True"},
    ]
    record = objects.node_record(node(spec={"unschedulable": True}, status={"conditions": conditions}))
    assert not record.ready
    assert record.ready_reason == "node is unschedulable, node has NotReady condition, node has DiskPressure condition"


def test_numa_zones_are_ordered_by_number() -> None:
    zones = [
        {"name": "node-1", "type": "Node", "resources": [{"name": "cpu", "allocatable": "4", "available": "2"}]},
        {
            "name": "node-0",
            "type": "Node",
            "resources": [{"name": "nvidia.com/gpu", "allocatable": "4", "available": "4"}],
        },
        {"name": "socket-0", "type": "Socket"},
    ]
    policy = [
        {"name": "topologyManagerPolicy", "value": "restricted"},
        {"name": "topologyManagerScope", "value": "pod"},
    ]
    numa = objects.numa_record({"zones": zones, "attributes": policy})
    assert numa is not None and (numa.policy, numa.scope, numa.resources) == ("restricted", "pod", ("cpu", "gpu"))
    assert [(zone.id, zone.available) for zone in numa.zones] == [(0, {"gpu": 4}), (1, {"cpu": 2000})]
    old = objects.numa_record({"zones": zones, "topologyPolicies": ["SingleNUMANodePodLevel"]})
    assert old is not None and old.policy == "single-numa-node"


# --- queues and gangs -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("amount", [1e308, 2.0**1023, 9.3e18])
def test_an_amount_that_nobody_has_is_one_that_can_be_written(amount: float) -> None:
    bounds = {"quota": amount, "limit": amount, "overQuotaWeight": amount}
    given = {"cpu": bounds, "memory": bounds, "gpu": bounds}
    record = objects.queue_record(msgspec.convert({"metadata": {"name": "q"}, "spec": {"resources": given}}, kai.Queue))
    triple = (2 * record.cpu.quota, 2 * record.memory.limit, 2 * record.gpu.quota)
    figures = QueueFigures("q", triple, triple, triple, triple, triple, triple, triple)
    written = queue_details(figures)["queueDeservedResources"]
    assert all(math.isfinite(resources.number(text)) for text in written.values()) and len(written) == 3
    assert math.isfinite(1000 * record.gpu.weight)


def test_queue_memory_is_in_millions_of_bytes_and_minus_one_stays_unlimited() -> None:
    given = {"memory": {"quota": 4, "limit": -1, "overQuotaWeight": 2}, "gpu": {"quota": -1, "limit": 8}}
    queue = msgspec.convert({"metadata": {"name": "q"}, "spec": {"parentQueue": "root", "resources": given}}, kai.Queue)
    record = objects.queue_record(queue, {"gpu": 0.25})
    assert record.memory == Share(4e6, -1, 2) and record.gpu == Share(-1, 8, 0, 0.25) and record.cpu == Share()
    assert (record.parent, record.priority) == ("root", 100)


def test_a_quota_below_minus_one_is_refused() -> None:
    queue = msgspec.convert({"spec": {"resources": {"gpu": {"quota": -2}}}}, kai.Queue)
    with pytest.raises(ObjectUnreadable, match=r"spec.resources.gpu.quota: must be -1 \(unlimited\) or not negative"):
        objects.queue_record(queue)


def group(**spec: Any) -> kai.PodGroup:
    return msgspec.convert({"metadata": {"name": "g", "namespace": "ns"}, "spec": {"queue": "q", **spec}}, kai.PodGroup)


def test_the_priority_class_decides_and_without_one_the_default() -> None:
    classes = [
        msgspec.convert({"metadata": {"name": n}, "value": v, "globalDefault": d}, PriorityClass)
        for n, v, d in (("train", 50, False), ("build", 100, False), ("normal", 60, True))
    ]
    known = priorities(classes)
    assert objects.gang_record(group(priorityClassName="build"), known).priority == 100
    assert objects.gang_record(group(priorityClassName="unknown"), known).priority == 60
    assert objects.gang_record(group()).priority == 50


def test_a_gang_without_sub_groups_needs_its_min_member() -> None:
    assert objects.gang_record(group(minMember=4)).tree == GroupRecord(pod_sets=(PodSetRecord("default", 4),))
    assert objects.gang_record(group()).tree.pod_sets[0].min_available == 1


def test_sub_groups_become_a_tree_and_a_parent_is_found_in_lower_case() -> None:
    members = [
        {"name": "prefill", "minSubGroup": 1},
        {"name": "leader", "minMember": 1, "parent": "Prefill"},
        {
            "name": "worker",
            "minMember": 2,
            "parent": "prefill",
            "topologyConstraint": {"topology": "t", "requiredTopologyLevel": "rack"},
        },
        {"name": "decode", "minMember": 3},
    ]
    aliases = level_aliases(
        [
            msgspec.convert(
                {"metadata": {"name": "t"}, "spec": {"levels": [{"nodeLabel": "example.com/rack", "alias": "rack"}]}},
                kai.Topology,
            )
        ]
    )
    record = objects.gang_record(group(subGroups=members, minSubGroup=2, minMember=9), aliases=aliases)
    worker = PodSetRecord("worker", 2, TopologyRule("t", "example.com/rack"))
    inner = GroupRecord("prefill", 1, pod_sets=(PodSetRecord("leader", 1), worker))
    assert record.tree == GroupRecord("", 2, groups=(inner,), pod_sets=(PodSetRecord("decode", 3),))


@pytest.mark.parametrize(
    ("members", "problem"),
    [
        ([{"name": "a"}, {"name": "a"}], "sub-group a is listed twice"),
        ([{"name": "a", "parent": "b"}], "sub-group a has the unknown parent b"),
        ([{"name": "a", "parent": "b"}, {"name": "b", "parent": "a"}], "sub-group a is its own ancestor"),
        (
            [{"name": f"g{place}", "parent": f"g{place - 1}" if place else None} for place in range(20_000)],
            "sub-groups are nested more than 64 levels deep",
        ),
    ],
)
def test_a_broken_tree_is_a_problem_of_this_gang_alone(members: list[dict[str, Any]], problem: str) -> None:
    record = objects.gang_record(group(subGroups=members))
    assert record.problems[0] == problem and record.tree.pod_sets == (PodSetRecord("default", 1),)


def test_a_gang_that_backs_off_is_skipped_in_the_pool_it_failed_in() -> None:
    failed = [{"nodePool": "default", "transitionID": "1"}, {"nodePool": "other", "transitionID": "0"}]
    body = {"spec": {"schedulingBackoff": 1}, "status": {"schedulingConditions": failed}}
    assert objects.gang_record(msgspec.convert(body, kai.PodGroup)).skipped
    assert not objects.gang_record(group()).skipped


def test_a_topology_without_levels_is_refused() -> None:
    with pytest.raises(ObjectUnreadable, match=r"spec\.levels: must name at least one level"):
        objects.topology_record(msgspec.convert({"metadata": {"name": "t"}}, kai.Topology))


# --- devices and storage ----------------------------------------------------------------------------------------------


def test_a_claim_tells_what_it_asks_for_and_what_it_has() -> None:
    claim = {
        "metadata": {"name": "c", "namespace": "ns", "ownerReferences": [{"kind": "Pod"}]},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu", "count": 2}}]}},
        "status": {
            "allocation": {"devices": {"results": [{"driver": "d", "pool": "n1", "device": "0", "request": "r"}]}},
            "reservedFor": [{"name": "p", "uid": "u"}],
        },
    }
    record = objects.claim_record(claim)
    assert [(r.device_class, r.count) for r in record.requests] == [("gpu", 2)] and record.template
    assert record.allocated is not None and record.allocated[0].device == "0" and record.reserved_for == ("u",)


def test_a_slice_lists_its_devices_with_their_full_attribute_names() -> None:
    body = {
        "metadata": {"name": "s"},
        "spec": {
            "nodeName": "n1",
            "driver": "d",
            "pool": {"name": "p"},
            "devices": [{"name": "0", "attributes": {"model": {"string": "x"}}}],
        },
    }
    record = objects.slice_record(body)
    assert (record.node, record.driver, record.pool) == ("n1", "d", "p") and record.devices[0].attributes == {
        "d/model": {"string": "x"}
    }


def test_a_volume_claim_waits_when_its_class_binds_on_first_use() -> None:
    spec = {"storageClassName": "fast", "resources": {"requests": {"storage": "1Gi"}}}
    claim = msgspec.convert({"metadata": {"name": "c"}, "spec": spec}, PersistentVolumeClaim)
    record = objects.volume_claim_record(claim, classes={"fast": {"volumeBindingMode": "WaitForFirstConsumer"}})
    assert record.waits and not record.bound and record.size == 2**30


def test_a_claim_for_which_nobody_makes_a_volume_goes_where_a_free_one_fits() -> None:
    spec = {
        "storageClassName": "local",
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
    }
    claim = msgspec.convert({"metadata": {"name": "c", "namespace": "x"}, "spec": spec}, PersistentVolumeClaim)
    classes = {"local": {"provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer"}}

    def volume(host: str, size: str = "1Gi", **more: object) -> dict[str, object]:
        term = {"matchExpressions": [{"key": "host", "operator": "In", "values": [host]}]}
        return {
            "spec": {
                "storageClassName": "local",
                "accessModes": ["ReadWriteOnce"],
                "capacity": {"storage": size},
                "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
                **more,
            },
            "status": {"phase": "Available"},
        }

    volumes = {
        "free": volume("a"),
        "small": volume("b", "1Mi"),
        "taken": volume("c", claimRef={"namespace": "x", "name": "other"}),
        "block": volume("d", volumeMode="Block"),
        "also": volume("e"),
    }
    record = objects.volume_claim_record(claim, volumes, classes)
    assert record.nodes is not None and [term.labels[0].values for term in record.nodes] == [("a",), ("e",)]
    kept = volumes | {"kept": volume("f", claimRef={"namespace": "x", "name": "c"})}
    record = objects.volume_claim_record(claim, kept, classes)
    assert record.nodes is not None and [term.labels[0].values for term in record.nodes] == [("f",)]
    assert objects.volume_claim_record(claim, {}, classes).nodes == ()


# --- what an eviction may cost ----------------------------------------------------------------------------------------


def test_annotations_say_when_work_was_saved_and_what_a_queue_may_lose() -> None:
    noted = {"gangline.io/last-checkpoint": "1970-01-01T00:01:00Z", "gangline.io/checkpoint-interval": "30m"}
    group = msgspec.convert({"metadata": {"name": "g", "namespace": "ns", "annotations": noted}}, kai.PodGroup)
    gang = objects.gang_record(group)
    assert (gang.last_checkpoint, gang.checkpoint_interval, task(meta={"annotations": noted}).last_checkpoint) == (
        60,
        1800,
        60,
    )
    budget = {"gangline.io/lost-gpu-hours-per-hour": "2.5", "gangline.io/evictions-per-day": "3"}
    queue = objects.queue_record(msgspec.convert({"metadata": {"name": "q", "annotations": budget}}, kai.Queue))
    assert (queue.lost_per_hour, queue.evictions_per_day) == (2.5, 3)


def test_annotations_that_make_no_sense_say_nothing() -> None:
    noted = {"gangline.io/last-checkpoint": "yesterday", "gangline.io/checkpoint-interval": "often"}
    group = msgspec.convert({"metadata": {"name": "g", "namespace": "ns", "annotations": noted}}, kai.PodGroup)
    gang = objects.gang_record(group)
    budget = {"gangline.io/lost-gpu-hours-per-hour": "-1", "gangline.io/evictions-per-day": "few"}
    queue = objects.queue_record(msgspec.convert({"metadata": {"name": "q", "annotations": budget}}, kai.Queue))
    assert (gang.last_checkpoint, gang.checkpoint_interval) == (None, 0)
    assert (queue.lost_per_hour, queue.evictions_per_day) == (None, None)
