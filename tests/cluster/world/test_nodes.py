"""The nodes file, and how nodes fail."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from gangline.api import names
from gangline.api.core import Node
from gangline.cluster.world.nodes.hardware import gpu_uuid
from gangline.cluster.world.nodes.nodes import NodePool, health, node_names, node_object, node_objects, read_nodes
from gangline.cluster.world.settings import read_settings
from gangline.errors import BadInput

EXAMPLE = Path(__file__).parents[3] / "examples" / "nodes.yaml"
NOW = "2024-01-01T00:00:00Z"


def typed(pool: NodePool, number: int = 0) -> Node:
    return msgspec.convert(node_object(pool, number, node_names(pool)[number], NOW), Node)


def test_the_example_file_has_fourteen_nodes_with_all_their_parts() -> None:
    nodes = {item["metadata"]["name"]: item for item in node_objects(read_nodes(EXAMPLE.read_text()), NOW)}
    assert len(nodes) == 14
    sixth = nodes["h100-5"]
    assert sixth["status"]["allocatable"] == {
        "cpu": "96",
        "memory": "1Ti",
        "pods": "110",
        "ephemeral-storage": "1Ti",
        "nvidia.com/gpu": "8",
        "rdma/hca": "8",
    }
    labels = sixth["metadata"]["labels"]
    assert (labels["example.com/block"], labels["example.com/rack"]) == ("block-1", "rack-2")
    assert (labels[names.GPU_COUNT_LABEL], labels[names.GPU_MEMORY_LABEL]) == ("8", "81920")
    assert labels["kubernetes.io/hostname"] == "h100-5"
    assert nodes["mig-0"]["status"]["allocatable"]["nvidia.com/mig-3g.40gb"] == "2"
    assert nodes["mig-0"]["spec"]["taints"] == [{"key": "example.com/mig", "value": "yes", "effect": "NoSchedule"}]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "nodes: [{name: a, gpuz: 1}]",
            "Object contains unknown field `gpuz` - at `$.nodes[0]`; see nodes.yaml of `gangline examples`",
        ),
        (
            "nodes: [{count: 1}]",
            "Object missing required field `name` - at `$.nodes[0]`; see nodes.yaml of `gangline examples`",
        ),
        (
            "nodes: [{name: a, cpu: many}]",
            "nodes[0].cpu: 'many' is not a quantity: write a number such as 2, 500m or 1.5Gi",
        ),
        (
            "nodes: [{name: a, topology: {r: 0}, gpus: -1}]",
            "nodes[0].gpus: -1 is below 0; nodes[0].topology.r: 0 nodes make no level; write 1 or more",
        ),
        ("nodes: [{name: a, count: 2}, {name: a-1}]", "two nodes are called a-1"),
        ("nodes: [{name: a, count: 2147483647}]", "2147483647 nodes are too many; at most 20000 can be simulated"),
        (
            "nodes: [{name: a, grow: {most: 15000}}]\nprovisioners: [{name: p, shapes: [{name: s}], most: 15000}]",
            "30000 nodes are too many; at most 20000 can be simulated",
        ),
        (
            "nodes: [{name: a, gpus: 2147483647, mig: {1g.10gb: 10001}}]",
            "nodes[0].gpus: 2147483647 is more than 10000; nodes[0].mig.1g.10gb: 10001 is more than 10000",
        ),
        ("nodes: [{name: a, pods: 2147483648}]", "nodes[0].pods: 2147483648 is more than 10000"),
    ],
)
def test_a_file_that_cannot_be_used_says_what_and_where(text: str, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        read_nodes(text, "my.yaml")
    assert str(refused.value) == f"my.yaml: {said}"


def test_a_file_that_is_not_yaml_is_refused() -> None:
    with pytest.raises(BadInput, match=r"my\.yaml is not YAML"):
        read_nodes("nodes: [", "my.yaml")
    with pytest.raises(BadInput, match=r"my\.yaml is not YAML: line 1: exceeded max depth of 100"):
        read_nodes("[" * 100_000, "my.yaml")


def test_a_planned_failure_comes_and_goes_with_the_nodes_age() -> None:
    pool = read_nodes("nodes: [{name: n, count: 2, failures: [{after: 60, seconds: 30, nodes: [1]}]}]")[0]
    assert health(typed(pool, 0), 70) == ("ready", None)
    assert health(typed(pool, 1), 10) == ("ready", 60)
    assert health(typed(pool, 1), 60) == ("lost", 90)
    assert health(typed(pool, 1), 90) == ("ready", None)


def test_a_failure_without_an_end_lasts() -> None:
    pool = read_nodes("nodes: [{name: n, failures: [{after: 5, how: not-ready}]}]")[0]
    assert health(typed(pool), 1e6) == ("not-ready", None)


def test_an_annotation_by_hand_wins_over_the_plan() -> None:
    node = typed(NodePool(name="n", annotations={names.HEALTH: "lost"}))
    assert health(node, 0) == ("lost", None)


def test_every_gpu_has_a_uuid_of_its_own() -> None:
    assert len({gpu_uuid(node, index) for node in ("a", "b") for index in range(16)}) == 32


def test_pools_that_grow_and_provisioners_come_from_the_same_file() -> None:
    settings = read_settings(EXAMPLE.read_text())
    assert [pool.name for pool in settings.nodes] == ["h100", "mig", "flaky", "dra", "cpu"]
    assert [(item.pool.name, item.most, item.delay, item.idle) for item in settings.growth] == [("spare", 4, 30, 600)]
    assert [
        (provision.name, [shape.name for shape in provision.shapes], provision.empty)
        for provision in settings.provisions
    ] == [("flexible", ["one-gpu", "eight-gpus"], 30)]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "nodes: [{name: a, count: 2, grow: {most: 3}}]",
            r"nodes\[0\].count: a pool that grows has none; write grow.least",
        ),
        ("provisioners: [{name: a, shapes: []}]", r"provisioners\[0\].shapes: write at least one"),
        (
            "provisioners: [{name: a, shapes: [{name: b, gpus: -1}]}]",
            r"provisioners\[0\].shapes\[0\].gpus: -1 is below 0",
        ),
    ],
)
def test_a_pool_that_makes_no_sense_is_refused_at_its_place(text: str, told: str) -> None:
    with pytest.raises(BadInput, match=told):
        read_settings(text)
