"""A Config configures the operator of sets, gives all components their manner, and deploys backends as processes of
their own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from gangline.api.kinds import (
    CLUSTER_ROLE,
    CONFIG,
    CONFIG_MAP,
    DEPLOYMENT,
    MUTATING_WEBHOOK,
    ROLE,
    ROLE_BINDING,
    SERVICE_ACCOUNT,
    VALIDATING_WEBHOOK,
    Kind,
)
from gangline.api.meta import Raw
from gangline.api.names import CONFIG_HASH, RECORDINGS
from gangline.components.installer_parts import installer_parts
from gangline.installer.config_reader import ConfigReading
from gangline.installer.contract import CertificatePair, InstallFacts, WantedObjects
from gangline.installer.objects.desired import wishes_of_config
from gangline.installer.objects.shards import wishes_of_shard
from gangline.installer.settings import InstallerSettings
from gangline.operator.backends import Registry
from gangline.operator.rights import election_rights, rights
from gangline.operator.settings import notes, read
from gangline.rules.sets import OperatorSettings, Profile
from installer.installer_story import SPACE, InstallerStory, installer_story
from yaml_loading import load_yaml

PARTS = installer_parts()
CERTIFICATE = CertificatePair(b"certificate", b"key", b"authority")
APART: Raw = {"workload": {"scheduler": {"outside": ["volcano", "podgang"]}}}


def config(spec: Raw, settings: InstallerSettings | None = None) -> WantedObjects:
    return wishes_of_config(
        ConfigReading(spec, settings or InstallerSettings()), InstallFacts(certificate=CERTIFICATE, answers=True), PARTS
    )


def only(wishes: WantedObjects, kind: Kind[Any], name: str) -> Raw:
    [found] = [item.obj for item in wishes.objects if item.kind == kind and item.name == name]
    return found


def names(wishes: WantedObjects, kind: Kind[Any]) -> list[str]:
    return [item.name for item in wishes.objects if item.kind == kind]


def commands(wishes: WantedObjects) -> Mapping[str, list[str]]:
    pods = {item.name: item.obj["spec"]["template"]["spec"] for item in wishes.objects if item.kind == DEPLOYMENT}
    return {name: pod["containers"][0]["command"] for name, pod in pods.items()}


def file(wishes: WantedObjects) -> Raw:
    found: Raw = load_yaml(only(wishes, CONFIG_MAP, "gangline-operator")["data"]["config.yaml"])
    return found


# --- the operator's configuration -------------------------------------------------------------------------------------


def test_a_config_that_says_nothing_of_the_operator_writes_no_file() -> None:
    found = config({})
    assert names(found, CONFIG_MAP) == [] and not [
        word for words in commands(found).values() for word in words if "--config" in word
    ]


def test_what_a_config_says_of_the_operator_is_read_by_operator_backends_and_admission_alike() -> None:
    said = {
        "scheduler": {
            "profiles": [{"name": "mine", "backend": "passthrough"}],
            "defaultProfileName": "mine",
            "backends": ["default", "kai", "passthrough"],
            "outside": ["kai"],
        },
        "topologyAwareScheduling": {"enabled": False},
        "network": {"autoMNNVLEnabled": True},
        "logLevel": "debug",
        "controllers": {"podGang": {"concurrentSyncs": 3}},
    }
    found = config({"workload": said})
    assert not found.problems and not found.notes and notes(file(found)) == []
    settings = read(file(found))
    assert settings.profiles[0] == Profile("mine", "passthrough") and settings.default_profile == "mine"
    assert (settings.backends, settings.outside) == (("default", "kai", "passthrough"), ("kai",))
    assert (settings.topology_aware, settings.auto_mnnvl, settings.workers.pod_gang) == (False, True, 3)
    assert (file(found)["logLevel"], file(found)["logFormat"]) == ("debug", "text")
    for name in ("gangline-operator", "admission", "gangline-backend-kai"):
        assert "--config=/etc/gangline/operator/config.yaml" in commands(found)[name]
        pod = only(found, DEPLOYMENT, name)["spec"]["template"]["spec"]
        assert {"name": "configuration", "configMap": {"name": "gangline-operator"}} in pod["volumes"]
        assert "/etc/gangline/operator" in [
            volume_mount["mountPath"] for volume_mount in pod["containers"][0]["volumeMounts"]
        ]


def test_what_is_left_out_is_as_it_is_without_a_file() -> None:
    usual, settings = OperatorSettings(), read(file(config({"workload": {"network": {"autoMNNVLEnabled": True}}})))
    assert (settings.profiles, settings.topology_aware, settings.backends) == (
        usual.profiles,
        usual.topology_aware,
        usual.backends,
    )
    some = read(file(config({"workload": {"scheduler": {"backends": ["default"]}}})))
    assert some.profiles == (Profile("default-scheduler", "default"),)


def test_a_file_that_changes_starts_those_anew_that_read_it() -> None:
    def mark(level: str) -> list[str]:
        found = config({"workload": {"logLevel": level}})
        apps = ("gangline-operator", "admission")
        return [
            only(found, DEPLOYMENT, app)["spec"]["template"]["metadata"]["annotations"][CONFIG_HASH] for app in apps
        ]

    assert mark("debug") == mark("debug") != mark("info")


def test_of_several_operators_one_works_whatever_the_file_says() -> None:
    assert (
        "--leader-elect=true"
        in commands(config({"workload": {"replicas": 2, "logLevel": "info"}}))["gangline-operator"]
    )


def test_the_accounts_of_operator_and_backends_are_exempt_from_the_authorizer() -> None:
    said = {"scheduler": {"outside": ["kai"]}, "authorizer": {"enabled": True, "exemptServiceAccountUserNames": ["me"]}}
    found = config({"namespace": "here", "workload": said})
    assert read(file(found)).exempt_users == (
        "me",
        "system:serviceaccount:here:gangline-operator",
        "system:serviceaccount:here:gangline-backend-kai",
    )
    hooks = {webhook["name"] for webhook in only(found, VALIDATING_WEBHOOK, "validating-kai-admission")["webhooks"]}
    plain = {
        webhook["name"] for webhook in only(config({}), VALIDATING_WEBHOOK, "validating-kai-admission")["webhooks"]
    }
    assert hooks - plain, "the API server is told to ask the authorizer"


def test_the_authorizer_is_told_once_for_each_kind_and_not_asked_about_the_components() -> None:
    found = config({"namespace": "here", "workload": {"authorizer": {"enabled": True}}})
    listed = only(found, VALIDATING_WEBHOOK, "validating-kai-admission")["webhooks"]
    assert len({item["name"] for item in listed}) == len(listed), "an API server takes each name once"
    [pods] = [item for item in listed if item["name"] == "pods.authorizer.webhooks.grove.io"]
    told = {match_condition["name"]: match_condition["expression"] for match_condition in pods["matchConditions"]}
    assert '!request.userInfo.username.startsWith("system:serviceaccount:here:")' in told["ours"]


def test_a_configuration_that_cannot_be_is_told_and_what_runs_stays() -> None:
    found = config({"workload": {"scheduler": {"outside": ["volcano", "slurm"], "defaultProfileName": "nobody"}}})
    assert set(found.kept) == {"gangline-operator", "admission", "gangline-backend-volcano", "gangline-backend-slurm"}
    assert "scheduler.defaultProfileName: nobody is not one of the profiles" in found.problems[0]
    assert "gangline-operator" not in names(found, CONFIG_MAP) and "binder" in names(found, DEPLOYMENT)


def test_a_backend_that_does_not_exist_is_told_and_the_others_are_deployed() -> None:
    found = config({"workload": {"scheduler": {"outside": ["slurm", "kai"]}}})
    assert "gangline-backend-kai" in names(found, DEPLOYMENT) and found.kept == ["gangline-backend-slurm"]
    assert found.problems == [
        "gangline-backend-slurm stays as it is, because it would not start: no backend is called 'slurm'; there "
        f"are: {', '.join(Registry(OperatorSettings()).names)}"
    ]


def test_the_operator_can_be_switched_off_and_its_image_and_resources_changed() -> None:
    assert "gangline-operator" not in names(config({"workload": {"service": {"enabled": False}}}), DEPLOYMENT)
    found = config({"workload": {"service": {"image": {"tag": "9"}, "resources": {"limits": {"memory": "3Gi"}}}}})
    container = only(found, DEPLOYMENT, "gangline-operator")["spec"]["template"]["spec"]["containers"][0]
    assert container["image"] == "gangline:9" and container["resources"]["limits"]["memory"] == "3Gi"


def test_where_the_operator_is_somebody_elses_the_section_says_nothing() -> None:
    found = config(APART, InstallerSettings(half="scheduler"))
    assert found.notes == [
        "spec.workload: nothing of it is deployed, because the installer was started with --half=scheduler"
    ]
    assert not {"gangline-operator", "gangline-backend-kai"} & {*names(found, DEPLOYMENT), *names(found, CONFIG_MAP)}


# --- the manner -------------------------------------------------------------------------------------------------------


def test_the_manner_reaches_every_component() -> None:
    found = config({"global": {"compat": ["grove", "kai"]}} | APART)
    for words in commands(found).values():
        assert [word for word in words if word.startswith("--compat")] == ["--compat=grove", "--compat=kai"]
    scheduler = wishes_of_shard(ConfigReading({"global": {"compat": ["kai"]}}), "s", {}, InstallFacts(), PARTS)
    assert "--compat=kai" in commands(scheduler)["kai-scheduler-s"]
    assert "--scheduler-name=kai-scheduler" in commands(scheduler)["kai-scheduler-s"]
    mutating = [webhook["name"] for webhook in only(found, MUTATING_WEBHOOK, "mutating-kai-admission")["webhooks"]]
    assert "schedule.pods.gangline.io" not in mutating


def test_natively_both_scheduler_names_are_served_and_others_if_the_config_says_so() -> None:
    scheduler = wishes_of_shard(ConfigReading({}), "s", {}, InstallFacts(), PARTS)
    assert "--scheduler-name=kai-scheduler,grove-scheduler" in commands(scheduler)["kai-scheduler-s"]
    mine = config({"global": {"schedulerName": "mine"}})
    assert "--scheduler-name=mine" in commands(mine)["binder"]


def test_a_scheduler_records_into_a_volume_of_its_own_but_not_in_the_manner_of_kai() -> None:
    def scheduler(spec: Raw, shard: Raw | None = None) -> Raw:
        wishes = wishes_of_shard(ConfigReading(spec), "s", shard or {}, InstallFacts(), PARTS)
        pod: Raw = only(wishes, DEPLOYMENT, "kai-scheduler-s")["spec"]["template"]["spec"]
        return pod

    mine = scheduler({})
    assert {"name": "recording", "emptyDir": {}} in mine["volumes"]
    assert {"name": "recording", "mountPath": RECORDINGS} in mine["containers"][0]["volumeMounts"]
    assert f"--recording-folder={RECORDINGS}" in mine["containers"][0]["command"]
    assert "recording" not in str(scheduler({"global": {"compat": ["kai"]}}))
    elsewhere = scheduler({}, {"args": {"recording-folder": "/mine"}})
    assert "--recording-folder=/mine" in elsewhere["containers"][0]["command"]
    assert "emptyDir" not in str(elsewhere)


def test_singles_wait_for_their_group_where_the_grouper_is_told_what_the_scheduler_is_not() -> None:
    def flags(spec: Raw) -> list[str]:
        return commands(wishes_of_shard(ConfigReading(spec), "s", {}, InstallFacts(), PARTS))["kai-scheduler-s"]

    told = "--singles-at-once=false"
    assert told not in flags({})
    assert told in flags({"global": {"podLabelSelector": {"a": "b"}}})
    assert told in flags({"global": {"namespaceLabelSelector": {"a": "b"}}})
    named = {"defaultPrioritiesConfigMapName": "usual", "defaultPrioritiesConfigMapNamespace": "kai-scheduler"}
    assert told in flags({"podGrouper": {"args": named}})


def test_pods_with_a_queue_are_taken_where_the_config_says_so() -> None:
    assert "--schedule-queued-pods=true" in commands(config({"admission": {"scheduleQueuedPods": True}}))["admission"]


# --- backends on their own --------------------------------------------------------------------------------------------


def test_a_backend_outside_is_a_deployment_with_just_its_rights() -> None:
    found = config(APART)
    assert not found.problems and not found.notes
    assert [name for name in names(found, DEPLOYMENT) if "backend" in name] == [
        "gangline-backend-volcano",
        "gangline-backend-kai",
    ]
    assert commands(found)["gangline-backend-kai"][:4] == ["gangline", "run", "backend", "kai"]
    kai = Registry(OperatorSettings()).by_name("kai")
    assert only(found, CLUSTER_ROLE, "kai-scheduler-gangline-backend-kai")["rules"] == rights(kai)
    assert only(found, ROLE, "kai-scheduler-gangline-backend-kai")["rules"] == election_rights("gangline-backend-kai")
    bound = only(found, ROLE_BINDING, "kai-scheduler-gangline-backend-kai")
    assert bound["metadata"]["namespace"] == SPACE
    assert bound["subjects"] == [{"kind": "ServiceAccount", "name": "gangline-backend-kai", "namespace": SPACE}]
    assert "gangline-backend-kai" in names(found, SERVICE_ACCOUNT)


def test_a_backend_has_its_own_replicas_image_and_resources_or_is_run_by_somebody_else() -> None:
    said = {
        "volcano": {"replicas": 2, "service": {"image": {"name": "mine", "tag": "1"}}},
        "podgang": {"service": {"enabled": False}},
    }
    found = config(
        {
            "workload": {
                "scheduler": {"outside": ["volcano", "kai"]},
                "backendServices": said | {"kai": {"service": {"enabled": False}}},
            }
        }
    )
    deployment = only(found, DEPLOYMENT, "gangline-backend-volcano")
    assert deployment["spec"]["replicas"] == 2
    assert deployment["spec"]["template"]["spec"]["containers"][0]["image"] == "mine:1"
    assert "gangline-backend-kai" not in names(found, DEPLOYMENT) and read(file(found)).outside == ("volcano", "kai")


def test_a_backend_that_is_described_but_not_outside_is_told_of() -> None:
    assert config({"workload": {"backendServices": {"kai": {}}}}).notes == [
        "spec.workload.backendServices.kai: it is deployed only if spec.workload.scheduler.outside lists kai"
    ]


@pytest.fixture
async def cluster() -> AsyncIterator[InstallerStory]:
    async with installer_story() as found:
        yield found


async def test_a_backend_is_deployed_repaired_and_removed_as_the_other_components_are(cluster: InstallerStory) -> None:
    await cluster.config(**APART)
    await cluster.ready(CONFIG, "kai-config")
    assert {"gangline-backend-kai", "gangline-backend-volcano", "gangline-operator"} <= set(await cluster.deployments())
    await cluster.client.delete(DEPLOYMENT, "gangline-backend-kai", SPACE)
    await cluster.client.patch(CONFIG_MAP, "gangline-operator", SPACE, {"data": {"config.yaml": "{}"}})

    async def put_back() -> bool:
        text = (await cluster.client.get_raw(CONFIG_MAP, "gangline-operator", SPACE))["data"]["config.yaml"]
        return "gangline-backend-kai" in await cluster.deployments() and "podgang" in text

    await cluster.until(put_back, "both put back")
    await cluster.config(workload={"scheduler": {"outside": ["volcano"]}})
    for kind in (DEPLOYMENT, SERVICE_ACCOUNT, ROLE, ROLE_BINDING):
        name = "gangline-backend-kai" if kind in (DEPLOYMENT, SERVICE_ACCOUNT) else "kai-scheduler-gangline-backend-kai"
        await cluster.disappears(kind, name)
    await cluster.disappears(CLUSTER_ROLE, "kai-scheduler-gangline-backend-kai")
    await cluster.config()
    await cluster.disappears(CONFIG_MAP, "gangline-operator")
    await cluster.disappears(DEPLOYMENT, "gangline-backend-volcano")
    await cluster.ready(CONFIG, "kai-config")
