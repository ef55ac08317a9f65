"""The definitions of other schedulers' kinds: the real ones where they lie beside this repository, else small ones of
our own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gangline.api.kinds import CRD, KOORDINATOR_POD_GROUP, Kind
from gangline.api.meta import Raw
from gangline.client import Client
from yaml_loading import load_yaml

REAL = Path(__file__).resolve().parents[3] / "shared" / "crds"
STATUS_INSIDE = (KOORDINATOR_POD_GROUP,)
"""Kinds whose status is written with the rest of the object; all others have a subresource for it."""


def definition(kind: Kind[Any]) -> Raw:
    """The real definition of a kind, or one that accepts anything under its name."""
    for file in sorted(REAL.glob(f"*/{kind.group}_{kind.plural}.yaml")):
        found: Raw = load_yaml(file.read_text())
        if any(version["name"] == kind.version and version["served"] for version in found["spec"]["versions"]):
            return found
    return stand_in(kind)


def stand_in(kind: Kind[Any]) -> Raw:
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"type": "object", "properties": {"spec": anything, "status": anything}}
    status: Raw = {} if kind in STATUS_INSIDE else {"subresources": {"status": {}}}
    return {
        "metadata": {
            "name": kind.resource,
            "annotations": {"api-approved.kubernetes.io": "unapproved, a stand-in for tests"},
        },
        "spec": {
            "group": kind.group,
            "scope": "Namespaced" if kind.namespaced else "Cluster",
            "names": {
                "kind": kind.kind,
                "listKind": f"{kind.kind}List",
                "plural": kind.plural,
                "singular": kind.kind.lower(),
            },
            "versions": [
                {"name": kind.version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}, **status}
            ],
        },
    }


async def install(client: Client, *kinds: Kind[Any]) -> None:
    for kind in kinds:
        await client.create(CRD, definition(kind))
