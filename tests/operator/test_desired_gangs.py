"""The PodGang that should be: its groups with minima and pods, its constraints, what it keeps of what others wrote."""

from __future__ import annotations

from typing import Any

import msgspec

from gangline.api import names
from gangline.api.grove import PodCliqueSet, PodGang
from gangline.api.meta import Raw
from gangline.operator.desired.gangs import ChosenBackend, pod_gang
from gangline.operator.desired.layout import gang_place
from operator_world import clique, group, pod_clique_set

KAI = ChosenBackend("kai", "kai-scheduler")
KNOWN = {"zone": "example.com/zone", "block": "example.com/block", "rack": "example.com/rack"}


def within(required: str = "", preferred: str = "", topology: str = "") -> Raw:
    pack = {half: domain for half, domain in (("required", required), ("preferred", preferred)) if domain}
    return {"topologyName": topology, "pack": pack}


def on(label: str) -> Raw:
    return {"packConstraint": {"required": label}}


def constrained(**template: Any) -> Raw:
    """A router, and workers of two cliques of which the second one is bound to a rack."""
    decode = clique("decode", 2)
    decode["topologyConstraint"] = within("rack")
    return pod_clique_set(
        "llm",
        clique("router", 1),
        clique("prefill", 2),
        decode,
        groups=[group("workers", ["prefill", "decode"], replicas=3, minimum=2, topologyConstraint=within("block"))],
        topologyConstraint=within("zone", "block", "nvlink"),
        **template,
    )


def made(raw: Raw, name: str, known: dict[str, str] | None = None, live: Raw | None = None, **pods: list[str]) -> Raw:
    pcs = msgspec.convert(raw, PodCliqueSet)
    place = gang_place(pcs, name)
    assert place is not None
    before = msgspec.convert(live, PodGang) if live is not None else None
    return pod_gang(pcs, place, lambda member: pods.get(member.replace("-", "_"), []), KAI, known, before)


def test_each_clique_is_a_group_with_its_minimum_and_its_pods_in_order() -> None:
    spec = made(constrained(), "llm-0", llm_0_router=["b", "a"])["spec"]
    assert spec["podgroups"][0] == {
        "name": "llm-0-router",
        "podReferences": [{"namespace": "default", "name": "a"}, {"namespace": "default", "name": "b"}],
        "minReplicas": 1,
    }
    assert [item["name"] for item in spec["podgroups"][1:]] == [
        "llm-0-workers-0-prefill",
        "llm-0-workers-0-decode",
        "llm-0-workers-1-prefill",
        "llm-0-workers-1-decode",
    ]


def test_where_topology_is_off_no_constraint_is_passed_on() -> None:
    gang = made(constrained(), "llm-0")
    assert "opology" not in str(gang["spec"]) and names.TOPOLOGY_NAME not in gang["metadata"].get("annotations", {})


def test_a_base_gang_has_the_constraint_of_the_set_of_each_group_replica_and_of_each_clique() -> None:
    gang = made(constrained(), "llm-0", KNOWN)
    spec = gang["spec"]
    assert spec["topologyConstraint"] == {
        "packConstraint": {"required": "example.com/zone", "preferred": "example.com/block"}
    }
    assert spec["topologyConstraintGroupConfigs"] == [
        {
            "name": f"llm-0-workers-{replica}",
            "podGroupNames": [f"llm-0-workers-{replica}-prefill", f"llm-0-workers-{replica}-decode"],
            "topologyConstraint": on("example.com/block"),
        }
        for replica in range(2)
    ]
    bound = {item["name"]: item["topologyConstraint"] for item in spec["podgroups"] if "topologyConstraint" in item}
    assert bound == {f"llm-0-workers-{replica}-decode": on("example.com/rack") for replica in range(2)}
    assert gang["metadata"]["annotations"][names.TOPOLOGY_NAME] == "nvlink"


def test_a_scaled_gang_has_the_constraint_of_its_group_as_its_own() -> None:
    spec = made(constrained(), "llm-0-workers-0", KNOWN)["spec"]
    assert spec["topologyConstraint"] == on("example.com/block")
    assert "topologyConstraintGroupConfigs" not in spec


def test_a_scaled_gang_of_a_group_without_a_constraint_has_that_of_the_set() -> None:
    raw = constrained()
    del raw["spec"]["template"]["podCliqueScalingGroups"][0]["topologyConstraint"]
    spec = made(raw, "llm-0-workers-0", KNOWN)["spec"]
    assert spec["topologyConstraint"]["packConstraint"]["required"] == "example.com/zone"
    assert "topologyConstraintGroupConfigs" not in made(raw, "llm-0", KNOWN)["spec"]


def test_a_domain_that_the_topology_does_not_have_binds_nothing() -> None:
    gang = made(constrained(), "llm-0", {"block": "example.com/block"})
    spec = gang["spec"]
    assert spec["topologyConstraint"] == {"packConstraint": {"preferred": "example.com/block"}}
    assert not any("topologyConstraint" in item for item in spec["podgroups"])
    unknown = made(constrained(), "llm-0", {})
    assert [sorted(item) for item in unknown["spec"]["topologyConstraintGroupConfigs"]] == [
        ["name", "podGroupNames"],
        ["name", "podGroupNames"],
    ]
    assert names.TOPOLOGY_NAME not in unknown["metadata"].get("annotations", {})


def test_annotations_follow_the_set_and_what_groves_tools_wrote_on_the_gang_stays() -> None:
    raw = pod_clique_set(
        "llm",
        clique("a"),
        annotations={"team": "blue", names.LAST_APPLIED: "{}", f"{names.RESERVED_LABELS}mine": "from the set"},
    )
    kept = f"{names.RESERVED_LABELS}theirs"
    live = {"metadata": {"annotations": {"team": "red", "old": "gone", kept: "stays", names.TOPOLOGY_NAME: "former"}}}
    assert made(raw, "llm-0", live=live)["metadata"]["annotations"] == {"team": "blue", kept: "stays"}


def test_places_of_an_earlier_set_are_asked_for_by_the_same_gang_of_that_set() -> None:
    raw = pod_clique_set("llm", clique("a"), replicas=2, annotations={names.REUSE_PLACES: "old"})
    assert made(raw, "llm-1")["spec"]["reuseReservationRef"] == {"namespace": "default", "name": "old-1"}
    written = {"spec": {"reuseReservationRef": {"namespace": "x", "name": "former"}}}
    plain = pod_clique_set("llm", clique("a"))
    assert made(plain, "llm-0", live=written)["spec"]["reuseReservationRef"] == {"namespace": "x", "name": "former"}
    assert "reuseReservationRef" not in made(plain, "llm-0", live={"spec": {}})["spec"]
