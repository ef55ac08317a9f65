"""Protobuf: what is written is read back, for every kind that the server has, whatever fields an object has. tests/real
says that Kubernetes reads and writes the same."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gangline.cluster.server.catalogue import builtin_resources
from gangline.cluster.server.wire.protobuf import decode, encode, item_writer, listed
from gangline.cluster.server.wire.protobuf.tables import WireField, message_name, messages
from properties.examples import examples

DEPTH = 3
KINDS = sorted({(resource.api_version, resource.kind) for resource in builtin_resources()})
Obj = dict[str, Any]

words = st.text(st.characters(codec="utf-8"), max_size=200)
nanoseconds = st.integers(0, 3600).map(lambda seconds: f"{seconds}s" if seconds < 60 else "1m0s")
schemas = st.fixed_dictionaries({}, optional={"type": st.sampled_from(["string", "object"]), "description": words})
SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "s": words,
    "b": st.booleans(),
    "i": st.one_of(st.integers(-200, 200), st.integers(-(2**63), 2**63 - 1)),
    "f": st.floats(allow_nan=False, allow_infinity=False),
    "y": st.sampled_from(["", "AAE=", "aGVsbG8="]),
    "q": st.sampled_from(["0", "100m", "1Gi", "-3"]),
    "t": st.sampled_from(["1969-12-31T23:59:59Z", "2026-02-03T04:05:06Z"]),
    "u": st.sampled_from(["2026-02-03T04:05:06.000000Z", "2026-02-03T04:05:06.789012Z"]),
    "d": nanoseconds,
    "x": st.one_of(st.integers(-5, 70000), st.sampled_from(["", "http", "25%"])),
    "r": st.one_of(words, st.integers(0, 9), st.dictionaries(words, st.booleans(), max_size=2), st.lists(words)),
    "@items": st.lists(words, max_size=3),
    "@schemas": st.one_of(schemas, st.lists(schemas, min_size=1, max_size=2)),
    "@schema-or-flag": st.one_of(schemas, st.booleans()),
    "@schema-or-texts": st.one_of(schemas, st.lists(words, min_size=1, max_size=2)),
}


def values(kind: str, depth: int) -> st.SearchStrategy[Any]:
    return SCALARS[kind] if kind in SCALARS else objects(kind, depth - 1)


def shaped(field: WireField, depth: int) -> st.SearchStrategy[Any]:
    one = values(field.type, depth)
    if field.form == "*":
        return st.lists(one, min_size=1, max_size=2)
    if field.form == "%":
        return st.dictionaries(words, one, min_size=1, max_size=2)
    return one.filter(lambda value: value not in ("", 0, False)) if field.drop_empty else one


def _later(field: WireField, depth: int) -> st.SearchStrategy[Any]:
    """The values of a field, worked out when the first is drawn."""
    return st.deferred(lambda: shaped(field, depth))


def objects(name: str, depth: int) -> st.SearchStrategy[Obj]:
    """Objects of a message with some of its fields; none of those that are messages themselves, once deep enough."""
    fields: dict[str, st.SearchStrategy[Any]] = {}
    for field in messages()[name].values():
        inlined = messages()[field.type].values() if field.form == "=" else [field]
        fields |= {inner.name: _later(inner, depth) for inner in inlined if depth > 0 or inner.type in SCALARS}
    chosen = st.lists(st.sampled_from(sorted(fields)), unique=True, max_size=6) if fields else st.just([])
    return chosen.flatmap(lambda names: st.fixed_dictionaries({name: fields[name] for name in names}))


@pytest.mark.parametrize(("api_version", "kind"), KINDS)
@settings(max_examples=examples(8))
@given(st.data())
def test_an_object_of_every_kind_is_read_as_it_was_written(api_version: str, kind: str, data: st.DataObject) -> None:
    obj = {"apiVersion": api_version, "kind": kind} | data.draw(objects(message_name(api_version, kind), DEPTH))
    assert decode(encode(obj)) == obj


@settings(max_examples=15)
@given(st.lists(objects("core.v1.Pod", DEPTH), max_size=3))
def test_a_list_that_is_written_in_slices_is_the_list_that_is_written_whole(pods: list[Obj]) -> None:
    write = item_writer("v1", "Pod")
    told = {"apiVersion": "v1", "kind": "PodList", "metadata": {"resourceVersion": "7"}, "items": pods}
    sliced = listed("v1", "PodList", {"resourceVersion": "7"}, [write(pod) for pod in pods])
    assert sliced == encode(told)
    assert decode(sliced) == ({**told} if pods else {key: value for key, value in told.items() if key != "items"})


def test_every_type_that_the_table_names_is_in_the_table() -> None:
    named = {field.type for message in messages().values() for field in message.values()}
    assert named - SCALARS.keys() - messages().keys() == set()
