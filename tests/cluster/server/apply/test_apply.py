"""Server-side apply: who owns what, who conflicts with whom, and what goes when nobody wants it any more."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.server.hypothesis_settings import patient
from gangline.cluster.schema import builtin_schema, compile_schema
from gangline.cluster.server.patch.apply import ApplyConflict, UntypableError, apply, track_update
from gangline.cluster.server.patch.apply.managed import detached
from gangline.rules.values.problems import compact

Obj = dict[str, Any]
KEYED = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["port", "proto"],
    "items": {
        "type": "object",
        "required": ["port"],
        "properties": {
            "port": {"type": "integer"},
            "proto": {"type": "string", "default": "TCP"},
            "v": {"type": "string"},
        },
    },
}
SCHEMA = compile_schema(
    {
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "properties": {
                    "n": {"type": "integer"},
                    "a": {"type": "string"},
                    "keyed": KEYED,
                    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                    "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
                    "list": {"type": "array", "items": {"type": "string"}},
                    "map": {"type": "object", "additionalProperties": {"type": "string"}},
                    "whole": {
                        "type": "object",
                        "x-kubernetes-map-type": "atomic",
                        "properties": {"x": {"type": "string"}, "y": {"type": "string"}},
                    },
                },
            },
            "status": {"type": "object", "properties": {"s": {"type": "string"}}},
        },
    }
)
NOW, LATER = "2020-01-01T00:00:00Z", "2020-01-02T00:00:00Z"


def wanted(**spec: Any) -> Obj:
    return {"apiVersion": "x.io/v1", "kind": "W", "metadata": {"name": "w"}, "spec": spec}


def applied(live: Obj | None, manager: str, force: bool = False, now: str = NOW, **spec: Any) -> Obj:
    return apply(live, wanted(**spec), manager, force, SCHEMA, now, "", "x.io/v1", [("status",)])


def owned(obj: Obj, manager: str) -> Any:
    entries = {entry["manager"]: entry["fieldsV1"] for entry in obj["metadata"].get("managedFields", [])}
    return entries.get(manager)


def test_the_first_apply_owns_exactly_what_it_sets() -> None:
    obj = applied(
        None, "alice", n=1, map={"k": "v"}, list=["x"], whole={"x": "1"}, set=["b"], keyed=[{"port": 1, "v": "a"}]
    )
    assert owned(obj, "alice") == {
        "f:spec": {
            "f:keyed": {'k:{"port":1,"proto":"TCP"}': {".": {}, "f:port": {}, "f:v": {}}},
            "f:list": {},
            "f:map": {"f:k": {}},
            "f:n": {},
            "f:set": {'v:"b"': {}},
            "f:whole": {},
        }
    }


def test_changing_what_another_owns_is_a_conflict_that_names_both() -> None:
    live = applied(None, "alice", n=1)
    with pytest.raises(ApplyConflict) as caught:
        applied(live, "bob", n=2)
    assert str(caught.value) == 'Apply failed with 1 conflict: conflict with "alice": .spec.n'
    assert caught.value.causes == [
        {"reason": "FieldManagerConflict", "message": 'conflict with "alice"', "field": ".spec.n"}
    ]


def test_a_conflict_inside_a_keyed_list_names_the_item() -> None:
    live = applied(None, "alice", keyed=[{"port": 1, "v": "a"}])
    with pytest.raises(ApplyConflict) as caught:
        applied(live, "bob", keyed=[{"port": 1, "v": "b"}])
    assert caught.value.causes[0]["field"] == '.spec.keyed[port=1,proto="TCP"].v'


def test_force_takes_the_field_over() -> None:
    obj = applied(applied(None, "alice", n=1, a="x"), "bob", force=True, n=2)
    assert obj["spec"] == {"n": 2, "a": "x"}
    assert owned(obj, "alice") == {"f:spec": {"f:a": {}}} and owned(obj, "bob") == {"f:spec": {"f:n": {}}}


def test_wanting_the_same_value_is_shared_not_disputed() -> None:
    obj = applied(applied(None, "alice", n=1), "bob", now=LATER, n=1)
    assert owned(obj, "alice") == owned(obj, "bob") == {"f:spec": {"f:n": {}}}


def test_what_a_manager_drops_goes_unless_someone_else_wants_it() -> None:
    live = applied(applied(None, "alice", n=1, a="x"), "bob", a="x")
    obj = applied(live, "alice", n=1)
    assert obj["spec"] == {"n": 1, "a": "x"}
    assert applied(obj, "bob")["spec"] == {"n": 1}


def test_an_item_of_a_list_goes_with_its_last_owner_and_others_keep_their_order() -> None:
    live = applied(applied(None, "alice", set=["a", "b"]), "bob", set=["b", "c"])
    assert live["spec"]["set"] == ["a", "b", "c"]
    assert applied(live, "alice")["spec"]["set"] == ["b", "c"]


def test_an_atomic_list_belongs_to_one() -> None:
    live = applied(None, "alice", list=["a"])
    with pytest.raises(ApplyConflict):
        applied(live, "bob", list=["a", "b"])
    assert applied(live, "bob", force=True, list=["b"])["spec"]["list"] == ["b"]


def test_nothing_changed_leaves_the_time_alone() -> None:
    live = applied(None, "alice", n=1)
    again = applied(live, "alice", now=LATER, n=1)
    assert again == live


def test_reset_fields_are_never_owned() -> None:
    obj = apply(None, {**wanted(n=1), "status": {"s": "x"}}, "alice", False, SCHEMA, NOW, "", "x.io/v1", [("status",)])
    assert owned(obj, "alice") == {"f:spec": {"f:n": {}}}


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ({"zz": 1}, ".spec.zz: field not declared in schema"),
        ({"n": "x"}, ".spec.n: expected numeric (int or float), got string"),
        ({"set": ["a", "a"]}, '.spec.set: duplicate entries for key [="a"]'),
        ({"keyed": [{"port": 1}, {"port": 1}]}, '.spec.keyed: duplicate entries for key [port=1,proto="TCP"]'),
        ({"map": []}, ".spec.map: expected map, got a list"),
    ],
)
def test_what_does_not_fit_the_schema_cannot_be_applied(spec: Obj, told: str) -> None:
    with pytest.raises(UntypableError) as caught:
        applied(None, "alice", **spec)
    assert str(caught.value) == told


def test_an_update_takes_what_it_changes_and_forgets_what_it_removes() -> None:
    live = applied(None, "alice", n=1, a="x")
    changed = {**live, "spec": {"n": 2, "map": {"k": "v"}}}
    obj = track_update(live, changed, "kubectl", SCHEMA, LATER, "", "x.io/v1")
    assert owned(obj, "alice") is None
    assert owned(obj, "kubectl") == {"f:spec": {"f:map": {".": {}, "f:k": {}}, "f:n": {}}}


def test_a_create_of_a_built_in_kind_owns_no_empty_shells() -> None:
    deployment = builtin_schema("apps", "Deployment")
    obj, _ = deployment.admit(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "d", "labels": {"a": "b"}},
            "spec": {"replicas": 1, "template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}},
        }
    )
    tracked = track_update(None, obj, "m", deployment, NOW, "", "apps/v1", [("status",)])
    assert owned(tracked, "m") == {
        "f:metadata": {"f:labels": {".": {}, "f:a": {}}},
        "f:spec": {
            "f:replicas": {},
            "f:template": {
                "f:spec": {
                    "f:containers": {'k:{"name":"c"}': {".": {}, "f:image": {}, "f:name": {}, "f:resources": {}}}
                }
            },
        },
    }


def test_clearing_managed_fields_ends_the_accounts() -> None:
    live = applied(None, "alice", n=1)
    obj = track_update(
        live, {**live, "metadata": {**live["metadata"], "managedFields": [{}]}}, "m", SCHEMA, LATER, "", "x.io/v1"
    )
    assert "managedFields" not in obj["metadata"]


def test_the_eleventh_updater_merges_the_oldest() -> None:
    obj = track_update(None, wanted(), "m0", SCHEMA, NOW, "", "x.io/v1")
    for index in range(12):
        obj = track_update(
            obj,
            {**obj, "spec": {**obj["spec"], "map": {**obj["spec"].get("map", {}), f"k{index}": "v"}}},
            f"m{index}",
            SCHEMA,
            f"2020-01-01T00:00:{index:02d}Z",
            "",
            "x.io/v1",
        )
    managers = [entry["manager"] for entry in obj["metadata"]["managedFields"]]
    assert len(managers) == 10 and "ancient-changes" in managers


def test_an_object_without_accounts_is_first_owned_by_before_first_apply() -> None:
    obj = applied({**wanted(a="x"), "metadata": {"name": "w", "uid": "u"}}, "alice", n=1)
    assert owned(obj, "before-first-apply") == {"f:spec": {".": {}, "f:a": {}}}


TEXTS = st.sampled_from(["p", "q", "r"])
SPECS = st.fixed_dictionaries(
    {},
    optional={
        "n": st.integers(0, 2),
        "a": TEXTS,
        "map": st.dictionaries(TEXTS, TEXTS, max_size=3),
        "list": st.lists(TEXTS, max_size=2),
        "set": st.lists(TEXTS, unique=True, max_size=3),
        "whole": st.fixed_dictionaries({}, optional={"x": TEXTS, "y": TEXTS}),
        "keyed": st.lists(
            st.fixed_dictionaries({"port": st.integers(1, 3)}, optional={"v": TEXTS}),
            unique_by=lambda item: item["port"],
            max_size=3,
        ),
        "free": st.dictionaries(
            TEXTS,
            st.integers(0, 1) | st.lists(TEXTS, max_size=1) | st.dictionaries(TEXTS, TEXTS, max_size=2),
            max_size=2,
        ),
    },
)


def stored(obj: Obj) -> Obj:
    kept, _ = SCHEMA.admit(obj)
    return kept


@patient
@given(SPECS, SPECS)
def test_applying_twice_is_applying_once(first: Obj, second: Obj) -> None:
    live = stored(applied(None, "alice", **first))
    once = stored(applied(live, "bob", force=True, **second))
    assert stored(applied(once, "bob", force=True, now=LATER, **second)) == once


@patient
@given(SPECS, SPECS)
def test_after_a_and_then_b_taking_a_away_leaves_exactly_what_b_wants(first: Obj, second: Obj) -> None:
    alone = stored(applied(None, "bob", **second))
    both = stored(applied(stored(applied(None, "alice", **first)), "bob", force=True, **second))
    left = stored(
        apply(
            both,
            {"apiVersion": "x.io/v1", "kind": "W", "metadata": {"name": "w"}},
            "alice",
            False,
            SCHEMA,
            LATER,
            "",
            "x.io/v1",
        )
    )
    assert _bare(left) == _bare(alone)
    assert owned(left, "alice") is None


def _bare(obj: Obj) -> Any:
    """Content without accounts; the order of items and empty shells do not count."""
    return _plain(detached(obj).get("spec") or {})


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items() if _plain(item) not in ({}, [], None)}
    return sorted((_plain(item) for item in value), key=compact) if isinstance(value, list) else value


@patient
@given(SPECS, SPECS, SPECS)
def test_any_mix_of_writers_keeps_sound_accounts(first: Obj, second: Obj, third: Obj) -> None:
    live = stored(applied(None, "alice", **first))
    live = stored(track_update(live, {**live, "spec": second}, "edit", SCHEMA, NOW, "", "x.io/v1"))
    live = stored(applied(live, "bob", force=True, now=LATER, **third))
    for entry in live["metadata"].get("managedFields", []):
        assert entry["fieldsV1"] and entry["operation"] in ("Apply", "Update")
