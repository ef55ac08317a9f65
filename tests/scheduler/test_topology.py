"""Keeping a gang together: which domain it gets, and what it hears when there is none."""

from __future__ import annotations

import pytest

from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.model.status import Status
from gangline.scheduler.model.topology import TopologyDomain
from gangline.scheduler.placing import domains
from gangline.scheduler.placing.domain_room import DomainTally
from gangline.scheduler.records import TopologyRule
from scheduler.scene import Scene

ZONE, RACK = "zone", "rack"


def racks(*sizes: int, gpus: int = 8, zones: int = 1) -> Scene:
    """One zone (or several, in turn) of racks with so many nodes each; node names are `r<rack>-<number>`."""
    scene = Scene().topology("dc", ZONE, RACK).queue("q")
    for rack, size in enumerate(sizes):
        for place in range(size):
            scene.node(f"r{rack}-{place}", gpus, labels={ZONE: f"z{rack % zones}", RACK: f"rack-{rack}"})
    return scene


def racks_of(nodes: dict[str, str]) -> set[str]:
    return {node.partition("-")[0] for node in nodes.values()}


def test_a_gang_with_a_required_rack_gets_one_rack_or_nothing() -> None:
    rule = TopologyRule("dc", required=RACK)
    assert racks_of(racks(2, 3).gang("q/g", 3, gpus=8, rule=rule).decide().bound) == {"r1"}
    refused = racks(2, 2).gang("q/g", 3, gpus=8, rule=rule).decide()
    assert refused.bound == {}
    assert "topology dc, requirement rack couldn't be satisfied for job <ns/g>" in refused.why("g")
    assert "node-group z0.rack-0 can allocate only 2 of 3 required pods" in refused.why("g")


def test_of_two_racks_that_fit_the_fuller_one_is_taken() -> None:
    scene = (
        racks(2, 2).gang("q/busy", 1, gpus=8, on="r1-0").gang("q/g", 1, gpus=8, rule=TopologyRule("dc", required=RACK))
    )
    assert racks_of(scene.decide().bound) == {"r1"}


def test_a_preferred_rack_is_kept_when_it_can_be_and_given_up_when_not() -> None:
    rule = TopologyRule("dc", required=ZONE, preferred=RACK)
    assert racks_of(racks(2, 3).gang("q/g", 3, gpus=8, rule=rule).decide().bound) == {"r1"}
    assert racks_of(racks(2, 2).gang("q/g", 3, gpus=8, rule=rule).decide().bound) == {"r0", "r1"}


def test_a_gang_that_grows_stays_in_its_rack() -> None:
    rule = TopologyRule("dc", required=RACK)
    scene = racks(2, 4).gang("q/g", 2, gpus=8, needs=1, on=["r0-0", ""], rule=rule)
    assert racks_of(scene.decide().bound) == {"r0"}


def test_sub_groups_may_each_have_a_rack_of_their_own() -> None:
    rule = TopologyRule("dc", required=RACK)
    bound = racks(2, 2).gang("q/g", 4, gpus=8, groups={"a": (2, rule), "b": (2, rule)}).decide().bound
    first, second = ({key: bound[key] for key in keys} for keys in (("g-0", "g-1"), ("g-2", "g-3")))
    assert len(racks_of(first)) == len(racks_of(second)) == 1 and racks_of(first) != racks_of(second)


def test_nodes_without_all_labels_are_not_part_of_the_topology() -> None:
    scene = racks(1).node("bare", 8, labels={RACK: "rack-9"})
    assert scene.gang("q/g", 2, gpus=8, rule=TopologyRule("dc", required=ZONE)).decide().bound == {}


def test_a_rack_that_will_be_free_counts() -> None:
    scene = (
        racks(1)
        .gang("q/old", 8, on="r0-0", status=Status.RELEASING)
        .gang("q/g", 1, gpus=8, rule=TopologyRule("dc", required=RACK))
    )
    assert scene.decide().waiting == {"g-0": "r0-0"}


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        (TopologyRule("nowhere", RACK), "Requested topology nowhere does not exist"),
        (TopologyRule("dc", "floor"), "specified 'floor' as the required topology constraint level"),
    ],
)
def test_a_rule_that_cannot_be_read_is_told(rule: TopologyRule, why: str) -> None:
    assert why in racks(1).gang("q/g", 1, rule=rule).decide().why("g")


def test_pods_of_different_kinds_are_weighed_by_what_they_ask_for_together() -> None:
    scene = racks(1, 2, gpus=4).gang(
        "q/g", 2, gpus=4, groups={"gpu": (1, None)}, rule=TopologyRule("dc", required=RACK)
    )
    scene.gang("q/mixed", 2, gpus=4, rule=TopologyRule("dc", required=RACK))
    assert racks_of({task: node for task, node in scene.decide().bound.items() if task.startswith("mixed")}) == {"r1"}


def test_a_required_rack_of_one_node_holds_what_fits_there() -> None:
    """Upstream looks for room only below what all nodes share, which here is the one host."""
    scene = Scene().topology("dc", RACK, "host").queue("q").node("r0-0", 8, labels={RACK: "rack-0", "host": "r0-0"})
    scene.gang("q/g", 2, gpus=4, rule=TopologyRule("dc", required=RACK))
    assert scene.with_settings(whole_domains=True).decide().bound == {"g-0": "r0-0", "g-1": "r0-0"}


# --- the pure rule ----------------------------------------------------------------------------------------------------


def cluster() -> ClusterModel:
    return racks(2, 2, 1, zones=2).cluster()


def test_the_common_domain_is_the_deepest_that_holds_all_and_never_below_the_preferred_level() -> None:
    tree = cluster().topology("dc")
    assert tree is not None
    assert domains.common_domain(tree, ["r0-0", "r0-1"], ()).id == "z0.rack-0"
    assert domains.common_domain(tree, ["r0-0", "r0-1"], (ZONE,)).id == "z0"
    assert domains.common_domain(tree, ["r0-0", "r2-0"], ()).id == "z0"
    assert domains.common_domain(tree, ["r0-0", "r1-0"], ()).id == "root"
    assert domains.common_domain(tree, [], ()).id == "root"


def test_the_last_preferred_domain_scores_highest() -> None:
    top = TopologyDomain("top", "top", 0, None)
    for name in "abc":
        child = top.children[name] = TopologyDomain(name, name, 1, top)
        child.nodes = [f"node-{name}"]
    order = {top: list(top.children.values())}
    assert domains.preferred_scores(top, 1, order) == {"node-a": 300_000, "node-b": 600_000, "node-c": 1_000_000}


def test_candidate_levels_run_from_the_preferred_up_to_the_required() -> None:
    tree = cluster().topology("dc")
    assert tree is not None
    assert domains.candidate_levels(TopologyRule("dc", ZONE, RACK), tree, "") == [1, 0]
    assert domains.candidate_levels(TopologyRule("dc", "", RACK), tree, "") == [1, 0, -1]
    assert domains.candidate_levels(TopologyRule("dc", RACK), tree, "") == [1]
    with pytest.raises(domains.BadRule, match="no topology constraints were found"):
        domains.candidate_levels(TopologyRule("dc"), tree, "")
    with pytest.raises(domains.BadRule, match="'zone' as the preferred"):
        domains.candidate_levels(TopologyRule("dc", RACK, ZONE), tree, "")


def test_sums_follow_the_nodes_that_were_touched() -> None:
    scene = racks(2, 2)
    model = scene.cluster()
    tree = model.topology("dc")
    assert tree is not None
    tally = DomainTally(tree.leaf_of, model.nodes, lambda node: node.later)
    scene.gang("q/g", 3, gpus=1, on="r0-0")
    for record in scene.records[-4:]:
        model.apply(record)
    tally.catch_up(model)
    fresh = DomainTally(tree.leaf_of, model.nodes, lambda node: node.later)
    assert tally.sums == fresh.sums and tally.of(tree.root)[2] == 29
