"""The table of field numbers, parsed: which message an object is written as, and what its fields are.

fields.py has the facts; reading.py and writing.py walk what is found here. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from gangline.cluster.server.wire.protobuf.fields import FIELDS

MAGIC = b"k8s\x00"
SCHEMA = "apiextensions.v1.JSONSchemaProps"
_GROUPS = {"": "core", "rbac.authorization.k8s.io": "rbac"}
_META_GROUP = "meta.k8s.io"
_EVERYWHERE = ("DeleteOptions", "Status", "APIVersions", "APIGroupList", "APIGroup", "APIResourceList")
"""Kinds of `meta` that are sent under the version of the kind they are about."""


class NotUnderstood(ValueError):
    """Not protobuf as Kubernetes frames it, or of a kind without a table."""


class WireField(NamedTuple):
    name: str
    type: str
    form: str
    """Empty, `*` for a list, `%` for a map, `=` for fields that stand in the message itself."""
    drop_empty: bool


Message = Mapping[int, WireField]
_METADATA = WireField("metadata", "meta.ObjectMeta", "", False)
"""What the message of every kind begins with."""


@cache
def messages() -> Mapping[str, Message]:
    """All of them, by group, version and kind; also the lists of kinds, which are all alike."""
    tables: dict[str, Message] = {}
    group = ""
    for line in FIELDS.replace("\n  ", " ").splitlines():
        if line.startswith("["):
            group = line[1:-1]
        else:
            name, _, fields = line.partition(":")
            tables[f"{group}.{name}"] = dict(_field(item, group) for item in fields.strip().split(", ") if item)
    return tables | {f"{name}List": _list_of(name) for name, message in tables.items() if message.get(1) == _METADATA}


def _list_of(name: str) -> Message:
    return {1: WireField("metadata", "meta.ListMeta", "", False), 2: WireField("items", name, "*", False)}


def _field(text: str, group: str) -> tuple[int, WireField]:
    number, name, kind = text.split(" ")
    many = kind[0] if kind[0] in "*%" else ""
    form = "=" if name == "=" else many
    base = kind.lstrip("*%").rstrip("?")
    return int(number), WireField(name, group + base if base.startswith(".") else base, form, kind.endswith("?"))


def message_name(api_version: str, kind: str) -> str:
    """The name of the message that objects of a kind are written as."""
    name = f"meta.{kind}" if kind in _EVERYWHERE else _name(api_version, kind)
    if name not in messages():
        raise NotUnderstood(f"{kind or 'an object without a kind'} of {api_version} is not understood as protobuf")
    return name


def _name(api_version: str, kind: str) -> str:
    group, _, version = api_version.rpartition("/")
    if group == _META_GROUP:
        return f"meta.{kind}"
    return f"{_GROUPS.get(group, group.partition('.')[0])}.{version}.{kind}"
