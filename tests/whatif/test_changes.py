"""What may be asked besides files: words of the command line → changes of objects, or a refusal that helps."""

from __future__ import annotations

import pytest

from gangline.api.meta import Raw
from gangline.errors import BadInput
from gangline.whatif.changes import added, drained, gangs_without, requoted


def node(name: str, **labels: str) -> Raw:
    has = {"cpu": "16", "nvidia.com/gpu": "8"}
    taints = [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}, {"key": "team", "effect": "NoSchedule"}]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **labels}},
        "spec": {"unschedulable": True, "taints": taints},
        "status": {"allocatable": has, "conditions": [{"type": "Ready", "status": "False"}]},
    }


def queue(name: str) -> Raw:
    return {
        "apiVersion": "scheduling.run.ai/v2",
        "kind": "Queue",
        "metadata": {"name": name},
        "spec": {"parentQueue": "org", "resources": {"gpu": {"quota": 4, "limit": -1}}},
    }


def test_a_new_node_is_like_its_model_but_ready_and_open_under_a_name_of_its_own() -> None:
    first, second = added([node("n1", disk="ssd"), node("new-1")], ["n1=2"])
    assert [first["metadata"]["name"], second["metadata"]["name"]] == ["new-2", "new-3"]
    assert first["metadata"]["labels"] == {"kubernetes.io/hostname": "new-2", "disk": "ssd"}
    assert first["spec"] == {"taints": [{"key": "team", "effect": "NoSchedule"}]}
    assert first["status"] == {
        "allocatable": {"cpu": "16", "nvidia.com/gpu": "8"},
        "conditions": [{"type": "Ready", "status": "True"}],
    }


def test_a_shape_may_be_an_instance_type_or_amounts() -> None:
    kind = {"node.kubernetes.io/instance-type": "p5.48xlarge"}
    (like,) = added([node("n1", **kind)], ["p5.48xlarge=1"])
    assert like["status"]["allocatable"]["nvidia.com/gpu"] == "8"
    (plain,) = added([], ["gpus:4,memory:1024Gi,rdma/hca:2=1"])
    assert plain["status"]["allocatable"] == {
        "cpu": "64",
        "memory": "1Ti",
        "pods": "110",
        "nvidia.com/gpu": "4",
        "rdma/hca": "2",
    }


def test_the_devices_and_zones_of_a_model_come_along_free() -> None:
    devices = {
        "kind": "ResourceSlice",
        "metadata": {"name": "n1-gpus"},
        "spec": {"nodeName": "n1", "driver": "gpu.nvidia.com", "pool": {"name": "n1", "generation": 1}},
    }
    zones = {
        "kind": "NodeResourceTopology",
        "metadata": {"name": "n1"},
        "zones": [{"name": "node-0", "resources": [{"name": "cpu", "allocatable": "8", "available": "1"}]}],
    }
    _, new_devices, new_zones = added([node("n1"), devices, zones], ["n1=1"])
    assert new_devices["spec"] | {"driver": ""} == {
        "nodeName": "new-1",
        "driver": "",
        "pool": {"name": "new-1", "generation": 1},
    }
    assert (new_zones["metadata"]["name"], new_zones["zones"][0]["resources"][0]["available"]) == ("new-1", "8")


@pytest.mark.parametrize(
    ("word", "share"),
    [
        ("team.a.gpu.quota=64", {"quota": 64.0, "limit": -1}),
        ("team.a.quota=64", {"quota": 64.0, "limit": -1}),
        ("team.a.gpu=64", {"quota": 64.0, "limit": -1}),
        ("team.a.limit=8", {"quota": 4, "limit": 8.0}),
    ],
)
def test_a_field_of_a_queue_is_changed_and_the_rest_stays(word: str, share: Raw) -> None:
    (changed,) = requoted([queue("team"), queue("team.a")], [word])
    assert changed["metadata"]["name"] == "team.a" and changed["spec"]["parentQueue"] == "org"
    assert changed["spec"]["resources"] == {"gpu": share}


def test_several_changes_of_one_queue_add_up() -> None:
    (changed,) = requoted([queue("a")], ["a.gpu.quota=8", "a.cpu.limit=16", "a.priority=200"])
    assert changed["spec"] == {
        "parentQueue": "org",
        "priority": 200,
        "resources": {"gpu": {"quota": 8.0, "limit": -1}, "cpu": {"limit": 16000.0}},
    }


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda: drained([node("node-1")], ["node-2"]), "--drain node-2: there is no such node; did you mean node-1?"),
        (
            lambda: added([node("node-1")], ["nodee-1=2"]),
            "no node, no instance type and no pool is called 'nodee-1'; did you mean",
        ),
        (lambda: added([], ["n1"]), "--add-nodes n1: write SHAPE=N, N from 1 to 10000; SHAPE is a node that"),
        (lambda: added([], ["gpus:many=1"]), "--add-nodes gpus:many=1: 'gpus:many' is no amount"),
        (lambda: requoted([queue("team-a")], ["team.gpu=1"]), "there is no queue 'team'; did you mean team-a?"),
        (
            lambda: requoted([queue("a")], ["a.gpu.quotas=1"]),
            "a queue has no field gpu.quotas; did you mean gpu.quota?",
        ),
        (
            lambda: requoted([queue("a")], ["a.gpu=much"]),
            "--quota a.gpu=much: 'much' is no amount: write a number of GPUs",
        ),
        (
            lambda: gangs_without({"ns/pg-1": "train"}, ["trian"]),
            "--without trian: there is no such gang; did you mean",
        ),
        (
            lambda: gangs_without({"b/pg-1": "train", "a/pg-2": "train"}, ["train"]),
            "--without train: there are several; write a/train or b/train",
        ),
    ],
)
def test_what_the_cluster_does_not_know_is_refused_with_what_it_does(ask: object, told: str) -> None:
    with pytest.raises(BadInput) as refused:
        ask()  # type: ignore[operator]
    assert told in str(refused.value)


def test_a_gang_goes_by_the_name_that_users_know_or_by_that_of_its_group() -> None:
    titles = {"a/pg-1": "train", "b/pg-2": "train", "b/pg-3": "serve"}
    assert gangs_without(titles, ["b/train", "serve", "pg-1"]) == ["b/pg-2", "b/pg-3", "a/pg-1"]
