"""A cluster saved, loaded, redacted and decided again."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gangline.errors import BadInput
from gangline.scheduler.decisions import Bind, Decisions
from gangline.scheduler.records import GangRecord, NodeRecord, QueueRecord, TaskRecord, TopologyRecord
from gangline.scheduler.settings import SchedulerSettings
from gangline.scheduler.snapshots import whole as snapshot
from gangline.scheduler.snapshots.redact import redact
from gangline.scheduler.snapshots.whole import Saved, records_from_objects

LEVELS = [{"nodeLabel": "example.com/rack"}, {"nodeLabel": "kubernetes.io/hostname"}]


def meta(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "creationTimestamp": "2026-01-01T00:00:00Z", **more}


def node(name: str, rack: str) -> dict[str, Any]:
    labels = {"example.com/rack": rack, "kubernetes.io/hostname": name, "owner": "acme"}
    offers = {"cpu": "8", "nvidia.com/gpu": "2", "pods": "9"}
    return {"kind": "Node", "metadata": meta(name, labels=labels), "status": {"allocatable": offers}}


def queue(name: str, parent: str = "") -> dict[str, Any]:
    unlimited = {"quota": -1, "limit": -1, "overQuotaWeight": 1}
    shares = {"cpu": unlimited, "memory": unlimited, "gpu": unlimited}
    return {"kind": "Queue", "metadata": meta(name), "spec": {"parentQueue": parent, "resources": shares}}


def group(name: str, size: int) -> dict[str, Any]:
    rule = {"topology": "racks", "requiredTopologyLevel": "example.com/rack"}
    spec = {"queue": "team", "minMember": size, "topologyConstraint": rule}
    return {"kind": "PodGroup", "metadata": meta(name, namespace="secret-project"), "spec": spec}


def pod(name: str, group: str, gpus: str = "1") -> dict[str, Any]:
    about = meta(
        name, namespace="secret-project", uid=f"uid-{name}", annotations={"pod-group-name": group, "note": "hush"}
    )
    asks = {"resources": {"requests": {"cpu": "1", "nvidia.com/gpu": gpus}}}
    spec = {"schedulerName": "kai-scheduler", "containers": [asks], "nodeSelector": {"owner": "acme"}}
    return {"kind": "Pod", "metadata": about, "spec": spec, "status": {"phase": "Pending"}}


def cluster() -> list[dict[str, Any]]:
    nodes = [node(f"n{i}", f"rack-{i // 2}") for i in range(4)]
    pods = [pod(f"train-{i}", "train") for i in range(4)]
    topology = {"kind": "Topology", "metadata": meta("racks"), "spec": {"levels": LEVELS}}
    return [*nodes, queue("root"), queue("team", "root"), topology, group("train", 4), *pods]


def saved(objects: list[dict[str, Any]] | None = None) -> Saved:
    read = records_from_objects(cluster() if objects is None else objects)
    return Saved(read.records, SchedulerSettings(), 1000.0, read.problems)


def placed(decisions: Decisions) -> list[tuple[str, str]]:
    return [(commit.task, commit.node) for commit in decisions.commits if isinstance(commit, Bind)]


def test_objects_become_records_of_every_kind() -> None:
    kinds = {type(record) for record in saved().records}
    assert {NodeRecord, QueueRecord, GangRecord, TaskRecord, TopologyRecord} <= kinds and not saved().problems


def test_a_cluster_read_from_objects_can_be_decided() -> None:
    assert placed(snapshot.replay(saved())) == [
        ("uid-train-0", "n0"),
        ("uid-train-1", "n0"),
        ("uid-train-2", "n1"),
        ("uid-train-3", "n1"),
    ]


def test_one_bad_object_is_a_problem_of_its_own_and_the_others_are_read() -> None:
    flat = {"kind": "Topology", "metadata": meta("flat")}
    bad = [pod("huge", "train", gpus="many"), flat, {"kind": "Queue", "metadata": meta("q"), "spec": []}]
    read = saved([*cluster(), *bad])
    texts = [str(problem) for problem in read.problems]
    assert len(texts) == 3 and "Topology flat: spec.levels: must name at least one level" in texts
    assert any(text.startswith("Pod secret-project/huge: ") and "'many' is not a quantity" in text for text in texts)
    assert placed(snapshot.replay(read)) == placed(snapshot.replay(saved()))


def test_a_bind_request_for_a_node_that_is_gone_does_not_count() -> None:
    spec = {"podName": "train-0", "selectedNode": "gone"}
    request = {"kind": "BindRequest", "metadata": meta("train-0", namespace="secret-project"), "spec": spec}
    tasks = [record for record in saved([*cluster(), request]).records if isinstance(record, TaskRecord)]
    assert [task.node for task in tasks if task.name == "train-0"] == [""]


def test_what_is_saved_loads_equal_and_saves_to_the_same_bytes() -> None:
    before = saved()
    data = snapshot.save(before)
    after = snapshot.load(data)
    assert all(record in before.records for record in after.records) and len(after.records) == len(before.records)
    assert after.settings == before.settings and after.now == before.now
    assert snapshot.save(after) == data
    assert snapshot.replay(after) == snapshot.replay(before)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"PK nonsense", "this is not a snapshot: .*; give a zip with a snapshot.json, or that file itself"),
        (b"[]", "this is not a snapshot: snapshot.json holds list, not an object"),
        (b"{}", "this is not a snapshot: it has neither format 'gangline-snapshot' nor rawObjects"),
        (b'{"format": "gangline-snapshot", "version": 9}', "this snapshot has version 9; this program reads version 1"),
        (b'{"format": "gangline-snapshot", "version": 1}', "this snapshot is damaged: 'records'"),
    ],
)
def test_what_is_no_snapshot_says_so(data: bytes, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        snapshot.load(data)


def test_a_redacted_snapshot_tells_no_name() -> None:
    text = json.dumps(snapshot.unzipped(snapshot.save(redact(saved()))))
    for secret in ("secret-project", "train", "acme", "rack-0", "hush", "team", "example.com"):
        assert secret not in text


def test_a_redacted_snapshot_decides_the_same_under_other_names() -> None:
    before, after = placed(snapshot.replay(saved())), placed(snapshot.replay(redact(saved())))
    names = dict(zip((task for task, _ in before), (task for task, _ in after), strict=True))
    nodes = dict(zip((node for _, node in before), (node for _, node in after), strict=True))
    assert after == [(names[task], nodes[node]) for task, node in before] and len(set(names.values())) == 4


def dump(**params: Any) -> bytes:
    lists: dict[str, list[Any]] = {"pods": [], "nodes": [], "queues": [], "podGroups": [], "topologies": []}
    places = {"Pod": "pods", "Node": "nodes", "Queue": "queues", "PodGroup": "podGroups", "Topology": "topologies"}
    for obj in cluster():
        lists[places[obj.pop("kind")]].append(obj)
    config = {
        "actions": "allocate",
        "tiers": [{"plugins": [{"name": "predicates"}, {"name": "proportion"}, {"name": "topology"}]}],
    }
    return snapshot.zipped(json.dumps({"config": config, "schedulerParams": params, "rawObjects": lists}).encode())


def test_a_dump_of_the_kai_scheduler_replays_here() -> None:
    loaded = snapshot.load(dump(maxNumberConsolidationPreemptees=16, globalDefaultStalenessGracePeriod=60_000_000_000))
    assert loaded.settings.actions == ("allocate",) and [plugin.name for plugin in loaded.settings.plugins] == [
        "predicates",
        "proportion",
        "topology",
    ]
    assert (
        loaded.settings.staleness_grace == 60
        and loaded.settings.max_consolidation_victims == 16
        and not loaded.settings.signatures
    )
    assert loaded.now == 1767225600.0, "the latest time stamp inside"
    assert sorted(task for task, _ in placed(snapshot.replay(loaded))) == [f"uid-train-{i}" for i in range(4)]
