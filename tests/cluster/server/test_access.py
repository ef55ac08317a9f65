"""Who asks and what they may do: tokens, roles, impersonation, reviews."""

from __future__ import annotations

from cluster.server.conftest import MAPS, PODS, Api, config_map, in_process
from gangline.client.wire import Request, User
from gangline.cluster.server.access.identity import CertificateAuthority, account_user, certificate_user, kubeconfig
from gangline.cluster.server.access.rbac import AUTHENTICATED, Action, covers
from gangline.cluster.server.bootstrap import bootstrap
from gangline.cluster.server.server import Server
from gangline.cluster.server.wire.http import serve

RBAC = "/apis/rbac.authorization.k8s.io/v1"
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"


def role(name: str, **rule: list[str]) -> dict[str, object]:
    return {"metadata": {"name": name}, "rules": [rule]}


def binding(name: str, user: str, role_name: str) -> dict[str, object]:
    return {
        "metadata": {"name": name},
        "subjects": [{"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"}],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": role_name},
    }


def as_user(server: Server, name: str) -> Api:
    return in_process(server, User(name, (AUTHENTICATED,)))


async def test_somebody_without_a_role_is_told_what_he_may_not(server: Server) -> None:
    answer = await as_user(server, "eve").get(MAPS)
    assert answer.status == 403
    assert answer.message == (
        'configmaps is forbidden: User "eve" cannot list resource "configmaps" in API group "" in the namespace '
        '"default"'
    )


async def test_a_role_binding_allows_what_its_role_says_and_only_there(server: Server) -> None:
    admin, bob = in_process(server), as_user(server, "bob")
    await admin.post(
        f"{RBAC}/namespaces/default/roles", role("reader", apiGroups=[""], resources=["configmaps"], verbs=["list"])
    )
    await admin.post(f"{RBAC}/namespaces/default/rolebindings", binding("b", "bob", "reader"))
    assert (await bob.get(MAPS)).status == 200
    assert (await bob.get(PODS)).status == 403
    assert (await bob.get("/api/v1/namespaces/kube-system/configmaps")).status == 403
    await admin.delete(f"{RBAC}/namespaces/default/rolebindings/b")
    assert (await bob.get(MAPS)).status == 403


async def test_the_same_holds_in_process_and_over_http(api: Api) -> None:
    api.extra = {"impersonate-user": "eve"}
    answer = await api.post(MAPS, config_map("a"))
    assert answer.status == 403
    assert 'User "eve" cannot create resource "configmaps"' in answer.message


async def test_impersonation_itself_needs_permission(server: Server) -> None:
    eve = as_user(server, "eve")
    eve.extra = {"impersonate-user": "admin"}
    answer = await eve.get(MAPS)
    assert answer.message == (
        'users "admin" is forbidden: User "eve" cannot impersonate resource "users" in API group "" at the cluster '
        "scope"
    )


async def test_a_service_accounts_token_speaks_for_it_until_it_is_deleted(server: Server) -> None:
    admin = in_process(server)
    await admin.post(ACCOUNTS, {"metadata": {"name": "robot"}})
    token = (await admin.post(f"{ACCOUNTS}/robot/token", {"spec": {}})).body["status"]["token"]
    anyone = Api(server, server.handle)
    anyone.extra = {"authorization": f"Bearer {token}"}
    assert 'User "system:serviceaccount:default:robot" cannot list' in (await anyone.get(MAPS)).message
    await admin.delete(f"{ACCOUNTS}/robot")
    assert (await anyone.get(MAPS)).status == 401


async def test_a_request_without_credentials_is_refused(server: Server) -> None:
    assert (await server.handle(Request("GET", MAPS))).status == 401


async def test_a_forged_token_is_refused(server: Server) -> None:
    other = Server()
    await other.open()
    stranger = Api(server, server.handle)
    stranger.extra = {"authorization": f"Bearer {other.tokens.issue('default', 'robot', 'uid', 600)}"}
    assert (await stranger.get(MAPS)).status == 401


async def test_can_i_is_answered_with_the_binding_that_allows_it(server: Server) -> None:
    admin, bob = in_process(server), as_user(server, "bob")
    await admin.post(
        f"{RBAC}/namespaces/default/roles", role("reader", apiGroups=[""], resources=["pods"], verbs=["get"])
    )
    await admin.post(f"{RBAC}/namespaces/default/rolebindings", binding("b", "bob", "reader"))
    review = {"spec": {"resourceAttributes": {"namespace": "default", "verb": "get", "resource": "pods"}}}
    answer = await bob.post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review)
    assert answer.body["status"] == {
        "allowed": True,
        "reason": 'RBAC: allowed by RoleBinding "b/default" of Role "reader" to User "bob"',
    }


async def test_a_client_certificate_names_its_user_and_groups(server: Server) -> None:
    import asyncio
    import ssl
    import tempfile

    import aiohttp

    pair = server.secrets.authority.client("carol", ["system:masters"])
    context = ssl.create_default_context(cadata=server.secrets.authority.pair.certificate.decode())
    with tempfile.NamedTemporaryFile() as file:
        file.write(pair.certificate + pair.key)
        file.flush()
        await asyncio.to_thread(context.load_cert_chain, file.name)
    listener = await serve(server)
    async with aiohttp.ClientSession() as session:
        answer = await session.post(
            f"{listener.url}/apis/authentication.k8s.io/v1/selfsubjectreviews",
            ssl=context,
            json={"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"},
        )
        who = (await answer.json())["status"]["userInfo"]
    await listener.close()
    assert (who["username"], who["groups"]) == ("carol", ["system:masters", "system:authenticated"])


def test_a_certificate_without_a_name_is_nobody() -> None:
    assert certificate_user({"subject": ((("organizationName", "x"),),)}) is None
    assert certificate_user(None) is None


def test_a_kubeconfig_holds_address_authority_and_token() -> None:
    text = kubeconfig("https://127.0.0.1:6443", CertificateAuthority.make().pair.certificate, "secret")
    assert "server: https://127.0.0.1:6443" in text
    assert "token: secret" in text
    assert "certificate-authority-data: " in text


def test_a_service_account_belongs_to_its_groups() -> None:
    assert account_user("ns", "x").groups == (
        "system:serviceaccounts",
        "system:serviceaccounts:ns",
        "system:authenticated",
    )


async def test_nobody_gives_away_more_than_he_has(server: Server) -> None:
    admin, bob = in_process(server), as_user(server, "bob")
    may = {
        "apiGroups": ["rbac.authorization.k8s.io"],
        "resources": ["roles", "rolebindings"],
        "verbs": ["create", "update", "get"],
    }
    await admin.post(
        f"{RBAC}/namespaces/default/roles",
        {
            "metadata": {"name": "roles"},
            "rules": [may, {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}],
        },
    )
    await admin.post(f"{RBAC}/namespaces/default/rolebindings", binding("b", "bob", "roles"))
    own = await bob.post(
        f"{RBAC}/namespaces/default/roles", role("own", apiGroups=[""], resources=["configmaps"], verbs=["get"])
    )
    assert own.status == 201
    more = await bob.post(
        f"{RBAC}/namespaces/default/roles", role("more", apiGroups=[""], resources=["pods"], verbs=["get"])
    )
    assert more.message == (
        'roles.rbac.authorization.k8s.io "more" is forbidden: user "bob" (groups=["system:authenticated"]) is '
        'attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["pods"], Verbs:["get"]}'
    )
    await admin.post(f"{RBAC}/namespaces/default/roles", role("pods", apiGroups=[""], resources=["pods"], verbs=["*"]))
    assert (await bob.post(f"{RBAC}/namespaces/default/rolebindings", binding("c", "bob", "pods"))).status == 403
    assert (await bob.post(f"{RBAC}/namespaces/default/rolebindings", binding("d", "eve", "own"))).status == 201


def everywhere(name: str, user: str) -> dict[str, object]:
    return {
        "metadata": {"name": name},
        "subjects": [{"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"}],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
    }


async def test_a_cluster_role_allows_every_name_until_its_binding_goes(server: Server) -> None:
    admin, bob = in_process(server), as_user(server, "bob")
    await admin.post(f"{RBAC}/clusterroles", role("reader", apiGroups=[""], resources=["configmaps"], verbs=["get"]))
    await admin.post(f"{RBAC}/clusterrolebindings", everywhere("reader", "bob"))
    for name in ("a", "b"):
        await admin.post(MAPS, config_map(name))
        assert (await bob.get(f"{MAPS}/{name}")).status == 200
    assert (await bob.delete(f"{MAPS}/a")).status == 403
    await admin.delete(f"{RBAC}/clusterrolebindings/reader")
    assert (await bob.get(f"{MAPS}/a")).status == 403


async def test_a_cluster_role_that_names_objects_allows_only_those(server: Server) -> None:
    admin, bob = in_process(server), as_user(server, "bob")
    await admin.post(
        f"{RBAC}/clusterroles",
        role("one", apiGroups=[""], resources=["configmaps"], verbs=["get"], resourceNames=["a"]),
    )
    await admin.post(f"{RBAC}/clusterrolebindings", everywhere("one", "bob"))
    for name in ("a", "b"):
        await admin.post(MAPS, config_map(name))
    assert [(await bob.get(f"{MAPS}/{name}")).status for name in ("a", "b", "a")] == [200, 403, 200]


async def test_requests_are_counted_by_what_they_were(server: Server) -> None:
    admin = in_process(server)
    await admin.post(MAPS, config_map("a"))
    await admin.post(MAPS, config_map("a"))
    await admin.get(f"{MAPS}/a")
    text = (await admin.get("/metrics")).body.decode()
    for line in (
        'apiserver_request_total{code="201",group="",resource="configmaps",verb="create"} 1.0',
        'apiserver_request_total{code="409",group="",resource="configmaps",verb="create"} 1.0',
        'apiserver_request_duration_seconds_count{verb="create"} 2.0',
        'apiserver_storage_objects{resource="configmaps"} 1.0',
    ):
        assert line in text.splitlines(), text


def cluster_role(name: str, into: str) -> dict[str, object]:
    labels = {f"rbac.authorization.k8s.io/aggregate-to-{into}": "true"}
    rule = {"apiGroups": ["example.com"], "resources": [name], "verbs": ["list"]}
    return {"metadata": {"name": name, "labels": labels}, "rules": [rule]}


async def test_view_edit_and_admin_take_in_the_roles_that_are_meant_for_them(server: Server) -> None:
    admin = in_process(server)
    await admin.post(f"{RBAC}/clusterroles", cluster_role("seen", "view"))
    await admin.post(f"{RBAC}/clusterroles", cluster_role("ruled", "admin"))
    allowed = {}
    for name in ("view", "edit", "admin"):
        bound = binding(name, name, name) | {
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
        }
        await admin.post(f"{RBAC}/namespaces/default/rolebindings", bound)
        user = as_user(server, name)
        asked = {
            (verb, group, resource): await _may(user, verb, group, resource)
            for verb, group, resource in (
                ("list", "", "pods"),
                ("create", "", "pods"),
                ("create", "rbac.authorization.k8s.io", "roles"),
                ("list", "example.com", "seen"),
                ("list", "example.com", "ruled"),
            )
        }
        allowed[name] = list(asked.values())
    assert allowed == {
        "view": [True, False, False, True, False],
        "edit": [True, True, False, True, False],
        "admin": [True, True, True, True, True],
    }


async def _may(user: Api, verb: str, group: str, resource: str) -> bool:
    asked = {"verb": verb, "group": group, "resource": resource, "namespace": "default"}
    answer = await user.post(
        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {"spec": {"resourceAttributes": asked}}
    )
    return bool(answer.body["status"]["allowed"])


async def test_a_role_that_an_older_version_made_takes_in_others_once_the_server_opens_anew(server: Server) -> None:
    admin = in_process(server)
    before = (await admin.get(f"{RBAC}/clusterroles/view")).body
    await admin.merge(f"{RBAC}/clusterroles/view", {"aggregationRule": None, "metadata": {"labels": {"kept": "yes"}}})
    bootstrap(server.core)
    after = (await admin.get(f"{RBAC}/clusterroles/view")).body
    assert after["aggregationRule"] == before["aggregationRule"] and after["rules"] == before["rules"]
    assert after["metadata"]["labels"] == {**before["metadata"]["labels"], "kept": "yes"}
    assert after["metadata"]["uid"] == before["metadata"]["uid"]


RULES: list[dict[str, list[str]]] = [
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]},
    {"apiGroups": [""], "resources": ["pods/log"], "verbs": ["get"]},
    {"apiGroups": ["*"], "resources": ["*/status"], "verbs": ["patch"]},
    {"apiGroups": ["apps"], "resources": ["*"], "verbs": ["list"]},
    {"apiGroups": [""], "resources": ["pods"], "resourceNames": ["one"], "verbs": ["delete"]},
    {"apiGroups": ["*"], "resources": ["secrets"], "verbs": ["*"]},
]


async def test_only_the_rules_about_a_resource_are_asked_and_the_answer_is_that_of_asking_all(server: Server) -> None:
    admin = in_process(server)
    await admin.post(f"{RBAC}/clusterroles", {"metadata": {"name": "some"}, "rules": RULES})
    bound = {"kind": "ClusterRole", "name": "some", "apiGroup": "rbac.authorization.k8s.io"}
    subject = {"kind": "User", "name": "bob", "apiGroup": "rbac.authorization.k8s.io"}
    made = {"metadata": {"name": "some"}, "subjects": [subject], "roleRef": bound}
    assert (await admin.post(f"{RBAC}/clusterrolebindings", made)).status == 201
    bob, authorizer = User("bob"), server.authorizer
    assert authorizer is not None
    asked = [
        Action(verb, group, resource, subresource, "default", name)
        for verb in ("get", "list", "patch", "delete")
        for group in ("", "apps", "batch")
        for resource in ("pods", "deployments", "secrets")
        for subresource in ("", "log", "status")
        for name in ("", "one", "two")
    ]
    for action in (*asked, *asked):
        expected = any(covers(rule, action) for rule in RULES)
        assert authorizer.decide(bob, action).allowed == expected, action
