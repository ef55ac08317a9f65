"""The pods of a clique: names, indices, who goes first, how one is built."""

from __future__ import annotations

import msgspec

from gangline.api.core import Pod
from gangline.api.grove import PodClique, PodCliqueScalingGroup, PodCliqueSet
from gangline.api.meta import Raw
from gangline.operator.desired import pods as desired
from gangline.operator.desired.cliques import grouped_clique, standalone_clique
from gangline.operator.desired.layout import CliquePlace, group_places, standalone_places
from gangline.operator.memory.unseen import UnseenChoices
from gangline.operator.sets.scaling_groups import scaling_group
from gangline.runtime import Key
from operator_world import clique, group, pod, pod_clique_set

CLIQUE = msgspec.convert({"metadata": {"name": "c", "uid": "u"}}, PodClique)


def test_holes_are_filled_from_below_and_leaving_or_finished_pods_free_their_place() -> None:
    there = [pod(0), pod(1, leaving=True), pod(3), pod(4, phase="Failed")]
    assert desired.free_indices(there, 3) == [1, 2, 4]


def test_a_pods_name_follows_from_its_clique_and_index_so_a_second_attempt_meets_the_first() -> None:
    assert desired.pod_name(CLIQUE, 0, {}) == desired.pod_name(CLIQUE, 0, {})
    assert desired.pod_name(CLIQUE, 0, {}) != desired.pod_name(CLIQUE, 1, {})


def test_the_name_of_a_replacement_follows_from_the_pod_that_still_holds_the_first() -> None:
    first = desired.pod_name(CLIQUE, 0, {})
    there = {first: pod(0, name=first, leaving=True)}
    second = desired.pod_name(CLIQUE, 0, there)
    assert second != first and second == desired.pod_name(CLIQUE, 0, there)


def test_pods_are_given_up_unscheduled_then_unready_then_outdated_then_youngest_first() -> None:
    old, young = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"
    keeper, younger = pod(0, node="n", ready=True, created=old), pod(1, node="n", ready=True, created=young)
    outdated, unready = pod(2, node="n", ready=True, hash="old", created=old), pod(3, node="n", created=old)
    unscheduled = pod(4, created=old)
    order = desired.removal_order([keeper, younger, outdated, unready, unscheduled], "new")
    assert [item.name for item in order] == ["c-4", "c-3", "c-2", "c-1", "c-0"]


def built(pcs: PodCliqueSet, live: PodClique, place: CliquePlace, *, keep_gates: bool = True) -> Raw:
    return desired.build(live, desired.PodRecipe(pcs, place, "initc:1", "gate", keep_gates, ""), 0, "p")


def a_clique(pcs: PodCliqueSet, name: str) -> tuple[PodClique, CliquePlace]:
    place = next(place for place in standalone_places(pcs, 0) if place.template.name == name)
    return msgspec.convert(standalone_clique(pcs, place), PodClique), place


def test_a_pod_knows_its_place_by_environment_hostname_and_labels() -> None:
    pcs = msgspec.convert(pod_clique_set("llm", clique("a", 2)), PodCliqueSet)
    live, place = a_clique(pcs, "a")
    made = built(pcs, live, place)
    assert [item["name"] for item in made["spec"]["containers"][0]["env"]] == [
        "GROVE_PCS_NAME",
        "GROVE_PCS_INDEX",
        "GROVE_PCLQ_NAME",
        "GROVE_HEADLESS_SERVICE",
        "GROVE_PCLQ_POD_INDEX",
    ]
    assert (made["spec"]["hostname"], made["spec"]["subdomain"]) == ("llm-0-a-0", "llm-0")
    assert made["metadata"]["labels"]["grove.io/podgang"] == "llm-0"
    assert made["spec"]["schedulingGates"] == [{"name": "gate"}]


def test_a_members_pod_also_knows_its_group_and_a_users_variable_of_that_name_is_dropped() -> None:
    template = clique("w", 2)
    template["spec"]["podSpec"]["containers"][0]["env"] = [
        {"name": "GROVE_PCSG_INDEX", "value": "mine"},
        {"name": "OTHER", "value": "1"},
    ]
    pcs = msgspec.convert(pod_clique_set("llm", template, groups=[group("g", ["w"], 2, 1)]), PodCliqueSet)
    config = pcs.spec.template.pod_clique_scaling_groups[0]
    owner = msgspec.convert(scaling_group(pcs, 0, config), PodCliqueScalingGroup)
    place = group_places(pcs, 0, config, 1)[0]
    live = msgspec.convert(grouped_clique(pcs, owner, place), PodClique)
    env = built(pcs, live, place)["spec"]["containers"][0]["env"]
    assert [item["name"] for item in env][5:] == [
        "GROVE_PCSG_NAME",
        "GROVE_PCSG_TEMPLATE_NUM_PODS",
        "GROVE_PCSG_INDEX",
        "OTHER",
    ]
    assert live.labels["grove.io/base-podgang"] == "llm-0"


def test_a_clique_that_waits_gets_the_init_container_last_and_what_it_needs_to_look() -> None:
    raw = pod_clique_set("llm", clique("a", 2), clique("b"), cliqueStartupType="CliqueStartupTypeInOrder")
    raw["spec"]["template"]["cliques"][1]["spec"]["podSpec"]["initContainers"] = [{"name": "own", "image": "i"}]
    pcs = msgspec.convert(raw, PodCliqueSet)
    live, place = a_clique(pcs, "b")
    spec = built(pcs, live, place)["spec"]
    assert [init_container["name"] for init_container in spec["initContainers"]] == ["own", "grove-initc"]
    assert spec["initContainers"][1]["args"] == ["--podcliques=llm-0-a:2"]
    assert [volume["name"] for volume in spec["volumes"]] == ["sa-token-secret-vol", "pod-info-vol"]


def test_gates_that_the_template_names_stay_beside_ours_unless_upstream_is_imitated() -> None:
    template = clique("a")
    template["spec"]["podSpec"]["schedulingGates"] = [{"name": "example.com/mine"}]
    pcs = msgspec.convert(pod_clique_set("p", template), PodCliqueSet)
    live, place = a_clique(pcs, "a")
    assert built(pcs, live, place)["spec"]["schedulingGates"] == [{"name": "example.com/mine"}, {"name": "gate"}]
    assert built(pcs, live, place, keep_gates=False)["spec"]["schedulingGates"] == [{"name": "gate"}]


def test_only_our_gates_are_lifted() -> None:
    made = msgspec.convert({"spec": {"schedulingGates": [{"name": "example.com/mine"}, {"name": "ours"}]}}, Pod)
    assert desired.without_gates(made, ["ours"]) == [{"name": "example.com/mine"}]


def test_a_choice_that_the_cache_has_not_shown_yet_keeps_the_next_one_back() -> None:
    def at(revision: str) -> PodClique:
        return msgspec.convert({"metadata": {"name": "c", "resourceVersion": revision}}, PodClique)

    told, key = UnseenChoices(), Key("default", "c")
    assert told.seen(key, at("5"))
    told.note(key, at("7"))
    assert not told.seen(key, at("6")) and told.seen(key, at("8")) and told.seen(key, at("6"))
    told.note(key, None)
    assert told.seen(key, at("1"))
