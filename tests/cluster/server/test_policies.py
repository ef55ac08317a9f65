"""ValidatingAdmissionPolicy: bindings say where, parameters say how, the authorizer says who."""

from __future__ import annotations

from typing import Any

from cluster.server.conftest import MAPS, Api, config_map, in_process
from gangline.client.wire import User
from gangline.cluster.server.server import Server

GROUP = "/apis/admissionregistration.k8s.io/v1"
RULES = {
    "resourceRules": [
        {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["configmaps"]}
    ]
}


async def bind(
    api: Api, *, actions: tuple[str, ...] = ("Deny",), param: dict[str, Any] | None = None, **spec: Any
) -> None:
    about = {"matchConstraints": RULES, **spec}
    made = await api.post(f"{GROUP}/validatingadmissionpolicies", {"metadata": {"name": "p"}, "spec": about})
    assert made.status == 201, made.body
    binding = {"policyName": "p", "validationActions": list(actions), **({"paramRef": param} if param else {})}
    made = await api.post(f"{GROUP}/validatingadmissionpolicybindings", {"metadata": {"name": "b"}, "spec": binding})
    assert made.status == 201, made.body


async def test_a_bound_policy_refuses_and_says_which_expression_failed(api: Api) -> None:
    await bind(
        api,
        validations=[{"expression": "object.metadata.name != 'x'"}],
        auditAnnotations=[{"key": "a", "valueExpression": "'v'"}],
    )
    refused = await api.post(MAPS, config_map("x"))
    assert refused.status == 422
    assert refused.message == (
        "configmaps \"x\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: failed "
        "expression: object.metadata.name != 'x'"
    )
    assert (await api.post(MAPS, config_map("y"))).status == 201


async def test_variables_build_on_each_other_and_messages_may_be_computed(api: Api) -> None:
    name, long = (
        {"name": "n", "expression": "object.metadata.name"},
        {"name": "long", "expression": "size(variables.n) > 3"},
    )
    await bind(
        api,
        variables=[name, long],
        validations=[{"expression": "!variables.long", "messageExpression": "variables.n + ' is too long'"}],
    )
    assert (await api.post(MAPS, config_map("abcd"))).message.endswith("denied request: abcd is too long")
    assert (await api.post(MAPS, config_map("abc"))).status == 201


async def test_parameters_are_objects_of_the_cluster(api: Api) -> None:
    await api.post(MAPS, config_map("params", {"bad": "x"}))
    await bind(
        api,
        paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
        param={"name": "params", "parameterNotFoundAction": "Deny"},
        validations=[{"expression": "object.metadata.name != params.data.bad"}],
    )
    assert (await api.post(MAPS, config_map("x"))).status == 422
    assert (await api.post(MAPS, config_map("y"))).status == 201
    await api.delete(f"{MAPS}/params")
    assert "no params found for policy binding" in (await api.post(MAPS, config_map("z"))).message


async def test_a_binding_may_only_warn(api: Api) -> None:
    await bind(api, actions=("Warn",), validations=[{"expression": "false", "message": "think twice"}])
    made = await api.post(MAPS, config_map("x"))
    assert made.status == 201
    assert "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': think twice" in "".join(made.warnings)


async def test_an_expression_may_ask_what_the_user_may_do(server: Server) -> None:
    api = in_process(server)
    await bind(
        api,
        validations=[
            {"expression": "authorizer.group('').resource('secrets').namespace('default').check('get').allowed()"},
            {"expression": "authorizer.requestResource.check('create').allowed()"},
        ],
    )
    assert (await api.post(MAPS, config_map("mine"))).status == 201
    rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create"]}]
    await api.post("/apis/rbac.authorization.k8s.io/v1/clusterroles", {"metadata": {"name": "maker"}, "rules": rules})
    await api.post(
        "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
        {
            "metadata": {"name": "bob"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "maker"},
            "subjects": [{"kind": "User", "name": "bob", "apiGroup": "rbac.authorization.k8s.io"}],
        },
    )
    bob = in_process(server, User("bob", ("system:authenticated",)))
    assert "resource('secrets')" in (await bob.post(MAPS, config_map("his"))).message


async def test_an_expression_that_does_not_fit_its_variables_is_refused_with_the_policy(api: Api) -> None:
    variables, validations = [{"name": "n", "expression": "1"}], [{"expression": "variables.n == 'x'"}]
    spec = {"matchConstraints": RULES, "variables": variables, "validations": validations}
    refused = await api.post(f"{GROUP}/validatingadmissionpolicies", {"metadata": {"name": "p"}, "spec": spec})
    assert refused.status == 422
    assert "found no matching overload for '_==_' applied to '(int, string)'" in refused.message


async def test_all_expressions_about_a_write_share_what_they_may_cost(server: Server) -> None:
    """Sixty expressions that each stay below the limit of one would keep the server from everybody for a minute."""
    api = in_process(server)
    dear = {"expression": "lists.range(150000).all(x, x >= 0)"}
    await bind(api, validations=[dear] * 60)
    refused = await api.post(MAPS, config_map("x"))
    assert refused.status == 422
    assert refused.message.endswith("resulted in error: operation cancelled: actual cost limit exceeded")


async def test_a_few_dear_expressions_are_evaluated(api: Api) -> None:
    await bind(api, validations=[{"expression": "lists.range(150000).all(x, x >= 0)"}] * 3)
    assert (await api.post(MAPS, config_map("x"))).status == 201
