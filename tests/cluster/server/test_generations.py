"""The Workload API in its three generations: what each serves, which link a pod keeps, and which fields need a gate."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from cluster.server.conftest import Api, in_process, pod
from gangline.cluster.server.features import COMPOSITE, PREEMPTION, TOPOLOGY, WORKLOAD_GENERATIONS
from gangline.cluster.server.server import Server, ServerSettings

GROUPS = "/apis/scheduling.k8s.io"
PODS = "/api/v1/namespaces/default/pods"
GANG = {"schedulingPolicy": {"gang": {"minCount": 2}}}


@asynccontextmanager
async def serving(generation: str, *gates: str) -> AsyncIterator[Api]:
    server = Server(ServerSettings(workload_versions=WORKLOAD_GENERATIONS[generation], features=frozenset(gates)))
    await server.open()
    try:
        yield in_process(server)
    finally:
        await server.close()


def group(version: str, name: str = "g", kind: str = "PodGroup", **spec: Any) -> dict[str, Any]:
    return {"apiVersion": f"scheduling.k8s.io/{version}", "kind": kind, "metadata": {"name": name}, "spec": GANG | spec}


def at(version: str, plural: str = "podgroups") -> str:
    return f"{GROUPS}/{version}/namespaces/default/{plural}"


@pytest.mark.parametrize(
    ("generation", "gates", "served"),
    [
        ("none", (), {}),
        ("1.35", (), {"v1alpha1": ["workloads"]}),
        ("1.36", (), {"v1alpha2": ["podgroups", "podgroups/status", "workloads"]}),
        (
            "1.37",
            (),
            {
                "v1beta1": ["podgroups", "podgroups/status", "workloads"],
                "v1alpha3": ["podgroups", "podgroups/status", "workloads"],
            },
        ),
        (
            "1.37",
            (COMPOSITE,),
            {
                "v1beta1": ["podgroups", "podgroups/status", "workloads"],
                "v1alpha3": [
                    "compositepodgroups",
                    "compositepodgroups/status",
                    "podgroups",
                    "podgroups/status",
                    "workloads",
                ],
            },
        ),
    ],
)
async def test_each_generation_serves_its_own_versions(
    generation: str, gates: tuple[str, ...], served: dict[str, list[str]]
) -> None:
    async with serving(generation, *gates) as api:
        versions = [item["version"] for item in (await api.get(GROUPS)).body["versions"] if item["version"] != "v1"]
        found = {
            version: [resource["name"] for resource in (await api.get(f"{GROUPS}/{version}")).body["resources"]]
            for version in versions
        }
        assert found == served


@pytest.mark.parametrize(
    ("generation", "kept"),
    [("none", set()), ("1.35", {"workloadRef"}), ("1.36", {"schedulingGroup"}), ("1.37", {"schedulingGroup"})],
)
async def test_a_pod_keeps_only_the_link_its_generation_knows(generation: str, kept: set[str]) -> None:
    async with serving(generation) as api:
        links = {"workloadRef": {"name": "w", "podGroup": "g"}, "schedulingGroup": {"podGroupName": "g"}}
        made = await api.post(PODS, pod("p", **links))
        assert made.status == 201
        assert set(links) & set(made.body["spec"]) == kept


async def test_fields_behind_gates_vanish_without_a_word_and_stay_with_them() -> None:
    asked: dict[str, Any] = {
        "schedulingConstraints": {"topology": [{"key": "rack"}]},
        "priorityClassName": "high",
        "disruptionMode": "PodGroup",
    }
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 7}
    unlinked = {"podGroupTemplateRef": None}
    async with serving("1.36") as api:
        made = await api.post(at("v1alpha2"), group("v1alpha2", **asked))
        assert (made.status, made.warnings, made.body["spec"]) == (201, (), GANG | unlinked | {"disruptionMode": "Pod"})
    async with serving("1.36", TOPOLOGY, PREEMPTION) as api:
        await api.post("/apis/scheduling.k8s.io/v1/priorityclasses", high)
        made = await api.post(at("v1alpha2"), group("v1alpha2", **asked))
        assert made.body["spec"] == GANG | asked | unlinked | {"priority": 7}


async def test_a_group_has_the_priority_of_its_class_and_no_system_class() -> None:
    async with serving("1.37") as api:
        plain = await api.post(at("v1beta1"), group("v1beta1"))
        assert (plain.body["spec"]["priority"], plain.body["metadata"]["finalizers"]) == (
            0,
            ["scheduling.k8s.io/podgroup-protection"],
        )
        refused = await api.post(at("v1beta1"), group("v1beta1", "s", priorityClassName="system-node-critical"))
        assert "spec.priority: Invalid value: 2000001000: must be less than or equal to 1000000000" in refused.message
        refused = await api.post(at("v1beta1"), group("v1beta1", "p", priority=3))
        assert refused.message.endswith(
            "priority set in the pod group (3) must match the priority computed (0) based on the priority "
            "class set in the spec"
        )


async def test_a_group_of_1_36_comes_from_a_template_that_is_there() -> None:
    link: dict[str, Any] = {"podGroupTemplateRef": {"workload": {"workloadName": "w", "podGroupTemplateName": "a"}}}
    workload = {
        "apiVersion": "scheduling.k8s.io/v1alpha2",
        "kind": "Workload",
        "metadata": {"name": "w"},
        "spec": {"podGroupTemplates": [{"name": "a", **GANG}]},
    }
    async with serving("1.36") as api:
        refused = await api.post(at("v1alpha2"), group("v1alpha2", **link))
        assert (refused.status, refused.message) == (
            403,
            'podgroups.scheduling.k8s.io "g" is forbidden: PodGroup rejected: Workload "w" not found',
        )
        assert (await api.post(at("v1alpha2", "workloads"), workload)).status == 201
        assert (await api.post(at("v1alpha2"), group("v1alpha2", **link))).status == 201


async def test_only_the_minimum_of_a_group_changes_and_only_from_1_37_on() -> None:
    more = {"spec": {"schedulingPolicy": {"gang": {"minCount": 3}}}}
    async with serving("1.36") as api:
        await api.post(at("v1alpha2"), group("v1alpha2"))
        assert "field is immutable" in (await api.merge(at("v1alpha2") + "/g", more)).message
    async with serving("1.37") as api:
        await api.post(at("v1beta1"), group("v1beta1"))
        assert (await api.merge(at("v1beta1") + "/g", more)).status == 200
        assert (
            "field is immutable"
            in (await api.merge(at("v1beta1") + "/g", {"spec": {"priorityClassName": "x"}})).message
        )


async def test_both_versions_of_1_37_show_one_object() -> None:
    async with serving("1.37", COMPOSITE) as api:
        await api.post(at("v1beta1"), group("v1beta1"))
        assert (await api.get(at("v1alpha3") + "/g")).body["apiVersion"] == "scheduling.k8s.io/v1alpha3"


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ({"schedulingPolicy": {}}, 'spec.schedulingPolicy: Invalid value: "": must specify one of: `basic`, `gang`'),
        ({"schedulingPolicy": {"gang": {"minCount": 0}}}, "spec.schedulingPolicy.gang.minCount: Required value"),
        (
            {"schedulingPolicy": {"gang": {"minCount": -1}}},
            "gang.minCount: Invalid value: -1: must be greater than or equal to 1",
        ),
        (
            {"parentCompositePodGroupName": "c"},
            "spec.workloadRef: Required value: must be set when parentCompositePodGroupName is set",
        ),
        ({"disruptionMode": {"single": {}, "all": {}}}, 'spec.disruptionMode: Invalid value: "{single, all}"'),
        ({"schedulingConstraints": {"topology": [{"key": "a"}, {"key": "b"}]}}, "must have at most 1 item"),
    ],
)
async def test_a_group_that_says_nonsense_is_refused_at_its_field(spec: dict[str, Any], told: str) -> None:
    async with serving("1.37", COMPOSITE, TOPOLOGY) as api:
        refused = await api.post(at("v1beta1"), group("v1beta1", **spec))
        assert refused.status == 422
        assert told in refused.message


async def test_a_tree_of_templates_is_checked_whole() -> None:
    leaf = {"name": "a", **GANG}
    policy = {"schedulingPolicy": {"gang": {"minGroupCount": 1}}}
    tree = {"name": "x", **policy, "podGroupTemplates": [leaf]}
    workload = {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "Workload", "metadata": {"name": "w"}}
    async with serving("1.37", COMPOSITE) as api:
        good = await api.post(at("v1beta1", "workloads"), workload | {"spec": {"compositePodGroupTemplates": [tree]}})
        assert good.status == 201
        for spec, told in (
            ({}, "must specify one of: `podGroupTemplates`, `compositePodGroupTemplates`"),
            (
                {"compositePodGroupTemplates": [{"name": "x", **policy}]},
                "must have at least one child PodGroupTemplate or CompositePodGroupTemplate",
            ),
            ({"compositePodGroupTemplates": [tree | {"name": "a"}]}, 'podGroupTemplates[0].name: Duplicate value: "a"'),
            (
                {"podGroupTemplates": [leaf, {"name": "b", "priorityClassName": "p", **GANG}]},
                "detected multiple priority configurations",
            ),
        ):
            refused = await api.post(at("v1beta1", "workloads"), workload | {"metadata": {"name": "bad"}, "spec": spec})
            assert told in refused.message
