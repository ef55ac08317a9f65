"""Each component may do what it does and no more: its roles cover what it watches, and name no wildcards."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest

from gangline.api.crds import crds
from gangline.api.kinds import (
    CRD,
    POD,
    POD_CLIQUE,
    POD_CLIQUE_SET,
    POD_GANG,
    POD_GROUP,
    QUEUE,
    ROLE_BINDING,
    SECRET,
    Kind,
    foreign,
)
from gangline.cli.deploy.rights import command
from gangline.client import Client, Request, Response, User
from gangline.component_names import INSTALLED
from gangline.components import COMPONENTS, build
from gangline.components.options import ComponentOptions
from gangline.errors import BadInput, Forbidden
from gangline.installer.release.chart import uninstaller_rules
from gangline.local import Platform, PlatformSettings
from gangline.operator.backends import Registry
from gangline.operator.rights import election_rights
from gangline.operator.rights import rights as backend_rights
from gangline.rights import SIMULATED
from gangline.role_objects import backends, namespaces, objects, rules
from gangline.rules.sets import OperatorSettings
from gangline.runtime import Manager
from yaml_loading import load_all_yaml


class Nowhere:
    async def send(self, request: Request) -> Response:
        raise AssertionError("nothing is sent")

    async def close(self) -> None:
        return None


def allowed(name: str, verb: str, namespace: str = "") -> set[str]:
    """Resources (`pods`, `queues.scheduling.run.ai`) on which a component may use a verb."""
    return {
        f"{resource}.{rule['apiGroups'][0]}".rstrip(".")
        for rule in rules(name, namespace)
        if verb in rule["verbs"]
        for resource in rule["resources"]
    }


@pytest.mark.parametrize("name", [component for component in COMPONENTS if component != "controller-manager"])
def test_a_component_may_read_all_that_it_watches(name: str) -> None:
    watched = {
        informer.kind.resource
        for informer in Manager(build(name, ComponentOptions()), Client(Nowhere())).cache.informers
    }
    for verb in ("list", "watch"):
        assert watched <= allowed(name, verb)


@pytest.mark.parametrize("name", [component for component in COMPONENTS if component != "controller-manager"])
def test_no_component_has_a_wildcard_or_rights_over_rights_that_it_does_not_need(name: str) -> None:
    told = [*rules(name), *(rule for namespace in namespaces(name) for rule in rules(name, namespace))]
    assert told and not [rule for rule in told if "*" in (*rule["apiGroups"], *rule["resources"], *rule["verbs"])]
    assert not allowed(name, "escalate") and not allowed(name, "bind")
    if name not in ("operator", "installer"):
        assert not {item for item in allowed(name, "create") if item.endswith("rbac.authorization.k8s.io")}


def test_only_the_binder_may_bind_and_reservation_pods_are_made_in_their_namespace_only() -> None:
    assert [name for name in COMPONENTS if "pods/binding" in allowed(name, "create")] == [
        "binder",
        "installer",
        "default-scheduler",
    ]
    assert "pods" not in allowed("binder", "create") and allowed("binder", "create", "kai-resource-reservation") == {
        "pods"
    }
    assert "pods" not in allowed("node-scale-adjuster", "delete") and "pods" in allowed(
        "node-scale-adjuster", "delete", "kai-scale-adjust"
    )


def test_every_elected_component_has_a_lease_of_its_own_half() -> None:
    assert "leases.coordination.k8s.io" in allowed("scheduler", "patch", "kai-scheduler")
    assert "leases.coordination.k8s.io" in allowed("grouper", "patch", "kai-scheduler")
    assert "leases.coordination.k8s.io" in allowed("operator", "patch", "gangline-system")
    assert not allowed("admission", "patch", "kai-scheduler") and not allowed(
        "resource-reservation", "patch", "kai-scheduler"
    )


def test_the_command_prints_accounts_roles_and_bindings_for_a_real_cluster(capsys: pytest.CaptureFixture[str]) -> None:
    command.main([], standalone_mode=False)
    printed = load_all_yaml(capsys.readouterr().out)
    accounts = {item["metadata"]["name"] for item in printed if item["kind"] == "ServiceAccount"}
    assert accounts == {*COMPONENTS, "dashboard"} - set(SIMULATED)
    roles = {(item["kind"], item["metadata"]["name"]) for item in printed}
    assert all(
        (item["roleRef"]["kind"], item["roleRef"]["name"]) in roles
        for item in printed
        if item["kind"].endswith("Binding")
    )
    assert not [
        item for item in printed if item["kind"].endswith("Binding") and item["roleRef"]["name"] == "cluster-admin"
    ]


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    command.main(list(words), standalone_mode=False)
    return load_all_yaml(capsys.readouterr().out)


@pytest.mark.parametrize("name", ["kai", "podgang"])
def test_the_rights_of_a_backend_alone_are_printed_with_its_account(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = printed(capsys, "backend", name)
    assert [(item["kind"], item["metadata"]["name"]) for item in found] == [
        ("ServiceAccount", "backend-kai"),
        ("ClusterRole", "gangline-backend-kai"),
        ("ClusterRoleBinding", "gangline-backend-kai"),
        ("Role", "gangline-backend-kai"),
        ("RoleBinding", "gangline-backend-kai"),
    ]
    kai = Registry(OperatorSettings()).by_name("kai")
    assert found[1]["rules"] == backend_rights(kai) and found[3]["rules"] == election_rights("gangline-backend-kai")
    assert not {"secrets", "pods/binding"} & {resource for rule in found[1]["rules"] for resource in rule["resources"]}


def test_a_backend_is_deployed_by_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    *_, deployment = printed(capsys, "backend", "default", "--deployment", "--image", "registry.example/g:1")
    pod = deployment["spec"]["template"]["spec"]
    assert (deployment["kind"], deployment["metadata"]["namespace"], pod["serviceAccountName"]) == (
        "Deployment",
        "gangline-system",
        "backend-default",
    )
    assert pod["containers"][0]["command"][:4] == ["gangline", "run", "backend", "default"]
    assert pod["containers"][0]["image"] == "registry.example/g:1"
    assert "app.kubernetes.io/managed-by" not in str(deployment), "no installer keeps it"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["backend"], "which backend? say for example: gangline rights backend kai"),
        (["nobody"], "no component is called 'nobody'; there are:"),
        (["backend", "slurm"], "no backend is called 'slurm'; there are: default, kai"),
        (
            ["binder", "--deployment"],
            "--deployment is for backends, as in `gangline rights backend kai --deployment`, not for binder",
        ),
    ],
)
def test_what_has_no_rights_is_refused_with_what_there_is(words: list[str], said: str) -> None:
    with pytest.raises(BadInput, match=re.escape(said)):
        command.main(words, standalone_mode=False)


async def test_on_the_platform_a_component_is_refused_what_is_not_its_business() -> None:
    platform = Platform(PlatformSettings(components=()))
    await platform.start()
    try:
        controller, scheduler = platform._client("queue-controller"), platform._client("scheduler")
        assert (await controller.list(QUEUE)).items
        with pytest.raises(
            Forbidden, match='"system:serviceaccount:gangline-system:queue-controller" cannot list resource "pods"'
        ):
            await controller.list(POD)
        with pytest.raises(Forbidden, match='cannot create resource "pods/binding"'):
            await scheduler.bind("p", "default", "n")
    finally:
        await platform.stop()


def test_each_component_has_a_binding() -> None:
    bound = {obj["subjects"][0]["name"] for _, obj in objects() if "subjects" in obj}
    assert set(COMPONENTS) <= bound


def test_the_installer_holds_what_it_gives_and_no_more_of_that() -> None:
    for name in (*INSTALLED, *backends()):
        for namespace in ("", *namespaces(name)):
            for verb in {verb for rule in rules(name, namespace) for verb in rule["verbs"]}:
                assert allowed(name, verb, namespace) <= allowed("installer", verb), (name, verb)
    assert "nodes" not in allowed("installer", "create") and "queues.scheduling.run.ai" not in allowed(
        "installer", "delete"
    )


def test_nobody_may_list_secrets_and_the_installer_sees_the_one_it_makes() -> None:
    listing = [
        (name, rule.get("resourceNames"))
        for name in (*COMPONENTS, "dashboard")
        if name != "controller-manager"
        for place in ("", *namespaces(name))
        for rule in rules(name, place)
        if "secrets" in rule["resources"] and {"list", "watch", "patch", "update"} & set(rule["verbs"])
    ]
    assert listing == [("installer", ["kai-admission-webhook-tls-secret"])]
    assert [rule.get("resourceNames") for rule in uninstaller_rules() if "secrets" in rule["resources"]] == [
        ["kai-admission-webhook-tls-secret"]
    ]
    assert [
        verb for verb in ("get", "create", "delete", "patch", "update") if "secrets" in allowed("operator", verb)
    ] == ["get", "create", "delete"]


async def test_on_the_platform_the_grouper_sees_owners_of_every_kind_but_no_secret() -> None:
    platform = Platform(PlatformSettings(components=()))
    await platform.start()
    try:
        kind = foreign("example.com/v1", "Owner", "owners")
        schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
        await platform.admin.create(
            CRD,
            {
                "metadata": {"name": "owners.example.com"},
                "spec": {
                    "group": "example.com",
                    "scope": "Namespaced",
                    "names": {"plural": "owners", "singular": "owner", "kind": "Owner"},
                    "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
                },
            },
        )
        await platform.admin.create(kind, {"metadata": {"name": "o", "namespace": "default"}})
        grouper = platform.connect("grouper")
        await until_allowed(grouper, kind)
        for name in ("grouper", "operator", "scheduler", "binder"):
            with pytest.raises(Forbidden, match='cannot list resource "secrets" in API group "" at the cluster scope'):
                await platform.connect(name).list(SECRET)
        with pytest.raises(Forbidden, match='cannot get resource "secrets"'):
            await grouper.get(SECRET, "any", "default")
    finally:
        await platform.stop()


async def until_allowed(client: Client, kind: Kind[Any]) -> None:
    """Rights follow a definition at once, but not before it."""
    while True:
        try:
            await client.get_raw(kind, "o", "default")
            return
        except Forbidden:
            await asyncio.sleep(0)


def test_the_roles_view_edit_and_admin_take_in_what_tenants_may_do_with_our_kinds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    view, edit = printed(capsys, "tenant")
    into = "rbac.authorization.k8s.io/aggregate-to-"
    assert view["metadata"]["labels"] == {f"{into}{role}": "true" for role in ("view", "edit", "admin")}
    assert edit["metadata"]["labels"] == {f"{into}{role}": "true" for role in ("edit", "admin")}
    seen = {f"{name}.{rule['apiGroups'][0]}" for rule in view["rules"] for name in rule["resources"]}
    assert seen == {item["metadata"]["name"] for item in crds() if item["spec"]["scope"] == "Namespaced"}
    assert {verb for rule in view["rules"] for verb in rule["verbs"]} == {"get", "list", "watch"}
    written = {name for rule in edit["rules"] for name in rule["resources"] if "create" in rule["verbs"]}
    assert written == {"podcliquesets", "podgroups"}
    told = [name for rule in edit["rules"] for name in rule["resources"]]
    assert not [name for name in told if name.endswith("/status") or name in ("bindrequests", "podgangs")]


async def test_on_the_platform_who_has_the_role_view_in_a_namespace_sees_our_kinds_there_and_writes_none() -> None:
    platform = Platform(PlatformSettings(components=()))
    await platform.start()
    try:
        for name in ("view", "edit"):
            about = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
            subject = {"kind": "User", "name": name, "apiGroup": "rbac.authorization.k8s.io"}
            body = {"metadata": {"name": name, "namespace": "default"}, "roleRef": about, "subjects": [subject]}
            await platform.admin.create(ROLE_BINDING, body)
        viewer, editor = (
            Client(platform.server.transport(User(name, ("system:authenticated",))), manager=name)
            for name in ("view", "edit")
        )
        for kind in (POD_CLIQUE_SET, POD_CLIQUE, POD_GANG, POD_GROUP):
            assert (await viewer.list(kind, "default")).items == (await editor.list(kind, "default")).items == []
        group = {"metadata": {"name": "g", "namespace": "default"}, "spec": {"minMember": 1, "queue": "default-queue"}}
        with pytest.raises(Forbidden, match='User "view" cannot create resource "podgroups"'):
            await viewer.create(POD_GROUP, group)
        await editor.create(POD_GROUP, group)
        with pytest.raises(Forbidden, match='User "edit" cannot patch resource "podgroups/status"'):
            await editor.patch(POD_GROUP, "g", "default", {"status": {}}, subresource="status")
    finally:
        await platform.stop()
