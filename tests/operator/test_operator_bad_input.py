"""Sets that no check has seen, and hands in what the operator owns: told, repaired, and never in the way of others."""

from __future__ import annotations

from typing import Any

import pytest

from gangline.admission.sets.podcliqueset import faults
from gangline.api.grove import PodCliqueSet
from gangline.api.kinds import (
    HPA,
    POD,
    POD_CLIQUE,
    POD_CLIQUE_SET,
    POD_GANG,
    POD_GROUP,
    ROLE,
    ROLE_BINDING,
    SCALING_GROUP,
    SECRET,
    SERVICE,
    SERVICE_ACCOUNT,
    Kind,
)
from gangline.api.meta import Raw, condition
from gangline.errors import Problem
from gangline.operator.component import component
from gangline.rules.sets import OperatorSettings
from operator_world import NAMESPACE, OperatorWorld, clique, group, operator_world, pod_clique_set


def refused(pcs: PodCliqueSet) -> list[Problem]:
    return faults(pcs, OperatorSettings())


async def with_faults(here: OperatorWorld, judge: Any = refused) -> None:
    """The operator as the composition root builds it: it hears what admission would say."""
    await here.start(component(OperatorSettings(), faults=judge))


async def test_a_set_from_before_the_checks_is_told_what_is_wrong_and_others_go_on() -> None:
    async with operator_world() as here:
        await with_faults(here)
        bad = pod_clique_set(
            "bad",
            clique("a", 1, 3),
            clique("b", startsAfter=["zz"]),
            terminationDelay="soon",
            cliqueStartupType="CliqueStartupTypeExplicit",
        )
        await here.apply(bad)
        await here.apply(pod_clique_set("good", clique("a", 2)))
        found = condition((await here.the_set("bad")).status.conditions, "SpecInvalid")
        assert found is not None and (found.status, found.reason) == ("True", "WouldBeRefused")
        assert (
            found.message
            == "spec.template.terminationDelay: 'soon' is not a duration (write for example 90s, 30m or 4h)"
        )
        assert condition((await here.the_set("good")).status.conditions, "SpecInvalid") is None
        await here.run(*[pod for pod in await here.pods() if pod.labels["app.kubernetes.io/part-of"] == "good"])
        assert (await here.the_set("good")).status.available_replicas == 1
        await here.client.patch(POD_CLIQUE_SET, "bad", NAMESPACE, {"spec": {"template": {"terminationDelay": "4h"}}})
        await here.settles()
        found = condition((await here.the_set("bad")).status.conditions, "SpecInvalid")
        assert found is not None and found.message == (
            "spec.template.cliques[0].spec.minAvailable: must not be greater than replicas (1); "
            "spec.template.cliques.startsAfter: no clique is called 'zz'"
        )


async def test_a_condition_about_a_bad_set_goes_when_the_set_is_repaired() -> None:
    async with operator_world() as here:
        await with_faults(here)
        await here.apply(pod_clique_set("w", clique("a"), terminationDelay="-1h"))
        assert condition((await here.the_set("w")).status.conditions, "SpecInvalid") is not None
        await here.client.patch(POD_CLIQUE_SET, "w", NAMESPACE, {"spec": {"template": {"terminationDelay": "1h"}}})
        await here.settles()
        assert condition((await here.the_set("w")).status.conditions, "SpecInvalid") is None


async def test_a_failure_that_nobody_foresaw_is_told_on_its_object_and_holds_up_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def judge(pcs: PodCliqueSet) -> list[Problem]:
        if pcs.name == "odd":
            raise RuntimeError("the moon is full")
        return []

    async with operator_world() as here:
        await with_faults(here, judge)
        await here.apply(pod_clique_set("odd", clique("a")))
        await here.apply(pod_clique_set("good", clique("a")))
        [error] = (await here.the_set("odd")).status.last_errors
        assert (error.code, error.description) == ("ERR_UNEXPECTED", "RuntimeError: the moon is full")
        assert (await here.the_set("good")).status.observed_generation == 1


def a_rich_set() -> Raw:
    scaled = clique("a", autoScalingConfig={"minReplicas": 1, "maxReplicas": 3})
    return pod_clique_set("w", scaled, clique("b"), groups=[group("g", ["b"], 2, 1)])


OWNED: dict[Kind[Any], str] = {
    SERVICE_ACCOUNT: "w",
    ROLE: "grove.io:pcs:w",
    ROLE_BINDING: "grove.io:pcs:w",
    SERVICE: "w-0",
    HPA: "w-0-a",
    POD_CLIQUE: "w-0-a",
    SCALING_GROUP: "w-0-g",
    POD_GANG: "w-0",
}


@pytest.mark.parametrize("kind", list(OWNED), ids=lambda kind: kind.kind)
async def test_an_owned_object_that_somebody_deletes_is_made_again(kind: Kind[Any]) -> None:
    async with operator_world() as here:
        await here.apply(a_rich_set())
        before = await here.client.get(kind, OWNED[kind], NAMESPACE)
        await here.client.delete(kind, OWNED[kind], NAMESPACE)
        await here.settles()
        after = await here.client.get(kind, OWNED[kind], NAMESPACE)
        assert after.uid != before.uid and after.labels == before.labels


async def test_a_scaled_gangs_clique_and_a_schedulers_object_are_made_again_too() -> None:
    async with operator_world() as here:
        await here.apply(a_rich_set())
        [first, *_] = await here.every(POD_GROUP)
        for kind, name in ((POD_CLIQUE, "w-0-g-1-b"), (POD_GROUP, first.name)):
            before = await here.client.get(kind, name, NAMESPACE)
            await here.client.delete(kind, name, NAMESPACE)
            await here.settles()
            assert (await here.client.get(kind, name, NAMESPACE)).uid != before.uid


EDITS: list[tuple[Kind[Any], str, Raw]] = [
    (SERVICE_ACCOUNT, "w", {"metadata": {"labels": {"app.kubernetes.io/component": "mine"}}}),
    (SERVICE_ACCOUNT, "w", {"automountServiceAccountToken": False}),
    (ROLE, "grove.io:pcs:w", {"rules": []}),
    (ROLE_BINDING, "grove.io:pcs:w", {"subjects": []}),
    (SERVICE, "w-0", {"spec": {"publishNotReadyAddresses": False}}),
    (SERVICE, "w-0", {"spec": {"selector": {"app": "mine"}}}),
    (HPA, "w-0-a", {"spec": {"maxReplicas": 99}}),
    (POD_CLIQUE, "w-0-a", {"spec": {"minAvailable": 2}}),
    (POD_CLIQUE, "w-0-a", {"metadata": {"labels": {"grove.io/podgang": "other"}}}),
    (SCALING_GROUP, "w-0-g", {"spec": {"cliqueNames": ["a"]}}),
    (SCALING_GROUP, "w-0-g", {"spec": {"minAvailable": 2}}),
    (POD_GANG, "w-0", {"spec": {"podgroups": []}}),
    (POD_GANG, "w-0", {"metadata": {"labels": {"grove.io/scheduler-name": "mine"}}}),
]


@pytest.mark.parametrize(
    ("kind", "name", "edit"), EDITS, ids=[f"{kind.kind}-{number}" for number, (kind, _, _) in enumerate(EDITS)]
)
async def test_an_owned_object_that_somebody_edits_is_put_right(kind: Kind[Any], name: str, edit: Raw) -> None:
    async with operator_world() as here:
        await here.apply(a_rich_set())
        before = await here.client.get(kind, name, NAMESPACE)
        await here.client.patch(kind, name, NAMESPACE, edit)
        await here.settles()
        after = await here.client.get(kind, name, NAMESPACE)
        assert _lasting(after) == _lasting(before)


def _lasting(obj: Any) -> tuple[object, ...]:
    return obj.labels, *(
        getattr(obj, part, None) for part in ("spec", "rules", "subjects", "automount_service_account_token")
    )


async def test_a_pod_that_somebody_deletes_is_replaced_under_the_same_hostname() -> None:
    async with operator_world() as here:
        await here.apply(pod_clique_set("w", clique("a", 2)))
        before = await here.pods()
        await here.client.delete(POD, before[0].name, NAMESPACE, grace=0)
        await here.settles()
        after = await here.pods()
        assert sorted(pod.spec.hostname for pod in after) == sorted(pod.spec.hostname for pod in before)
        assert {pod.uid for pod in before} & {pod.uid for pod in after} == {before[1].uid}


async def test_a_size_that_somebody_chose_is_kept_and_other_peoples_labels_too() -> None:
    async with operator_world() as here:
        await here.apply(a_rich_set())
        await here.client.patch(SCALING_GROUP, "w-0-g", NAMESPACE, {"spec": {"replicas": 3}})
        await here.client.patch(SERVICE, "w-0", NAMESPACE, {"metadata": {"annotations": {"example.com/note": "kept?"}}})
        await here.settles()
        assert (await here.client.get(SCALING_GROUP, "w-0-g", NAMESPACE)).spec.replicas == 3


def a_secret(name: str, owner: PodCliqueSet | None = None) -> Raw:
    owners = (
        [
            {
                "apiVersion": "grove.io/v1alpha1",
                "kind": "PodCliqueSet",
                "name": owner.name,
                "uid": owner.uid,
                "controller": True,
            }
        ]
        if owner is not None
        else []
    )
    return {"metadata": {"name": name, "namespace": NAMESPACE, "ownerReferences": owners}, "type": "Opaque", "data": {}}


async def secrets(here: OperatorWorld) -> set[str]:
    return {item.name for item in await here.every(SECRET, "w-")}


async def test_a_token_under_groves_former_name_goes_once_no_pod_mounts_it() -> None:
    async with operator_world() as here:
        owner = await here.apply(pod_clique_set("w", clique("a")))
        [pod] = await here.pods()
        old = {
            "name": "old",
            "namespace": NAMESPACE,
            "labels": pod.labels,
            "ownerReferences": [
                {
                    "apiVersion": "grove.io/v1alpha1",
                    "kind": "PodClique",
                    "name": "w-0-a",
                    "uid": pod.metadata.owner_references[0].uid,
                    "controller": True,
                }
            ],
        }
        volume = {"name": "token", "secret": {"secretName": "w-initc-sa-token-secret"}}
        await here.client.create(SECRET, a_secret("w-initc-sa-token-secret", owner))
        await here.client.create(
            POD, {"metadata": old, "spec": {"volumes": [volume], "containers": [{"name": "main", "image": "i"}]}}
        )
        await here.client.patch(POD_CLIQUE, "w-0-a", NAMESPACE, {"spec": {"replicas": 2}})
        await here.client.patch(
            POD_CLIQUE_SET, "w", NAMESPACE, {"metadata": {"annotations": {"grove.io/reconcile-trigger": "1"}}}
        )
        await here.settles()
        assert await secrets(here) == {"w-ic-sat", "w-initc-sa-token-secret"}
        await here.client.delete(POD, "old", NAMESPACE, grace=0)
        await here.client.patch(
            POD_CLIQUE_SET, "w", NAMESPACE, {"metadata": {"annotations": {"grove.io/reconcile-trigger": "2"}}}
        )
        await here.settles()
        assert await secrets(here) == {"w-ic-sat"}


async def test_a_token_that_somebody_deletes_is_made_again_when_something_happens_to_its_set() -> None:
    async with operator_world() as here:
        await here.apply(pod_clique_set("w", clique("a")))
        before = await here.client.get(SECRET, "w-ic-sat", NAMESPACE)
        await here.client.delete(SECRET, "w-ic-sat", NAMESPACE)
        await here.run(*await here.pods())
        await here.settles()
        after = await here.client.get(SECRET, "w-ic-sat", NAMESPACE)
        assert after.uid != before.uid and after.labels == before.labels


async def test_a_secret_of_somebody_else_under_the_tokens_name_is_left_alone_and_named() -> None:
    async with operator_world() as here:
        await here.client.create(SECRET, a_secret("w-ic-sat"))
        await here.apply(pod_clique_set("w", clique("a")))
        [error] = (await here.the_set("w")).status.last_errors
        assert error.code == "ERR_SECRET_CONFLICT"
        assert (await here.client.get(SECRET, "w-ic-sat", NAMESPACE)).metadata.owner_references == ()
