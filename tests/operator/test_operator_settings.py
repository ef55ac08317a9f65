"""Grove's OperatorConfiguration: read unchanged, and what is wrong with it in one list."""

from __future__ import annotations

from pathlib import Path

import pytest

from embedded import admin, embedded
from gangline.api.kinds import CRD
from gangline.api.meta import Raw
from gangline.cli import main
from gangline.operator.preflight import PrerequisiteMissing, check
from gangline.operator.settings import BadConfiguration, notes, process, read
from gangline.rules.sets import LeaderElection, OperatorProcess, OperatorSettings, WebhookServer, Workers

CHART: Raw = {
    "apiVersion": "operator.config.grove.io/v1alpha1",
    "kind": "OperatorConfiguration",
    "runtimeClientConnection": {"qps": 100, "burst": 150},
    "leaderElection": {
        "enabled": True,
        "leaseDuration": "30s",
        "renewDeadline": "20s",
        "retryPeriod": "4s",
        "resourceLock": "leases",
        "resourceName": "grove-operator-leader-election",
    },
    "server": {
        "webhooks": {
            "bindAddress": "0.0.0.0",
            "port": 9443,
            "serverCertDir": "/etc/certs",
            "secretName": "certs",
            "certProvisionMode": "manual",
        },
        "healthProbes": {"bindAddress": "0.0.0.0", "port": 9444},
        "metrics": {"bindAddress": "0.0.0.0", "port": 9445},
    },
    "controllers": {
        "podCliqueSet": {"concurrentSyncs": 3},
        "podClique": {"concurrentSyncs": 3},
        "podCliqueScalingGroup": {"concurrentSyncs": 3},
    },
    "logLevel": "info",
    "logFormat": "text",
    "authorizer": {
        "enabled": True,
        "exemptServiceAccountUserNames": ["system:serviceaccount:kube-system:generic-garbage-collector"],
        "reconcilerServiceAccountUserName": "system:serviceaccount:grove:grove-operator",
    },
    "topologyAwareScheduling": {"enabled": True},
    "network": {"autoMNNVLEnabled": False},
    "scheduler": {
        "profiles": [{"name": "default-scheduler"}, {"name": "kai-scheduler"}],
        "defaultProfileName": "kai-scheduler",
    },
}


def test_the_file_that_groves_chart_writes_is_read_unchanged() -> None:
    settings = read(CHART)
    assert {profile.name: profile.backend for profile in settings.profiles} == {
        "default-scheduler": "default",
        "kai-scheduler": "kai",
    }
    assert settings.default_profile == "kai-scheduler"
    assert settings.topology_aware and settings.authorizer and not settings.auto_mnnvl
    assert settings.workers == Workers(3, 3, 3, 5)
    assert settings.exempt_users == ("system:serviceaccount:kube-system:generic-garbage-collector",)
    assert process(CHART) == OperatorProcess(
        LeaderElection(True, "grove-operator-leader-election", 30, 20, 4),
        WebhookServer("0.0.0.0", 9443, "/etc/certs", "certs", True),
        9444,
        9445,
        "info",
        "text",
    )


def test_an_empty_file_means_groves_defaults() -> None:
    settings = read({})
    assert [profile.name for profile in settings.profiles] == ["default-scheduler"]
    assert (settings.topology_aware, settings.workers, settings.init_image) == (
        False,
        Workers(10, 10, 5, 5),
        OperatorSettings().init_image,
    )
    assert process({}) == OperatorProcess()


def test_what_is_said_in_vain_is_named_and_stops_nothing() -> None:
    assert notes(CHART) == [
        "authorizer.reconcilerServiceAccountUserName is not a setting, and ignored (known here: enabled, "
        "exemptServiceAccountUserNames)",
        "runtimeClientConnection has no effect: the client waits for its answers instead of counting queries",
    ]
    said = {
        "sheduler": {},
        "server": {"metrics": {"prot": 1}},
        "leaderElection": {"resourceNamespace": "x"},
        "scheduler": {"profiles": [{"name": "volcano", "config": {"a": 1}}]},
    }
    assert [note.partition(" ")[0] for note in notes(said)] == [
        "sheduler",
        "server.metrics.prot",
        "leaderElection.resourceNamespace",
        "scheduler.profiles[0].config",
    ]
    assert read(said).profile("volcano") is not None


def test_everything_wrong_is_told_at_once() -> None:
    with pytest.raises(BadConfiguration) as refused:
        read(
            {
                "controllers": {"podClique": {"concurrentSyncs": 0}},
                "logLevel": "loud",
                "logFormat": "xml",
                "leaderElection": {
                    "enabled": "yes",
                    "leaseDuration": "5s",
                    "retryPeriod": "soon",
                    "resourceLock": "configmaps",
                },
                "server": {"webhooks": {"port": 70000, "certProvisionMode": "magic"}},
                "scheduler": {"profiles": [{"name": "volcano"}, {"name": "volcano"}, {}], "defaultProfileName": "mine"},
            }
        )
    assert str(refused.value) == "the operator's configuration cannot be used: " + "; ".join(
        [
            "leaderElection.enabled: must be true or false",
            "server.webhooks.port: must be a number from 0 to 65535",
            "controllers.podClique.concurrentSyncs: must be greater than 0",
            "server.webhooks.certProvisionMode: must be auto or manual",
            "logLevel: must be debug or info or error",
            "logFormat: must be json or text",
            "leaderElection.resourceLock: must be leases",
            "leaderElection.retryPeriod: must be a duration above 0 (for example 15s)",
            "scheduler.profiles[1].name: volcano is listed twice",
            "scheduler.profiles[2].name: must be given",
            "scheduler.defaultProfileName: mine is not one of the profiles (profiles: volcano, volcano, )",
        ]
    )


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        (
            {"leaderElection": {"leaseDuration": "10s"}},
            "leaderElection.leaseDuration: 10 s must be longer than renewDeadline, which is 10 s",
        ),
        (
            {"leaderElection": {"retryPeriod": "10s"}},
            "leaderElection.renewDeadline: 10 s must be longer than retryPeriod, which is 10 s",
        ),
        (
            {"server": {"metrics": {"port": 2751}}},
            "server.metrics.port: 2751 is the port of server.healthProbes.port already",
        ),
        (
            {"scheduler": {"backends": ["default"], "profiles": [{"name": "kai-scheduler"}]}},
            "scheduler.profiles[0]: needs backend kai, which scheduler.backends leaves out",
        ),
        (
            {"scheduler": {"backends": ["workload"], "outside": ["kai"]}},
            "scheduler.outside[0]: kai cannot run outside: scheduler.backends leaves it out",
        ),
        ({"kind": "Config"}, "kind: must be OperatorConfiguration of operator.config.grove.io/v1alpha1"),
        ({"scheduler": []}, "scheduler: must be a mapping"),
        ({"scheduler": {"profiles": {}}}, "scheduler.profiles: must be a list"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(config: Raw, problem: str) -> None:
    with pytest.raises(BadConfiguration) as refused:
        process(config)
    assert str(refused.value) == f"the operator's configuration cannot be used: {problem}"


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["gangline", *arguments])
    with pytest.raises(SystemExit) as stop:
        main()
    return int(stop.value.code or 0)


def test_a_command_with_a_wrong_file_ends_with_groves_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "operator.yaml"
    file.write_text("logLevel: loud\nauthorizer: {enabled: 3}\n")
    for command in (("run", "operator"), ("run", "admission"), ("up", "--memory")):
        assert call(monkeypatch, *command, "--config", str(file)) == 2
        assert capsys.readouterr().err == (
            "error: the operator's configuration cannot be used: authorizer.enabled: must be true or false; "
            "logLevel: must be debug or info or error\n"
        )


def test_a_configuration_of_the_operator_is_not_for_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, "run", "binder", "--config", "x.yaml") == 1
    assert capsys.readouterr().err == "error: --config is for operator, admission, backend, not for binder\n"


async def test_mnnvl_without_compute_domains_is_a_missing_prerequisite() -> None:
    async with embedded(kinds=True) as server:
        client, on = admin(server), OperatorSettings(auto_mnnvl=True)
        await check(client, OperatorSettings())
        with pytest.raises(PrerequisiteMissing) as missing:
            await check(client, on)
        assert missing.value.exit_code == 7
        assert str(missing.value) == (
            "network.autoMNNVLEnabled needs computedomains.resource.nvidia.com v1beta1, which this cluster does not "
            "serve: "
            "install the driver that brings ComputeDomains, or switch the setting off"
        )
        await client.create(
            CRD,
            {
                "metadata": {"name": "computedomains.resource.nvidia.com"},
                "spec": {
                    "group": "resource.nvidia.com",
                    "scope": "Namespaced",
                    "names": {"plural": "computedomains", "kind": "ComputeDomain"},
                    "versions": [
                        {
                            "name": "v1beta1",
                            "served": True,
                            "storage": True,
                            "schema": {
                                "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
                            },
                        }
                    ],
                },
            },
        )
        await check(client, on)
