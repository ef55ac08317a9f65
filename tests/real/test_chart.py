"""The chart in the hands of a real helm: what it renders is what `gangline install` brings, and a release is installed,
changed and taken away, on the embedded server and on a real control plane."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from gangline.api.kinds import (
    CONFIG,
    CRD,
    DEPLOYMENT,
    JOB,
    NAMESPACE,
    POD_CLIQUE_SET,
    PRIORITY_CLASS,
    QUEUE,
    SCHEDULING_SHARD,
)
from gangline.api.meta import Raw
from gangline.cli.deploy import install
from gangline.cli.manifests import parse
from gangline.client import Transport
from gangline.cluster.world.component import simulated_nodes
from gangline.cluster.world.settings import NodePace, WorldSettings
from gangline.components import COMPONENTS
from gangline.components.options import ComponentOptions
from gangline.errors import NotFound
from gangline.installer.contract import OURS
from gangline.installer.plan import ALWAYS
from gangline.installer.release.chart import ONCE, SPEC_MARK
from gangline.local import ELSEWHERE, Team, write_kubeconfig
from gangline.runtime import SystemClock
from installer.test_commands import SET
from journeys.story import Story, embedded_platform, real_platform
from real import chart
from real.chart import CHART, RELEASE, Containers, Helm, containers
from real.plane import missing

pytestmark = [pytest.mark.skipif(chart.find() is None, reason=chart.MISSING), pytest.mark.timeout(300)]
SPACE, IMAGE = "kai-scheduler", "registry.example:5000/team/gangline:7"
WORLD = ("controller-manager", "default-scheduler")
HOOKS = ("pre-delete", "test")
SERVERS = ["embedded", pytest.param("real", marks=pytest.mark.skipif(bool(missing()), reason=missing()))]
FULL: Raw = {
    "config": {
        "global": {
            "jsonLog": True,
            "nodeSelector": {"a": "b"},
            "tolerations": [{"key": "x", "operator": "Exists"}],
            "priorityClassName": "high",
            "additionalImagePullSecrets": ["z", "b", "z"],
            "imagesPullSecret": "a",
            "requireDefaultPodAntiAffinityTerm": True,
            "replicaCount": 2,
            "securityContext": {"runAsUser": 5},
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [{"matchExpressions": [{"key": "k", "operator": "Exists"}]}]
                    }
                }
            },
        },
        "nodeScaleAdjuster": {"service": {"enabled": True}},
        "scheduler": {"service": {"resources": {"limits": {"memory": "4Gi"}}}},
    },
    "shards": {"default": {}, "research": {"partitionLabelValue": "r", "args": {"schedule-period": "2s"}}},
}
NUMBERS: Raw = {"global": {"replicaCount": 2}, "binder": {"resourceReservation": {"allocationTimeout": 40}}}
UNCHECKED: Raw = {"admission": {"service": {"enabled": False}}}
"""Nobody plays the admission server of a release here: once its webhooks are registered, every write to a queue or a
set is refused."""
OPENSHIFT: Raw = {
    "config": {
        "global": {
            "openshift": True,
            "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}},
        },
        "nodeScaleAdjuster": {"service": {"enabled": False}},
    },
    "shards": {"default": {}},
}


# --- what it renders --------------------------------------------------------------------------------------------------


async def test_helm_finds_nothing_to_complain_about(tmp_path: Path) -> None:
    assert "1 chart(s) linted, 0 chart(s) failed" in await Helm(tmp_path)("lint", "--strict", str(CHART))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("half=mine", "at '/half': value must be one of 'both', 'scheduler'"),
        ("image=", "at '/image': '' does not match pattern"),
        ("imagee=x", "additional properties 'imagee' not allowed"),
        ("config.binder.replica=2", "at '/config/binder': additional properties 'replica' not allowed"),
        ("config.global.replicaCount=two", "at '/config/global/replicaCount': got string, want integer"),
        ("shards.blue.placementStrategy=spread", "at '/shards/blue/placementStrategy': got string, want object"),
    ],
)
async def test_a_wrong_value_is_refused_with_its_place(given: str, said: str, tmp_path: Path) -> None:
    assert said in await Helm(tmp_path)("template", RELEASE, str(CHART), "--set", given, code=1)


@pytest.mark.parametrize("values", [{}, FULL, OPENSHIFT], ids=["usual", "full", "openshift"])
async def test_what_it_renders_is_what_install_brings(values: Raw, tmp_path: Path) -> None:
    (tmp_path / "values.yaml").write_text(yaml.safe_dump({**values, "image": IMAGE}))
    shown = await Helm(tmp_path)(
        "template", RELEASE, str(CHART), "-n", "gangline-system", "--include-crds", "-f", str(tmp_path / "values.yaml")
    )
    rendered = parse(shown, "what helm rendered")
    hooks = [item for item in rendered if item["metadata"].get("annotations", {}).get("helm.sh/hook") in HOOKS]
    found = {place(item): plain(item) for item in rendered if item not in hooks}
    assert found == {
        place(item.whole): plain(item.whole) for item in brought(values, tmp_path) if item.kind != NAMESPACE
    }
    kinds = ["ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Job"]
    assert sorted(hook["kind"] for hook in hooks) == sorted(2 * kinds)
    pods = [item["spec"]["template"]["spec"] for item in rendered if item["kind"] in ("Deployment", "Job")]
    assert [pod["containers"][0].get("securityContext") for pod in pods].count(
        pods[0]["containers"][0].get("securityContext")
    ) == 3
    assert [pod.get("imagePullSecrets") for pod in pods] == [pods[0].get("imagePullSecrets")] * 3


def brought(values: Raw, folder: Path) -> list[Any]:
    """What `gangline install` would write, given the same."""
    objects = (
        [
            {
                "apiVersion": CONFIG.api_version,
                "kind": CONFIG.kind,
                "metadata": {"name": "kai-config"},
                "spec": values["config"],
            },
            *(
                {
                    "apiVersion": SCHEDULING_SHARD.api_version,
                    "kind": SCHEDULING_SHARD.kind,
                    "metadata": {"name": name},
                    "spec": spec,
                }
                for name, spec in values["shards"].items()
            ),
        ]
        if values
        else []
    )
    (folder / "given.yaml").write_text(yaml.safe_dump_all(objects))
    return install.manifests(IMAGE, str(folder / "given.yaml") if values else None, "both")


def place(obj: Raw) -> tuple[str, str]:
    return obj["kind"], obj["metadata"]["name"]


def plain(obj: Raw) -> Raw:
    """An object without the marks that tell Helm's from ours."""
    meta = obj["metadata"]
    labels = {key: value for key, value in meta.get("labels", {}).items() if key not in OURS}
    notes = {key: value for key, value in meta.get("annotations", {}).items() if key not in (*ONCE, SPEC_MARK)}
    return obj | {"metadata": {**meta, "labels": labels, "annotations": notes}}


# --- into a cluster and out again -------------------------------------------------------------------------------------


@dataclass(slots=True)
class Cluster:
    """One that nobody has installed gangline into."""

    story: Story
    helm: Helm
    containers: Containers

    async def release(self, verb: str, *arguments: str, code: int = 0) -> str:
        given = [str(CHART)] if verb in ("install", "upgrade") else []
        return await self.helm(verb, RELEASE, *given, "-n", chart.NAMESPACE, *arguments, code=code)

    async def ready(self) -> None:
        async def now() -> bool:
            return all(
                [
                    await self._is_ready(kind, item)
                    for kind in (CONFIG, SCHEDULING_SHARD)
                    for item in (await self.story.client.list(kind)).items
                ]
            )

        await self.story.until(now, "Config and shards ready")

    async def _is_ready(self, kind: Any, obj: Any) -> bool:
        found: Raw = next(
            (condition for condition in obj.status.get("conditions", ()) if condition["type"] == "Ready"), {}
        )
        return found.get("status") == "True" and found["observedGeneration"] == obj.metadata.generation

    async def deployments(self) -> set[str]:
        return {item.name for item in (await self.story.client.list(DEPLOYMENT)).items}

    async def made(self) -> list[str]:
        """Everything that the installer made."""
        return [
            f"{kind.kind} {item.name}"
            for kind in ALWAYS
            for item in (await self.story.client.list(kind, labels=OURS)).items
        ]

    async def names(self, kind: Any) -> set[str]:
        return {item.name for item in (await self.story.client.list(kind)).items}

    async def spec(self) -> Raw:
        found: Raw = (await self.story.client.get_raw(CONFIG, "kai-config"))["spec"]
        return found


async def cleared(team: Team, definitions: bool) -> None:
    """Takes away what a platform of ours has from its start and a cluster has not."""
    for manifest in reversed(install.manifests(None, None, "both")):
        if manifest.kind == NAMESPACE or (manifest.kind == CRD and not definitions):
            continue
        with suppress(NotFound):
            await team.admin.delete(manifest.kind, manifest.name, manifest.namespace)


@asynccontextmanager
async def cluster(server: str, folder: Path) -> AsyncIterator[Cluster]:
    if server == "real":
        platform: Any = await real_platform(tuple(COMPONENTS), ComponentOptions(nodes="nodes: []"), SystemClock())
        await platform.start()
        kubeconfig = platform.home.plane.kubeconfig
        carrier: Callable[[], Transport] = lambda: platform._client("release").transport  # noqa: E731
    else:
        platform = embedded_platform(
            without=tuple(component for component in COMPONENTS if component not in (*WORLD, *ELSEWHERE))
        )
        await platform.start()
        kubeconfig = write_kubeconfig(platform, await platform.listen(), folder / "kubeconfig")
        carrier = lambda: platform._connect("admin").transport  # noqa: E731
    try:
        await cleared(platform, definitions=server == "embedded")
        await platform.hire(simulated_nodes(WorldSettings(nodes=(), pace=NodePace(job=3600.0))))
        story = Story(platform)
        await story.nodes(2, gpus=8)
        async with containers(platform, carrier) as playing:
            yield Cluster(story, Helm(folder, kubeconfig), playing)
    finally:
        await platform.stop()


@pytest.mark.parametrize("server", SERVERS)
async def test_a_release_comes_changes_and_goes(server: str, tmp_path: Path) -> None:
    async with cluster(server, tmp_path) as it:
        shown = await it.release(
            "install", "--create-namespace", "--set", f"image={IMAGE}", "--wait", "--timeout", "2m"
        )
        assert "kubectl wait --for=condition=Ready" in shown and "of no registry" not in shown
        await it.ready()
        await it.release("test", "--timeout", "1m")
        assert it.containers.problems == [[]]
        await it.ready()
        assert {
            "gangline-installer",
            "admission",
            "binder",
            "gangline-operator",
            "kai-scheduler-default",
        } <= await it.deployments()
        binder = await it.story.client.get(DEPLOYMENT, "binder", SPACE)
        assert binder.spec.template["spec"]["containers"][0]["image"] == IMAGE
        assert {"default-parent-queue", "default-queue"} <= await it.names(QUEUE) and "train" in await it.names(
            PRIORITY_CLASS
        )

        await it.story.client.patch(CONFIG, "kai-config", "", {"spec": {"admission": {"replicas": 2}}})
        shown = await it.release(
            "upgrade",
            "--reuse-values",
            "--set",
            "config.binder.service.enabled=false",
            "--set",
            "shards.blue.partitionLabelValue=blue",
        )
        assert "Config kai-config had been changed by hand" in shown
        await it.ready()
        assert "binder" not in await it.deployments() and "kai-scheduler-blue" in await it.deployments()
        assert await it.spec() == {
            "admission": {"replicas": 2},
            "binder": {"service": {"enabled": False}},
            "nodeScaleAdjuster": {"service": {"enabled": False}},
        }

        await it.story.client.create(
            SCHEDULING_SHARD, {"metadata": {"name": "mine"}, "spec": {"partitionLabelValue": "mine"}}
        )
        await it.ready()
        assert "kai-scheduler-mine" in await it.deployments()
        shown = await it.release("uninstall", "--wait", "--timeout", "2m")
        assert '"gangline" uninstalled' in shown
        assert it.containers.said == [""] and await it.made() == [] and await it.deployments() == set()
        assert await it.names(CONFIG) == set() == await it.names(SCHEDULING_SHARD) == await it.names(JOB)
        assert {"default-parent-queue", "default-queue"} <= await it.names(QUEUE)
        assert CONFIG.resource in await it.names(CRD) and SPACE in await it.names(NAMESPACE)


@pytest.mark.parametrize("server", SERVERS)
async def test_a_release_stays_while_sets_need_their_operator(server: str, tmp_path: Path) -> None:
    async with cluster(server, tmp_path) as it:
        await it.release("install", "--create-namespace", "--set", "config.admission.service.enabled=false")
        await it.ready()
        await it.story.client.create(POD_CLIQUE_SET, SET)
        shown = await it.release("uninstall", "--timeout", "1m", code=1)
        assert "job gangline-uninstall failed: BackoffLimitExceeded" in shown
        assert "1 PodCliqueSets are still there, such as default/s" in it.containers.said[0]
        assert {"gangline-installer", "binder"} <= await it.deployments() and "gangline-uninstall" in await it.names(
            JOB
        )
        await it.story.client.delete(POD_CLIQUE_SET, "s", "default")
        await it.release("uninstall", "--timeout", "1m")
        assert it.containers.said[1:] == [""] and await it.made() == []


async def test_what_an_administrator_made_of_the_defaults_stays(tmp_path: Path) -> None:
    async with cluster("embedded", tmp_path) as it:
        (tmp_path / "values.yaml").write_text(yaml.safe_dump({"config": {**NUMBERS, **UNCHECKED}}))
        await it.release("install", "--create-namespace", "-f", str(tmp_path / "values.yaml"))
        await it.ready()
        await it.story.client.patch(QUEUE, "default-queue", "", {"spec": {"resources": {"gpu": {"quota": 8}}}})
        shown = await it.release("upgrade", "--reuse-values", "--set", "half=scheduler")
        assert "changed by hand" not in shown and (await it.spec())["binder"] == NUMBERS["binder"]
        await it.release("rollback", "1")
        await it.release("uninstall", "--timeout", "1m")
        await it.helm("install", "another", str(CHART), "-n", chart.NAMESPACE)
        queue = await it.story.client.get_raw(QUEUE, "default-queue")
        assert queue["spec"]["resources"]["gpu"]["quota"] == 8


async def test_helm_takes_over_from_install_only_when_told_to(tmp_path: Path) -> None:
    async with cluster("embedded", tmp_path) as it:
        await install._install(install.manifests(None, None, "both"), str(it.helm.kubeconfig), None)
        mine = ["-n", "gangline-system"]
        shown = await it.helm("install", RELEASE, str(CHART), *mine, code=1)
        assert "exists and cannot be imported into the current release" in shown
        await it.helm("install", RELEASE, str(CHART), *mine, "--take-ownership", "--set", f"image={IMAGE}")
        owned = json.loads(await it.helm("list", *mine, "-o", "json"))
        assert [(item["name"], item["status"]) for item in owned] == [(RELEASE, "deployed")]
        installer = await it.story.client.get(DEPLOYMENT, "gangline-installer", "gangline-system")
        assert installer.spec.template["spec"]["containers"][0]["image"] == IMAGE
