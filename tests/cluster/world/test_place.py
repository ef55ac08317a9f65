"""Where bystanders go, and what they are told when they cannot."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cluster.world.making import node, pod
from gangline.api.core import Node, Pod
from gangline.cluster.world.scheduling.gangs import gang_key, minimum
from gangline.cluster.world.scheduling.place import (
    NodeBoard,
    PlacingRefused,
    PlacingRound,
    PodBinding,
    PodUnit,
    by_turn,
)


def asks(name: str = "p", gpus: int = 0, cpu: str = "1", **spec: Any) -> Pod:
    amounts = {"cpu": cpu} | ({"nvidia.com/gpu": str(gpus)} if gpus else {})
    return pod(name, spec={"containers": [{"name": "main", "resources": {"requests": amounts}}], **spec})


def board(*nodes: Node) -> NodeBoard:
    made = NodeBoard()
    for item in nodes:
        made.put_node(item)
    return made


def place(on: NodeBoard, *pods: Pod, least: int = 1) -> list[str]:
    """Node names, or the refusals."""
    return [
        item.node if isinstance(item, PodBinding) else item.reason
        for item in PlacingRound(on).place(PodUnit("g", pods, least))
    ]


def test_a_pod_goes_to_the_least_used_node() -> None:
    on = board(node("a"), node("b"))
    assert [place(on, asks(f"p{number}"))[0] for number in range(4)] == ["a", "b", "a", "b"]


def test_a_pod_that_fits_nowhere_is_told_why_in_kube_schedulers_words() -> None:
    on = board(
        node("a", gpus=4),
        node("b", gpus=8, taints=[{"key": "k", "value": "v", "effect": "NoSchedule"}]),
        node("c", gpus=8, ready="False"),
        node("d", gpus=8),
    )
    assert place(on, asks(gpus=8, nodeSelector={"zone": "a"})) == [
        "0/4 nodes are available: 1 node(s) had untolerated taint {k: v}, 1 node(s) were not ready, "
        "2 node(s) didn't match Pod's node affinity/selector."
    ]
    assert place(board(node("a", gpus=4)), asks(gpus=8, cpu="100")) == [
        "0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient nvidia.com/gpu."
    ]
    assert place(board(), asks()) == ["no nodes available to schedule pods"]


def test_taints_are_tolerated_by_key_value_and_effect() -> None:
    tainted = node("a", taints=[{"key": "k", "value": "v", "effect": "NoSchedule"}])
    for toleration in (
        {"operator": "Exists"},
        {"key": "k", "operator": "Exists"},
        {"key": "k", "value": "v", "effect": "NoSchedule"},
    ):
        assert place(board(tainted), asks(tolerations=[toleration])) == ["a"]
    for toleration in (
        {"key": "k", "value": "w"},
        {"key": "k", "value": "v", "effect": "NoExecute"},
        {"key": "x", "operator": "Exists"},
    ):
        assert place(board(tainted), asks(tolerations=[toleration])) != ["a"]


def test_node_affinity_terms_are_alternatives() -> None:
    terms = [
        {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["x"]}]},
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["b"]}]},
    ]
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
    assert place(board(node("a"), node("b")), asks(affinity=affinity)) == ["b"]
    assert place(board(node("a", labels={"zone": "x"}), node("c")), asks(affinity=affinity)) == ["a"]


def test_a_gang_that_does_not_fit_whole_leaves_no_trace() -> None:
    on = board(node("a", gpus=8))
    gang = [asks(f"p{number}", gpus=4) for number in range(3)]
    assert all("needs 3 more pods and only 2 fit" in item for item in place(on, *gang, least=3))
    assert place(on, asks("big", gpus=8)) == ["a"]


def test_a_gang_starts_with_its_minimum_and_the_rest_waits() -> None:
    gang = [asks(f"p{number}", gpus=4) for number in range(3)]
    assert place(board(node("a", gpus=8)), *gang, least=2) == [
        "a",
        "a",
        "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.",
    ]


def test_a_gang_is_found_by_workload_group_and_replica() -> None:
    one = pod(spec={"workloadRef": {"name": "w", "podGroup": "g", "podGroupReplicaKey": "r"}})
    assert gang_key(one) == "default/w/g/r" and gang_key(pod()) == ""
    groups = [{"name": "g", "policy": {"gang": {"minCount": 4}}}, {"name": "b", "policy": {"basic": {}}}]
    assert minimum(one, groups) == (4, "")
    assert minimum(one, groups[1:]) == (0, "waiting for pod group g of Workload w")
    assert minimum(one, None) == (0, "waiting for Workload w")


def test_a_pod_that_names_a_pod_group_belongs_to_that() -> None:
    assert gang_key(pod(spec={"schedulingGroup": {"podGroupName": "g"}})) == "default/g"


# --- parts and domains ------------------------------------------------------------------------------------------------


def group(name: str, count: int, gpus: int = 4, **more: Any) -> PodUnit:
    pods = tuple(asks(f"{name}{number}", gpus=gpus) for number in range(count))
    return PodUnit(name, pods, more.pop("least", count), called=f"group {name}", **more)


def tree(least: int, *parts: PodUnit, **more: Any) -> PodUnit:
    return PodUnit("top", (), least, parts=parts, **more)


def put(on: NodeBoard, unit: PodUnit) -> dict[str, str]:
    """Pod → its node, or why it has none."""
    return {
        item.pod.name: item.node if isinstance(item, PodBinding) else item.reason
        for item in PlacingRound(on).place(unit)
    }


def racked(name: str, rack: str, gpus: int = 8, **labels: str) -> Node:
    return node(name, gpus=gpus, labels={"rack": rack, **labels})


def test_a_tree_starts_with_the_parts_that_fit_if_they_are_enough() -> None:
    unit = tree(2, group("a", 1), group("b", 3), group("c", 1))
    assert put(board(node("n", gpus=8)), unit) == {
        "a0": "n",
        "c0": "n",
        **dict.fromkeys(
            ("b0", "b1", "b2"),
            "its group b needs 3 more pods and only 1 fit; for the next: "
            "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.",
        ),
    }


def test_a_tree_with_too_few_parts_leaves_no_trace() -> None:
    on = board(node("n", gpus=8))
    assert set(put(on, tree(3, group("a", 1), group("b", 3), group("c", 1))).values()) == {
        "its gang top needs 3 groups and only 2 fit; for the next: its group b needs 3 more pods and only 1 fit; for "
        "the next: "
        "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."
    }
    assert on.held == {} and on.version == 1


def test_a_part_that_runs_already_counts_and_one_without_pods_does_not() -> None:
    runs, empty = PodUnit("r", least=0, taken=("n",)), PodUnit("e", least=2, called="group e")
    assert put(board(node("n", gpus=8)), tree(2, runs, group("a", 1))) == {"a0": "n"}
    [refused] = PlacingRound(board(node("n", gpus=8))).place(tree(2, empty, group("a", 1)))
    assert refused == PlacingRefused(
        refused.pod,
        "its gang top needs 2 groups and only 1 fit; for the next: its group e needs 2 more pods and has 0",
        tried=False,
    )


def test_a_unit_goes_to_the_first_domain_where_it_fits_and_rather_where_more_of_it_does() -> None:
    on = board(racked("a", "x"), racked("b", "y"), racked("c", "z"), racked("d", "z"), node("e", gpus=64))
    assert set(put(on, group("g", 2, level="rack")).values()) == {"a"}
    assert put(on, group("h", 4, least=2, level="rack")) == {"h0": "c", "h1": "d", "h2": "c", "h3": "d"}


def test_pods_that_run_say_which_domain_it_is() -> None:
    on = board(racked("a", "x"), racked("b", "y", gpus=4))
    assert put(on, group("g", 2, least=1, level="rack", taken=("b",))) == {
        "g0": "b",
        "g1": "0/1 nodes are available in rack=y: 1 Insufficient nvidia.com/gpu.",
    }


def test_a_unit_that_fits_into_no_domain_is_told_of_the_one_where_most_of_it_fits() -> None:
    on = board(racked("a", "x"), racked("b", "y", gpus=12), node("c", gpus=64))
    assert set(put(on, group("g", 4, level="rack")).values()) == {
        "its group g needs 4 more pods and only 3 fit in rack=y; for the next: 0/1 nodes are available in rack=y: "
        "1 Insufficient nvidia.com/gpu."
    }
    assert set(put(on, group("g", 4, level="row")).values()) == {
        "its group g needs nodes with label row and there are none"
    }
    assert on.held == {} and on.version == 3


def test_a_part_looks_for_its_domain_inside_the_one_of_the_whole() -> None:
    on = board(racked("a", "x", block="1"), racked("b", "y", block="2"), racked("c", "z", block="2"))
    assert put(on, tree(2, group("g", 2, level="rack"), group("h", 2, level="rack"), level="block")) == {
        "g0": "b",
        "g1": "b",
        "h0": "c",
        "h1": "c",
    }


def test_pods_without_a_minimum_are_each_told_their_own_reason() -> None:
    big, odd = asks("big", gpus=16), asks("odd", nodeSelector={"zone": "a"})
    assert place(board(node("n", gpus=8)), big, odd) == [
        "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.",
        "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.",
    ]


def test_higher_priority_comes_first() -> None:
    assert [item.name for item in by_turn([pod("a"), pod("b", spec={"priority": 5})])] == ["b", "a"]


@given(
    st.lists(st.tuples(st.integers(1, 8), st.integers(1, 4)), max_size=12),
    st.lists(st.integers(1, 8), min_size=1, max_size=4),
)
def test_no_node_is_ever_given_more_than_it_has(gangs: list[tuple[int, int]], sizes: list[int]) -> None:
    on = board(*(node(f"n{at}", gpus=size, cpu="100") for at, size in enumerate(sizes)))
    look = PlacingRound(on)
    for at, (gpus, members) in enumerate(gangs):
        pods = tuple(asks(f"g{at}-{number}", gpus=gpus) for number in range(members))
        answers = look.place(PodUnit(f"g{at}", pods, members))
        assert len({isinstance(answer, PlacingRefused) for answer in answers}) == 1
    for spot in on.spots.values():
        assert spot.used.get("nvidia.com/gpu", 0) <= spot.offers["nvidia.com/gpu"]


@given(
    st.lists(st.tuples(st.integers(1, 8), st.integers(1, 4), st.booleans()), min_size=1, max_size=5),
    st.integers(1, 5),
    st.lists(st.tuples(st.integers(1, 8), st.sampled_from("xyz")), min_size=1, max_size=5),
    st.booleans(),
)
def test_a_tree_starts_with_enough_whole_parts_each_in_its_domain_or_not_at_all(
    shapes: list[tuple[int, int, bool]], least: int, sizes: list[tuple[int, str]], together: bool
) -> None:
    on = board(*(racked(f"n{at}", rack, size) for at, (size, rack) in enumerate(sizes)))
    parts = [
        group(f"p{at}-", members, gpus, level="rack" if bound else "")
        for at, (gpus, members, bound) in enumerate(shapes)
    ]
    answers = PlacingRound(on).place(tree(least, *parts, level="rack" if together else ""))
    went = {
        answer.pod.name: on.spots[answer.node].node.labels["rack"]
        for answer in answers
        if isinstance(answer, PodBinding)
    }
    assert sorted(answer.pod.name for answer in answers) == sorted(item.name for part in parts for item in part.pods)
    assert sorted(on.held) == sorted(answer.pod.uid for answer in answers if isinstance(answer, PodBinding))
    started = [part for part in parts if all(item.name in went for item in part.pods)]
    assert len(went) == sum(len(part.pods) for part in started)
    assert not went or len(started) >= least
    for bound in ([tuple(went)] if together else []) + [
        tuple(item.name for item in part.pods) for part in started if part.level
    ]:
        assert len({went[name] for name in bound}) <= 1
    assert all(spot.used.get("nvidia.com/gpu", 0) <= spot.offers["nvidia.com/gpu"] for spot in on.spots.values())


def zoned(name: str, zone: str) -> Node:
    return node(name, labels={"zone": zone})


def near(kind: str, key: str = "zone") -> dict[str, Any]:
    return {
        kind: {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": key, "labelSelector": {"matchLabels": {"app": "db"}}}
            ]
        }
    }


def db(name: str, **spec: Any) -> Pod:
    return pod(name, labels={"app": "db"}, spec=spec)


def test_pods_that_keep_apart_get_a_zone_each_and_the_third_waits() -> None:
    on = board(zoned("a", "x"), zoned("b", "y"), zoned("c", "x"))
    apart = [db(f"p{number}", affinity=near("podAntiAffinity")) for number in range(3)]
    assert place(on, *apart) == ["a", "b", "0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules."]


def test_a_pod_is_kept_away_by_one_that_wants_to_be_alone() -> None:
    on = board(zoned("a", "x"))
    assert place(on, db("alone", affinity=near("podAntiAffinity"))) == ["a"]
    assert place(on, db("other")) == [
        "0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules."
    ]
    assert place(on, pod("stranger", labels={"app": "web"})) == ["a"]


def test_pods_that_want_to_be_together_begin_anywhere_and_follow_the_first() -> None:
    on = board(zoned("a", "x"), zoned("b", "y"), zoned("c", "x"))
    assert place(on, *(db(f"p{number}", affinity=near("podAffinity")) for number in range(3))) == ["a", "c", "a"]
    assert place(board(zoned("a", "x")), pod("lonely", spec={"affinity": near("podAffinity")})) == [
        "0/1 nodes are available: 1 node(s) didn't match pod affinity rules."
    ]


def test_pods_that_spread_fill_zones_evenly() -> None:
    on = board(zoned("a", "x"), zoned("b", "y"), node("none"))
    spread = [
        {
            "maxSkew": 1,
            "topologyKey": "zone",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "db"}},
        }
    ]
    assert place(on, *(db(f"p{number}", topologySpreadConstraints=spread) for number in range(4))) == [
        "a",
        "b",
        "a",
        "b",
    ]
