"""The rest of Grove's catalogue: shared claims (RS1), certificates (CM1), deletion with everything (cascade), and
MNNVL."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from embedded import admin, embedded, until
from gangline.admission.certificates import self_signed
from gangline.admission.component import TLS_SECRET, WebhookSettings, component
from gangline.admission.registration import WebhookAddress
from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kinds import (
    COMPUTE_DOMAIN,
    HPA,
    NAMESPACE,
    POD,
    POD_CLIQUE,
    POD_CLIQUE_SET,
    POD_GANG,
    POD_GROUP,
    QUEUE,
    RESOURCE_CLAIM,
    RESOURCE_CLAIM_TEMPLATE,
    ROLE,
    ROLE_BINDING,
    SCALING_GROUP,
    SECRET,
    SERVICE,
    SERVICE_ACCOUNT,
    TOPOLOGY_BINDING,
    VALIDATING_WEBHOOK,
)
from gangline.api.meta import Raw
from gangline.client import Client
from gangline.components.admission_hooks import hooks
from gangline.components.options import ComponentOptions
from gangline.errors import ApiError, NotFound
from gangline.rules.sets import OperatorSettings
from gangline.runtime import Manager
from journeys.sets import NAME, WL1, Sets, Size, clique, group, pod_clique_set
from journeys.story import told

# --- RS1 --------------------------------------------------------------------------------------------------------------


def sharing(name: str, scope: str, **limits: list[str]) -> Raw:
    return {"name": name, "scope": scope} | ({"filter": limits} if limits else {})


def shared_set() -> Raw:
    """Claims at all three levels, from templates of the set and from outside."""
    inside = [{"name": name, "templateSpec": claim_spec()} for name in ("t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8")]
    worker_a = clique("worker-a", Size(1, 1)) | {
        "resourceSharing": [sharing("t4", "PerReplica"), sharing("outside", "AllReplicas")]
    }
    worker_b = clique("worker-b", Size(1, 1)) | {"resourceSharing": [sharing("t6", "AllReplicas")]}
    of_group = [
        sharing("t2", "AllReplicas"),
        sharing("t3", "PerReplica"),
        sharing("t8", "AllReplicas", childCliqueNames=["worker-b"]),
    ]
    of_set = [
        sharing("t5", "AllReplicas"),
        sharing("outside", "PerReplica"),
        sharing("t1", "PerReplica", childCliqueNames=["worker-a"]),
        sharing("t7", "AllReplicas", childScalingGroupNames=["sg-x"]),
    ]
    return pod_clique_set(
        {
            "resourceClaimTemplates": inside,
            "resourceSharing": of_set,
            "cliques": [worker_a, worker_b],
            "podCliqueScalingGroups": [group("sg-x", ["worker-b"], Size(2, 2), resourceSharing=of_group)],
        }
    )


def claim_spec() -> Raw:
    return {"spec": {"devices": {"requests": [{"name": "device", "exactly": {"deviceClassName": "example.com"}}]}}}


async def claims(sets: Sets) -> int:
    await sets.story.settles()
    return len(await sets.story.all(RESOURCE_CLAIM))


async def test_RS1_shared_claims_follow_every_change_of_size(sets: Sets) -> None:
    await sets.client.create(
        RESOURCE_CLAIM_TEMPLATE, {"metadata": {"name": "outside", "namespace": "default"}, "spec": claim_spec()}
    )
    await sets.story.apply(shared_set())
    assert await claims(sets) == 12 and len(await sets.pods()) == 3
    for size, expected in ((1, 10), (3, 14)):
        await sets.scale_group(size)
        assert await claims(sets) == expected
    for size, expected in ((2, 15), (1, 14)):
        await sets.scale_clique(size, f"{NAME}-0-worker-a")
        assert await claims(sets) == expected
    await sets.scale_group(2)
    assert await claims(sets) == 12
    for size, expected in ((2, 22), (1, 12)):
        await sets.scale(size)
        assert await claims(sets) == expected


async def test_RS1_pods_use_the_claims_that_are_meant_for_them(sets: Sets) -> None:
    await sets.client.create(
        RESOURCE_CLAIM_TEMPLATE, {"metadata": {"name": "outside", "namespace": "default"}, "spec": claim_spec()}
    )
    await sets.story.apply(shared_set())
    await sets.story.settles()
    [a], [b] = await sets.pods("0-worker-a"), await sets.pods("0-sg-x-1-worker-b")
    assert used(a) == ["w-all-t5", "w-0-outside", "w-0-t1", "w-0-worker-a-all-outside", "w-0-worker-a-0-t4"]
    assert used(b) == [
        "w-all-t5",
        "w-all-t7",
        "w-0-outside",
        "w-0-sg-x-all-t2",
        "w-0-sg-x-all-t8",
        "w-0-sg-x-1-t3",
        "w-0-sg-x-1-worker-b-all-t6",
    ]
    owners = {claim.name: claim.metadata.controller.kind for claim in await sets.story.all(RESOURCE_CLAIM)}
    assert (owners["w-all-t5"], owners["w-0-sg-x-all-t2"], owners["w-0-worker-a-0-t4"]) == (
        "PodCliqueSet",
        "PodCliqueScalingGroup",
        "PodClique",
    )


def used(pod: Pod) -> list[str | None]:
    return [claim.resource_claim_name for claim in pod.spec.resource_claims]


# --- cascade ----------------------------------------------------------------------------------------------------------


async def test_cascade_a_deleted_set_takes_everything_with_it(sets: Sets) -> None:
    await sets.nodes(10)
    manifest = WL1.manifest()
    manifest["spec"]["template"]["cliques"][0]["spec"]["autoScalingConfig"] = {"minReplicas": 2, "maxReplicas": 4}
    await sets.story.apply(manifest)
    await sets.running(10)
    made = (POD_CLIQUE, SCALING_GROUP, POD_GANG, POD_GROUP, POD, SERVICE, SECRET, ROLE, ROLE_BINDING, HPA)
    for kind in made:
        assert await sets.story.all(kind), f"no {kind.plural} to begin with"
    await sets.client.delete(POD_CLIQUE_SET, NAME, "default")
    await sets.story.gone(POD_CLIQUE_SET, *made)
    assert [item.name for item in await sets.story.all(SERVICE_ACCOUNT)] == ["default"]


# --- CM1 --------------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def webhook(client: Client, port: int) -> AsyncIterator[None]:
    """Our hooks behind HTTPS, asked by a server that knows them no other way."""
    settings = WebhookSettings(WebhookAddress(url=f"https://127.0.0.1:{port}"), "127.0.0.1", port)
    manager = Manager(
        component(lambda read: hooks(ComponentOptions(), read), settings, (QUEUE, TOPOLOGY_BINDING)), client
    )
    await manager.start()
    try:
        await until(lambda: _trusts(client), "the registration of the kept certificate")
        yield
    finally:
        await manager.stop()


async def _trusts(client: Client) -> bool:
    found = await client.list_raw(VALIDATING_WEBHOOK)
    bundles = {item["clientConfig"]["caBundle"] for configuration in found for item in configuration["webhooks"]}
    return bool(bundles) and bundles == {await _kept(client)}


async def _kept(client: Client) -> str:
    try:
        return str((await client.get_raw(SECRET, TLS_SECRET, names.SYSTEM_NAMESPACE))["data"]["tls.crt"])
    except NotFound:
        return ""


async def _answers(client: Client) -> bool:
    """The defaults are filled in, and a set without cliques is refused."""
    made = await client.create(POD_CLIQUE_SET, WL1.manifest(), dry_run=True)
    with pytest.raises(ApiError, match="cliques"):
        await client.create(POD_CLIQUE_SET, pod_clique_set({"cliques": []}), dry_run=True)
    return made.spec.template.termination_delay == "4h0m0s"


async def test_CM1_webhooks_work_with_our_certificate_with_someone_elses_and_with_ours_again(
    unused_tcp_port: int,
) -> None:
    async with embedded(kinds=True) as server:
        client = admin(server)
        await client.create(NAMESPACE, {"metadata": {"name": names.SYSTEM_NAMESPACE}})
        async with webhook(client, unused_tcp_port):
            assert await _answers(client)
        ours = await _kept(client)
        given = self_signed(["127.0.0.1"], datetime.now(UTC))
        theirs = {
            "tls.crt": base64.b64encode(given.certificate).decode(),
            "tls.key": base64.b64encode(given.key).decode(),
        }
        await client.patch(SECRET, TLS_SECRET, names.SYSTEM_NAMESPACE, {"data": theirs})
        async with webhook(client, unused_tcp_port):
            assert await _answers(client) and await _kept(client) == theirs["tls.crt"]
        await client.delete(SECRET, TLS_SECRET, names.SYSTEM_NAMESPACE)
        async with webhook(client, unused_tcp_port):
            assert await _answers(client) and await _kept(client) not in (ours, theirs["tls.crt"])


# --- MNNVL ------------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def nvlink(*, enabled: bool = True) -> AsyncIterator[Sets]:
    """A cluster that serves ComputeDomains, with the operator's MNNVL on or off."""
    async with told(operator=OperatorSettings(auto_mnnvl=enabled), without=("operator",)) as story:
        await story.kind("resource.nvidia.com", "v1beta1", "ComputeDomain")
        await story.platform.start_component("operator")
        yield Sets(story)


def gpu_clique(name: str, mark: str = "", *, gpus: int = 1) -> Raw:
    made = clique(name, Size(1, 1))
    made["spec"]["podSpec"]["containers"][0]["resources"] = {"limits": {names.NVIDIA_GPU: str(gpus)}} if gpus else {}
    return made | ({"annotations": {names.MNNVL_GROUP: mark}} if mark else {})


async def create(sets: Sets, *cliques: Raw, mark: str = "", groups: list[Raw] | None = None, **more: Any) -> None:
    template: Raw = {"cliques": list(cliques)} | ({"podCliqueScalingGroups": groups} if groups else {})
    await sets.story.apply(pod_clique_set(template, annotations={names.MNNVL_GROUP: mark} if mark else {}, **more))
    await sets.story.settles()


async def domains(sets: Sets) -> list[str]:
    await sets.story.settles()
    return sorted(item.name for item in await sets.story.all(COMPUTE_DOMAIN))


async def test_MNNVL_a_set_that_does_not_ask_gets_none() -> None:
    async with nvlink() as sets:
        await create(sets, gpu_clique("a"))
        assert await domains(sets) == []
        assert [used_templates(pod) for pod in await sets.pods()] == [[]]


async def test_MNNVL_each_replica_of_the_set_has_a_domain_of_its_own_which_goes_with_it() -> None:
    async with nvlink() as sets:
        await create(sets, gpu_clique("a"), mark="default")
        assert await domains(sets) == ["w-0-default"]
        assert [used_templates(pod) for pod in await sets.pods()] == [["w-0-default"]]
        for size, expected in ((3, ["w-0-default", "w-1-default", "w-2-default"]), (1, ["w-0-default"])):
            await sets.scale(size)
            assert await domains(sets) == expected
        await sets.client.delete(POD_CLIQUE_SET, NAME, "default")
        await sets.story.gone(COMPUTE_DOMAIN, POD)


async def test_MNNVL_cliques_and_groups_may_join_another_group_or_none_and_cpu_cliques_never_take_part() -> None:
    async with nvlink() as sets:
        grouped = group("g", ["m"], Size(1, 1), annotations={names.MNNVL_GROUP: "train"})
        await create(
            sets,
            gpu_clique("a"),
            gpu_clique("b", "train"),
            gpu_clique("c", "none"),
            gpu_clique("d", gpus=0),
            gpu_clique("m"),
            mark="default",
            groups=[grouped],
        )
        assert await domains(sets) == ["w-0-default", "w-0-train"]
        by_clique = {pod.labels[names.POD_CLIQUE]: used_templates(pod) for pod in await sets.pods()}
        assert by_clique == {
            "w-0-a": ["w-0-default"],
            "w-0-b": ["w-0-train"],
            "w-0-c": [],
            "w-0-d": [],
            "w-0-g-0-m": ["w-0-train"],
        }


async def test_MNNVL_a_group_that_is_no_name_is_refused_and_a_group_cannot_change() -> None:
    async with nvlink() as sets:
        with pytest.raises(ApiError) as refused:
            await create(sets, gpu_clique("a"), mark="Not A Name")
        assert names.MNNVL_GROUP in str(refused.value)
        await create(sets, gpu_clique("a"), mark="default")
        with pytest.raises(ApiError) as refused:
            await sets.client.patch(
                POD_CLIQUE_SET, NAME, "default", {"metadata": {"annotations": {names.MNNVL_GROUP: "other"}}}
            )
        assert "cannot be changed from 'default' to 'other'" in str(refused.value)


async def test_MNNVL_where_it_is_off_a_set_that_asks_is_told_and_others_run() -> None:
    async with nvlink(enabled=False) as sets:
        with pytest.raises(ApiError) as refused:
            await create(sets, gpu_clique("a"), mark="default")
        assert "MNNVL is not enabled in the operator's configuration" in str(refused.value)
        await create(sets, gpu_clique("a"), mark="none")
        assert await domains(sets) == [] and len(await sets.pods()) == 1


def used_templates(pod: Pod) -> list[str | None]:
    return [claim.resource_claim_template_name for claim in pod.spec.resource_claims]
