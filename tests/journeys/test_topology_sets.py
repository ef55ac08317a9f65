"""Sets on a topology (TAS1–TAS23): constraints of the set, its groups and its cliques, from the binding to the nodes.

The data centre: one zone, two blocks of two racks of four hosts; three pods fit on a host.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from gangline.api import names
from gangline.api.kinds import NODE, POD_CLIQUE_SET, POD_GANG, POD_GROUP, TOPOLOGY, TOPOLOGY_BINDING
from gangline.api.meta import Condition, Raw, condition
from gangline.errors import ApiError
from journeys.sets import NAME, Sets, Size, group, pod_clique_set
from journeys.sets import clique as plain_clique

DC = "grove-topology"
ZONE, BLOCK, RACK, HOST = "example.com/zone", "example.com/block", "example.com/rack", "kubernetes.io/hostname"
LEVELS = [
    {"domain": "zone", "key": ZONE},
    {"domain": "block", "key": BLOCK},
    {"domain": "rack", "key": RACK},
    {"domain": "host", "key": HOST},
]


async def data_centre(sets: Sets, racks: int = 4, hosts: int = 4, *, name: str = DC) -> None:
    for rack in range(racks):
        labels = {ZONE: "z", BLOCK: f"b{rack // 2}", RACK: f"r{rack}"}
        await sets.story.nodes(hosts, gpus=0, memory="130Mi", labels=labels)
    await bind(sets, name)


async def bind(sets: Sets, name: str = DC, levels: Sequence[Raw] = LEVELS, **more: Any) -> None:
    await sets.client.create(TOPOLOGY_BINDING, {"metadata": {"name": name}, "spec": {"levels": list(levels), **more}})
    await sets.story.settles()


def packed(required: str = "", preferred: str = "", *, name: str = DC) -> Raw:
    pack = ({"required": required} if required else {}) | ({"preferred": preferred} if preferred else {})
    return {"topologyConstraint": {"topologyName": name, "pack": pack}}


def clique(name: str, replicas: int, within: Raw | None = None, *, minimum: int | None = None) -> Raw:
    made = plain_clique(name, Size(replicas, replicas if minimum is None else minimum))
    made["spec"]["podSpec"]["containers"][0]["resources"]["requests"]["memory"] = "40Mi"
    return made | (within or {})


async def apply(sets: Sets, cliques: Sequence[Raw], *groups: Raw, replicas: int = 1, within: Raw | None = None) -> None:
    template = {"cliques": list(cliques), **(within or {})} | (
        {"podCliqueScalingGroups": list(groups)} if groups else {}
    )
    await sets.client.create(POD_CLIQUE_SET, pod_clique_set(template, replicas))
    await sets.story.settles()


async def domains(sets: Sets, prefix: str, key: str) -> int:
    """How many domains of a level the pods below a name take."""
    labels = {node.name: node.labels for node in (await sets.client.list(NODE)).items}
    pods = await sets.pods(prefix)
    assert pods and all(pod.spec.node_name for pod in pods), f"not all pods of {prefix} have a node"
    return len({labels[pod.spec.node_name][key] for pod in pods})


async def tree(sets: Sets, gang: str = f"{NAME}-0") -> dict[str, tuple[str, str]]:
    """The gang's PodGroup: sub-group → (parent, required level); the group itself under its own name."""
    [found] = [item for item in await sets.story.all(POD_GROUP) if item.metadata.controller.name == gang]
    raw = await sets.client.get_raw(POD_GROUP, found.name, "default")
    level = {gang: ("", _level(raw["spec"]))}
    return level | {
        sub_group["name"]: (sub_group.get("parent", ""), _level(sub_group)) for sub_group in raw["spec"]["subGroups"]
    }


def _level(part: Raw) -> str:
    return str((part.get("topologyConstraint") or {}).get("requiredTopologyLevel", ""))


async def levels_condition(sets: Sets) -> Condition | None:
    await sets.story.settles()
    return condition((await sets.the_set()).status.conditions, "TopologyLevelsUnavailable")


async def test_TAS1_a_binding_makes_kais_topology(sets: Sets) -> None:
    await data_centre(sets)
    found = await sets.client.get(TOPOLOGY, DC)
    assert [level.node_label for level in found.spec.levels] == [ZONE, BLOCK, RACK, HOST]
    assert [owner.kind for owner in found.metadata.owner_references] == ["ClusterTopologyBinding"]


async def test_TAS2_two_cliques_of_one_set_have_different_levels(sets: Sets) -> None:
    await data_centre(sets)
    await apply(sets, [clique("a", 4, packed("rack")), clique("b", 4, packed("block"))])
    await sets.running(8)
    assert await domains(sets, "0-a", RACK) == 1 and await domains(sets, "0-b", BLOCK) == 1
    assert await tree(sets) == {"w-0": ("", ""), "w-0-a": ("", RACK), "w-0-b": ("", BLOCK)}


async def test_TAS3_a_set_in_one_rack_needs_no_parents_in_its_pod_group(sets: Sets) -> None:
    await data_centre(sets)
    await apply(sets, [clique("a", 2), clique("b", 2)], group("g", ["b"], Size(2, 2)), within=packed("rack"))
    await sets.running(6)
    assert await domains(sets, "0-", RACK) == 1
    assert await tree(sets) == {"w-0": ("", RACK), "w-0-a": ("", ""), "w-0-g-0-b": ("", ""), "w-0-g-1-b": ("", "")}


async def test_TAS4_each_replica_of_a_group_is_packed_by_itself(sets: Sets) -> None:
    await data_centre(sets)
    await apply(sets, [clique("a", 5), clique("b", 4)], group("g", ["a", "b"], Size(2, 2), **packed("rack")))
    await sets.running(18)
    assert [await domains(sets, f"0-g-{replica}", RACK) for replica in (0, 1)] == [1, 1]
    found = await tree(sets)
    assert found["w-0-g-0"] == found["w-0-g-1"] == ("", RACK)
    assert found["w-0-g-0-a"] == ("w-0-g-0", "") and found["w-0-g-1-b"] == ("w-0-g-1", "")


async def test_TAS5_a_clique_on_one_host(sets: Sets) -> None:
    await data_centre(sets)
    await apply(sets, [clique("a", 3, packed("host"))])
    await sets.running(3)
    assert await domains(sets, "0-a", HOST) == 1


async def test_TAS6_a_standalone_clique_follows_the_sets_zone(sets: Sets) -> None:
    await data_centre(sets)
    await apply(sets, [clique("a", 4)], within=packed("zone"))
    await sets.running(4)
    assert await domains(sets, "0-a", ZONE) == 1
    assert await tree(sets) == {"w-0": ("", ZONE), "w-0-a": ("", "")}


async def test_TAS7_without_constraints_the_pod_group_names_no_level(sets: Sets) -> None:
    await data_centre(sets)
    await apply(sets, [clique("a", 2), clique("b", 2)], group("g", ["b"], Size(2, 2)))
    await sets.running(6)
    assert {level for _, level in (await tree(sets)).values()} == {""}
    [gang] = await sets.story.all(POD_GANG)
    assert names.TOPOLOGY_NAME not in gang.annotations


async def test_TAS8_block_rack_and_host_nest(sets: Sets) -> None:
    await data_centre(sets)
    await apply(
        sets,
        [clique("p", 2, packed("host")), clique("d", 2, packed("host"))],
        group("g", ["p", "d"], Size(2, 2), **packed("rack")),
        within=packed("block"),
    )
    await sets.running(8)
    assert await domains(sets, "0-", BLOCK) == 1
    assert [await domains(sets, f"0-g-{replica}-", RACK) for replica in (0, 1)] == [1, 1]
    assert [await domains(sets, f"0-g-{replica}-{name}", HOST) for replica in (0, 1) for name in "pd"] == [1] * 4


async def test_TAS9_block_and_host_without_a_level_between(sets: Sets) -> None:
    await data_centre(sets)
    await apply(sets, [clique("a", 3, packed("host")), clique("b", 3, packed("host"))], within=packed("block"))
    await sets.running(6)
    assert await domains(sets, "0-", BLOCK) == 1
    assert await domains(sets, "0-a", HOST) == await domains(sets, "0-b", HOST) == 1


async def test_TAS10_scaled_gangs_carry_the_groups_constraint(sets: Sets) -> None:
    await data_centre(sets)
    await apply(sets, [clique("a", 4)], group("g", ["a"], Size(3, 1), **packed("rack")))
    await sets.running(12)
    assert [await domains(sets, f"0-g-{replica}", RACK) for replica in range(3)] == [1, 1, 1]
    assert sorted(gang.name for gang in await sets.story.all(POD_GANG)) == ["w-0", "w-0-g-0", "w-0-g-1"]
    assert RACK in {level for _, level in (await tree(sets, "w-0-g-0")).values()}


async def test_TAS11_group_and_clique_without_a_constraint_of_the_set(sets: Sets) -> None:
    await data_centre(sets)
    await apply(
        sets, [clique("a", 3, packed("host")), clique("b", 3)], group("g", ["a", "b"], Size(2, 2), **packed("rack"))
    )
    await sets.running(12)
    assert [await domains(sets, f"0-g-{replica}-", RACK) for replica in (0, 1)] == [1, 1]
    assert [await domains(sets, f"0-g-{replica}-a", HOST) for replica in (0, 1)] == [1, 1]


async def test_TAS12_a_large_group_is_a_base_gang_and_seven_scaled_ones(sets: Sets) -> None:
    await data_centre(sets)
    await apply(sets, [clique("a", 2)], group("g", ["a"], Size(10, 3), **packed("rack")), within=packed("zone"))
    await sets.running(20)
    assert len(await sets.story.all(POD_GANG)) == 8
    assert [await domains(sets, f"0-g-{replica}-", RACK) for replica in range(10)] == [1] * 10


async def test_TAS13_what_cannot_be_packed_waits_whole_and_is_told(sets: Sets) -> None:
    await data_centre(sets)
    await apply(sets, [clique("a", 10)], within=packed("host"))
    await sets.running(0, of=10)
    assert (await tree(sets))["w-0"] == ("", HOST)
    assert (await sets.story.explain("w-0")).startswith("w-0 waits")
    assert await sets.story.events("Unschedulable")


async def test_TAS14_each_replica_of_the_set_has_a_rack_of_its_own_choice(sets: Sets) -> None:
    await data_centre(sets)
    await apply(sets, [clique("a", 5), clique("b", 4)], replicas=2, within=packed("rack"))
    await sets.running(18)
    assert [await domains(sets, f"{replica}-", RACK) for replica in (0, 1)] == [1, 1]


@pytest.mark.parametrize("replicas", [pytest.param(1, id="TAS15"), pytest.param(2, id="TAS16")])
async def test_TAS15_TAS16_decoders_prefills_and_a_router_on_three_levels(sets: Sets, replicas: int) -> None:
    await data_centre(sets)
    workers = [
        clique("dworker", 1),
        clique("dleader", 1, packed("host")),
        clique("pworker", 1),
        clique("pleader", 1, packed("host")),
    ]
    groups = [
        group("decoder", ["dworker", "dleader"], Size(2, 1), **packed("rack")),
        group("prefill", ["pworker", "pleader"], Size(2, 1), **packed("rack")),
    ]
    await apply(sets, [*workers, clique("router", 2)], *groups, replicas=replicas, within=packed("block"))
    await sets.running(10 * replicas)
    for replica in range(replicas):
        assert await domains(sets, f"{replica}-router", BLOCK) == 1
        for name in ("decoder", "prefill"):
            assert [await domains(sets, f"{replica}-{name}-{index}", RACK) for index in (0, 1)] == [1, 1]


async def test_TAS17_sets_on_different_hardware_use_bindings_of_their_own(sets: Sets) -> None:
    await data_centre(sets, name="h100")
    other = "example.com/nvl"
    for index in range(2):
        await sets.story.nodes(4, gpus=0, memory="130Mi", labels={other: f"n{index}"})
    await bind(sets, "gb200", [{"domain": "rack", "key": other}, {"domain": "host", "key": HOST}])
    await apply(sets, [clique("a", 5, packed("rack", name="gb200"))])
    await sets.running(5)
    assert await domains(sets, "0-a", other) == 1
    assert (await tree(sets))["w-0-a"] == ("", other)


async def test_TAS18_a_binding_to_a_missing_topology_says_drift(sets: Sets) -> None:
    await bind(sets, schedulerTopologyBindings=[{"schedulerName": names.KAI_SCHEDULER, "topologyReference": "missing"}])
    found = condition((await sets.client.get(TOPOLOGY_BINDING, DC)).status.conditions, "SchedulerTopologyDrift")
    assert found is not None
    assert (found.status, found.reason, found.message) == (
        "True",
        "Drift",
        "kai-scheduler: Topology missing does not exist",
    )


async def test_TAS19_changed_levels_make_the_topology_anew(sets: Sets) -> None:
    await bind(sets)
    before = await sets.client.get(TOPOLOGY, DC)
    await sets.client.patch(TOPOLOGY_BINDING, DC, "", {"spec": {"levels": LEVELS[1:]}})
    await sets.story.settles()
    after = await sets.client.get(TOPOLOGY, DC)
    assert after.uid != before.uid and [level.node_label for level in after.spec.levels] == [BLOCK, RACK, HOST]


async def test_TAS20_a_set_outlives_its_binding_and_says_so(sets: Sets) -> None:
    await data_centre(sets)
    await apply(sets, [clique("a", 2)], within=packed("rack"))
    await sets.running(2)
    await sets.client.delete(TOPOLOGY_BINDING, DC)
    found = await levels_condition(sets)
    assert found is not None and (found.status, found.reason) == ("Unknown", "ClusterTopologyNotFound")
    await sets.scale(2)
    await sets.running(4)
    assert (await tree(sets, "w-1"))["w-1"] == ("", "")
    await bind(sets)
    found = await levels_condition(sets)
    assert found is not None and (found.status, found.reason) == ("False", "AllClusterTopologyLevelsAvailable")


KAI = {"schedulerName": names.KAI_SCHEDULER, "topologyReference": "t"}


@pytest.mark.parametrize(
    ("levels", "backends", "said"),
    [
        pytest.param(
            [LEVELS[0], LEVELS[0] | {"key": "other"}], [], "spec.levels[1].domain: 'zone' is given twice", id="domain"
        ),
        pytest.param(
            LEVELS,
            [KAI, KAI],
            "spec.schedulerTopologyReferences[1].schedulerName: 'kai-scheduler' is given twice",
            id="twice",
        ),
        pytest.param(LEVELS, [KAI | {"schedulerName": "nobody"}], "scheduler 'nobody' is not enabled", id="unknown"),
        pytest.param(
            LEVELS,
            [KAI | {"schedulerName": "default-scheduler"}],
            "the backend of default-scheduler does not know topology",
            id="no-topology",
        ),
    ],
)
async def test_TAS21_a_binding_that_cannot_be_is_refused(
    sets: Sets, levels: list[Raw], backends: list[Raw], said: str
) -> None:
    with pytest.raises(ApiError) as refused:
        await bind(sets, "bad", levels, **({"schedulerTopologyBindings": backends} if backends else {}))
    assert said in str(refused.value)


async def test_TAS21_a_clique_inherits_the_name_of_the_topology(sets: Sets) -> None:
    await data_centre(sets)
    bare: Raw = {"topologyConstraint": {"pack": {"required": "host"}}}
    await apply(sets, [clique("a", 2, bare)], within=packed("rack"))
    await sets.running(2)
    assert await tree(sets) == {"w-0": ("", RACK), "w-0-a": ("", HOST)}


@pytest.mark.parametrize(
    "constraint",
    [{"packDomain": "rack"}, {}, {"pack": {}}, {"pack": {"required": "rack"}, "packDomain": "rack"}],
    ids=["old", "none", "empty", "both"],
)
@pytest.mark.parametrize("where", ["set", "group", "clique"])
async def test_TAS22_a_constraint_that_says_too_little_or_too_much_is_refused(
    sets: Sets, constraint: Raw, where: str
) -> None:
    await data_centre(sets, 1, 1)
    bad: dict[str, Raw] = {where: {"topologyConstraint": {"topologyName": DC, **constraint}}}
    with pytest.raises(ApiError) as refused:
        await apply(
            sets,
            [clique("a", 1, bad.get("clique"))],
            group("g", ["a"], Size(1, 1), **bad.get("group", {})),
            within=bad.get("set"),
        )
    assert "pack" in str(refused.value)
    assert await sets.story.all(POD_CLIQUE_SET) == []


async def test_TAS23_a_preferred_level_reaches_the_pod_group_and_may_be_missed(sets: Sets) -> None:
    await data_centre(sets)
    await apply(sets, [clique("a", 20)], within=packed(preferred="rack"))
    await sets.running(20)
    assert await domains(sets, "0-a", RACK) == 2
    [found] = await sets.story.all(POD_GROUP)
    raw = await sets.client.get_raw(POD_GROUP, found.name, "default")
    assert raw["spec"]["topologyConstraint"] == {"topology": DC, "preferredTopologyLevel": RACK}
