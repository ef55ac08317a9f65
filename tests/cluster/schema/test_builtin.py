"""Built-in kinds are read and written back as the real server's typed decoder and encoder do."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.server.hypothesis_settings import patient
from gangline.cluster.schema import BadForm, WrongType, builtin_schema

POD, DEPLOYMENT = builtin_schema("core", "Pod"), builtin_schema("apps", "Deployment")


def container(**about: Any) -> dict[str, Any]:
    kept, _ = POD.admit({"spec": {"containers": [{"name": "c", **about}]}})
    found: dict[str, Any] = kept["spec"]["containers"][0]
    return found


def test_zero_values_go_and_what_is_always_written_stays() -> None:
    assert container(stdin=False, image="", command=[]) == {"name": "c", "resources": {}}
    assert DEPLOYMENT.admit({"spec": {"paused": False, "replicas": 0}})[0]["spec"]["replicas"] == 0


def test_an_empty_deployment_shows_what_every_deployment_shows() -> None:
    template = {"metadata": {}, "spec": {"containers": None}}
    assert DEPLOYMENT.admit({})[0] == {
        "metadata": {},
        "spec": {"selector": None, "template": template, "strategy": {}},
        "status": {},
    }


def test_a_null_in_a_map_or_list_of_objects_is_an_empty_object() -> None:
    slices = builtin_schema("resource", "ResourceSlice")
    kept, _ = slices.admit({"spec": {"devices": [None, {"name": "d", "attributes": {"a": None}}]}})
    assert kept["spec"]["devices"] == [{"name": ""}, {"name": "d", "attributes": {"a": {}}}]


def test_an_unknown_field_is_told_beside_fields_that_are_filled_in() -> None:
    for _ in range(2):
        assert DEPLOYMENT.admit({"spec": {"template": {}, "bogus": 1}})[1] == ["spec.bogus"]


def test_quantities_and_times_get_one_spelling() -> None:
    assert container(resources={"limits": {"cpu": 1, "memory": "1024Mi", "x/y": "0.5"}})["resources"]["limits"] == {
        "cpu": "1",
        "memory": "1Gi",
        "x/y": "500m",
    }
    assert POD.admit({"metadata": {"creationTimestamp": "2020-01-01T02:00:00+02:00"}})[0]["metadata"] == {
        "creationTimestamp": "2020-01-01T00:00:00Z"
    }


def test_unknown_fields_are_found_at_any_depth() -> None:
    assert POD.admit({"spec": {"containers": [{"name": "c", "foo": 1, "env": [{"name": "a", "bar": 2}]}]}})[1] == [
        "spec.containers[0].foo",
        "spec.containers[0].env[0].bar",
    ]


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ({"containers": {}}, "object into Go struct field PodSpec.spec.containers of type []v1.Container"),
        ({"priority": "x"}, "string into Go struct field PodSpec.spec.priority of type int32"),
        ({"hostNetwork": "yes"}, "string into Go struct field PodSpec.spec.hostNetwork of type bool"),
        ({"containers": [1]}, "number into Go struct field PodSpec.spec.containers of type v1.Container"),
        ({"priority": 2**40}, "number 1099511627776 into Go struct field PodSpec.spec.priority of type int32"),
        (
            {"containers": [{"name": "a"}, {"name": "b", "ports": [{"containerPort": "80"}]}]},
            "string into Go struct field ContainerPort.spec.containers.ports.containerPort of type int32",
        ),
        ({"nodeSelector": {"a": 1}}, "number into Go struct field PodSpec.spec.nodeSelector of type string"),
    ],
)
def test_a_value_of_the_wrong_type_is_refused_with_its_field(spec: Any, told: str) -> None:
    with pytest.raises(WrongType, match=re.escape(f"json: cannot unmarshal {told}")):
        POD.admit({"spec": spec})


def test_a_bad_quantity_is_refused_with_the_rule_for_quantities() -> None:
    with pytest.raises(BadForm, match="quantities must match the regular expression"):
        container(resources={"limits": {"cpu": "abc"}})


def test_a_lease_needs_its_microseconds() -> None:
    lease = builtin_schema("coordination", "Lease")
    with pytest.raises(BadForm, match=r'cannot parse "Z" as "\.000000"'):
        lease.admit({"spec": {"renewTime": "2020-01-01T00:00:00Z"}})
    assert (
        lease.admit({"spec": {"renewTime": "2020-01-01T00:00:00.5Z"}})[0]["spec"]["renewTime"]
        == "2020-01-01T00:00:00.500000Z"
    )


def test_a_schema_inside_a_definition_is_read_to_any_depth() -> None:
    """What may be a schema or something else drops what it does not know without a word, as the real server does."""
    crd = builtin_schema("apiextensions", "CustomResourceDefinition")
    inner = {"type": "object", "properties": {"a": {"type": "array", "yy": 1, "items": {"type": "object", "zz": 1}}}}
    clean, unknown = crd.admit({"spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": inner}}]}})
    assert unknown == ["spec.versions[0].schema.openAPIV3Schema.properties.a.yy"]
    kept = clean["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["a"]
    assert kept == {"type": "array", "items": {"type": "object"}}


NAMES = ["metadata", "spec", "containers", "name", "resources", "limits", "env", "tolerations", "status", "x"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=15,
)


@patient
@given(st.dictionaries(st.sampled_from(["metadata", "spec", "status"]), JSON))
def test_any_object_is_read_or_refused(value: dict[str, Any]) -> None:
    try:
        kept, _ = POD.admit(value)
    except (WrongType, BadForm):
        return
    assert POD.admit(kept) == (kept, [])
