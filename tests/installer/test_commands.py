"""`gangline install` and `uninstall`, and the command lines that the installer writes, read by the program they
start."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import prometheus_client
import pytest
import yaml

from gangline.api.kinds import (
    CONFIG,
    CONFIG_MAP,
    CRD,
    DEPLOYMENT,
    NAMESPACE,
    POD_CLIQUE_SET,
    PRIORITY_CLASS,
    QUEUE,
    SCHEDULING_SHARD,
)
from gangline.cli import main
from gangline.cli.deploy import component_process, install, uninstall
from gangline.cli.deploy import run as run_command
from gangline.components import build
from gangline.components.installer_parts import installer_parts
from gangline.components.options import ComponentOptions
from gangline.errors import BadInput
from gangline.installer.config_reader import ConfigReading
from gangline.installer.contract import CertificatePair, InstallFacts, WantedObjects
from gangline.installer.objects.desired import wishes_of_config
from gangline.installer.objects.shards import wishes_of_shard
from gangline.local import write_kubeconfig
from gangline.rules.flags import parse
from installer.installer_story import InstallerStory, installer_story
from yaml_loading import load_all_yaml

FACTS = InstallFacts(certificate=CertificatePair(b"c", b"k", b"a"), fake_gpus=True, cdi=True, answers=True)
FULL: dict[str, Any] = {
    "global": {
        "jsonLog": True,
        "replicaCount": 2,
        "podLabelSelector": {"a": "b"},
        "namespaceLabelSelector": {"c": "d"},
        "schedulerName": "mine",
        "queueLabelKey": "example.com/queue",
        "nodePoolLabelKey": "",
    },
    "podGrouper": {
        "maxConcurrentReconciles": 3,
        "args": {
            "gangScheduleKnative": False,
            "genericKartaFallback": False,
            "defaultPrioritiesConfigMapName": "n",
            "defaultPrioritiesConfigMapNamespace": "s",
        },
    },
    "binder": {
        "maxConcurrentReconciles": 3,
        "probePort": 1,
        "metricsPort": 2,
        "cdiEnabled": True,
        "plugins": {"hamicore": {"enabled": True}},
        "resourceReservation": {
            "allocationTimeout": 3,
            "runtimeClassName": "r",
            "podResources": {"requests": {"cpu": "1"}},
            "reservationPodSecurityContext": {"runAsUser": 1},
        },
    },
    "queueController": {
        "metricsNamespace": "m",
        "queueLabelToMetricLabel": "a=b",
        "queueLabelToDefaultMetricValue": "a=c",
    },
    "podGroupController": {"maxConcurrentReconciles": 3},
    "nodeScaleAdjuster": {"args": {"gpuMemoryToFractionRatio": 0.2, "scalingPodImage": {"name": "s"}}},
    "admission": {
        "gpuSharing": True,
        "blockNvidiaVisibleDevices": True,
        "gpuFractionRuntimeClassName": "",
        "webhook": {"port": 1, "targetPort": 2, "probePort": 3, "metricsPort": 4},
    },
}
SHARD = {
    "partitionLabelValue": "blue",
    "kValue": 2.5,
    "args": {
        "schedule-period": "500ms",
        "leader-elect": "false",
        "detailed-fit-errors": "true",
        "plugin-server-port": "9",
        "v": "4",
        "qps": "9",
        "default-staleness-grace-period": "-1s",
        "update-pod-eviction-condition": "true",
    },
}


def command_lines(spec: dict[str, Any], shard: dict[str, Any]) -> list[tuple[list[str], str]]:
    """Every container's command, with the config.yaml it finds mounted."""
    parts, said = installer_parts(), ConfigReading(spec)
    answers: list[WantedObjects] = [
        wishes_of_config(said, FACTS, parts),
        wishes_of_shard(said, "s", shard, FACTS, parts),
    ]
    found: list[tuple[list[str], str]] = []
    for wishes in answers:
        assert not wishes.problems and not wishes.notes
        maps = [item.obj["data"]["config.yaml"] for item in wishes.objects if item.kind == CONFIG_MAP]
        found += [
            (item.obj["spec"]["template"]["spec"]["containers"][0]["command"], (maps or [""])[0])
            for item in wishes.objects
            if item.kind == DEPLOYMENT
        ]
    [own] = [manifest.obj for manifest in install.manifests("r/g:1", None, "both") if manifest.kind == DEPLOYMENT]
    return [*found, (own["spec"]["template"]["spec"]["containers"][0]["command"], "")]


@pytest.mark.parametrize(("spec", "shard"), [({}, {}), (FULL, SHARD)], ids=["plain", "full"])
def test_every_command_line_is_read_by_the_program_that_it_starts(
    spec: dict[str, Any], shard: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    started: list[tuple[str, ComponentOptions]] = []
    monkeypatch.setattr(run_command, "run", lambda work, serves, loop: None)
    monkeypatch.setattr(
        run_command, "run_component", lambda component, kubeconfig, options: started.append((component, options))
    )
    monkeypatch.setattr(prometheus_client, "REGISTRY", prometheus_client.CollectorRegistry())
    for words, config in command_lines(spec, shard):
        (tmp_path / "config.yaml").write_text(config)
        assert words[:2] == ["gangline", "run"]
        run_command.command.main(
            [word.replace("/etc/config", str(tmp_path)) for word in words[2:]], standalone_mode=False
        )
    assert [component for component, _ in started] == [
        "operator",
        "grouper",
        "binder",
        "podgroup-controller",
        "queue-controller",
        "node-scale-adjuster",
        "explainer",
        "admission",
        "scheduler",
        "installer",
    ]
    for component, options in started:
        assert build(component, options).name == component
        assert not {"log", "log-format", "schedule-period"} & set(options.flags), "these are the program's own options"


def test_the_addresses_of_probes_and_metrics_are_both_served() -> None:
    [binder] = [words for words, _ in command_lines(FULL, {}) if words[2] == "binder"]
    options = ComponentOptions(flags=parse(item for item in binder[3:] if not item.startswith("--log")))
    assert component_process._addresses("binder", options) == [("0.0.0.0", 2), ("0.0.0.0", 1)]


# --- what is printed and refused --------------------------------------------------------------------------------------


def test_a_dry_run_prints_all_of_it_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    install.command.main(["--dry-run", "--image", "registry.example/gangline:1"], standalone_mode=False)
    printed = load_all_yaml(capsys.readouterr().out)
    kinds = list(dict.fromkeys(item["kind"] for item in printed))
    assert kinds == [
        "CustomResourceDefinition",
        "Namespace",
        "ServiceAccount",
        "ClusterRole",
        "ClusterRoleBinding",
        "Role",
        "RoleBinding",
        "Deployment",
        "PriorityClass",
        "Queue",
        "Config",
        "SchedulingShard",
    ]
    [deployment] = [item for item in printed if item["kind"] == "Deployment"]
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    assert (
        container["image"] == "registry.example/gangline:1"
        and "--image=registry.example/gangline:1" in container["command"]
    )
    install.command.main(["--dry-run", "-o", "json", "--half", "scheduler"], standalone_mode=False)
    items = json.loads(capsys.readouterr().out)["items"]
    assert "podcliquesets.grove.io" not in {item["metadata"]["name"] for item in items}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "{apiVersion: v1, kind: Pod, metadata: {name: p}}",
            "--config takes a Config and SchedulingShards of kai.scheduler/v1, not Pod p",
        ),
        (
            "{apiVersion: kai.scheduler/v1, kind: Config, metadata: {name: mine}}",
            "there is one Config, named kai-config; found mine",
        ),
        ("a: [", "is not YAML"),
        ("# nothing yet\n---\n", "there is no object in "),
        (
            "".join(f"---\n{{apiVersion: v1, kind: Pod, metadata: {{name: p{number}}}}}\n" for number in range(9)),
            "not Pod p0, Pod p1, Pod p2, Pod p3, Pod p4 and 4 more\n",
        ),
        (
            "{apiVersion: kai.scheduler/v1, kind: Config, metadata: {name: kai-config}, "
            "spec: {global: {replicaCunt: 2}}}",
            "Config kai-config: spec.global.replicaCunt: there is no such field; did you mean 'replicaCount'?\n",
        ),
        (
            "apiVersion: kai.scheduler/v1\nkind: SchedulingShard\nmetadata: {name: a}\n"
            "spec: {kValue: much, actions: {allocate: {enabled: 'no'}}, args: {a: 1}, plugins: [a]}\n",
            "these fields cannot be used:\n"
            "  SchedulingShard a: spec.kValue must be a number, not 'much'\n"
            "  SchedulingShard a: spec.actions.allocate.enabled must be true or false, not 'no'\n"
            "  SchedulingShard a: spec.args.a must be text, not 1\n"
            "  SchedulingShard a: spec.plugins must be a mapping, not ['a']\n",
        ),
    ],
)
def test_a_file_that_is_no_config_is_refused(
    text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config.yaml").write_text(text)
    monkeypatch.setattr("sys.argv", ["gangline", "install", "--config", str(tmp_path / "config.yaml"), "--dry-run"])
    with pytest.raises(SystemExit):
        main()
    assert said in capsys.readouterr().err


# --- into a cluster and out again -------------------------------------------------------------------------------------


async def kubeconfig(cluster: InstallerStory, folder: Path) -> str:
    return str(write_kubeconfig(cluster.platform, await cluster.platform.listen(), folder / "kubeconfig"))


async def test_install_brings_all_of_it_and_a_second_time_changes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with installer_story() as cluster:
        where = await kubeconfig(cluster, tmp_path)
        (tmp_path / "mine.yaml").write_text(
            yaml.safe_dump_all(
                [
                    {
                        "apiVersion": "kai.scheduler/v1",
                        "kind": "Config",
                        "metadata": {"name": "kai-config"},
                        "spec": {},
                    },
                    {
                        "apiVersion": "kai.scheduler/v1",
                        "kind": "SchedulingShard",
                        "metadata": {"name": "blue"},
                        "spec": {"partitionLabelValue": "b"},
                    },
                ]
            )
        )
        await cluster.client.create(POD_CLIQUE_SET, SET)
        wanted = install.manifests(None, str(tmp_path / "mine.yaml"), "both")
        await install._install(wanted, where, 60)
        told = capsys.readouterr().out
        assert (
            "configs.kai.scheduler/kai-config created" in told and "queues.scheduling.run.ai/default-queue kept" in told
        )
        assert (
            told.endswith("everything is at work\n")
            and "Config kai-config: the installer has not looked at it yet" in told
        )
        assert {"kai-scheduler-blue", "binder", "gangline-installer"} <= set(await cluster.deployments())
        await install._install(wanted, where, 60)
        assert "configs.kai.scheduler/kai-config unchanged" in capsys.readouterr().out

        with pytest.raises(
            BadInput,
            match=r"1 PodCliqueSets are still there, such as default/s; delete them first, while their operator "
            r"runs: kubectl delete podcliquesets --all --all-namespaces",
        ):
            await uninstall._uninstall(where, True, 30)
        await cluster.client.delete(POD_CLIQUE_SET, "s", "default")
        await uninstall._uninstall(where, False, 60)
        assert await cluster.deployments() == [] and (await cluster.client.list(CONFIG)).items == []
        assert [item.name for item in (await cluster.client.list(QUEUE)).items] == [
            "default-parent-queue",
            "default-queue",
        ]
        assert "queues, priority classes, namespaces and definitions stay" in capsys.readouterr().out


async def test_uninstalling_everything_takes_definitions_and_only_namespaces_that_we_made(tmp_path: Path) -> None:
    async with installer_story() as cluster:
        where = await kubeconfig(cluster, tmp_path)
        own = {
            "apiVersion": "kai.scheduler/v1",
            "kind": "Config",
            "metadata": {"name": "kai-config"},
            "spec": {"namespace": "gpu-team"},
        }
        (tmp_path / "mine.yaml").write_text(yaml.safe_dump(own))
        await install._install(install.manifests(None, str(tmp_path / "mine.yaml"), "both"), where, 60)
        await uninstall._uninstall(where, True, 60)
        await cluster.disappears(NAMESPACE, "gpu-team")
        await cluster.disappears(CRD, "configs.kai.scheduler")
        assert {"default", "kai-scheduler"} <= {item.name for item in (await cluster.client.list(NAMESPACE)).items}
        assert [item.name for item in (await cluster.client.list(PRIORITY_CLASS)).items if item.name == "train"] == []


async def test_waiting_for_a_cluster_that_cannot_run_it_ends_with_what_to_look_at(tmp_path: Path) -> None:
    async with installer_story(installer=False) as cluster:
        where = await kubeconfig(cluster, tmp_path)
        with pytest.raises(
            BadInput,
            match=r"not at work after 0 s; the installer goes on. Look again with `kubectl get config kai-config "
            r"-o yaml`, or at its log with `kubectl logs -n gangline-system deployment/gangline-installer`",
        ):
            await install._install(install.manifests(None, None, "both"), where, 0)
        assert [item.name for item in (await cluster.client.list(SCHEDULING_SHARD)).items] == ["default"]


SET = {
    "metadata": {"name": "s", "namespace": "default"},
    "spec": {
        "replicas": 1,
        "template": {
            "cliques": [
                {
                    "name": "a",
                    "spec": {"roleName": "a", "replicas": 1, "podSpec": {"containers": [{"name": "c", "image": "i"}]}},
                }
            ]
        },
    },
}
