"""Admission probes: one write each, and whether it is accepted, with which code, naming which fields."""

from __future__ import annotations

import json
import re
from pathlib import Path

from conformance.grove.lab import Lab, lab, put
from conformance.grove.play import BY_NAME
from gangline.api.meta import Raw
from gangline.errors import ApiError
from yaml_loading import load_all_yaml

_FIELD = re.compile(
    r"(?:^|[\[ ,])((?:spec|metadata)(?:\.[A-Za-z0-9_./-]+|\[\d+\])*): "
    r"(?:Invalid|Required|Duplicate|Forbidden|Unsupported|Too long)"
)


async def probe(folder: Path, case: str) -> str:
    """The difference, or nothing."""
    home = folder / "cases" / "invalid"
    recorded = json.loads((home / f"{case}.response.json").read_text())
    documents = [item for item in load_all_yaml((home / f"{case}.yaml").read_text()) if item]
    change = home / f"{case}.edit.json"
    namespace = "probe"
    async with lab(folder, recorded.get("config", "main"), namespace) as here:
        first = documents if change.exists() else documents[:-1]
        try:
            for document in first:
                await put(here.client, document, namespace)
                await here.settle()
        except ApiError as error:
            return f"the objects before the probe are refused: {error}"
        try:
            if change.exists():
                await _change(here, namespace, json.loads(change.read_text()))
            else:
                await put(here.client, documents[-1], namespace)
        except ApiError as error:
            return _refused(recorded, error)
    return (
        ""
        if recorded["accepted"]
        else f"accepted; upstream refuses with {recorded['httpCode']}: {recorded['message'][:160]}"
    )


async def _change(here: Lab, namespace: str, change: Raw) -> None:
    kind = BY_NAME[change["kind"]]
    await here.client.patch(
        kind, change["name"], namespace if kind.namespaced else "", change["body"], content_type=change["contentType"]
    )


def _refused(recorded: Raw, error: ApiError) -> str:
    if recorded["accepted"]:
        return f"refused: {error}; upstream accepts"
    if recorded["httpCode"] == 500:
        return "" if 400 <= error.code < 500 else f"{error.code} where a proper refusal was due"
    if error.code != recorded["httpCode"]:
        return f"code {error.code}, upstream {recorded['httpCode']}: {str(error)[:200]} / {recorded['message'][:160]}"
    ours = {cause.get("field") for cause in (error.status.get("details") or {}).get("causes") or ()}
    missing = sorted(fields(recorded) - ours)
    return f"fields not named: {missing}; ours {sorted(map(str, ours))}" if missing else ""


def fields(recorded: Raw) -> set[str]:
    """The fields that upstream's refusal names."""
    causes = {cause["field"] for cause in recorded.get("causes") or () if cause.get("field") not in (None, "<nil>")}
    return causes or set(_FIELD.findall(recorded["message"]))
