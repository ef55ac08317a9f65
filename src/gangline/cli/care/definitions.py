"""Whether the definitions of our kinds stand in a cluster as we need them, or somebody else's of that name do. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gangline.cli.care.findings import FAIL, OK, WARN, DoctorFinding

SHOWN = 5
"""Missing fields that are named."""
APPLY = (
    "`gangline install`, or `kubectl apply --server-side -f charts/gangline/crds` (with --force-conflicts to take over)"
)


def check_definitions(definitions: Iterable[Mapping[str, Any]], refused: bool) -> Iterator[DoctorFinding]:
    from gangline.api.crds import crds

    if refused:
        return
    there = {item["metadata"]["name"]: item for item in definitions}
    ours = {item["metadata"]["name"]: item for item in crds()}
    missing = [name for name in ours if name not in there]
    if missing:
        level = FAIL if len(missing) == len(ours) else WARN
        yield DoctorFinding(level, "definitions", f"missing: {', '.join(missing)}", APPLY)
    for name in ours:
        if name in there:
            yield from compared(name, ours[name], there[name])
    if not missing:
        yield DoctorFinding(OK, "definitions", f"all {len(ours)} kinds are defined")


def compared(name: str, ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Iterator[DoctorFinding]:
    """What a definition that stands there lacks of ours."""
    conditions = (theirs.get("status") or {}).get("conditions") or []
    if any(condition["type"] == "Established" and condition["status"] != "True" for condition in conditions):
        yield DoctorFinding(FAIL, "definitions", f"{name} is not established", f"kubectl describe crd {name}")
    versions = {version["name"]: version for version in theirs["spec"]["versions"]}
    for version in ours["spec"]["versions"]:
        standing = versions.get(version["name"])
        if standing is None or not standing.get("served"):
            yield DoctorFinding(FAIL, "definitions", f"{name} does not serve {version['name']}{_whose(theirs)}", APPLY)
            continue
        lacking = sorted(fields(version) - fields(standing))
        if lacking:
            rest = f" and {len(lacking) - SHOWN} more" if len(lacking) > SHOWN else ""
            text = f"{name}{_whose(theirs)} lacks {', '.join(lacking[:SHOWN])}{rest}: what says so there is dropped"
            yield DoctorFinding(WARN, "definitions", text, APPLY)


def _whose(definition: Mapping[str, Any]) -> str:
    """Who brought it, where that is written."""
    meta = definition["metadata"]
    release = (meta.get("annotations") or {}).get("meta.helm.sh/release-name")
    if release:
        return f" (of the Helm release {release})"
    managers = sorted({entry.get("manager", "") for entry in meta.get("managedFields") or []} - {""})
    foreign = [name for name in managers if not name.startswith(("gangline", "kube-apiserver"))]
    return f" (written by {', '.join(foreign)})" if foreign else ""


def fields(version: Mapping[str, Any]) -> set[str]:
    """The paths of all fields that a version's schema knows below spec."""
    schema = (version.get("schema") or {}).get("openAPIV3Schema") or {}
    return set(_paths((schema.get("properties") or {}).get("spec") or {}, "spec"))


def _paths(schema: Mapping[str, Any], path: str) -> Iterator[str]:
    yield path
    for name, below in (schema.get("properties") or {}).items():
        yield from _paths(below, f"{path}.{name}")
    items = schema.get("items")
    if isinstance(items, Mapping):
        yield from _paths(items, f"{path}[]")
