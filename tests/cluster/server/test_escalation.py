"""Attacks on access: nobody becomes more than he is by writing roles, naming objects, or being taken for another."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from cluster.server.conftest import MAPS, Answer, Api, config_map, in_process
from gangline.client.wire import APPLY_PATCH, Request, User
from gangline.cluster.server.access.rbac import AUTHENTICATED
from gangline.cluster.server.server import Server

GROUP = "rbac.authorization.k8s.io"
RBAC = f"/apis/{GROUP}/v1"
ROLES, BINDINGS = f"{RBAC}/clusterroles", f"{RBAC}/clusterrolebindings"
SECRETS = "/api/v1/namespaces/default/secrets"
WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
Obj = dict[str, Any]


def rule(groups: str, resources: str, verbs: str, *names: str) -> Obj:
    named = {"resourceNames": list(names)} if names else {}
    return {"apiGroups": groups.split(","), "resources": resources.split(","), "verbs": verbs.split(","), **named}


def as_user(server: Server, name: str = "eve") -> Api:
    return in_process(server, User(name, (AUTHENTICATED,)))


async def grant(server: Server, *rules: Obj, to: str = "eve", namespace: str = "") -> None:
    """Bind a user to a cluster role of these rules, everywhere or in one namespace."""
    admin, name = in_process(server), f"of-{to}-{namespace or 'all'}"
    assert (await admin.post(ROLES, {"metadata": {"name": name}, "rules": list(rules)})).status == 201
    bound = {
        "metadata": {"name": name},
        "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": name},
        "subjects": [{"kind": "User", "name": to, "apiGroup": GROUP}],
    }
    path = f"{RBAC}/namespaces/{namespace}/rolebindings" if namespace else BINDINGS
    assert (await admin.post(path, bound)).status == 201


WRITES_ROLES = rule(GROUP, "clusterroles", "get,create,update,patch")
AGGREGATE = {"clusterRoleSelectors": [{"matchLabels": {"kubernetes.io/bootstrapping": "rbac-defaults"}}]}
NOT_HELD = (
    'must have cluster-admin privileges to use an aggregationRule: user "eve" (groups=["system:authenticated"]) is '
    "attempting to "
    'grant RBAC permissions not currently held:\n{APIGroups:["*"], Resources:["*"], Verbs:["*"]}\n'
    '{NonResourceURLs:["*"], Verbs:["*"]}'
)


async def test_a_role_that_aggregates_is_made_only_by_who_may_do_everything(server: Server) -> None:
    await grant(server, WRITES_ROLES)
    answer = await as_user(server).post(ROLES, {"metadata": {"name": "mine"}, "aggregationRule": AGGREGATE})
    assert (answer.status, answer.message) == (403, f'clusterroles.{GROUP} "mine" is forbidden: {NOT_HELD}')


@pytest.mark.parametrize("method", ["merge", "put", "apply"])
async def test_nobody_turns_his_own_role_into_one_that_aggregates(server: Server, method: str) -> None:
    await grant(server, WRITES_ROLES)
    eve, mine = (
        as_user(server),
        {
            "apiVersion": f"{GROUP}/v1",
            "kind": "ClusterRole",
            "metadata": {"name": "of-eve-all"},
            "rules": [WRITES_ROLES],
            "aggregationRule": AGGREGATE,
        },
    )
    path = f"{ROLES}/of-eve-all"
    answers = {
        "merge": eve.merge(path, {"aggregationRule": AGGREGATE}),
        "put": eve.put(path, mine),
        "apply": eve.call("PATCH", path, mine, APPLY_PATCH, fieldManager="eve", force="true"),
    }
    answer = await answers.pop(method)
    for other in answers.values():
        other.close()
    assert (answer.status, answer.message) == (403, f'clusterroles.{GROUP} "of-eve-all" is forbidden: {NOT_HELD}')
    assert (await eve.get(SECRETS)).status == 403


async def test_who_may_escalate_may_aggregate(server: Server) -> None:
    await grant(server, WRITES_ROLES, rule(GROUP, "clusterroles", "escalate"))
    assert (
        await as_user(server).post(ROLES, {"metadata": {"name": "mine"}, "aggregationRule": AGGREGATE})
    ).status == 201


async def test_a_label_that_would_hand_a_role_to_an_aggregate_needs_the_rights_of_that_role(server: Server) -> None:
    admin = in_process(server)
    await grant(server, WRITES_ROLES)
    await admin.merge(
        f"{ROLES}/of-eve-all", {"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"for": "eve"}}]}}
    )
    await admin.post(ROLES, {"metadata": {"name": "base", "labels": {"for": "eve"}}, "rules": [WRITES_ROLES]})
    eve = as_user(server)
    answer = await eve.merge(f"{ROLES}/cluster-admin", {"metadata": {"labels": {"for": "eve"}}})
    assert answer.status == 403
    assert (await eve.get(SECRETS)).status == 403


async def test_letting_go_of_a_role_needs_no_rights_of_it(server: Server) -> None:
    await grant(server, WRITES_ROLES)
    answer = await as_user(server).merge(f"{ROLES}/cluster-admin", {"metadata": {"finalizers": ["example.com/keep"]}})
    assert answer.status == 200


SELECTORS: tuple[tuple[Obj, set[str]], ...] = (
    ({"matchExpressions": [{"key": "team", "operator": "In", "values": ["a", "b"]}]}, {"a", "b"}),
    ({"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["a"]}]}, {"b", "none"}),
    ({"matchExpressions": [{"key": "team", "operator": "Exists"}]}, {"a", "b"}),
    ({"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]}, {"none"}),
    (
        {"matchLabels": {"kind": "part"}, "matchExpressions": [{"key": "team", "operator": "In", "values": ["b"]}]},
        {"b"},
    ),
)


@pytest.mark.parametrize(("selector", "expected"), SELECTORS)
async def test_an_aggregate_selects_by_every_operator(server: Server, selector: Obj, expected: set[str]) -> None:
    admin, selector = (
        in_process(server),
        {**selector, "matchLabels": {**selector.get("matchLabels", {}), "kind": "part"}},
    )
    for name in ("a", "b", "none"):
        labels = {"kind": "part"} | ({"team": name} if name != "none" else {})
        await admin.post(ROLES, {"metadata": {"name": name, "labels": labels}, "rules": [rule("", name, "get")]})
    await grant(server, rule("", "nothing", "get"))
    await admin.merge(f"{ROLES}/of-eve-all", {"aggregationRule": {"clusterRoleSelectors": [selector]}})
    assert await allowed(server, ("a", "b", "none")) == expected


async def allowed(server: Server, resources: tuple[str, ...]) -> set[str]:
    found = set()
    for resource in resources:
        review = {"spec": {"user": "eve", "resourceAttributes": {"verb": "get", "resource": resource, "name": "x"}}}
        answer = await in_process(server).post("/apis/authorization.k8s.io/v1/subjectaccessreviews", review)
        found |= {resource} if answer.body["status"]["allowed"] else set()
    return found


async def test_aggregates_of_aggregates_grant_what_their_parts_do_and_a_circle_ends(server: Server) -> None:
    admin = in_process(server)
    for name, of, part in (("of-eve", "one", "two"), ("inner", "two", "one")):
        await admin.post(
            ROLES,
            {
                "metadata": {"name": name, "labels": {part: "yes"}},
                "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {of: "yes"}}]},
            },
        )
    await admin.post(
        ROLES, {"metadata": {"name": "leaf", "labels": {"two": "yes"}}, "rules": [rule("", "leaves", "get")]}
    )
    await admin.post(
        BINDINGS,
        {
            "metadata": {"name": "b"},
            "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": "of-eve"},
            "subjects": [{"kind": "User", "name": "eve", "apiGroup": GROUP}],
        },
    )
    assert await allowed(server, ("leaves", "secrets")) == {"leaves"}


async def test_many_aggregates_that_select_each_other_are_looked_at_once_each(server: Server) -> None:
    admin = in_process(server)
    for number in range(40):
        await admin.post(
            ROLES,
            {
                "metadata": {"name": f"all-{number}", "labels": {"all": "yes"}},
                "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"all": "yes"}}]},
            },
        )
    await admin.post(
        ROLES, {"metadata": {"name": "leaf", "labels": {"all": "yes"}}, "rules": [rule("", "leaves", "get")]}
    )
    await admin.post(
        BINDINGS,
        {
            "metadata": {"name": "b"},
            "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": "all-0"},
            "subjects": [{"kind": "User", "name": "eve", "apiGroup": GROUP}],
        },
    )
    assert await allowed(server, ("leaves", "secrets")) == {"leaves"}


NAMED = {"fieldSelector": "metadata.name=allowed"}


async def test_a_field_selector_names_the_object_of_a_list_and_of_nothing_else(server: Server) -> None:
    await grant(server, rule("", "configmaps", "list,watch,create,deletecollection", "allowed"))
    eve = as_user(server)
    assert (await in_process(server).post(MAPS, config_map("other"))).status == 201
    assert (await eve.post(MAPS, config_map("mine"), **NAMED)).status == 403
    assert (await eve.delete(MAPS, **NAMED)).status == 403
    assert (await eve.get(MAPS)).status == 403
    assert (await eve.get(MAPS, **NAMED)).names == []
    assert (await eve.get(MAPS, watch="true", **NAMED)).status == 200
    assert (await eve.get(MAPS, fieldSelector="metadata.namespace=default,metadata.name=allowed")).status == 200
    for other in ("metadata.name!=allowed", "metadata.name=other", "metadata.name=other,metadata.name=allowed"):
        assert (await eve.get(MAPS, fieldSelector=other)).status == 403
    assert (await eve.get(MAPS, fieldSelector="metadata.name=allowed,metadata.name=other")).names == []


async def test_the_empty_name_is_a_name_and_not_all_of_them(server: Server) -> None:
    await grant(server, rule("", "configmaps", "get,list", ""), rule(GROUP, "clusterroles", "create"))
    await in_process(server).post(MAPS, config_map("a"))
    eve = as_user(server)
    assert (await eve.get(f"{MAPS}/a")).status == 403
    assert (
        await eve.post(ROLES, {"metadata": {"name": "all"}, "rules": [rule("", "configmaps", "get")]})
    ).status == 403


@pytest.mark.parametrize(
    "path",
    [
        "//api/v1/namespaces/default/secrets",
        "/api//v1/namespaces/default/secrets",
        "/api/v1/namespaces/default/secrets/",
        "/api/v1/namespaces/default//secrets",
        "/api/v1/namespaces//secrets",
        "/api/v1/namespaces/open/../default/secrets",
        "/api/v1/namespaces/open/configmaps/../../default/secrets",
        "/%61pi/v1/namespaces/default/secrets",
        "/api/v1/namespaces/%64efault/secrets",
        "/api/v1/namespaces/open%2F..%2Fdefault/secrets",
        "/api/v1/namespaces/default/Secrets",
        "/API/v1/namespaces/default/secrets",
        "/api/V1/namespaces/default/secrets",
        "/api/v1/watch/namespaces/default/secrets",
        "/api/v1/watch/../secrets",
        "/api/v1/namespaces/default/secrets/s/",
        "/api/v1/namespaces/default/secrets/s/extra",
        "/api/v1/namespaces/open/secrets/../../default/secrets/s",
        "/api/v1/namespaces/default/configmaps/..%2Fsecrets",
    ],
)
async def test_no_spelling_of_a_path_shows_what_it_may_not(server: Server, path: str) -> None:
    admin = in_process(server)
    await admin.post("/api/v1/namespaces", {"metadata": {"name": "open"}})
    await admin.post(SECRETS, {"metadata": {"name": "s"}, "stringData": {"password": "x"}})
    await grant(server, rule("*", "*", "*"), namespace="open")
    answer = await as_user(server).get(path)
    assert answer.status in (403, 404), answer.body
    assert "password" not in str(answer.body)


@pytest.mark.parametrize(
    "path", ["//metrics", "/%6detrics", "/api/../metrics", "/healthz/../metrics", "/metrics/", "/METRICS"]
)
async def test_no_spelling_of_a_path_that_is_no_resource_gets_past_its_rule(server: Server, path: str) -> None:
    answer = await as_user(server).get(path)
    assert answer.status in (403, 404)


async def test_what_follows_a_subresource_is_not_found(server: Server) -> None:
    await in_process(server).post("/api/v1/namespaces", {"metadata": {"name": "open"}})
    assert (await in_process(server).get("/api/v1/namespaces/open/status/further")).status == 404


@pytest.mark.parametrize(
    ("headers", "resource", "group"),
    [
        ({"impersonate-uid": "u-1"}, 'uids.authentication.k8s.io "u-1"', "authentication.k8s.io"),
        ({"impersonate-extra-scopes": "all"}, 'userextras.authentication.k8s.io "all"', "authentication.k8s.io"),
        (
            {"impersonate-extra-example.com%2fscopes": "all"},
            'userextras.authentication.k8s.io "all"',
            "authentication.k8s.io",
        ),
        ({"impersonate-group": "system:masters"}, 'groups "system:masters"', ""),
        ({"impersonate-group": "friends\nsystem:masters"}, 'groups "system:masters"', ""),
    ],
)
async def test_every_part_of_another_needs_a_right_of_its_own(
    server: Server, headers: dict[str, str], resource: str, group: str
) -> None:
    await grant(server, rule("", "users", "impersonate"), rule("", "groups", "impersonate", "friends"))
    eve = as_user(server)
    eve.extra = {"impersonate-user": "bob", **headers}
    answer = await eve.post(WHO, {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"})
    assert answer.status == 403
    assert answer.message.startswith(f'{resource} is forbidden: User "eve" cannot impersonate resource "')
    assert answer.message.endswith(f'in API group "{group}" at the cluster scope')


async def test_who_may_be_another_in_every_part_is_he(server: Server) -> None:
    await grant(
        server,
        rule("", "users", "impersonate", "bob"),
        rule("", "groups", "impersonate", "friends"),
        rule("authentication.k8s.io", "uids", "impersonate", "u-1"),
        rule("authentication.k8s.io", "userextras/example.com/scopes", "impersonate", "all"),
    )
    eve = as_user(server)
    eve.extra = {
        "impersonate-user": "bob",
        "impersonate-group": "friends",
        "impersonate-uid": "u-1",
        "impersonate-extra-example.com%2fscopes": "all",
    }
    answer = await eve.post(WHO, {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"})
    assert answer.body["status"]["userInfo"] == {
        "username": "bob",
        "uid": "u-1",
        "groups": ["friends", "system:authenticated"],
        "extra": {"example.com/scopes": ["all"]},
    }


async def test_being_users_is_not_being_service_accounts(server: Server) -> None:
    await grant(server, rule("", "users", "impersonate"))
    await grant(server, rule("", "serviceaccounts", "impersonate", "robot"), to="eve", namespace="default")
    eve = as_user(server)

    async def be(name: str) -> Answer:
        eve.extra = {"impersonate-user": name}
        return await eve.post(WHO, {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"})

    assert (await be("system:serviceaccount:kube-system:robot")).message == (
        'serviceaccounts "robot" is forbidden: User "eve" cannot impersonate resource "serviceaccounts" in API group '
        '"" in the namespace '
        '"kube-system"'
    )
    assert (await be("system:serviceaccount:default:other")).status == 403
    who = (await be("system:serviceaccount:default:robot")).body["status"]["userInfo"]
    assert who["groups"] == ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"]


async def test_of_several_names_the_first_counts(server: Server) -> None:
    await grant(server, rule("", "users", "impersonate", "bob"))
    eve = as_user(server)
    eve.extra = {"impersonate-user": "bob\nsystem:serviceaccount:default:robot"}
    who = await eve.post(WHO, {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"})
    assert who.body["status"]["userInfo"]["username"] == "bob"


async def test_parts_of_another_without_his_name_are_refused(server: Server) -> None:
    eve = as_user(server)
    eve.extra = {"impersonate-uid": "u-1"}
    answer = await eve.get(MAPS)
    assert (answer.status, answer.message) == (
        400,
        "requested [{UID  u-1  authentication.k8s.io/v1  }] without impersonating a user",
    )


async def test_a_binding_in_a_namespace_to_a_cluster_role_needs_its_rights_there(server: Server) -> None:
    await grant(
        server,
        rule(GROUP, "rolebindings", "create,patch,get,update"),
        rule("", "configmaps", "get"),
        namespace="default",
    )
    bound = {
        "metadata": {"name": "b"},
        "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "User", "name": "eve", "apiGroup": GROUP}],
    }
    eve, path = as_user(server), f"{RBAC}/namespaces/default/rolebindings"
    assert (await eve.post(path, bound)).status == 403
    assert (await in_process(server).post(path, {**bound, "subjects": []})).status == 201
    assert (await eve.merge(f"{path}/b", {"subjects": bound["subjects"]})).status == 403
    assert (await eve.put(f"{path}/b", bound)).status == 403
    assert (await eve.call("PUT", f"{path}/new", {**bound, "metadata": {"name": "new"}})).status == 403
    assert (await eve.get(SECRETS)).status == 403


async def test_bind_on_one_role_is_bind_on_that_role_only(server: Server) -> None:
    await grant(server, rule(GROUP, "clusterrolebindings", "create"), rule(GROUP, "clusterroles", "bind", "view"))
    subjects = [{"kind": "User", "name": "eve", "apiGroup": GROUP}]
    roles = [{"apiGroup": GROUP, "kind": "ClusterRole", "name": name} for name in ("view", "cluster-admin")]
    bindings = [{"metadata": {"name": role["name"]}, "roleRef": role, "subjects": subjects} for role in roles]
    statuses = [(await as_user(server).post(BINDINGS, binding)).status for binding in bindings]
    assert statuses == [201, 403]


async def test_an_account_that_asks_for_tokens_gets_only_those_it_may(server: Server) -> None:
    admin = in_process(server)
    for name in ("mine", "other"):
        await admin.post("/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": name}})
    secret = (await admin.post(SECRETS, {"metadata": {"name": "s"}})).body
    await grant(server, rule("", "serviceaccounts/token", "create", "mine"), namespace="default")
    eve, path = as_user(server), "/api/v1/namespaces/default/serviceaccounts/{}/token"
    assert (await eve.post(path.format("mine"), {"spec": {}})).status == 201
    assert (await eve.post(path.format("other"), {"spec": {}})).status == 403
    assert (await eve.post(path.format("mine"), {"metadata": {"name": "other"}, "spec": {}})).status == 422
    bound = {"apiVersion": "v1", "kind": "Secret", "name": "s", "uid": "of-another"}
    assert (await eve.post(path.format("mine"), {"spec": {"boundObjectRef": bound}})).status == 409
    assert (
        await eve.post(path.format("mine"), {"spec": {"boundObjectRef": bound | {"uid": secret["metadata"]["uid"]}}})
    ).status == 201


async def test_a_token_for_others_is_none_for_the_server(server: Server) -> None:
    admin = in_process(server)
    await admin.post("/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "robot"}})
    asked = {"spec": {"audiences": ["vault"]}}
    token = (await admin.post("/api/v1/namespaces/default/serviceaccounts/robot/token", asked)).body["status"]["token"]
    assert (await server.handle(Request("GET", MAPS, headers={"authorization": f"Bearer {token}"}))).status == 401


async def test_a_rules_review_says_which_role_is_missing(server: Server) -> None:
    await grant(server, rule("", "configmaps", "get"))
    await in_process(server).delete(f"{ROLES}/of-eve-all")
    answer = await as_user(server).post(
        "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", {"spec": {"namespace": "default"}}
    )
    assert answer.body["status"]["evaluationError"] == f'clusterrole.{GROUP} "of-eve-all" not found'


async def test_a_definition_is_not_deleted_by_a_dry_run(server: Server) -> None:
    names = {"plural": "tests", "singular": "test", "kind": "Test"}
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    path, admin = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", in_process(server)
    await admin.post(
        path,
        {
            "metadata": {"name": "tests.example.com"},
            "spec": {
                "group": "example.com",
                "scope": "Namespaced",
                "names": names,
                "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
            },
        },
    )
    assert (await admin.delete(f"{path}/tests.example.com", {"dryRun": ["All"]})).status == 200
    assert (await admin.get(f"{path}/tests.example.com")).status == 200


CERTIFICATES = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
SIGNER = "kubernetes.io/kube-apiserver-client"


def asked_for(*groups: str, signer: str = SIGNER, **more: Any) -> Obj:
    subject = x509.Name(
        [
            x509.NameAttribute(NameOID.COMMON_NAME, "eve"),
            *(x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups),
        ]
    )
    request = (
        x509.CertificateSigningRequestBuilder()
        .subject_name(subject)
        .sign(ec.generate_private_key(ec.SECP256R1()), hashes.SHA256())
    )
    pem = base64.b64encode(request.public_bytes(serialization.Encoding.PEM)).decode()
    return {
        "metadata": {"name": "eve"},
        "spec": {"request": pem, "signerName": signer, "usages": ["client auth"], **more},
    }


async def test_nobody_asks_for_a_certificate_of_the_administrators_group(server: Server) -> None:
    await grant(server, rule("certificates.k8s.io", "certificatesigningrequests", "create"))
    answer = await as_user(server).post(CERTIFICATES, asked_for("friends", "system:masters"))
    assert answer.message == (
        f'certificatesigningrequests.certificates.k8s.io "eve" is forbidden: use of {SIGNER} signer with '
        "system:masters group is not allowed"
    )
    assert (await as_user(server).post(CERTIFICATES, asked_for("friends"))).status == 201


async def test_no_changed_byte_of_a_request_for_a_certificate_makes_the_server_fail(server: Server) -> None:
    await grant(server, rule("certificates.k8s.io", "certificatesigningrequests", "create"))
    asked = asked_for("friends")
    head, *lines, tail, _ = base64.b64decode(asked["spec"]["request"]).decode().split("\n")
    whole = base64.b64decode("".join(lines))
    eve = as_user(server)
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 1 << place % 8
        pem = f"{head}\n{base64.b64encode(changed).decode()}\n{tail}\n".encode()
        odd = asked["spec"] | {"request": base64.b64encode(pem).decode()}
        answer = await eve.post(CERTIFICATES, {"metadata": {"generateName": "eve-"}, "spec": odd})
        assert answer.status in (201, 403), (place, answer.message)


async def test_who_asks_for_a_certificate_is_written_by_the_server(server: Server) -> None:
    await grant(server, rule("certificates.k8s.io", "certificatesigningrequests", "create,update"))
    forged = asked_for(username="admin", groups=["system:masters"], uid="1", extra={"a": ["b"]})
    made = (await as_user(server).post(CERTIFICATES, forged)).body
    assert {key: value for key, value in made["spec"].items() if key in ("username", "groups", "uid", "extra")} == {
        "username": "eve",
        "groups": ["system:authenticated"],
    }
    changed = await as_user(server).put(
        f"{CERTIFICATES}/eve", {**made, "spec": forged["spec"], "status": {"certificate": "eA=="}}
    )
    assert (changed.status, changed.body["spec"], changed.body.get("status")) == (200, made["spec"], made.get("status"))


APPROVED = {"status": {"conditions": [{"type": "Approved", "status": "True"}]}}
ISSUED = {"status": {"certificate": "eA==", "conditions": [{"type": "Approved", "status": "True"}]}}


@pytest.mark.parametrize("name", [SIGNER, "kubernetes.io/*"])
async def test_approving_and_signing_need_rights_on_the_signer(server: Server, name: str) -> None:
    await grant(
        server,
        rule("certificates.k8s.io", "certificatesigningrequests/approval,certificatesigningrequests/status", "patch"),
    )
    await grant(
        server,
        rule("certificates.k8s.io", "certificatesigningrequests/approval,certificatesigningrequests/status", "patch"),
        rule("certificates.k8s.io", "signers", "approve,sign", name),
        to="signer",
    )
    await in_process(server).post(CERTIFICATES, asked_for())
    eve, signer, one = as_user(server), as_user(server, "signer"), f"{CERTIFICATES}/eve"
    said = (
        'certificatesigningrequests.certificates.k8s.io "eve" is forbidden: user not permitted to {} requests with '
        'signerName "{}"'
    )
    assert (await eve.merge(f"{one}/approval", APPROVED)).message == said.format("approve", SIGNER)
    assert (await eve.merge(f"{one}/status", ISSUED)).message == said.format("sign", SIGNER)
    assert not ((await signer.merge(f"{one}/status", APPROVED)).body.get("status") or {}).get("conditions")
    approved = (await signer.merge(f"{one}/approval", {**ISSUED, "spec": {"username": "boss"}})).body
    assert (approved["status"], approved["spec"]["username"]) == (APPROVED["status"], "admin")
    assert (await signer.merge(f"{one}/status", ISSUED)).body["status"] == ISSUED["status"]


def words(prefix: str, count: int = 1_000) -> str:
    return ",".join(f"{prefix}{number}" for number in range(count))


HUGE = rule(words("g"), words("r"), words("v"), *words("n").split(","))
"""Four lists of a thousand words: 10¹² rights."""


async def test_a_role_of_a_billion_rights_is_compared_without_listing_them(server: Server) -> None:
    await grant(server, WRITES_ROLES, rule("*", "*", words("v")))
    eve = as_user(server)
    assert (await eve.post(ROLES, {"metadata": {"name": "mine"}, "rules": [HUGE]})).status == 201
    more = {**HUGE, "verbs": [*HUGE["verbs"], "w"]}
    answer = await eve.post(ROLES, {"metadata": {"name": "more"}, "rules": [more]})
    assert answer.status == 403
    assert "is attempting to grant RBAC permissions not currently held:\n{APIGroups:" in answer.message


async def test_rights_held_by_several_rules_together_are_held(server: Server) -> None:
    halves = [rule("*", "pods/log", "get"), rule("", "*/log", "list"), rule("", "pods", "get,list", "a", "b")]
    await grant(server, WRITES_ROLES, *halves)
    eve = as_user(server)
    granted = [rule("", "pods/log", "get,list"), rule("", "pods", "list", "b")]
    assert (await eve.post(ROLES, {"metadata": {"name": "mine"}, "rules": granted})).status == 201
    for number, refused in enumerate((rule("", "pods", "get"), rule("", "*/log", "get"), rule("", "pods", "get", "c"))):
        answer = await eve.post(ROLES, {"metadata": {"name": f"more-{number}"}, "rules": [refused]})
        assert answer.status == 403, refused


async def test_rules_that_are_too_different_to_be_compared_are_refused(server: Server) -> None:
    def apart(word: str, number: int) -> str:
        return ",".join(f"{word}{other}" for other in range(200) if other != number)

    held = [rule(apart("g", number), apart("r", number + 1), apart("v", number + 2)) for number in range(200)]
    await grant(server, WRITES_ROLES, *held)
    wanted = rule(words("g", 200), words("r", 200), words("v", 200))
    answer = await as_user(server).post(ROLES, {"metadata": {"name": "mine"}, "rules": [wanted]})
    assert answer.status == 403
    assert answer.message == (
        f'clusterroles.{GROUP} "mine" is forbidden: the rules are too many and too different from those you hold to be '
        "compared with them; split them into several roles, or let somebody write them who may escalate"
    )


async def test_answers_about_long_names_are_not_kept(server: Server) -> None:
    await grant(server, rule("authorization.k8s.io", "selfsubjectaccessreviews", "create"))
    assert server.authorizer is not None
    eve, kept = as_user(server), server.authorizer._cache
    for letter in "ab":
        spec = {"resourceAttributes": {"verb": "get", "resource": "pods", "name": letter * 100_000}}
        answer = await eve.post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {"spec": spec})
        assert (answer.status, answer.body["status"]["allowed"]) == (201, False)
    assert max(len(action.name) for _, _, action in kept) < 1_000
