"""The bundle for the Operator Lifecycle Manager is what `gangline install` brings: the same installer with the same
rights, every definition, and examples of what an administrator applies."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from gangline.api.crds import crds
from gangline.api.kinds import CLUSTER_ROLE, DEPLOYMENT
from gangline.cli.deploy import install, olm
from gangline.installer.release.manifests import Manifest
from gangline.installer.release.olm import CSV
from gangline.installer.settings import BOTH
from gangline.rules.values.documents import read_yaml

IMAGE = "example.com/gangline:1"


@cache
def files() -> dict[str, Any]:
    return {name: read_yaml(text) for name, text in olm.printed(IMAGE).items()}


@cache
def version() -> Any:
    return files()[CSV]


@cache
def brought() -> list[Manifest]:
    return install.manifests(IMAGE, None, BOTH)


def test_every_definition_is_in_it_and_owned_in_each_version() -> None:
    printed = [obj for name, obj in files().items() if name.endswith(".crd.yaml")]
    assert sorted(obj["metadata"]["name"] for obj in printed) == sorted(crd["metadata"]["name"] for crd in crds())
    owned = {(item["name"], item["version"]) for item in version()["spec"]["customresourcedefinitions"]["owned"]}
    assert owned == {(crd["metadata"]["name"], each["name"]) for crd in crds() for each in crd["spec"]["versions"]}


def test_the_installer_runs_as_install_brings_it_with_the_same_rights() -> None:
    told = version()["spec"]["install"]["spec"]
    [deployment] = [item for item in brought() if item.kind is DEPLOYMENT]
    [role] = [item for item in brought() if item.kind is CLUSTER_ROLE and item.name == "gangline-installer"]
    assert [item["spec"] for item in told["deployments"]] == [deployment.obj["spec"]]
    assert told["clusterPermissions"][0]["rules"] == role.obj["rules"]
    account = deployment.obj["spec"]["template"]["spec"]["serviceAccountName"]
    assert {item["serviceAccountName"] for item in (*told["clusterPermissions"], *told["permissions"])} == {account}
    assert told["deployments"][0]["spec"]["template"]["spec"]["containers"][0]["image"] == IMAGE


def test_what_tenants_may_do_is_brought_as_roles_and_not_given_to_the_installer() -> None:
    roles = [item for item in brought() if item.kind is CLUSTER_ROLE and "labels" in item.obj["metadata"]]
    assert sorted(item.name for item in roles) == ["gangline-tenant-edit", "gangline-tenant-view"]
    printed = [obj for name, obj in files().items() if name.endswith(".clusterrole.yaml")]
    assert printed == [item.whole for item in roles]


def test_what_olm_does_not_bring_is_an_example() -> None:
    examples = json.loads(version()["metadata"]["annotations"]["alm-examples"])
    applied = {
        (item.kind.kind, item.name) for item in brought() if item.kind.kind in ("Config", "SchedulingShard", "Queue")
    }
    assert {(obj["kind"], obj["metadata"]["name"]) for obj in examples} == applied
    assert version()["metadata"]["annotations"]["operatorframework.io/suggested-namespace"] == "gangline-system"


def test_it_says_of_itself_where_its_parts_are() -> None:
    notes = files()["metadata/annotations.yaml"]["annotations"]
    assert notes["operators.operatorframework.io.bundle.mediatype.v1"] == "registry+v1"
    for part in ("manifests", "metadata"):
        assert any(name.startswith(notes[f"operators.operatorframework.io.bundle.{part}.v1"]) for name in files())
    assert version()["metadata"]["name"] == f"gangline.v{version()['spec']['version']}"
