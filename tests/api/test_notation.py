"""The notation of the tables: what each mark means."""

from __future__ import annotations

import pytest

from gangline.api import notation
from gangline.api.notation import MISSING
from gangline.cluster.kinds.table import GROUPS


def field(table: str, kind: str, name: str) -> notation.Field:
    return next(item for item in notation.struct(table, kind).fields if item.name == name)


def test_marks_behind_a_type_say_how_absent_and_zero_are_told_apart() -> None:
    replicas, name, stamp = (
        field("apps", "DeploymentSpec", "replicas"),
        field("core", "Container", "name"),
        field("meta", "ObjectMeta", "creationTimestamp"),
    )
    assert replicas.pointer and not replicas.required
    assert name.always and name.required
    assert stamp.omit_zero


def test_a_keyed_list_is_keyed_for_apply_and_for_strategic_merge() -> None:
    containers, ports = field("core", "PodSpec", "containers"), field("core", "Container", "ports")
    assert (containers.list_type, containers.keys, containers.merge_key) == ("map", ("name",), "name")
    assert (ports.keys, ports.merge_key) == (("containerPort", "protocol"), "containerPort")


def test_types_are_found_in_the_own_table_then_core_then_meta() -> None:
    template = field("apps", "DeploymentSpec", "template")
    selector = field("apps", "DeploymentSpec", "selector")
    assert (template.type.table, selector.type.table) == ("core", "meta")


def test_defaults_are_json_and_absent_ones_are_missing() -> None:
    assert field("core", "ContainerPort", "protocol").default == "TCP"
    assert field("core", "Container", "image").default is MISSING


@pytest.mark.parametrize("table", [*GROUPS.values(), "meta", "grove", "kai"])
def test_every_type_of_every_table_reads(table: str) -> None:
    for name in notation.names(table):
        assert notation.struct(table, name).name == name
