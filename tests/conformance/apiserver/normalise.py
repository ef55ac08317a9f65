"""Raw answers of one case made comparable: versions become ranks, uids numbers, times a word, as the recordings' README
says."""

from __future__ import annotations

import json
import re
from typing import Any

_UUID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
_TIME = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)")
_ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}:\d+")
_AGES = {"age", "last seen", "first seen", "duration", "created at"}
_TIMELESS = ("<unknown>", None, "<invalid>", "<none>")
_INITIAL_END = "k8s.io/initial-events-end"
GO_LAYOUT = "2006-01-02T15:04:05"


def ages(table: Any) -> Any:
    """A Table with the cells that depend on the clock or an allocator replaced; anything else as it is."""
    if not (
        isinstance(table, dict) and table.get("kind") == "Table" and isinstance(table.get("columnDefinitions"), list)
    ):
        return table
    rows = []
    for row in table.get("rows") or []:
        cells = [
            _cell(column, cell)
            for column, cell in zip(table["columnDefinitions"], row.get("cells") or [], strict=False)
        ]
        rows.append({**row, "cells": cells})
    return {**table, "rows": rows} if table.get("rows") else table


def event_ages(events: list[Any]) -> list[Any]:
    """The events of a watch with the ages in their rows replaced. Only the first Table of a watch names its columns."""
    columns: list[Any] | None = None
    aged = []
    for event in events:
        table = event.get("object") if isinstance(event, dict) else None
        if isinstance(table, dict) and table.get("kind") == "Table":
            columns = table.get("columnDefinitions") or columns
            rows = ages({**table, "columnDefinitions": columns}).get("rows")
            event = {**event, "object": {**table, "rows": rows}}
        aged.append(event)
    return aged


def _cell(column: dict[str, Any], cell: Any) -> Any:
    name = column.get("name", "")
    if name == "Cluster-IP" and re.match(r"\d+\.", str(cell)):
        return "<ip>"
    by_clock = name.lower() in _AGES or column.get("type") == "date"
    return "<age>" if by_clock and cell not in _TIMELESS else cell


def inputs(step: dict[str, Any]) -> dict[str, Any]:
    """The part of a step that is not an answer."""
    kept = {key: value for key, value in step.items() if key not in ("response", "events", "while", "closed")}
    if "while" in step:
        kept["while"] = [inputs(inner) for inner in step["while"]]
    return kept


def _is_list(value: dict[str, Any]) -> bool:
    kind = value.get("kind")
    return isinstance(kind, str) and ("items" in value or "rows" in value or kind.endswith("List"))


def _is_end(metadata: Any) -> bool:
    return isinstance(metadata, dict) and _INITIAL_END in (metadata.get("annotations") or {})


class Normaliser:
    """Numbers are given over a whole case: first `learn` every raw answer, then `normal` each."""

    def __init__(self, case: dict[str, Any], namespace: str) -> None:
        self._namespace = namespace
        self._keeps_managers = case["area"] == "apply"
        self._literal = json.dumps([inputs(step) for step in case["steps"]])
        self._prefixes = re.findall(r'"generateName": "([^"]{1,58})', self._literal)
        self._versions: set[int] = set()
        self._numbers: dict[str, dict[Any, int]] = {"uid": {}, "ip": {}, "port": {}}
        self._made_names: dict[str, str] = {}

    def learn(self, value: Any) -> None:
        if isinstance(value, list):
            for item in value:
                self.learn(item)
        if not isinstance(value, dict):
            return
        self._learn_name(value)
        listed = _is_list(value)
        for key, item in value.items():
            if key == "metadata" and isinstance(item, dict) and (listed or _is_end(item)):
                item = {name: part for name, part in item.items() if name != "resourceVersion"}
            if key == "resourceVersion" and isinstance(item, str) and item.isdigit():
                self._versions.add(int(item))
            self.learn(item)

    def _learn_name(self, value: dict[str, Any]) -> None:
        prefix, name = value.get("generateName"), value.get("name")
        if not (prefix and isinstance(prefix, str) and isinstance(name, str)):
            return
        start = prefix[:58]
        if name.startswith(start) and len(name) == len(start) + 5 and name not in self._literal:
            self._made_names[name] = start + "<rand5>"

    def _number(self, what: str, value: Any) -> str:
        known = self._numbers[what]
        return f"<{what}:{known.setdefault(value, len(known) + 1)}>"

    def normal(self, value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return self._normal_object(ages(value), key)
        if isinstance(value, list):
            return _in_order(key, [self.normal(item, key) for item in value])
        last = key.rsplit(".", 1)[-1]
        if isinstance(value, str):
            return self._normal_text(value, last)
        if (
            isinstance(value, int)
            and not isinstance(value, bool)
            and value
            and last in ("nodePort", "healthCheckNodePort")
        ):
            return value if str(value) in self._literal else self._number("port", value)
        return value

    def _normal_object(self, value: dict[str, Any], key: str) -> dict[str, Any]:
        found = {}
        for name in sorted(value):
            item = value[name]
            if name == "managedFields" and key == "metadata" and not self._keeps_managers:
                continue
            if name == "metadata" and isinstance(item, dict) and (_is_list(value) or _is_end(item)):
                item = self._list_metadata(item, value)
            found[self.text(name)] = self.normal(item, name)
        return found

    @staticmethod
    def _list_metadata(metadata: dict[str, Any], whole: dict[str, Any]) -> dict[str, Any]:
        version = str(metadata.get("resourceVersion", ""))
        if not version.isdigit():
            return metadata
        inner = [
            str(((item or {}).get("metadata") or {}).get("resourceVersion"))
            for item in whole.get("items") or []
            if isinstance(item, dict)
        ]
        newest = max((int(text) for text in inner if text.isdigit()), default=0)
        return {**metadata, "resourceVersion": "<rv:list>" if int(version) >= newest else "<rv:list older than items>"}

    def _normal_text(self, text: str, key: str) -> str:
        if key == "resourceVersion" and text.isdigit() and int(text) in self._versions and int(text):
            return f"<rv:{sorted(self._versions - {0}).index(int(text)) + 1}>"
        if key == "continue" and text:
            return "<continue>"
        if key == "token" and text.count(".") == 2 and len(text) > 100:
            return "<token>"
        if key == "storageVersionHash":
            return "<hash>"
        if key in ("clusterIP", "clusterIPs") and text and text != "None" and text not in self._literal:
            return self._number("ip", text)
        return self.message(text) if key in ("message", "reason", "Warning", "text") else self.text(text)

    def text(self, text: str) -> str:
        for name, shown in self._made_names.items():
            text = text.replace(name, shown)
        text = text.replace(self._namespace, "<ns>")
        for prefix in self._prefixes:
            text = re.sub(
                re.escape(prefix) + r"[bcdfghjklmnpqrstvwxz2456789]{5}\b",
                prefix.replace("\\", "\\\\") + "<rand5>",
                text,
            )
        text = _UUID.sub(lambda match: match[0] if match[0] in self._literal else self._number("uid", match[0]), text)
        text = _TIME.sub(
            lambda match: match[0] if match[0] in self._literal or match[0].startswith(GO_LAYOUT) else "<time>", text
        )
        text = re.sub(r"too old resource version: \d+ \(\d+\)", "too old resource version: <rv> (<rv>)", text)
        return re.sub(r"(Too large resource version: \d+), current: \d+", r"\1, current: <rv>", text)

    def message(self, text: str) -> str:
        text = _ADDRESS.sub(lambda match: match[0] if match[0] in self._literal else "<addr>", self.text(text))
        text = re.sub(r"in record \(\d+\)", "in record (<rv>)", text)
        text = re.sub(r"(?i)(resourceversion[^:]*: )(\d+)", self._quoted_version, text)
        return re.sub(r'(\\*"resourceVersion\\*":\\*")\d+', r"\1<rv>", text)

    def _quoted_version(self, match: re.Match[str]) -> str:
        number = match.group(2)
        return match.group(1) + (number if number in ("0", "1") or number in self._literal else "<rv>")


def _in_order(key: str, items: list[Any]) -> list[Any]:
    """Lists whose order the real server takes from the clock or from chance."""
    last = key.rsplit(".", 1)[-1]
    if last == "managedFields":
        return sorted(
            items,
            key=lambda entry: (
                str(entry.get("manager")),
                str(entry.get("operation")),
                str(entry.get("subresource")),
                json.dumps(entry, sort_keys=True),
            ),
        )
    if last in ("resourceRules", "nonResourceRules"):
        return sorted(items, key=lambda rule: json.dumps(rule, sort_keys=True))
    return items
