"""The Helm chart is what `gangline install` brings: printed by the same code, with values that are documented and
checked. The real helm reads it in tests/real/test_chart.py."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from gangline.api.kinds import (
    CLUSTER_ROLE,
    CLUSTER_ROLE_BINDING,
    CONFIG,
    CRD,
    DEPLOYMENT,
    NAMESPACE,
    POD_CLIQUE_SET,
    SCHEDULING_SHARD,
    SERVICE_ACCOUNT,
)
from gangline.api.meta import Raw
from gangline.cli import connection
from gangline.cli.care.facts import gather_facts
from gangline.cli.connection import ClusterConnection
from gangline.cli.deploy import chart, install, uninstall
from gangline.client import Client, User, kubeconfig
from gangline.components.installer_parts import installer_parts
from gangline.errors import BadInput
from gangline.installer.contract import OURS
from gangline.installer.release.chart import ONCE, SERVICE, SPEC_MARK, TESTER, UNINSTALLER, WORDS
from gangline.installer.release.values import VALUES
from installer.installer_story import InstallerStory, installer_story
from installer.test_commands import SET
from yaml_loading import load_all_yaml, load_yaml

REPOSITORY = Path(__file__).parents[2]
CHART = REPOSITORY / "charts" / "gangline"
WRITTEN = {"templates/_helpers.tpl", "templates/NOTES.txt"}
"""By hand: there is nothing in them but words for Helm."""
USUAL: Raw = load_yaml((CHART / "values.yaml").read_text())


def documents(name: str) -> list[Raw]:
    """The objects of a template for the usual values: without lines of control words, with what the other words stand
    for."""
    lines = [
        line for line in (CHART / "templates" / name).read_text().splitlines() if not line.lstrip().startswith("{{-")
    ]
    text = "\n".join(lines).replace("{{ $name }}", "default")
    for said, word in (*WORDS.items(), (next(iter(OURS.values())), SERVICE)):
        text = text.replace(word, said)
    return [item for item in load_all_yaml(text) if item]


def place(obj: Raw) -> tuple[str, str]:
    return obj["kind"], obj["metadata"]["name"]


# --- files ------------------------------------------------------------------------------------------------------------


def test_the_chart_holds_what_is_printed() -> None:
    found = {
        str(path.relative_to(CHART)): path.read_text()
        for path in CHART.rglob("*")
        if path.is_file() and path.parent.name != "crds"
    }
    assert {name: text for name, text in found.items() if name not in WRITTEN} == chart.printed(), "run `make chart`"
    assert set(found) >= WRITTEN


def test_the_chart_has_the_version_of_the_project() -> None:
    about = load_yaml((CHART / "Chart.yaml").read_text())
    version = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["version"]
    assert (about["version"], about["appVersion"]) == (version, version)


# --- values -----------------------------------------------------------------------------------------------------------


def test_every_value_says_in_one_line_what_it_means() -> None:
    said = dict(re.findall(r"^# (.+)\n(\w+):", (CHART / "values.yaml").read_text(), re.MULTILINE))
    assert {name: meaning for meaning, name in said.items()} == {value.name: value.meaning for value in VALUES}
    assert {value.name: value.usual for value in VALUES} == USUAL


def test_the_schema_knows_just_the_values_and_what_helm_adds() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text())
    assert set(schema["properties"]) == {*USUAL, "global"} and schema["additionalProperties"] is False
    assert [schema["properties"][value.name]["description"] for value in VALUES] == [value.meaning for value in VALUES]
    used = set(re.findall(r'"#/definitions/(\w+)"', json.dumps(schema)))
    assert used == set(schema["definitions"])


def test_the_schema_of_the_config_is_that_of_its_definition_and_refuses_other_fields() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text())
    [definition] = [
        manifest.obj for manifest in install.manifests(None, None, "both") if manifest.name == CONFIG.resource
    ]
    spec = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    assert shape(schema["properties"]["config"], schema["definitions"]) == shape(spec, {})
    assert schema["properties"]["config"]["additionalProperties"] is False
    ratio = schema["properties"]["shards"]["additionalProperties"]["properties"]["goMemLimitRatio"]
    assert {key: ratio[key] for key in ratio if key != "description"} == {
        "type": "number",
        "exclusiveMinimum": 0,
        "maximum": 1,
    }


def shape(schema: Raw, definitions: Raw) -> Any:
    """The fields of a schema, however deep, with their types."""
    schema = definitions[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    rest = schema.get("additionalProperties")
    inside = {name: shape(item, definitions) for name, item in schema.get("properties", {}).items()}
    return (
        schema.get("type"),
        inside,
        shape(schema["items"], definitions) if "items" in schema else None,
        shape(rest, definitions) if isinstance(rest, dict) else None,
    )


# --- objects ----------------------------------------------------------------------------------------------------------


def test_the_usual_values_give_what_install_brings() -> None:
    wanted = {
        place(manifest.whole): manifest.whole
        for manifest in install.manifests(None, None, "both")
        if manifest.kind not in (CRD, NAMESPACE)
    }
    found = {
        place(document): document
        for name in ("rights", "installer", "defaults", "config")
        for document in documents(f"{name}.yaml")
    }
    assert set(found) == set(wanted)
    for where, obj in found.items():
        marks = obj["metadata"].pop("annotations", {})
        assert marks == ONCE if where[0] in ("PriorityClass", "Queue") else set(marks) <= {SPEC_MARK}
        if where[0] == CONFIG.kind:
            obj["spec"] = USUAL["config"]
        if where[0] == SCHEDULING_SHARD.kind:
            obj["spec"] = USUAL["shards"][where[1]]
        assert obj == wanted[where]


def test_nothing_that_values_decide_is_left_as_install_prints_it() -> None:
    texts = "\n".join(path.read_text() for path in (CHART / "templates").glob("*.yaml"))
    assert [word for word in WORDS.values() if word not in texts] == [] and [
        said for said in WORDS if said in texts
    ] == []


# --- taking it away ---------------------------------------------------------------------------------------------------


async def hooked(
    cluster: InstallerStory, file: str = "uninstall.yaml", account: str = UNINSTALLER
) -> ClusterConnection:
    """Connected under the account of a hook of the chart, with its rights and no others."""
    kinds = {item.kind: item for item in (SERVICE_ACCOUNT, CLUSTER_ROLE, CLUSTER_ROLE_BINDING)}
    for obj in documents(file):
        if obj["kind"] in kinds:
            await cluster.client.create(kinds[obj["kind"]], obj)
    user = User(f"system:serviceaccount:gangline-system:{account}", ("system:authenticated",))
    return ClusterConnection(
        Client(cluster.platform.server.transport(user), manager="hook"), "gangline-system", "the test's server"
    )


async def test_the_hook_takes_what_users_made_too_and_leaves_the_installer() -> None:
    async with installer_story() as cluster:
        [installer] = [manifest for manifest in install.manifests(None, None, "both") if manifest.kind == DEPLOYMENT]
        await cluster.client.create(DEPLOYMENT, installer.obj)
        await cluster.config()
        await cluster.shard("mine")
        await cluster.ready(SCHEDULING_SHARD, "mine")
        await uninstall.take_components(await hooked(cluster), False, 30)
        assert await cluster.deployments() == ["gangline-installer"]
        assert not (await cluster.client.list(CONFIG)).items and not (await cluster.client.list(SCHEDULING_SHARD)).items


async def test_the_hook_refuses_while_sets_are_there() -> None:
    async with installer_story() as cluster:
        await cluster.client.create(POD_CLIQUE_SET, SET)
        await cluster.config()
        await cluster.ready(CONFIG, "kai-config")
        with pytest.raises(BadInput, match="1 PodCliqueSets are still there, such as default/s; delete them first"):
            await uninstall.take_components(await hooked(cluster), False, 30)
        assert [item.name for item in (await cluster.client.list(CONFIG)).items] == ["kai-config"]


def test_the_hook_runs_a_command_that_exists() -> None:
    [job] = [document for document in documents("uninstall.yaml") if document["kind"] == "Job"]
    words = job["spec"]["template"]["spec"]["containers"][0]["command"]
    assert words[:2] == ["gangline", "uninstall"]
    assert uninstall.command.make_context("uninstall", words[2:]).params["keep_installer"] is True


async def test_the_account_of_helm_test_may_see_all_that_doctor_examines() -> None:
    async with installer_story() as cluster:
        await cluster.config()
        facts = await gather_facts(await hooked(cluster, "tests/doctor.yaml", TESTER))
    assert facts.refused == {}
    assert [right.resource for right in facts.rights if right.verb == "list" and not right.allowed] == []
    assert [right.resource for right in facts.rights if right.verb != "list" and right.allowed] == []


def test_helm_test_runs_doctor() -> None:
    [job] = [document for document in documents("tests/doctor.yaml") if document["kind"] == "Job"]
    assert job["spec"]["template"]["spec"]["containers"][0]["command"] == ["gangline", "doctor"]
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "test"


def test_keeping_the_installer_and_taking_everything_contradict_each_other() -> None:
    with pytest.raises(BadInput, match="choose one of --all and --keep-installer"):
        uninstall.command.main(["--all", "--keep-installer"], standalone_mode=False)


async def test_in_a_pod_a_command_speaks_to_the_cluster_of_the_pod(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = installer_parts().certificate(("kubernetes.default.svc",), 0.0, None)
    for name, text in (("ca.crt", pair.authority), ("namespace", b"team\n"), ("token", b"secret")):
        (tmp_path / name).write_bytes(text)
    monkeypatch.setattr(kubeconfig, "SERVICE_ACCOUNT", tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KUBECONFIG", raising=False)
    for name, value in (
        ("KUBERNETES_SERVICE_HOST", "10.0.0.1"),
        ("HOME", str(tmp_path)),
        ("GANGLINE_HOME", str(tmp_path / "none")),
    ):
        monkeypatch.setenv(name, value)
    async with connection.connect(None, None) as found:
        assert (found.server, found.namespace) == ("https://10.0.0.1:443", "team")
