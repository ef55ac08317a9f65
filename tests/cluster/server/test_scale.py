"""The number of replicas as an object of its own: who wrote it, and what it may be."""

from __future__ import annotations

from typing import Any

from cluster.server.conftest import Api
from gangline.api.crds import crds
from gangline.client.wire import APPLY_PATCH

SETS = "/apis/grove.io/v1alpha1/namespaces/default/podcliquesets"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
CLIQUE = {
    "name": "a",
    "spec": {"roleName": "a", "replicas": 1, "podSpec": {"containers": [{"name": "c", "image": "i"}]}},
}
SET: Any = {
    "apiVersion": "grove.io/v1alpha1",
    "kind": "PodCliqueSet",
    "metadata": {"name": "s"},
    "spec": {"replicas": 1, "template": {"cliques": [CLIQUE]}},
}
TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
DEPLOYMENT = {
    "metadata": {"name": "d"},
    "spec": {"replicas": 1, "selector": {"matchLabels": {"a": "b"}}, "template": TEMPLATE},
}


async def test_who_scales_a_custom_object_owns_its_replicas(api: Api) -> None:
    for definition in crds():
        await api.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
    await api.call("PATCH", f"{SETS}/s", SET, APPLY_PATCH, fieldManager="user")
    await api.merge(f"{SETS}/s/scale", {"spec": {"replicas": 4}}, fieldManager="scaler")
    again = await api.call("PATCH", f"{SETS}/s", SET, APPLY_PATCH, fieldManager="user")
    assert (again.status, again.message) == (
        409,
        'Apply failed with 1 conflict: conflict with "scaler" with subresource "scale" using grove.io/v1alpha1: '
        ".spec.replicas",
    )


async def test_a_custom_object_cannot_have_replicas_that_no_scale_could_show(api: Api) -> None:
    for definition in crds():
        await api.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
    for replicas, why in (
        (-1, "should be a non-negative integer"),
        (2**31, "should be less than or equal to 2147483647"),
    ):
        refused = await api.call("POST", SETS, SET | {"spec": SET["spec"] | {"replicas": replicas}})
        assert (refused.status, refused.message) == (
            422,
            f'PodCliqueSet.grove.io "s" is invalid: .spec.replicas: Invalid value: {replicas}: {why}',
        )
    await api.post(SETS, SET)
    assert (await api.merge(f"{SETS}/s", {"spec": {"replicas": -2}})).status == 422


async def test_applying_a_scale_conflicts_with_who_scaled_before(api: Api) -> None:
    await api.post(DEPLOYMENTS, DEPLOYMENT)
    await api.merge(f"{DEPLOYMENTS}/d/scale", {"spec": {"replicas": 2}}, fieldManager="scaler")
    scale = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "d"}, "spec": {"replicas": 3}}
    refused = await api.call("PATCH", f"{DEPLOYMENTS}/d/scale", scale, APPLY_PATCH, fieldManager="other")
    assert refused.message.endswith(
        'conflict with "scaler" with subresource "scale" using autoscaling/v1: .spec.replicas'
    )
    forced = await api.call("PATCH", f"{DEPLOYMENTS}/d/scale", scale, APPLY_PATCH, fieldManager="other", force="true")
    assert (forced.status, forced.body["spec"]["replicas"]) == (200, 3)


async def test_what_is_no_scale_is_refused_and_what_it_does_not_have_is_told_of(api: Api) -> None:
    await api.post(DEPLOYMENTS, DEPLOYMENT)
    wrong = await api.put(f"{DEPLOYMENTS}/d/scale", DEPLOYMENT | {"apiVersion": "apps/v1", "kind": "Deployment"})
    assert (wrong.status, wrong.message) == (
        400,
        'Deployment in version "v1" cannot be handled as a Scale: converting (v1.Deployment) to '
        "(autoscaling.Scale): unknown conversion",
    )
    warned = await api.merge(f"{DEPLOYMENTS}/d/scale", {"spec": {"colour": "red"}})
    assert any(
        'unknown field \\"spec.colour\\"' in warning or 'unknown field "spec.colour"' in warning
        for warning in warned.warnings
    )
