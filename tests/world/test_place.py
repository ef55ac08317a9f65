"""Where bystanders go, and what they are told when they cannot."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gangline.api.core import Node, Pod
from gangline.world.place import Bind, Board, Refused, Round, Unit, by_turn, gang_key, minimum
from world.making import node, pod


def asks(name: str = "p", gpus: int = 0, cpu: str = "1", **spec: Any) -> Pod:
    amounts = {"cpu": cpu} | ({"nvidia.com/gpu": str(gpus)} if gpus else {})
    return pod(name, spec={"containers": [{"name": "main", "resources": {"requests": amounts}}], **spec})


def board(*nodes: Node) -> Board:
    made = Board()
    for each in nodes:
        made.put_node(each)
    return made


def place(on: Board, *pods: Pod, least: int = 1) -> list[str]:
    """Node names, or the refusals."""
    return [each.node if isinstance(each, Bind) else each.reason for each in Round(on).place(Unit("g", pods, least))]


def test_a_pod_goes_to_the_least_used_node() -> None:
    on = board(node("a"), node("b"))
    assert [place(on, asks(f"p{number}"))[0] for number in range(4)] == ["a", "b", "a", "b"]


def test_a_pod_that_fits_nowhere_is_told_why_in_kube_schedulers_words() -> None:
    on = board(node("a", gpus=4), node("b", gpus=8, taints=[{"key": "k", "value": "v", "effect": "NoSchedule"}]),
               node("c", gpus=8, ready="False"), node("d", gpus=8))
    assert place(on, asks(gpus=8, nodeSelector={"zone": "a"})) == [
        "0/4 nodes are available: 1 node(s) had untolerated taint {k: v}, 1 node(s) were not ready, "
        "2 node(s) didn't match Pod's node affinity/selector."]
    assert place(board(node("a", gpus=4)), asks(gpus=8, cpu="100")) == [
        "0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient nvidia.com/gpu."]
    assert place(board(), asks()) == ["no nodes available to schedule pods"]


def test_taints_are_tolerated_by_key_value_and_effect() -> None:
    tainted = node("a", taints=[{"key": "k", "value": "v", "effect": "NoSchedule"}])
    for toleration in ({"operator": "Exists"}, {"key": "k", "operator": "Exists"}, {"key": "k", "value": "v", "effect": "NoSchedule"}):
        assert place(board(tainted), asks(tolerations=[toleration])) == ["a"]
    for toleration in ({"key": "k", "value": "w"}, {"key": "k", "value": "v", "effect": "NoExecute"}, {"key": "x", "operator": "Exists"}):
        assert place(board(tainted), asks(tolerations=[toleration])) != ["a"]


def test_node_affinity_terms_are_alternatives() -> None:
    terms = [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["x"]}]},
             {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["b"]}]}]
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
    assert place(board(node("a"), node("b")), asks(affinity=affinity)) == ["b"]
    assert place(board(node("a", labels={"zone": "x"}), node("c")), asks(affinity=affinity)) == ["a"]


def test_a_gang_that_does_not_fit_whole_leaves_no_trace() -> None:
    on = board(node("a", gpus=8))
    gang = [asks(f"p{number}", gpus=4) for number in range(3)]
    assert all("needs 3 more pods and only 2 fit" in each for each in place(on, *gang, least=3))
    assert place(on, asks("big", gpus=8)) == ["a"]


def test_a_gang_starts_with_its_minimum_and_the_rest_waits() -> None:
    gang = [asks(f"p{number}", gpus=4) for number in range(3)]
    assert place(board(node("a", gpus=8)), *gang, least=2) == [
        "a", "a", "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."]


def test_a_gang_is_found_by_workload_group_and_replica() -> None:
    one = pod(spec={"workloadRef": {"name": "w", "podGroup": "g", "podGroupReplicaKey": "r"}})
    assert gang_key(one) == "default/w/g/r" and gang_key(pod()) == ""
    groups = [{"name": "g", "policy": {"gang": {"minCount": 4}}}, {"name": "b", "policy": {"basic": {}}}]
    assert minimum(one, groups) == (4, "")
    assert minimum(one, groups[1:]) == (0, "waiting for pod group g of Workload w")
    assert minimum(one, None) == (0, "waiting for Workload w")


def test_higher_priority_comes_first() -> None:
    assert [each.name for each in by_turn([pod("a"), pod("b", spec={"priority": 5})])] == ["b", "a"]


@given(st.lists(st.tuples(st.integers(1, 8), st.integers(1, 4)), max_size=12), st.lists(st.integers(1, 8), min_size=1, max_size=4))
def test_no_node_is_ever_given_more_than_it_has(gangs: list[tuple[int, int]], sizes: list[int]) -> None:
    on = board(*(node(f"n{at}", gpus=size, cpu="100") for at, size in enumerate(sizes)))
    look = Round(on)
    for at, (gpus, members) in enumerate(gangs):
        pods = tuple(asks(f"g{at}-{number}", gpus=gpus) for number in range(members))
        answers = look.place(Unit(f"g{at}", pods, members))
        assert len({isinstance(each, Refused) for each in answers}) == 1
    for spot in on.spots.values():
        assert spot.used.get("nvidia.com/gpu", 0) <= spot.offers["nvidia.com/gpu"]


def zoned(name: str, zone: str) -> Node:
    return node(name, labels={"zone": zone})


def near(kind: str, key: str = "zone") -> dict[str, Any]:
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": key, "labelSelector": {"matchLabels": {"app": "db"}}}]}}


def db(name: str, **spec: Any) -> Pod:
    return pod(name, labels={"app": "db"}, spec=spec)


def test_pods_that_keep_apart_get_a_zone_each_and_the_third_waits() -> None:
    on = board(zoned("a", "x"), zoned("b", "y"), zoned("c", "x"))
    apart = [db(f"p{number}", affinity=near("podAntiAffinity")) for number in range(3)]
    assert place(on, *apart) == ["a", "b", "0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules."]


def test_a_pod_is_kept_away_by_one_that_wants_to_be_alone() -> None:
    on = board(zoned("a", "x"))
    assert place(on, db("alone", affinity=near("podAntiAffinity"))) == ["a"]
    assert place(on, db("other")) == ["0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules."]
    assert place(on, pod("stranger", labels={"app": "web"})) == ["a"]


def test_pods_that_want_to_be_together_begin_anywhere_and_follow_the_first() -> None:
    on = board(zoned("a", "x"), zoned("b", "y"), zoned("c", "x"))
    assert place(on, *(db(f"p{number}", affinity=near("podAffinity")) for number in range(3))) == ["a", "c", "a"]
    assert place(board(zoned("a", "x")), pod("lonely", spec={"affinity": near("podAffinity")})) == [
        "0/1 nodes are available: 1 node(s) didn't match pod affinity rules."]


def test_pods_that_spread_fill_zones_evenly() -> None:
    on = board(zoned("a", "x"), zoned("b", "y"), node("none"))
    spread = [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "db"}}}]
    assert place(on, *(db(f"p{number}", topologySpreadConstraints=spread) for number in range(4))) == ["a", "b", "a", "b"]
