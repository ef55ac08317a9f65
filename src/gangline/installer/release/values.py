"""The values of the chart: THE table of them, and their schema.

The spec of the Config and of shards is checked by the definitions' own schema, so that a misspelt field is refused
before anything is written. chart.py prints it. Pure."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from gangline.api.kinds import CONFIG, SCHEDULING_SHARD
from gangline.api.meta import Raw
from gangline.installer.release.dashboard import LOGINS
from gangline.installer.release.manifests import DEFAULT_CONFIG, DEFAULT_SHARD
from gangline.installer.settings import BOTH, SCHEDULER, Image

DIALECT = "http://json-schema.org/draft-07/schema#"
IMAGE = r"^[A-Za-z0-9][A-Za-z0-9._:/@-]*$"
NAME = r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"
LONG = 150
"""Characters from which on a part of the schema that occurs twice is written once."""


@dataclass(frozen=True, slots=True)
class ChartValue:
    name: str
    meaning: str
    """One line, which values.yaml and the schema say."""
    usual: Any


VALUES = (
    ChartValue("image", "Where every component runs from: an image with `gangline` on its PATH.", str(Image())),
    ChartValue("half", "both, or scheduler: leave PodCliqueSets to another operator, such as Grove's.", BOTH),
    ChartValue(
        "config",
        "The spec of the Config kai-config: what is deployed and how, and how the operator of sets is configured "
        "(docs/guide/install.md).",
        DEFAULT_CONFIG,
    ),
    ChartValue(
        "shards",
        "SchedulingShards by name, each with its spec: a scheduler per pool of nodes. A null takes one away.",
        {DEFAULT_SHARD: {}},
    ),
    ChartValue(
        "dashboard",
        "The web page: whether it is deployed, how people log in to it (token, proxy or none), and the "
        "PersistentVolumeClaim in which it keeps the past (none: it is lost when its pod moves).",
        {"enabled": False, "login": LOGINS[0], "claim": ""},
    ),
)


def schema(definitions: Iterable[Raw]) -> str:
    """values.schema.json."""
    specs = {definition["metadata"]["name"]: _as_json_schema(_spec(definition)) for definition in definitions}
    parts: dict[str, Raw] = {
        "image": {"type": "string", "pattern": IMAGE},
        "half": {"enum": [BOTH, SCHEDULER]},
        "config": specs[CONFIG.resource],
        "shards": {
            "type": "object",
            "propertyNames": {"pattern": NAME},
            "additionalProperties": specs[SCHEDULING_SHARD.resource] | {"type": ["object", "null"]},
        },
        "dashboard": {
            "type": "object",
            "properties": {
                "enabled": {"type": "boolean"},
                "login": {"enum": list(LOGINS)},
                "claim": {"type": "string", "maxLength": 253},
            },
            "additionalProperties": False,
        },
    }
    shared = _Shared(parts)
    own = {value.name: shared.short(parts[value.name], top=True) | {"description": value.meaning} for value in VALUES}
    helms = {
        "global": {
            "description": "Helm's own: what a chart that holds this one tells all its parts. Nothing of it is read.",
            "type": "object",
        }
    }
    document = {
        "$schema": DIALECT,
        "title": "Values of gangline",
        "type": "object",
        "properties": own | helms,
        "additionalProperties": False,
        "definitions": shared.definitions,
    }
    return json.dumps(document, indent=1) + "\n"


def _spec(definition: Raw) -> Raw:
    spec: Raw = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"].get("spec", {})
    return spec


def _as_json_schema(data: Any) -> Any:
    """A definition's schema in the words of JSON Schema; a field that it does not name is refused."""
    if isinstance(data, list):
        return [_as_json_schema(item) for item in data]
    if not isinstance(data, dict):
        return data
    plain = {
        key: _as_json_schema(value)
        for key, value in data.items()
        if not key.startswith("x-kubernetes-") and key != "format"
    }
    if plain.get("exclusiveMinimum") is True:
        plain["exclusiveMinimum"] = plain.pop("minimum")
    if (
        isinstance(data.get("properties"), dict)
        and data.get("type") == "object"
        and not data.get("x-kubernetes-preserve-unknown-fields")
    ):
        plain["additionalProperties"] = False
    return plain


def _members(data: Any) -> Iterable[Any]:
    if isinstance(data, dict):
        return data.values()
    return data if isinstance(data, list) else ()


class _Shared:
    """Long parts that occur more than once, each written once under the name of the field where it was first met."""

    def __init__(self, parts: Raw) -> None:
        self._counts: Counter[str] = Counter()
        self._names: dict[str, str] = {}
        self.definitions: Raw = {}
        self._count(parts)

    def _count(self, data: Any) -> None:
        if isinstance(data, dict) and data.get("type") == "object":
            self._counts[json.dumps(data)] += 1
        for member in _members(data):
            self._count(member)

    def short(self, data: Any, name: str = "", *, top: bool = False) -> Any:
        """The same with references."""
        text = json.dumps(data)
        if not top and len(text) >= LONG and self._counts[text] > 1:
            return {"$ref": f"#/definitions/{self._names.get(text) or self._define(text, data, name)}"}
        if isinstance(data, list):
            return [self.short(item, name) for item in data]
        if not isinstance(data, dict):
            return data
        inside = ("properties", "items", "additionalProperties")
        return {key: self.short(value, name if key in inside else key) for key, value in data.items()}

    def _define(self, text: str, data: Any, name: str) -> str:
        free = next(
            item
            for item in (name, *(f"{name}{number}" for number in range(2, 100)))
            if item not in self._names.values()
        )
        self._names[text] = free
        self.definitions[free] = self.short(data, name, top=True)
        return free
