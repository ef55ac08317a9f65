"""A Config and its shards on a whole cluster: deployed, changed, repaired, removed, and told of."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from gangline.api.kinds import (
    CLUSTER_ROLE,
    CONFIG,
    CONFIG_MAP,
    DEPLOYMENT,
    ENDPOINT_SLICE,
    EVENT,
    LEASE,
    MUTATING_WEBHOOK,
    NAMESPACE,
    PDB,
    POD,
    ROLE,
    SCHEDULING_SHARD,
    SECRET,
    SERVICE,
    SERVICE_ACCOUNT,
    VALIDATING_WEBHOOK,
    Kind,
)
from gangline.client import Client
from gangline.cluster.administrator import ADMIN
from gangline.installer.plan import PATIENCE
from installer.installer_story import SPACE, InstallerStory, installer_story
from yaml_loading import load_yaml


@pytest.fixture
async def cluster() -> AsyncIterator[InstallerStory]:
    async with installer_story() as found:
        yield found


def container(deployment: Any) -> dict[str, Any]:
    found: dict[str, Any] = deployment.spec.template["spec"]["containers"][0]
    return found


async def revisions(cluster: InstallerStory) -> dict[str, str]:
    from gangline.installer.plan import ALWAYS

    kinds: list[Kind[Any]] = [CONFIG, SCHEDULING_SHARD, *ALWAYS]
    return {
        f"{kind.kind} {item.namespace}/{item.name}": item.metadata.resource_version
        for kind in kinds
        for item in (await cluster.client.list(kind)).items
    }


async def events(cluster: InstallerStory, reason: str) -> list[str]:
    return [item.message for item in (await cluster.client.list(EVENT)).items if item.reason == reason]


async def test_a_config_and_two_shards_become_deployments_at_work(cluster: InstallerStory) -> None:
    await cluster.config()
    await cluster.shard("default")
    await cluster.shard("blue", partitionLabelValue="blue")
    await cluster.ready(CONFIG, "kai-config")
    await cluster.ready(SCHEDULING_SHARD, "default")
    await cluster.ready(SCHEDULING_SHARD, "blue")
    assert await cluster.deployments() == [
        "admission",
        "binder",
        "explainer",
        "gangline-operator",
        "kai-scheduler-blue",
        "kai-scheduler-default",
        "node-scale-adjuster",
        "pod-grouper",
        "podgroup-controller",
        "queue-controller",
    ]
    assert "--partition-label-value=blue" in container(await cluster.deployment("kai-scheduler-blue"))["command"]
    config = await cluster.client.get(CONFIG, "kai-config")
    said = {condition["type"]: (condition["status"], condition["reason"]) for condition in config.status["conditions"]}
    assert said == {
        "Reconciling": ("False", "reconciled"),
        "Deployed": ("True", "deployed"),
        "Available": ("True", "available"),
        "DependenciesFulfilled": ("True", "dependencies_fulfilled"),
        "Ready": ("True", "ready"),
    }
    assert {condition["observedGeneration"] for condition in config.status["conditions"]} == {1}


async def test_each_object_belongs_to_its_config_or_shard(cluster: InstallerStory) -> None:
    await cluster.config()
    await cluster.shard("default")
    await cluster.ready(SCHEDULING_SHARD, "default")
    await cluster.ready(CONFIG, "kai-config")
    binder, scheduler = await cluster.deployment("binder"), await cluster.deployment("kai-scheduler-default")
    assert [
        (owner_reference.kind, owner_reference.name, owner_reference.controller)
        for owner_reference in binder.metadata.owner_references
    ] == [("Config", "kai-config", True)]
    assert [
        (owner_reference.kind, owner_reference.name) for owner_reference in scheduler.metadata.owner_references
    ] == [("SchedulingShard", "default")]
    [reservation] = (
        await cluster.client.list(SERVICE_ACCOUNT, "kai-resource-reservation", labels={"app": "binder"})
    ).items
    assert reservation.name == "kai-resource-reservation"
    role = await cluster.client.get_raw(ROLE, "kai-scheduler-resource-reservation", "kai-resource-reservation")
    assert role["rules"] == [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "patch"]}]


async def test_a_second_look_writes_nothing(cluster: InstallerStory) -> None:
    await cluster.config()
    await cluster.shard("default")
    await cluster.ready(CONFIG, "kai-config")
    await cluster.ready(SCHEDULING_SHARD, "default")
    await cluster.platform.settles()
    before = await revisions(cluster)
    for running in cluster.platform.managers[-1].running:
        running.again()
    await cluster.platform.settles()
    assert await revisions(cluster) == before


async def test_an_installer_that_starts_anew_finds_everything_and_changes_nothing(cluster: InstallerStory) -> None:
    await cluster.config()
    await cluster.shard("default")
    await cluster.ready(CONFIG, "kai-config")
    await cluster.ready(SCHEDULING_SHARD, "default")
    await cluster.platform.settles()
    await cluster.platform.managers.pop().stop()
    before = await revisions(cluster)
    await cluster.platform.start_component("installer")
    await cluster.platform.settles()
    assert await revisions(cluster) == before


async def test_what_is_changed_or_deleted_by_hand_is_put_back(cluster: InstallerStory) -> None:
    await cluster.config()
    await cluster.ready(CONFIG, "kai-config")
    await cluster.client.patch(DEPLOYMENT, "binder", SPACE, {"spec": {"replicas": 3}})
    await cluster.client.delete(SERVICE, "admission", SPACE)
    await cluster.client.patch(
        SERVICE_ACCOUNT, "pod-grouper", SPACE, {"metadata": {"labels": {"app.kubernetes.io/managed-by": None}}}
    )

    async def put_back() -> bool:
        services = {item.name for item in (await cluster.client.list(SERVICE, SPACE)).items}
        account = await cluster.client.get(SERVICE_ACCOUNT, "pod-grouper", SPACE)
        return (
            (await cluster.deployment("binder")).spec.replicas == 1
            and "admission" in services
            and bool(account.labels.get("app.kubernetes.io/managed-by"))
        )

    await cluster.until(put_back, "all of it put back")

    async def told() -> bool:
        return any("Deployment kai-scheduler/binder" in item for item in await events(cluster, "Repaired"))

    await cluster.until(told, "an event about it")
    await cluster.ready(CONFIG, "kai-config")


async def test_with_somebody_who_changes_the_same_field_again_and_again_it_does_not_fight_but_names_him(
    cluster: InstallerStory,
) -> None:
    await cluster.config()
    await cluster.ready(CONFIG, "kai-config")
    rival = Client(cluster.platform.server.transport(ADMIN), manager="rival")

    async def fought() -> bool:
        if (await cluster.deployment("binder")).spec.replicas == 1:
            await rival.patch(DEPLOYMENT, "binder", SPACE, {"spec": {"replicas": 0}})
        return (
            "Deployment kai-scheduler/binder is changed by somebody else"
            in (await cluster.said(CONFIG, "kai-config", "Deployed"))[1]
        )

    await cluster.until(fought, "a word about the rival")
    assert "who writes it: rival" in (await cluster.said(CONFIG, "kai-config", "Deployed"))[1]
    await cluster.platform.settles()
    assert (await cluster.deployment("binder")).spec.replicas == 0


async def test_what_was_put_back_often_is_nobodys_fight_while_only_its_status_moves(cluster: InstallerStory) -> None:
    await cluster.config()
    await cluster.ready(CONFIG, "kai-config")
    rival = Client(cluster.platform.server.transport(ADMIN), manager="rival")

    async def put_back() -> bool:
        return (await cluster.deployment("binder")).spec.replicas == 1

    for _ in range(PATIENCE):
        await rival.patch(DEPLOYMENT, "binder", SPACE, {"spec": {"replicas": 0}})
        await cluster.until(put_back, "the replicas are put back")
    status = {"status": {"conditions": [{"type": "Seen", "status": "True"}]}}
    await cluster.client.patch(DEPLOYMENT, "binder", SPACE, status, subresource="status")
    await cluster.platform.settles()
    assert "somebody else" not in (await cluster.said(CONFIG, "kai-config", "Deployed"))[1]


async def test_a_deployment_whose_pods_come_and_go_is_not_taken_for_changed_by_hand(cluster: InstallerStory) -> None:
    await cluster.config()
    await cluster.ready(CONFIG, "kai-config")
    for _ in range(6):
        [pod] = (await cluster.client.list(POD, SPACE, {"app": "binder"})).items
        await cluster.client.delete(POD, pod.name, SPACE, grace=0)

        async def replaced(gone: str = pod.uid) -> bool:
            pods = (await cluster.client.list(POD, SPACE, {"app": "binder"})).items
            return [item.status.phase for item in pods if item.uid != gone] == ["Running"] and len(pods) == 1

        await cluster.until(replaced, "a new pod")
    await cluster.ready(CONFIG, "kai-config")
    await cluster.platform.settles()
    assert await events(cluster, "Repaired") == []


async def test_what_others_add_to_our_objects_stays(cluster: InstallerStory) -> None:
    await cluster.config()
    await cluster.ready(CONFIG, "kai-config")
    await cluster.client.patch(
        DEPLOYMENT, "binder", SPACE, {"metadata": {"annotations": {"team": "infra"}}, "spec": {"paused": False}}
    )
    await cluster.config(binder={"service": {"image": {"tag": "2"}}})
    await cluster.ready(CONFIG, "kai-config")
    binder = await cluster.deployment("binder")
    assert binder.annotations["team"] == "infra" and container(binder)["image"] == "gangline:2"


async def test_conditions_that_a_cloud_adds_to_webhooks_stay(cluster: InstallerStory) -> None:
    await cluster.config()
    await cluster.ready(CONFIG, "kai-config")

    async def there() -> bool:
        return bool((await cluster.client.list(MUTATING_WEBHOOK)).items)

    await cluster.until(there, "the configuration")
    hooks = (await cluster.client.get_raw(MUTATING_WEBHOOK, "mutating-kai-admission"))["webhooks"]
    added = {"key": "control-plane", "operator": "DoesNotExist"}
    for hook in hooks:
        hook["namespaceSelector"] = {
            "matchExpressions": [*hook.get("namespaceSelector", {}).get("matchExpressions", []), added]
        }
    await cluster.client.patch(MUTATING_WEBHOOK, "mutating-kai-admission", "", {"webhooks": hooks})
    await cluster.config(admission={"gpuSharing": True})
    await cluster.ready(CONFIG, "kai-config")
    await cluster.platform.settles()
    kept = (await cluster.client.get_raw(MUTATING_WEBHOOK, "mutating-kai-admission"))["webhooks"]
    assert all(added in hook["namespaceSelector"]["matchExpressions"] for hook in kept)
    before = await revisions(cluster)
    for running in cluster.platform.managers[-1].running:
        running.again()
    await cluster.platform.settles()
    assert await revisions(cluster) == before


async def test_a_foreign_object_of_our_name_is_left_alone_and_named(cluster: InstallerStory) -> None:
    mine = {
        "metadata": {
            "name": "binder",
            "namespace": SPACE,
            "labels": {"app.kubernetes.io/managed-by": "gangline-installer"},
        }
    }
    await cluster.client.create(SERVICE_ACCOUNT, mine)
    await cluster.client.create(
        SERVICE, {"metadata": {"name": "admission", "namespace": SPACE}, "spec": {"ports": [{"port": 1}]}}
    )
    await cluster.config()
    await cluster.tells(
        CONFIG,
        "kai-config",
        "Deployed",
        "Service kai-scheduler/admission exists and belongs to somebody else; it is left alone: remove or rename it",
    )
    await cluster.tells(
        CONFIG, "kai-config", "Deployed", "ServiceAccount kai-scheduler/binder exists and belongs to somebody else"
    )
    assert (await cluster.said(CONFIG, "kai-config", "Ready"))[0] == "False"
    assert (await cluster.client.get_raw(SERVICE, "admission", SPACE))["spec"]["ports"][0]["port"] == 1
    assert "binder" in await cluster.deployments()

    async def warned() -> bool:
        return any("Service kai-scheduler/admission exists" in item for item in await events(cluster, "NotDeployed"))

    await cluster.until(warned, "a warning")


async def test_a_service_that_is_switched_off_goes_with_all_that_is_its_own(cluster: InstallerStory) -> None:
    await cluster.config()
    await cluster.ready(CONFIG, "kai-config")
    await cluster.config(admission={"service": {"enabled": False}}, binder={"service": {"enabled": False}})
    await cluster.disappears(DEPLOYMENT, "binder")
    await cluster.disappears(DEPLOYMENT, "admission")
    await cluster.disappears(MUTATING_WEBHOOK, "mutating-kai-admission")
    await cluster.disappears(SECRET, "kai-admission-webhook-tls-secret")
    await cluster.disappears(CLUSTER_ROLE, "kai-scheduler-binder")
    await cluster.disappears(SERVICE_ACCOUNT, "kai-resource-reservation", "kai-resource-reservation")
    await cluster.ready(CONFIG, "kai-config")
    assert "pod-grouper" in await cluster.deployments()


async def test_with_its_config_everything_goes_and_shards_say_what_they_lack(cluster: InstallerStory) -> None:
    await cluster.config()
    await cluster.shard("default")
    await cluster.ready(CONFIG, "kai-config")
    await cluster.ready(SCHEDULING_SHARD, "default")
    await cluster.client.delete(CONFIG, "kai-config")

    async def nothing_left() -> bool:
        return await cluster.ours() == []

    await cluster.until(nothing_left, "nothing left")
    await cluster.tells(
        SCHEDULING_SHARD, "default", "Ready", "there is no Config kai-config: create one (an empty spec will do)"
    )
    assert {item.name for item in (await cluster.client.list(NAMESPACE)).items} >= {SPACE, "kai-resource-reservation"}
    await cluster.config()
    await cluster.ready(CONFIG, "kai-config")
    await cluster.ready(SCHEDULING_SHARD, "default")


async def test_a_config_of_another_name_is_told_that_it_does_not_count(cluster: InstallerStory) -> None:
    await cluster.config("mine")
    await cluster.tells(
        CONFIG, "mine", "Ready", "only the Config named kai-config counts; move what this one says there, and delete it"
    )
    assert await cluster.deployments() == []


async def test_the_api_server_is_told_to_ask_only_once_somebody_answers() -> None:
    async with installer_story(installer=False) as cluster:
        kubelet = next(manager for manager in cluster.platform.managers if manager.component.name == "kubelet")
        cluster.platform.managers.remove(kubelet)
        await kubelet.stop()
        await cluster.platform.start_component("installer")
        await cluster.config()
        await cluster.tells(CONFIG, "kai-config", "Available", "Deployment admission: 0 of 1 pods at work")
        assert (await cluster.client.list(MUTATING_WEBHOOK)).items == []
        await cluster.platform.start_component("kubelet")
        await cluster.ready(CONFIG, "kai-config")

        async def told() -> bool:
            found = [
                item.name
                for kind in (MUTATING_WEBHOOK, VALIDATING_WEBHOOK)
                for item in (await cluster.client.list(kind)).items
            ]
            return found == ["mutating-kai-admission", "validating-kai-admission"]

        await cluster.until(told, "both configurations")
        secret = await cluster.client.get_raw(SECRET, "kai-admission-webhook-tls-secret", SPACE)
        hook = (await cluster.client.get_raw(MUTATING_WEBHOOK, "mutating-kai-admission"))["webhooks"][0]
        assert hook["clientConfig"]["caBundle"] == secret["data"]["ca.crt"]
        assert hook["clientConfig"]["service"]["name"] == "admission"


async def test_a_shard_that_changes_restarts_its_scheduler_and_no_other(cluster: InstallerStory) -> None:
    await cluster.config()
    await cluster.shard("default")
    await cluster.shard("blue", partitionLabelValue="blue")
    await cluster.ready(SCHEDULING_SHARD, "default")
    await cluster.ready(SCHEDULING_SHARD, "blue")
    before = (await cluster.deployment("kai-scheduler-default")).metadata.generation
    await cluster.shard("blue", partitionLabelValue="blue", kValue=2, args={"schedule-period": "2s"})

    async def rolled() -> bool:
        blue = await cluster.deployment("kai-scheduler-blue")
        return "--schedule-period=2s" in container(blue)["command"]

    await cluster.until(rolled, "the new flag")
    await cluster.ready(SCHEDULING_SHARD, "blue")
    text = (await cluster.client.get_raw(CONFIG_MAP, "kai-scheduler-blue", SPACE))["data"]["config.yaml"]
    [proportion] = [plugin for plugin in load_yaml(text)["tiers"][0]["plugins"] if plugin["name"] == "proportion"]
    assert proportion["arguments"] == {"kValue": "2"}
    assert (await cluster.deployment("kai-scheduler-default")).metadata.generation == before
    await cluster.client.delete(SCHEDULING_SHARD, "blue")
    await cluster.disappears(DEPLOYMENT, "kai-scheduler-blue")
    await cluster.disappears(CONFIG_MAP, "kai-scheduler-blue")
    assert "kai-scheduler-default" in await cluster.deployments()


async def test_a_shard_that_could_not_start_is_refused_and_the_running_one_stays(cluster: InstallerStory) -> None:
    await cluster.config()
    await cluster.shard("default")
    await cluster.ready(SCHEDULING_SHARD, "default")
    before = (await cluster.deployment("kai-scheduler-default")).metadata.generation
    await cluster.shard("default", args={"schedule-period": "soon"})
    await cluster.tells(
        SCHEDULING_SHARD,
        "default",
        "Deployed",
        "the scheduler would not start: --schedule-period=soon: 'soon' is not a duration",
    )
    await cluster.shard("default", plugins={"gpupak": {"enabled": True}})
    await cluster.tells(SCHEDULING_SHARD, "default", "Deployed", "plugins: there is no plugin 'gpupak'")
    assert (await cluster.deployment("kai-scheduler-default")).metadata.generation == before


async def test_of_two_shards_for_one_node_pool_the_older_stays(cluster: InstallerStory) -> None:
    await cluster.config()
    await cluster.shard("a", partitionLabelValue="blue")
    await cluster.ready(SCHEDULING_SHARD, "a")
    await cluster.shard("b", partitionLabelValue="blue")
    await cluster.tells(
        SCHEDULING_SHARD, "b", "Deployed", "shard a serves the nodes labelled kai.scheduler/node-pool=blue already"
    )
    assert "kai-scheduler-b" not in await cluster.deployments()
    await cluster.client.delete(SCHEDULING_SHARD, "a")
    await cluster.ready(SCHEDULING_SHARD, "b")


async def test_a_flag_that_does_not_exist_is_left_out_and_told(cluster: InstallerStory) -> None:
    await cluster.config()
    await cluster.shard("default", args={"verbose": "yes"})
    await cluster.ready(SCHEDULING_SHARD, "default")
    await cluster.tells(
        SCHEDULING_SHARD,
        "default",
        "Deployed",
        "note: spec.args.verbose: the scheduler has no such flag; it is left out",
    )
    assert not [
        item for item in container(await cluster.deployment("kai-scheduler-default"))["command"] if "verbose" in item
    ]


async def test_with_several_copies_the_service_of_a_shard_leads_to_the_one_that_leads(cluster: InstallerStory) -> None:
    await cluster.config(scheduler={"replicas": 2, "service": {"podDisruptionBudget": {"enabled": True}}})
    await cluster.shard("default")
    await cluster.ready(SCHEDULING_SHARD, "default")
    service = await cluster.client.get(SERVICE, "kai-scheduler-default", SPACE)
    assert service.spec.selector == {}
    assert [item.name for item in (await cluster.client.list(PDB, SPACE)).items] == ["kai-scheduler-default"]
    pod = (await cluster.client.list(POD, SPACE, {"app": "kai-scheduler-default"})).items[1]
    await cluster.client.create(
        LEASE,
        {"metadata": {"name": "kai-scheduler", "namespace": SPACE}, "spec": {"holderIdentity": f"{pod.name}_1234"}},
    )
    await cluster.client.patch(POD, pod.name, SPACE, {"metadata": {"annotations": {"seen": "now"}}})

    async def leads() -> bool:
        found = await cluster.client.get_raw(ENDPOINT_SLICE, "kai-scheduler-default-leader", SPACE)
        return [endpoint["targetRef"]["name"] for endpoint in found["endpoints"] or ()] == [pod.name]

    await cluster.until(leads, "the leader's address")


async def test_what_the_cluster_lacks_is_named_with_the_remedy(cluster: InstallerStory) -> None:
    await cluster.config(prometheus={"enabled": True}, binder={"vpa": {"enabled": True}})
    await cluster.tells(
        CONFIG,
        "kai-config",
        "DependenciesFulfilled",
        "prometheus operator: install the definitions of "
        "monitoring.coreos.com, or set spec.prometheus.enabled to false",
    )
    await cluster.tells(
        CONFIG, "kai-config", "DependenciesFulfilled", "vertical pod autoscaler: install the definitions of"
    )
    await cluster.shard("numa", plugins={"numa": {"enabled": True}})
    await cluster.tells(
        CONFIG, "kai-config", "DependenciesFulfilled", "NUMA placement exporter: gangline's serves simulated nodes only"
    )
    await cluster.ready(CONFIG, "kai-config")
    assert (await cluster.said(CONFIG, "kai-config", "DependenciesFulfilled"))[0] == "False"
