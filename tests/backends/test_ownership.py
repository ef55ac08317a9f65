"""Of a scheduler's object only what is ours is written: what users and schedulers put there stays, and nothing of ours
is left behind."""

from __future__ import annotations

from typing import Any

import pytest

from backends.crds import definition
from backends.test_journeys import cluster, llm
from gangline.api.kinds import (
    COSCHEDULING_POD_GROUP,
    KOORDINATOR_POD_GROUP,
    POD_CLIQUE_SET,
    POD_GROUP,
    SCALING_GROUP,
    VOLCANO_POD_GROUP,
    WORKLOAD,
    Kind,
)
from gangline.api.meta import Raw
from operator_world import NAMESPACE, OperatorWorld, clique, group, pod_clique_set

BACKEND = "grove.io/scheduler-backend"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


async def ask_for_less(here: OperatorWorld) -> None:
    """The minimum of prefill goes from 2 to 1."""
    cliques = [clique("prefill", 3, 1, scheduler=""), clique("decode", 4, scheduler="")]
    await here.client.patch(POD_CLIQUE_SET, "llm", NAMESPACE, {"spec": {"template": {"cliques": cliques}}})
    await here.settles()


def status_part(kind: Kind[Any]) -> str:
    """Where a scheduler writes the status of its object: some have no subresource for it, and a whole write would erase
    it."""
    versions = [version for version in definition(kind)["spec"]["versions"] if version["name"] == kind.version]
    return "status" if any("status" in (version.get("subresources") or {}) for version in versions) else ""


@pytest.mark.parametrize(
    ("backend", "kind", "name", "minimum"),
    [
        ("volcano", VOLCANO_POD_GROUP, "llm-0", 5),
        ("koordinator", KOORDINATOR_POD_GROUP, "llm-0-prefill", 1),
        ("coscheduling", COSCHEDULING_POD_GROUP, "llm-0", 5),
    ],
)
async def test_a_change_of_ours_leaves_status_labels_and_notes_of_others_alone(
    backend: str, kind: Kind[Any], name: str, minimum: int
) -> None:
    async with cluster(kind) as here:
        await here.apply(llm(backend))
        theirs: Raw = {"metadata": {"labels": {"team": "a"}, "annotations": {"scheduler.example.com/last": "x"}}}
        await here.client.patch(kind, name, NAMESPACE, theirs)
        await here.client.patch(kind, name, NAMESPACE, {"status": {"phase": "Running"}}, subresource=status_part(kind))
        await ask_for_less(here)
        after = await here.client.get_raw(kind, name, NAMESPACE)
        assert after["spec"]["minMember"] == minimum
        assert after["status"]["phase"] == "Running"
        assert (
            after["metadata"]["labels"]["team"] == "a"
            and after["metadata"]["annotations"]["scheduler.example.com/last"] == "x"
        )


async def test_kais_queue_belongs_to_whoever_made_the_group_and_then_to_users_and_kai() -> None:
    async with cluster() as here:
        await here.apply(llm("kai"))
        [made] = await here.every(POD_GROUP)
        await here.client.patch(
            POD_GROUP, made.name, NAMESPACE, {"spec": {"queue": "team-b", "markUnschedulable": True}}
        )
        await ask_for_less(here)
        after = await here.client.get_raw(POD_GROUP, made.name, NAMESPACE)
        assert (after["spec"]["minMember"], after["spec"]["queue"], after["spec"]["markUnschedulable"]) == (
            5,
            "team-b",
            True,
        )
        owners = {
            entry["manager"]
            for entry in after["metadata"]["managedFields"]
            if "f:queue" in entry["fieldsV1"].get("f:spec", {})
        }
        assert "gangline" not in owners and owners


async def test_what_a_smaller_set_no_longer_asks_for_goes_with_its_objects() -> None:
    async with cluster(KOORDINATOR_POD_GROUP) as here:
        await here.apply(
            pod_clique_set(
                "llm",
                clique("a", 1, scheduler=""),
                clique("b", 2, scheduler=""),
                replicas=2,
                groups=[group("g", ["b"], 2, 1)],
                annotations={BACKEND: "koordinator"},
            )
        )
        assert [item.name for item in await here.every(KOORDINATOR_POD_GROUP)] == [
            "llm-0-a",
            "llm-0-g-0-b",
            "llm-0-g-1-b",
            "llm-1-a",
            "llm-1-g-0-b",
            "llm-1-g-1-b",
        ]
        await here.client.patch(SCALING_GROUP, "llm-0-g", NAMESPACE, {"spec": {"replicas": 1}})
        await here.client.patch(POD_CLIQUE_SET, "llm", NAMESPACE, {"spec": {"replicas": 1}})
        await here.settles()
        assert [item.name for item in await here.every(KOORDINATOR_POD_GROUP)] == ["llm-0-a", "llm-0-g-0-b"]


@pytest.mark.parametrize(
    ("backend", "kind"),
    [
        ("default", WORKLOAD),
        ("kai", POD_GROUP),
        ("volcano", VOLCANO_POD_GROUP),
        ("koordinator", KOORDINATOR_POD_GROUP),
        ("coscheduling", COSCHEDULING_POD_GROUP),
    ],
)
async def test_every_object_says_who_made_it_for_which_set_and_by_which_backend_and_no_note_of_kubectl_is_copied(
    backend: str, kind: Kind[Any]
) -> None:
    async with cluster(*([kind] if kind not in (WORKLOAD, POD_GROUP) else [])) as here:
        pcs = llm(backend)
        pcs["metadata"]["annotations"][LAST_APPLIED] = "{}"
        await here.apply(pcs)
        made = await here.every(kind)
        assert made
        for obj in (*made, await here.gang("llm-0")):
            assert {
                key: obj.labels.get(key)
                for key in ("app.kubernetes.io/managed-by", "app.kubernetes.io/part-of", BACKEND)
            } == {
                "app.kubernetes.io/managed-by": "grove-operator",
                "app.kubernetes.io/part-of": "llm",
                BACKEND: backend,
            }
            assert LAST_APPLIED not in obj.annotations
