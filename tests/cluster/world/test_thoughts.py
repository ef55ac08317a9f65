"""The smaller pure parts: schedules, metrics, budgets, silence, growth, endpoints, taints."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from cluster.world.making import START, node, pod, ready_status, when
from gangline.api.core import Service
from gangline.cluster.world.component import PARTS, components, control_plane, simulated_nodes
from gangline.cluster.world.nodes.autoscaler import wishes
from gangline.cluster.world.nodes.karpenter import MachineProvisioner, packed
from gangline.cluster.world.nodes.node_taints import LeaseSilence, leaves_at, wanted_taints
from gangline.cluster.world.nodes.nodes import NodePool, ProvisionerPart
from gangline.cluster.world.nodes.pool_orders import PoolPicture
from gangline.cluster.world.pods.budgets import healthy_needed
from gangline.cluster.world.settings import PoolGrowth, WorldSettings
from gangline.cluster.world.upkeep.endpoint_slices import old_style, slices
from gangline.cluster.world.workloads.jobs.cronjobs import due
from gangline.cluster.world.workloads.scale_decision import ScaleDecision, ScaleHistory, decide, read_metric
from gangline.errors import ConfigError


def test_only_the_last_missed_moment_is_made_up_for() -> None:
    start = datetime(2024, 1, 1, tzinfo=UTC).timestamp()
    assert due({"schedule": "0 * * * *"}, start, start + 3 * 3600 + 60) == (start + 3 * 3600, start + 4 * 3600)
    assert due({"schedule": "0 * * * *", "startingDeadlineSeconds": 30}, start, start + 3 * 3600 + 60)[0] is None


def cpu(target: int) -> list[dict[str, Any]]:
    return [{"type": "Resource", "resource": {"name": "cpu", "target": {"averageUtilization": target}}}]


def test_metrics_ask_for_replicas_within_the_limits() -> None:
    spec = {"minReplicas": 2, "maxReplicas": 6, "metrics": cpu(50)}
    assert decide(spec, {"": 100.0}, 2) == ScaleDecision(4)
    assert decide(spec, {"": 52.0}, 3) == ScaleDecision(3), "close enough"
    assert decide(spec, {"cpu": 1000.0}, 3) == ScaleDecision(6, "TooManyReplicas")
    assert decide(spec, {"": 1.0}, 3) == ScaleDecision(2, "TooFewReplicas")
    assert decide(spec, {"memory": 1.0}, 3) is None


def test_a_metric_is_written_as_one_number_or_by_name() -> None:
    assert read_metric("80") == {"": 80.0}
    assert read_metric("cpu=80, queue=1500m, bad") == {"cpu": 80.0, "queue": 1.5}


def test_going_down_takes_the_largest_wish_of_the_window() -> None:
    memory = ScaleHistory()
    assert [memory.steady(wish, now, 300) for wish, now in ((5, 0), (2, 100), (1, 290), (1, 310))] == [5, 5, 5, 2]


def test_budgets_in_numbers_and_percentages() -> None:
    assert [
        healthy_needed(spec, 10)
        for spec in (
            {"minAvailable": 3},
            {"minAvailable": "25%"},
            {"maxUnavailable": 2},
            {"maxUnavailable": "100%"},
            {},
        )
    ] == [3, 3, 8, 0, 1]


def test_a_node_is_silent_when_its_lease_stands_still_for_as_long_as_we_watched() -> None:
    silence, grace = LeaseSilence(5), {"a": 40.0, "b": 40.0}
    found = [silence.silent({"a": str(second), "b": "x"}, grace, float(second)) for second in range(0, 50, 5)]
    assert found[:8] == [[]] * 8 and found[8] == ["b"]


def test_nobody_is_judged_by_what_we_slept_through() -> None:
    silence = LeaseSilence(5)
    assert silence.silent({"a": "1"}, {"a": 40.0}, 0) == []
    assert silence.silent({"a": "1"}, {"a": 40.0}, 1000) == []
    assert [silence.silent({"a": "1"}, {"a": 40.0}, 1000 + 5 * step) for step in range(1, 9)][-1] == ["a"]


def test_taints_follow_readiness_and_leave_others_alone() -> None:
    other = {"key": "k", "value": "v", "effect": "NoSchedule"}
    assert wanted_taints(node(taints=[other]), when(0)) is None
    assert wanted_taints(node(taints=[other], ready="Unknown"), when(0)) == [
        other,
        *(
            {"key": "node.kubernetes.io/unreachable", "effect": effect, "timeAdded": when(0)}
            for effect in ("NoSchedule", "NoExecute")
        ),
    ]
    both = [{"key": "node.kubernetes.io/not-ready", "effect": effect} for effect in ("NoSchedule", "NoExecute")]
    assert wanted_taints(node(taints=[other, *both]), when(0)) == [other]


def test_a_pod_leaves_when_its_toleration_runs_out() -> None:
    lost = node(taints=[{"key": "k", "effect": "NoExecute", "timeAdded": when(0)}])
    assert leaves_at(pod(), lost, START + 5) == START + 5
    assert leaves_at(pod(spec={"tolerations": [{"key": "k", "operator": "Exists"}]}), lost, START) is None
    for_a_while = {"tolerations": [{"key": "k", "operator": "Exists", "tolerationSeconds": 300}]}
    assert leaves_at(pod(spec=for_a_while), lost, START + 5) == START + 300


def wanting(name: str, gpus: int) -> Any:
    return pod(name, spec={"containers": [{"name": "main", "resources": {"requests": {"nvidia.com/gpu": str(gpus)}}}]})


def grown(*pods: Any, nodes: tuple[Any, ...] = (), pools: tuple[PoolGrowth, ...]) -> list[str]:
    return [f"{growth.pool.name}-{number}" for growth, number in wishes(nodes, [], [], pods, pools)]


def test_waiting_pods_share_the_nodes_they_call_for() -> None:
    pools = (PoolGrowth(NodePool(name="big", gpus=8)),)
    assert grown(*(wanting(f"p{number}", 2) for number in range(5)), pools=pools) == ["big-0", "big-1"]


def test_the_smallest_pool_that_fits_grows_and_never_beyond_its_limit() -> None:
    pools = (PoolGrowth(NodePool(name="big", gpus=8), most=1), PoolGrowth(NodePool(name="small", gpus=2), most=2))
    assert grown(*(wanting(f"p{number}", 2) for number in range(4)), pools=pools) == ["small-0", "small-1", "big-0"]
    assert grown(wanting("p", 16), pools=pools) == []


def test_of_very_many_equal_pods_that_fit_nowhere_each_shape_is_tried_once_and_no_limit_is_passed() -> None:
    waiting = [wanting(f"p{number}", 1 + number % 2) for number in range(2000)]
    assert grown(*waiting, pools=(PoolGrowth(NodePool(name="two", gpus=2), most=3),)) == ["two-0", "two-1", "two-2"]
    few = msgspec.structs.replace(SHAPES, most=2)
    assert [shape.name for shape in packed(PoolPicture(0, (), [], [], waiting), few)] == ["eight", "eight"]


def test_nothing_grows_for_pods_that_fit_already() -> None:
    assert grown(wanting("p", 2), nodes=(node(gpus=2),), pools=(PoolGrowth(NodePool(name="big", gpus=8)),)) == []


SHAPES = ProvisionerPart(name="pool", shapes=(NodePool(name="eight", gpus=8), NodePool(name="two", gpus=2)))


def shapes(*pods: Any, nodes: tuple[Any, ...] = ()) -> list[str]:
    return [shape.name for shape in packed(PoolPicture(0, nodes, [], [], pods), SHAPES)]


def test_a_provisioner_orders_the_smallest_shape_that_holds_all_that_waits_together() -> None:
    assert shapes(wanting("a", 1)) == ["two"]
    assert shapes(wanting("a", 1), wanting("b", 1)) == ["two"]
    assert shapes(*(wanting(f"p{number}", 1) for number in range(3))) == ["eight"]
    assert shapes(*(wanting(f"p{number}", 4) for number in range(3))) == ["eight", "eight"]


def test_a_provisioner_orders_nothing_for_what_fits_already_or_never() -> None:
    assert shapes(wanting("a", 2), nodes=(node(gpus=2),)) == []
    assert shapes(wanting("a", 16)) == []


def test_a_provisioner_waits_for_more_pods_before_it_orders() -> None:
    plan = MachineProvisioner((SHAPES,))
    waiting = (wanting("a", 1),)
    assert list(plan.orders(PoolPicture(0.0, [], [], [], waiting))) == []
    [order] = plan.orders(PoolPicture(1.0, [], [], [], (*waiting, wanting("b", 1))))
    assert (order.name, order.pool.name, order.pool.labels["karpenter.sh/nodepool"]) == ("pool-0", "two", "pool")


def test_a_service_with_many_pods_has_several_slices() -> None:
    service = msgspec.convert(
        {
            "metadata": {"name": "s", "namespace": "default", "uid": "u"},
            "spec": {"selector": {"a": "b"}, "ports": [{"port": 80}]},
        },
        Service,
    )
    pods = [pod(f"p{number}", status=ready_status() | {"podIP": f"10.0.0.{number}"}) for number in range(150)]
    assert [len(slice_["endpoints"]) for slice_ in slices(service, pods)] == [100, 50]
    assert [len(slice_["endpoints"]) for slice_ in slices(service, [])] == [0]


def test_old_style_endpoints_hold_a_thousand_addresses_at_most_ready_ones_first() -> None:
    service = msgspec.convert(
        {
            "metadata": {"name": "s", "namespace": "default", "uid": "u"},
            "spec": {"selector": {"a": "b"}, "ports": [{"port": 80}]},
        },
        Service,
    )
    waiting = [pod(f"a{number}", status={"podIP": f"10.1.0.{number}"}) for number in range(600)]
    ready = [pod(f"b{number}", status=ready_status() | {"podIP": f"10.2.0.{number}"}) for number in range(900)]
    found = old_style(service, [*waiting, *ready])
    assert found["metadata"]["annotations"] == {"endpoints.kubernetes.io/over-capacity": "truncated"}
    assert [(len(subset["addresses"]), len(subset["notReadyAddresses"])) for subset in found["subsets"]] == [(900, 100)]


def test_every_part_has_a_switch() -> None:
    everything = components(WorldSettings(growth=(PoolGrowth(NodePool(name="g")),), provisions=(SHAPES,)))
    assert [item.name for item in everything] == ["kubelet", "controller-manager", "default-scheduler", "autoscaler"]
    assert components(WorldSettings(off=frozenset(PARTS))) == []
    assert not [
        service
        for service in control_plane(WorldSettings(off=frozenset({"garbage"}))).services
        if service.name == "garbage"
    ]
    assert [controller.name for controller in simulated_nodes().controllers] == ["heart", "kubelet", "provisioner"]


def test_a_switch_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"the world has no part kublet; it has: nodes, heart, kubelet, "):
        components(WorldSettings(off=frozenset({"kublet"})))
