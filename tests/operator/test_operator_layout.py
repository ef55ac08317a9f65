"""Which cliques, groups and gangs a set asks for; who waits for whom."""

from __future__ import annotations

import msgspec

from gangline.api.grove import PodClique, PodCliqueSet
from gangline.api.meta import Raw
from gangline.operator.desired import startup
from gangline.operator.desired.hashes import clique_hash, set_hash
from gangline.operator.desired.layout import (
    base_gang,
    gang_place,
    gang_places,
    group_places,
    place_of,
    standalone_places,
)
from operator_world import clique, group, pod_clique_set


def a_set(raw: Raw) -> PodCliqueSet:
    return msgspec.convert(raw, PodCliqueSet)


DISAGGREGATED = a_set(
    pod_clique_set(
        "llm",
        clique("router", 2),
        clique("prefill", 3),
        clique("decode", 4),
        replicas=2,
        groups=[group("workers", ["prefill", "decode"], replicas=3, minimum=1)],
    )
)


def test_a_gang_for_each_replica_and_one_for_each_surplus_replica_of_a_group() -> None:
    assert [place.name for place in gang_places(DISAGGREGATED, {})] == [
        "llm-0",
        "llm-0-workers-0",
        "llm-0-workers-1",
        "llm-1",
        "llm-1-workers-0",
        "llm-1-workers-1",
    ]


def test_the_live_size_of_a_group_decides_how_many_gangs_it_has() -> None:
    names = [place.name for place in gang_places(DISAGGREGATED, {"llm-0-workers": 1, "llm-1-workers": 2})]
    assert names == ["llm-0", "llm-1", "llm-1-workers-0"]


def test_a_base_gang_holds_standalone_cliques_and_the_minimum_of_each_group() -> None:
    assert [place.name for place in base_gang(DISAGGREGATED, 1).members] == [
        "llm-1-router",
        "llm-1-workers-0-prefill",
        "llm-1-workers-0-decode",
    ]


def test_a_gang_is_found_by_its_name_and_a_strangers_name_finds_none() -> None:
    found = gang_place(DISAGGREGATED, "llm-1-workers-1")
    assert found is not None and [place.group_replica for place in found.members] == [2, 2]
    assert gang_place(DISAGGREGATED, "other-0") is None
    assert gang_place(DISAGGREGATED, "llm-0-nobody-0") is None


def test_a_clique_whose_name_ends_like_another_keeps_its_own_template() -> None:
    pcs = a_set(pod_clique_set("p", clique("worker", 1), clique("prefill-worker", 5)))
    live = PodClique(
        metadata=msgspec.convert(
            {"name": "p-0-prefill-worker", "labels": {"grove.io/podcliqueset-replica-index": "0"}}, type(pcs.metadata)
        )
    )
    place = place_of(pcs, live)
    assert place is not None and place.template.spec.replicas == 5


def test_members_of_a_scaled_gang_wait_only_for_their_own_replica() -> None:
    pcs = a_set(
        pod_clique_set(
            "p",
            clique("a"),
            clique("b"),
            clique("c"),
            groups=[group("g", ["b", "c"], 2, 1)],
            cliqueStartupType=startup.IN_ORDER,
        )
    )
    config = pcs.spec.template.pod_clique_scaling_groups[0]
    base, scaled = group_places(pcs, 0, config, 0), group_places(pcs, 0, config, 1)
    assert [startup.starts_after(pcs, place) for place in base] == [("p-0-a",), ("p-0-g-0-b",)]
    assert [startup.starts_after(pcs, place) for place in scaled] == [(), ("p-0-g-1-b",)]


def test_a_clique_that_waits_for_a_group_waits_for_its_whole_minimum() -> None:
    pcs = a_set(
        pod_clique_set(
            "p",
            clique("w", 3, 2),
            clique("z", startsAfter=["w"]),
            groups=[group("g", ["w"], 3, 2)],
            cliqueStartupType=startup.EXPLICIT,
        )
    )
    place = standalone_places(pcs, 0)[0]
    assert startup.starts_after(pcs, place) == ("p-0-g-0-w", "p-0-g-1-w")
    assert startup.minimum_of(pcs, "p-0-g-1-w", 0) == 2


def test_replicas_and_minima_do_not_change_the_hash_but_images_labels_and_priority_do() -> None:
    plain = pod_clique_set("p", clique("a", 2))
    larger = pod_clique_set("p", clique("a", 5, 1), replicas=3)
    image = pod_clique_set("p", clique("a", 2) | {"labels": {"new": "label"}})
    urgent = pod_clique_set("p", clique("a", 2), priorityClassName="high")
    assert set_hash(a_set(plain)) == set_hash(a_set(larger))
    assert len({set_hash(a_set(raw)) for raw in (plain, image, urgent)}) == 3


def test_equal_cliques_have_equal_hashes() -> None:
    pcs = a_set(pod_clique_set("p", clique("a"), clique("b")))
    assert len({clique_hash(pcs, template) for template in pcs.spec.template.cliques}) == 1
