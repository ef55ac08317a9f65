"""`gangline.cluster.Cluster` as others use it: a Kubernetes for tests, asynchronous and synchronous."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from kubernetes import client, config

import gangline.cluster
from embedded import until
from gangline.api.kinds import CONFIG_MAP, NODE, POD
from gangline.client import Client, User
from gangline.client.kubeconfig import load, transport
from gangline.cluster import Cluster
from gangline.cluster.world.settings import WorldSettings
from gangline.errors import ConfigError, Forbidden

README = Path(gangline.cluster.__file__).with_name("README.md")
EXAMPLES = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
APP = {"metadata": {"name": "app"}, "spec": {"containers": [{"name": "main", "image": "example/app:1"}]}}


async def test_a_pod_runs_on_a_simulated_node() -> None:
    async with Cluster() as cluster:
        here = cluster.client()
        await here.create(POD, APP, namespace="default")

        async def runs() -> bool:
            return (await here.get(POD, "app", "default")).status.phase == "Running"

        await until(runs, "the pod runs")


async def test_the_kubeconfig_lets_any_client_in_and_goes_with_the_cluster() -> None:
    async with Cluster(world=False) as cluster:
        path = cluster.kubeconfig
        assert cluster.url in path.read_text()
        there = Client(transport(load(path)))
        await there.create(CONFIG_MAP, {"metadata": {"name": "greeting"}}, namespace="default")
        assert (await cluster.client().get(CONFIG_MAP, "greeting", "default")).name == "greeting"
        await there.close()
    assert not path.exists()


def test_synchronous_code_starts_it_in_a_thread() -> None:
    with Cluster() as cluster:
        api = client.CoreV1Api(config.new_client_from_config(str(cluster.kubeconfig)))  # type: ignore[no-untyped-call]
        assert len(api.list_node().items) == 4
        assert len(cluster.run(cluster.client().list(NODE)).items) == 4
        api.api_client.close()


def test_it_can_be_started_again_and_stopped_twice() -> None:
    cluster = Cluster(world=False)
    first = cluster.start().url
    cluster.stop()
    cluster.stop()
    with cluster:
        assert cluster.url.startswith("https://127.0.0.1:")
    assert first.startswith("https://127.0.0.1:")


def test_objects_in_a_folder_are_there_again(tmp_path: Path) -> None:
    with Cluster(folder=tmp_path / "data", world=False) as cluster:
        cluster.run(cluster.client().create(CONFIG_MAP, {"metadata": {"name": "kept"}}, namespace="default"))
    with Cluster(folder=tmp_path / "data", world=False) as cluster:
        assert cluster.run(cluster.client().get(CONFIG_MAP, "kept", "default")).name == "kept"


def test_nodes_come_from_a_nodes_file(tmp_path: Path) -> None:
    (tmp_path / "nodes.yaml").write_text("nodes:\n- {name: big, gpus: 8, count: 2}\n")
    with Cluster(nodes=tmp_path / "nodes.yaml") as cluster:
        names = [node.name for node in cluster.run(cluster.client().list(NODE)).items]
    assert sorted(names) == ["big-0", "big-1"]


async def test_a_user_has_the_rights_that_rbac_gives() -> None:
    async with Cluster(world=False) as cluster:
        with pytest.raises(Forbidden, match='User "jane" cannot list resource "nodes"'):
            await cluster.client(User("jane", ("system:authenticated",))).list(NODE)


async def test_what_cannot_be_is_said() -> None:
    with pytest.raises(ConfigError, match="the cluster does not run: enter it with `with` or `async with`"):
        Cluster().client()
    with pytest.raises(ConfigError, match="give `nodes` or `world`, not both"):
        Cluster(nodes="nodes.yaml", world=False)
    async with Cluster(world=False) as cluster:
        with pytest.raises(ConfigError, match="the cluster runs already"):
            cluster.start()
        with pytest.raises(ConfigError, match="the cluster runs in no thread"):
            cluster.run(cluster.client().list(NODE))


async def test_a_world_that_cannot_start_leaves_nothing_behind() -> None:
    cluster = Cluster(world=WorldSettings(off=frozenset({"moon"})))
    with pytest.raises(ConfigError, match="the world has no part moon"):
        async with cluster:
            pass
    with pytest.raises(ConfigError, match="the cluster does not run"):
        _ = cluster.url


def test_the_fixture_is_known_where_gangline_is_installed(gangline_cluster: Cluster) -> None:
    assert len(gangline_cluster.run(gangline_cluster.client().list(NODE)).items) == 4


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_an_example_of_the_readme_runs(number: int, tmp_path: Path) -> None:
    file = tmp_path / "test_example.py"
    file.write_text(textwrap.dedent(EXAMPLES[number]))
    tested = "def test_" in EXAMPLES[number]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"] if tested else [sys.executable]
    ended = subprocess.run([*command, str(file)], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_the_readme_has_examples() -> None:
    assert len(EXAMPLES) == 5
